//! The one schema that the generator writes: `owner` is a text, where a resource has one.
//!
//! Otherwise a table that rejects denies every action, and no rule is looked at.

use wardgate_compiler::Enforcement;
use wardgate_engine::attr::Attr;
use wardgate_engine::request::Request;

use super::Oracle;
use super::policies::resource;

/// Returns true if a request about this kind is denied for its attributes. `scopes` are those to
/// search.
pub(super) fn rejects(
    oracle: &Oracle,
    request: &Request,
    (kind, version): (&str, &str),
    scopes: &[String],
) -> bool {
    let policies = &oracle.policies;
    let nearest = scopes.first().and_then(|scope| resource(policies, kind, version, scope));
    let root = resource(policies, kind, version, "");
    let has_schema = root.is_some_and(|policy| policy.schemas.resource.is_some());
    let fits = matches!(request.resource.attr.get("owner"), None | Some(Attr::String(_)));
    let enforced = oracle.options.schema_enforcement == Enforcement::Reject;
    enforced && nearest.is_some() && has_schema && !fits
}
