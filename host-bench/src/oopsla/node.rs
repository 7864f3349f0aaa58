//! The same graphs in Node: see `node/oopsla.mjs`.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};
use wardgate_native::{AsPrincipal, AsResource};

use super::forms::Engines;
use super::graph::{App, Graph, Request, json};
use crate::measure::Figure;
use crate::node;

/// The input of Node.
pub(super) struct Job {
    bundle: String,
    graphs: Vec<Json>,
}

impl Job {
    pub(super) fn new(engines: &Engines) -> Self {
        Self { bundle: STANDARD.encode(&engines.bundle), graphs: Vec::new() }
    }

    /// Adds a graph with its requests.
    pub(super) fn add<A: App>(&mut self, graph: &Graph<A::User, A::Resource>, asked: &[Request]) {
        let users = graph.users.iter().map(|user| {
            let roles: Vec<&str> = user.roles().collect();
            json!({ "id": user.id(), "roles": roles, "attr": json(user) })
        });
        let resources = graph.resources.iter().map(
            |(kind, resource)| json!({ "kind": kind, "id": resource.id(), "attr": json(resource) }),
        );
        let requests = asked.iter().filter_map(|asked| {
            let (action, _) = A::ACTIONS.get(asked.action)?;
            let (user, resource) = (graph.user(&asked.user)?, graph.resource(&asked.resource)?);
            let allowed = A::allows(action, user, resource);
            Some(json!([asked.user, action, asked.resource, allowed]))
        });
        self.graphs.push(json!({
            "users": users.collect::<Vec<_>>(),
            "resources": resources.collect::<Vec<_>>(),
            "requests": requests.collect::<Vec<_>>(),
        }));
    }

    /// Measures in a fresh Node process.
    pub(super) fn measure(&self, root: &Path, quick: bool) -> Result<Vec<Figure>, String> {
        let job = json!({ "bundle": self.bundle, "graphs": self.graphs, "quick": quick });
        node::figures(&node::ask(root, "oopsla.mjs", &[], &job)?, "rows")
    }
}
