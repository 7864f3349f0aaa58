//! The servers, and the ways to ask each.

use std::path::Path;

use serde_json::Value as Json;
use wardgate_bundle::pack;
use wardgate_compiler::{Options, compile_files};

use super::answer::decisions;
use super::calls::Calls;
use crate::arguments::Arguments;
use crate::files;
use crate::http::{Call, Server};
use crate::measure::Side;
use crate::rivals;
use crate::workload::{Workload, lines};

/// Servers with the same policies.
pub(super) struct Servers {
    ours: Server,
    cerbos: Option<Server>,
    opa: Option<Server>,
}

/// A way to ask a server, whose answers have been checked.
pub(super) struct Target<'s> {
    pub(super) name: &'static str,
    pub(super) side: Side,
    pub(super) server: &'s Server,
    pub(super) calls: Vec<Call>,
    /// The decisions of a call.
    pub(super) decisions: usize,
}

impl Servers {
    /// Starts all servers whose programs are there; `None` without ours.
    pub(super) fn start(
        root: &Path,
        arguments: &Arguments,
        workload: &Workload,
    ) -> Result<Option<Self>, String> {
        let Some(program) = &arguments.server else { return Ok(None) };
        let compiled = compile_files(&workload.policies, &Options::default());
        let bundle = pack(&compiled.map_err(|errors| lines(&errors))?.parts);
        let folder = root.join("target/bench/rest");
        files::write(&folder.join("policies"), &workload.policies)?;
        let ours = Server::wardgate(program, &folder, &bundle)?;
        let cerbos = arguments.cerbos.as_ref();
        let cerbos = cerbos.map(|program| Server::cerbos(program, &folder)).transpose()?;
        let opa = arguments.opa.as_ref();
        let opa = opa.map(|program| opa_server(program, &folder, workload)).transpose()?;
        for (name, is_missing) in [("cerbos", cerbos.is_none()), ("opa", opa.is_none())] {
            if is_missing {
                eprintln!("{name} is left out: there is no `{name}` program to start");
            }
        }
        Ok(Some(Self { ours, cerbos, opa }))
    }

    /// Returns all servers with their names.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static str, &Server)> {
        let rivals = [("Cerbos", self.cerbos.as_ref()), ("OPA", self.opa.as_ref())];
        let rivals = rivals.into_iter().filter_map(|(name, server)| Some((name, server?)));
        [("Wardgate", &self.ours)].into_iter().chain(rivals)
    }

    /// Returns the ways to ask, after each has given the right answer to every call.
    pub(super) fn targets(&self, calls: &Calls) -> Result<Vec<Target<'_>>, String> {
        let (evaluation, rule) = if calls.is_single {
            ("/access/v1/evaluation", "/v1/data/authz/allow")
        } else {
            ("/access/v1/evaluations", "/v1/data/several/decisions")
        };
        let check = "/api/check/resources";
        let (ours, cerbos, opa) = (Some(&self.ours), self.cerbos.as_ref(), self.opa.as_ref());
        let all = [
            ("Wardgate CheckResources", Side::Ours, ours, check, &calls.cerbos),
            ("Wardgate AuthZEN", Side::Ours, ours, evaluation, &calls.authzen),
            ("Cerbos CheckResources", Side::Rival, cerbos, check, &calls.cerbos),
            ("OPA", Side::Rival, opa, rule, &calls.opa),
        ];
        let mut targets = Vec::new();
        for (name, side, server, path, bodies) in all {
            let Some(server) = server else { continue };
            let checked = checked(server, path, bodies, calls);
            let calls_of = checked.map_err(|message| format!("{name}: {message}"))?;
            let decisions = calls.expected.first().map_or(0, Vec::len);
            targets.push(Target { name, side, server, calls: calls_of, decisions });
        }
        Ok(targets)
    }
}

/// Starts OPA with a package for each kind, and a rule for calls that ask for several decisions.
fn opa_server(program: &Path, folder: &Path, workload: &Workload) -> Result<Server, String> {
    let modules = rivals::rego(workload).pop().ok_or("no rules in Rego")?.1;
    let modules = modules.into_iter().map(|(name, text)| (name, text.into_bytes()));
    let several = ("several.rego".to_owned(), SEVERAL.as_bytes().to_vec());
    let modules: Vec<_> = modules.chain([several]).collect();
    let folder = folder.join("rego");
    files::write(&folder, &modules)?;
    Server::opa(program, &folder)
}

/// Makes every call once, and compares its decisions with the expected ones.
fn checked(
    server: &Server,
    path: &str,
    bodies: &[Json],
    calls: &Calls,
) -> Result<Vec<Call>, String> {
    let of_one = |((body, expected), actions): ((&Json, &Vec<bool>), &Vec<String>)| {
        let mut call = Call::post(path, body);
        let answer = call.learn(server.address())?;
        let answer: Json = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
        let found = decisions(&answer, actions);
        if found == *expected {
            Ok(call)
        } else {
            Err(format!("{found:?} instead of {expected:?}"))
        }
    };
    bodies.iter().zip(&calls.expected).zip(&calls.actions).map(of_one).collect()
}

const SEVERAL: &str = "package several

decisions := [of_resource |
	some resource in input.resources
	of_resource := [allowed |
		some action in input.actions
		one := {\"principal\": input.principal, \"action\": action, \"resource\": resource}
		allowed := data.authz.allow with input as one
	]
]
";
