//! Whole checks by fast paths with verdicts, in the obvious way: what `check` of the package for
//! JavaScript does.

use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::{ActionDecision, Decision, Effect, Output, Reason};
use wardgate_engine::fastpath::{Contents, Coverage, Subject};
use wardgate_engine::limits::MAX_FAST_PATH_ROLE_BYTES;
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;
use wardgate_engine::wire;
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
        Coverage::NoPolicy => return of_no_policy(table, request),
        Coverage::General => None,
    };
    let list = list.ok_or("the kind has no fast paths")?;
    let subject = Subject { kind, version, scope, principal: &request.principal.id };
    let mut found: Vec<(&str, u32, Verdict)> = Vec::new();
    let (mut scopes, mut outputs) = (0, Vec::new());
    for action in &request.actions {
        let id = table.verdicts_of_action(list, action).ok_or("the action has no verdicts")?;
        let (fast_path, filled) = filled(table, id, (request, now))?;
        let masks: Vec<u32> = masks(table, &fast_path, request).collect();
        let contents: (&Frame, &dyn Contents) = (&filled.frame, &filled);
        let searched = table.verdict_with(id, &masks, contents, now).ok_or("unsure")?;
        scopes = scopes.max(searched.scopes);
        if found.iter().any(|(known, ..)| known == action) {
            continue;
        }
        found.push((action, id, searched.verdict));
        if searched.emits {
            let emitted = table.outputs_with(subject, (id, &masks), contents, now);
            let of_action = |output| Output { action: action.clone(), ..output };
            outputs.extend(emitted.ok_or("an output that only the general path makes")?.into_iter().map(of_action));
        }
    }
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
        outputs,
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

/// Decides about a kind that no policy is about.
fn of_no_policy(table: &PolicyTable, request: &Request) -> Result<Decision, &'static str> {
    let Request { resource, actions, .. } = request;
    let names = [&resource.kind, &resource.policy_version, &resource.scope].map(String::as_str);
    if wire::coverage_json(table, names, None) != "false" || table.principals().next().is_some() {
        return Err("no policy is about the kind, beside others of roles or principals");
    }
    let mut distinct: Vec<&String> = Vec::new();
    for action in actions {
        if !distinct.contains(&action) {
            distinct.push(action);
        }
    }
    let denied = |action: &String| ActionDecision {
        action: action.clone(),
        effect: Effect::Deny,
        policy: "NO_MATCH".to_owned(),
        scope: String::new(),
        reason: Reason::NoPolicy,
    };
    Ok(Decision {
        request_id: request.request_id.clone(),
        resource_id: resource.id.clone(),
        actions: distinct.into_iter().map(denied).collect(),
        ..Decision::default()
    })
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
