//! The floor: the rules by hand, on the requests that the engine takes.

use wardgate_engine::attr::Attr;
use wardgate_engine::request::Request;

use crate::measure::{Row, Side};
use crate::workload::{Asked, KIND_PREFIX, Workload};

/// The row of the hand-written rules.
pub(crate) fn row(workload: &Workload) -> Row<'_> {
    let requests: Vec<Request> = workload.requests.iter().map(Asked::request).collect();
    let kinds = workload.kinds;
    Row::new("hand-written", Side::Floor, move |at| {
        requests.get(at).is_some_and(|request| allows(kinds, request))
    })
}

/// Decides about the one action of `request`.
pub(crate) fn allows(kinds: usize, request: &Request) -> bool {
    let role = |wanted: &str| request.principal.roles.iter().any(|role| role == wanted);
    let flag = |name: &str| request.resource.attr.get(name) == Some(&Attr::Bool(true));
    let owns = || match request.resource.attr.get("owner") {
        Some(Attr::String(owner)) => **owner == *request.principal.id,
        _ => false,
    };
    match request.actions.first().map(String::as_str) {
        _ if !knows(kinds, &request.resource.kind) => false,
        Some("view") => role("viewer") || flag("public"),
        Some("list") => role("viewer"),
        Some("edit") => role("editor") && !flag("locked"),
        Some("delete") => owns() && !flag("locked"),
        Some("share") => owns(),
        _ => false,
    }
}

/// Whether there are rules for `kind`. Its number is read instead of a look-up in a set, which would
/// cost more than the rules.
fn knows(kinds: usize, kind: &str) -> bool {
    let number = kind.strip_prefix(KIND_PREFIX).and_then(|number| number.parse::<usize>().ok());
    number.is_some_and(|number| number < kinds)
}
