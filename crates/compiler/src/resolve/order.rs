//! The order in which variables are evaluated.
//!
//! Each comes after those it names, and among the possible orders it is the one Cerbos takes, so
//! that evaluation errors are reported in the same order.

use std::collections::{BTreeMap, BTreeSet};

use wardgate_engine::limits::MAX_VARIABLE_DEPTH;

use crate::diagnostics::{Code, Diagnostic};
use crate::expression::ExprSource;
use crate::message::joined;
use crate::policy::model::Definition;

type Edges<'r> = BTreeMap<&'r str, BTreeSet<&'r str>>;
type Variables<'r> = BTreeMap<&'r str, &'r Definition<ExprSource>>;

/// Sorts the variables, given which variables each of them names. Those in a circle are reported
/// and left out, with all that name them.
pub(super) fn sort<'r>(
    named_by: &Edges<'r>,
    variables: &Variables<'r>,
    errors: &mut Vec<Diagnostic>,
) -> Vec<&'r str> {
    let mut waiting = named_by.clone();
    settle(&mut waiting);
    while let Some(circle) = circle(&waiting) {
        report(&circle, variables, errors);
        waiting.retain(|name, _| !circle.contains(name));
        for named in waiting.values_mut() {
            named.retain(|name| !circle.contains(name));
        }
        settle(&mut waiting);
    }
    let order = referrers_last(named_by);
    too_deep(named_by, &order, variables, errors);
    order
}

/// Takes away the variables that depend on none of those that remain, until there are no more.
fn settle(waiting: &mut Edges<'_>) {
    loop {
        let free: BTreeSet<_> = wardgate_engine::order::in_order(
            waiting.iter().filter(|(_, named)| named.is_empty()).map(|(name, _)| *name),
        );
        if free.is_empty() {
            return;
        }
        waiting.retain(|name, _| !free.contains(name));
        for named in waiting.values_mut() {
            named.retain(|name| !free.contains(name));
        }
    }
}

/// Returns one circle: every waiting variable names another waiting one, so a walk returns to
/// itself.
fn circle<'r>(waiting: &Edges<'r>) -> Option<BTreeSet<&'r str>> {
    let mut walk: Vec<&str> = Vec::new();
    let mut at = *waiting.keys().next()?;
    let mut seen = BTreeSet::new();
    while seen.insert(at) {
        walk.push(at);
        at = waiting.get(at)?.first()?;
    }
    Some(walk.into_iter().skip_while(|name| *name != at).collect())
}

fn report(circle: &BTreeSet<&str>, variables: &Variables<'_>, errors: &mut Vec<Diagnostic>) {
    let locations: Vec<_> = circle
        .iter()
        .filter_map(|name| {
            let location = &variables.get(name)?.location;
            let at = location.position;
            Some(format!("`{name}` ({}:{}:{})", location.file.path, at.line, at.column))
        })
        .collect();
    let message = format!("variables refer to each other in a circle: {}", joined(&locations));
    if let Some(first) = circle.first().and_then(|name| variables.get(name)) {
        errors.push(Diagnostic::error(Code::CyclicalVariables, &first.location, message));
    }
}

/// Reverses the order in which a depth-first walk from each variable to those that name it ends,
/// with the names taken backwards.
fn referrers_last<'r>(named_by: &Edges<'r>) -> Vec<&'r str> {
    let mut referrers: Edges<'r> =
        wardgate_engine::order::in_order(named_by.keys().map(|name| (*name, BTreeSet::new())));
    for (referrer, named) in named_by {
        for name in named {
            referrers.entry(name).or_default().insert(referrer);
        }
    }
    let mut seen = BTreeSet::new();
    let mut order = Vec::with_capacity(referrers.len());
    for start in referrers.keys().rev() {
        let mut walk = vec![(*start, false)];
        while let Some((name, ended)) = walk.pop() {
            if ended {
                order.push(name);
            } else if seen.insert(name) {
                walk.push((name, true));
                let next = referrers.get(name).into_iter().flatten();
                walk.extend(next.filter(|next| !seen.contains(*next)).map(|next| (*next, false)));
            }
        }
    }
    order.reverse();
    order
}

/// Reports variables that nest too deeply: the evaluator bounds the depth, so such a chain could
/// never be evaluated.
fn too_deep(
    named_by: &Edges<'_>,
    order: &[&str],
    variables: &Variables<'_>,
    errors: &mut Vec<Diagnostic>,
) {
    let mut depths: BTreeMap<&str, u32> = BTreeMap::new();
    for name in order {
        let named = named_by.get(name).into_iter().flatten();
        let below = named.filter_map(|name| depths.get(name)).max().copied().unwrap_or(0);
        let depth = below.saturating_add(1);
        depths.insert(name, depth);
        if depth == MAX_VARIABLE_DEPTH.saturating_add(1)
            && let Some(definition) = variables.get(name)
        {
            let message = format!("variable `{name}` is in a chain of variables that is too long");
            let error = Diagnostic::error(Code::Limit, &definition.location, message);
            errors.push(error.expected(format!("at most {MAX_VARIABLE_DEPTH}")));
        }
    }
}
