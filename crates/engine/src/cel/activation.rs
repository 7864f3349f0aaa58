//! Where the values come from that a program does not contain: the request, variables, the clock.
//!
//! An activation answers the same question the same way throughout one check.

use super::error::{Answer, Error};
use super::pool::Root;
use super::time::Timestamp;
use super::value::{List, Map, Message, Str, Value};
use crate::attr::AttrMap;
use crate::request::Request;

/// The source of what a program reads.
pub trait Activation<'a> {
    /// Returns the value of a root. `name` matters for [`Root::Free`] alone: it is the variable's.
    fn root(&self, root: Root, name: &'a str) -> Value<'a>;

    /// Returns the value of a slot, or the error of reading it, if it is known without following the
    /// path from its root.
    fn slot(&self, _id: u32) -> Option<Answer<'a>> {
        None
    }

    /// Returns whether the last step of a slot finds something, if that is known.
    fn has_slot(&self, _id: u32) -> Option<Result<bool, Error<'a>>> {
        None
    }

    /// Returns the value of variable `id` of the table, or the error that evaluating it gave.
    fn variable(&self, id: u32) -> Value<'a>;

    /// Returns the time of the check.
    fn now(&self) -> Timestamp;
}

/// Returns the value of a root that the request alone determines.
///
/// The derived roles and free variables are not in a request: those roots answer an error.
#[must_use]
pub fn request_root(request: &Request, root: Root) -> Value<'_> {
    let (principal, resource) = (&request.principal, &request.resource);
    match root {
        Root::PrincipalId => text(&principal.id),
        Root::PrincipalRoles => Value::List(List::Strings(&principal.roles)),
        Root::PrincipalAttr => map(&principal.attr),
        Root::PrincipalPolicyVersion => text(&principal.policy_version),
        Root::PrincipalScope => text(&principal.scope),
        Root::ResourceKind => text(&resource.kind),
        Root::ResourceId => text(&resource.id),
        Root::ResourceAttr => map(&resource.attr),
        Root::ResourcePolicyVersion => text(&resource.policy_version),
        Root::ResourceScope => text(&resource.scope),
        Root::AuxDataJwt => map(&request.aux_data.jwt),
        Root::AuxDataJwts => map(&request.aux_data.jwts),
        Root::Request => Value::Message(Message::Request(request)),
        Root::Principal => Value::Message(Message::Principal(principal)),
        Root::Resource => Value::Message(Message::Resource(resource)),
        Root::AuxData => Value::Message(Message::AuxData(&request.aux_data)),
        Root::EffectiveDerivedRoles | Root::Runtime => {
            Value::Error(Error::NoSuchAttribute("runtime"))
        }
        Root::Free => Value::Error(Error::NoSuchAttribute("")),
    }
}

fn text(content: &str) -> Value<'_> {
    Value::String(Str::Borrowed(content))
}

fn map(attrs: &AttrMap) -> Value<'_> {
    Value::Map(Map::Attrs(attrs))
}
