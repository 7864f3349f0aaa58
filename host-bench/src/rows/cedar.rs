//! Cedar, in its own terms: an entity type for each kind, roles as parents of the principal.
//!
//! Requests and entities are built before anything is timed, which a program that serves requests
//! cannot do: the figure is the least that Cedar takes.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::str::FromStr;

use cedar_policy::{
    Authorizer, Context, Decision, Entities, Entity, EntityUid, PolicySet, Request,
    RestrictedExpression,
};
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::Request as EngineRequest;

use crate::measure::{Row, Side};
use crate::request::action;
use crate::workload::Workload;

/// Returns the row of Cedar.
pub(crate) fn row<'a>(
    workload: &'a Workload,
    requests: &[EngineRequest],
    text: &str,
) -> Result<Row<'a>, String> {
    let policies = PolicySet::from_str(text).map_err(message)?;
    let inputs = requests.iter().map(prepared).collect::<Result<Vec<_>, _>>()?;
    let authorizer = Authorizer::new();
    Ok(workload.cases(inputs).row(NAME, Side::Rival, move |(request, entities)| {
        authorizer.is_authorized(request, &policies, entities).decision() == Decision::Allow
    }))
}

/// Parses the policies, as a program does that loads new ones.
pub(crate) fn reload(text: &str) -> Result<(), String> {
    PolicySet::from_str(text).map(drop).map_err(message)
}

fn prepared(request: &EngineRequest) -> Result<(Request, Entities), String> {
    let principal = uid("User", &request.principal.id)?;
    let resource = uid(&request.resource.kind, &request.resource.id)?;
    let roles = request.principal.roles.iter().map(|role| uid("Role", role));
    let roles = roles.collect::<Result<HashSet<_>, _>>()?;
    let (own, others) = (attributes(&request.principal.attr)?, attributes(&request.resource.attr)?);
    let entities = [
        Entity::new(principal.clone(), own, roles).map_err(message)?,
        Entity::new(resource.clone(), others, HashSet::new()).map_err(message)?,
    ];
    let action = uid("Action", action(request))?;
    let request = Request::new(principal, action, resource, Context::empty(), None);
    let entities = Entities::from_entities(entities, None).map_err(message)?;
    Ok((request.map_err(message)?, entities))
}

fn attributes(attr: &AttrMap) -> Result<HashMap<String, RestrictedExpression>, String> {
    let entry = |(name, value): &(Box<str>, Attr)| Ok((name.to_string(), expression(name, value)?));
    attr.entries().iter().map(entry).collect()
}

/// Makes an expression. The owner is an entity, so that it can be compared with the principal.
fn expression(name: &str, value: &Attr) -> Result<RestrictedExpression, String> {
    Ok(match value {
        Attr::Bool(flag) => RestrictedExpression::new_bool(*flag),
        Attr::String(text) if name == "owner" => {
            RestrictedExpression::new_entity_uid(uid("User", text)?)
        }
        Attr::String(text) => RestrictedExpression::new_string(text.to_string()),
        // Cedar knows whole numbers only; no rule reads them.
        other => RestrictedExpression::new_string(format!("{other:?}")),
    })
}

fn uid(kind: &str, id: &str) -> Result<EntityUid, String> {
    EntityUid::from_str(&format!("{kind}::\"{id}\"")).map_err(message)
}

fn message(error: impl Display) -> String {
    format!("cedar: {error}")
}

/// The version is pinned in the manifest.
const NAME: &str = "Cedar 4.14.1 is_authorized";
