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

use crate::measure::{Row, Side};
use crate::workload::{Asked, Workload, kind};

/// The row of Cedar.
pub(crate) fn row(workload: &Workload) -> Result<Row<'_>, String> {
    let text: String = (0..workload.kinds).map(|number| policies(&kind(number))).collect();
    let policies = PolicySet::from_str(&text).map_err(message)?;
    let asked: Vec<(Request, Entities)> =
        workload.requests.iter().map(prepared).collect::<Result<_, _>>()?;
    let authorizer = Authorizer::new();
    Ok(Row::new(NAME, Side::Rival, move |at| {
        asked.get(at).is_some_and(|(request, entities)| {
            authorizer.is_authorized(request, &policies, entities).decision() == Decision::Allow
        })
    }))
}

fn prepared(asked: &Asked) -> Result<(Request, Entities), String> {
    let principal = uid("User", &asked.principal)?;
    let resource = uid(&asked.kind, &asked.resource)?;
    let roles = asked.roles.iter().map(|role| uid("Role", role));
    let roles = roles.collect::<Result<HashSet<_>, _>>()?;
    let department = RestrictedExpression::new_string(asked.department.clone());
    let attributes = HashMap::from([
        ("owner".to_owned(), RestrictedExpression::new_entity_uid(uid("User", &asked.owner)?)),
        ("public".to_owned(), RestrictedExpression::new_bool(asked.public)),
        ("locked".to_owned(), RestrictedExpression::new_bool(asked.locked)),
    ]);
    let entities = [
        Entity::new(
            principal.clone(),
            HashMap::from([("department".to_owned(), department)]),
            roles,
        )
        .map_err(message)?,
        Entity::new(resource.clone(), attributes, HashSet::new()).map_err(message)?,
    ];
    let action = uid("Action", asked.action)?;
    let request = Request::new(principal, action, resource, Context::empty(), None);
    let entities = Entities::from_entities(entities, None).map_err(message)?;
    Ok((request.map_err(message)?, entities))
}

fn policies(kind: &str) -> String {
    format!(
        r#"
permit (principal in Role::"viewer", action in [Action::"view", Action::"list"], resource is {kind});
permit (principal, action == Action::"view", resource is {kind}) when {{ resource.public }};
permit (principal in Role::"editor", action == Action::"edit", resource is {kind});
permit (principal, action in [Action::"delete", Action::"share"], resource is {kind})
when {{ resource.owner == principal }};
forbid (principal, action in [Action::"edit", Action::"delete"], resource is {kind})
when {{ resource.locked }};
"#
    )
}

fn uid(kind: &str, id: &str) -> Result<EntityUid, String> {
    EntityUid::from_str(&format!("{kind}::\"{id}\"")).map_err(message)
}

fn message(error: impl Display) -> String {
    format!("cedar: {error}")
}

const NAME: &str = "Cedar 4.14.1 is_authorized";
