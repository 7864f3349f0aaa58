//! The values that a program reads from outside: the request, variables, the clock.
//!
//! An activation returns the same value for the same name throughout one check.

use super::error::{Answer, Error};
use super::pool::Root;
use super::time::Timestamp;
use super::value::{List, Map, Message, Str, Value};
use crate::attr::AttrMap;
use crate::request::Request;

/// The source of the values that a program reads.
pub trait Activation<'a> {
    /// Returns the value of a root. `name` is used for [`Root::Free`] alone: it is the variable's.
    fn root(&self, root: Root, name: &'a str) -> Value<'a>;

    /// Returns the value of a slot, or the error of reading it; `None` if the path has to be
    /// followed from its root.
    fn slot(&self, _id: u32) -> Option<Answer<'a>> {
        None
    }

    /// Returns true if the last step of a slot leads to a value; `None` if that has to be
    /// evaluated.
    fn has_slot(&self, _id: u32) -> Option<Result<bool, Error<'a>>> {
        None
    }

    /// Returns the value of variable `id` of the table, or the error of evaluating it.
    fn variable(&self, id: u32) -> Value<'a>;

    /// Returns the time of the check.
    fn now(&self) -> Timestamp;

    /// Returns the topics that are asked about, where the host describes them.
    #[cfg(feature = "observe")]
    fn topics(&self) -> Option<&dyn Topics> {
        None
    }
}

/// A set of topics of MQTT.
#[cfg(feature = "observe")]
pub trait Topics {
    /// Returns the part of the topics that the patterns match; the witness may be empty.
    fn matched_by(&self, patterns: &[wardgate_mqtt::Filter<'_>]) -> wardgate_mqtt::Cover;
}

/// The text of the error that stands for the topics of a host. No topic is like it.
#[cfg(feature = "observe")]
pub(crate) const TOPICS: &str = "\0";

/// Returns the value of a root that the request alone determines.
///
/// The derived roles and free variables are not in a request: for those roots it returns an error.
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
