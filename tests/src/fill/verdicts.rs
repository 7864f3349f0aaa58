//! Whole checks by fast paths with verdicts, in the obvious way: what `check` of the package for
//! JavaScript does.

use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::Decision;
use wardgate_engine::fastpath::{Contents, Coverage, Subject};
use wardgate_engine::limits::MAX_FAST_PATH_ROLE_BYTES;
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;
use wardgate_fastpath::{FastPath, Frame, Verdict};

use super::{Filled, coverage, fill};

/// The bounds of the package for JavaScript.
const MAX_ACTIONS: usize = 16;
const MAX_ROLES: usize = 31;

/// Decides every action of a request by fast paths.
///
/// # Errors
/// If the general path must decide: the reason in a few words.
pub fn check(
    table: &PolicyTable,
    request: &Request,
    now: Timestamp,
) -> Result<Decision, &'static str> {
    let principal = &request.principal;
    // They select policies of the principal itself.
    let selects = !principal.scope.is_empty() || !principal.policy_version.is_empty();
    if selects && table.principals().any(|id| id == principal.id) {
        return Err("a principal with policies has a scope or version");
    }
    let counts = [(principal.roles.len(), MAX_ROLES), (request.actions.len(), MAX_ACTIONS)];
    if counts.into_iter().any(|(count, most)| !(1..=most).contains(&count)) {
        return Err("too few or too many roles or actions");
    }
    if principal.roles.iter().any(|role| role.len() > MAX_FAST_PATH_ROLE_BYTES) {
        return Err("a long role");
    }
    decided(table, request, now)
}

fn decided(
    table: &PolicyTable,
    request: &Request,
    now: Timestamp,
) -> Result<Decision, &'static str> {
    let resource = &request.resource;
    let [kind, version, scope] =
        [&resource.kind, &resource.policy_version, &resource.scope].map(String::as_str);
    let list = match coverage(table, request) {
        Coverage::List(offset) => table.fast_paths().list(offset),
        Coverage::NoPolicy => return Err("no policy is about the kind"),
        Coverage::General => None,
    };
    let list = list.ok_or("the kind has no fast paths")?;
    let mut found: Vec<(&str, u32, Verdict)> = Vec::new();
    let mut scopes = 0;
    for action in &request.actions {
        let id = table.verdicts_of_action(list, action).ok_or("the action has no verdicts")?;
        let (fast_path, filled) = filled(table, id, (request, now))?;
        let masks: Vec<u32> = masks(table, &fast_path, request).collect();
        let contents: (&Frame, &dyn Contents) = (&filled.frame, &filled);
        let searched = table.verdict_with(id, &masks, contents, now).ok_or("unsure")?;
        scopes = scopes.max(searched.scopes);
        if found.iter().all(|(known, ..)| known != action) {
            found.push((action, id, searched.verdict));
        }
    }
    let subject = Subject { kind, version, scope, principal: &request.principal.id };
    let granted = match list.grants() {
        None => 0,
        Some(id) => {
            let (fast_path, filled) = filled(table, id, (request, now))?;
            let roles = masks(table, &fast_path, request).fold(0, |all, mask| all | mask);
            let contents: (&Frame, &dyn Contents) = (&filled.frame, &filled);
            let granted = table.grants_with(id, (roles, scopes), contents, now);
            granted.ok_or("unsure about derived roles")?
        }
    };
    let mut decision = Decision {
        request_id: request.request_id.clone(),
        resource_id: resource.id.clone(),
        ..Decision::default()
    };
    for (action, id, verdict) in found {
        let mut decided = table.decision_of(subject, id, verdict).ok_or("a verdict of no rule")?;
        action.clone_into(&mut decided.action);
        decision.actions.push(decided);
    }
    let names = table.granted_names(subject, granted).into_iter().filter(|_| granted != 0);
    decision.effective_derived_roles = names.map(str::to_owned).collect();
    Ok(decision)
}

fn filled<'t, 'r>(
    table: &'t PolicyTable,
    id: u32,
    (request, now): (&'r Request, Timestamp),
) -> Result<(FastPath<'t>, Filled<'r>), &'static str> {
    let fast_path = table.fast_path(id).ok_or("a fast path that does not exist")?;
    let filled = fill(table, &fast_path, request, now).ok_or("a value that no frame holds")?;
    Ok((fast_path, filled))
}

/// Returns the masks of the roles of the principal, in their order.
fn masks(
    table: &PolicyTable,
    fast_path: &FastPath<'_>,
    request: &Request,
) -> impl Iterator<Item = u32> {
    request.principal.roles.iter().map(|role| fast_path.role(table.string_id(role)))
}
