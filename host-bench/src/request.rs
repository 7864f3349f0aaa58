//! The parts of the engine's requests that rows and hand-written rules read.

use wardgate_engine::attr::Attr;
use wardgate_engine::request::Request;

/// Returns the only action of a request.
pub(crate) fn action(request: &Request) -> &str {
    request.actions.first().map_or("", String::as_str)
}

/// Returns true if the principal has a role.
pub(crate) fn has_role(request: &Request, wanted: &str) -> bool {
    request.principal.roles.iter().any(|role| role == wanted)
}

/// Returns true if an attribute of the resource is true.
pub(crate) fn has_flag(request: &Request, name: &str) -> bool {
    request.resource.attr.get(name) == Some(&Attr::Bool(true))
}

/// Returns true if the principal is the owner of the resource.
pub(crate) fn owns(request: &Request) -> bool {
    text(request.resource.attr.get("owner")) == request.principal.id
}

/// Returns the text of an attribute; an empty one if it is no text.
pub(crate) fn text(attr: Option<&Attr>) -> &str {
    match attr {
        Some(Attr::String(text)) => text,
        _ => "",
    }
}
