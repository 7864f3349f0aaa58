//! A question in whatever form a host has it, and the short way to its answer.
//!
//! The short way reads what the fast path names and nothing else. Whatever is odd about a request is left
//! to the general path, which reads all of it.

use wardgate_engine::attr::Attr;
use wardgate_engine::request::Request;

use crate::fast::index::Target;
use crate::fast::path::{Slot, SlotRoot};
use crate::field::{Field, Lookup};

/// A question about one action.
pub(crate) trait FastInput {
    /// What is asked about.
    fn target(&self) -> Target<'_>;

    /// The id of the principal.
    fn principal(&self) -> &str;

    /// The id of the resource.
    fn resource(&self) -> &str;

    /// The roles of the principal, in their order.
    fn roles(&self) -> impl Iterator<Item = &str>;

    /// The same, where they lie in a list as the engine has it.
    fn list_of_roles(&self) -> Option<&[String]> {
        None
    }

    /// Notes that a program took so many steps, and returns whether they were there to be taken.
    fn pays(&self, _steps: u32) -> bool {
        true
    }

    /// Follows a path of at least one name into the attributes of the principal.
    fn principal_attribute(&self, path: &[Box<str>]) -> SlotValue<'_>;

    /// Follows a path of at least one name into the attributes of the resource.
    fn resource_attribute(&self, path: &[Box<str>]) -> SlotValue<'_>;
}

/// A question that can be copied for the general path.
pub(crate) trait ToRequest: FastInput {
    /// Makes the request for the engine. Nothing if it is past the bounds of a request.
    fn request(&self) -> Option<Request>;
}

/// What stands in a slot.
#[derive(Clone, Copy)]
pub(crate) enum SlotValue<'a> {
    /// A value of the host, or that the last step finds nothing. It lies in memory as the field does, so
    /// that making it takes nothing.
    Field(Field<'a>),
    /// A list or an object of the engine.
    Attr(&'a Attr),
    /// The roles of the principal.
    Roles,
    /// A list or an object as JSON.
    Json(&'a str),
    /// A step before the last one fails, or the last one looks into a list.
    Broken,
    /// Something that only the general path reads.
    Unsupported,
}

/// Reads a slot.
#[inline]
pub(crate) fn read<'a>(input: &'a impl FastInput, slot: &Slot) -> SlotValue<'a> {
    let text = match slot.root {
        SlotRoot::PrincipalAttr => return input.principal_attribute(&slot.path),
        SlotRoot::ResourceAttr => return input.resource_attribute(&slot.path),
        SlotRoot::PrincipalRoles if slot.path.is_empty() => return SlotValue::Roles,
        SlotRoot::PrincipalRoles => return SlotValue::Broken,
        SlotRoot::PrincipalId => input.principal(),
        SlotRoot::ResourceKind => input.target().kind,
        SlotRoot::ResourceId => input.resource(),
    };
    below_text(text, &slot.path)
}

/// Text has no members.
#[inline]
const fn below_text<'a>(text: &'a str, path: &[Box<str>]) -> SlotValue<'a> {
    match path.len() {
        0 => SlotValue::Field(Field::Text(text)),
        1 => SlotValue::Field(Field::Missing),
        _ => SlotValue::Broken,
    }
}

/// Follows a path into an object.
#[inline]
pub(crate) fn follow<'a, L: Lookup + ?Sized>(object: &'a L, path: &[Box<str>]) -> SlotValue<'a> {
    match path.split_first() {
        // No fast path reads all attributes.
        None => SlotValue::Unsupported,
        Some((first, rest)) => follow_on(object.get(first), rest),
    }
}

/// Follows the rest of a path from what its beginning found.
#[inline]
pub(crate) fn follow_on<'a>(mut field: Field<'a>, rest: &[Box<str>]) -> SlotValue<'a> {
    for (left, name) in (0..rest.len()).rev().zip(rest) {
        field = match field {
            Field::Map(map) => map.get(name),
            Field::Missing | Field::List(_) => return SlotValue::Broken,
            // What is no object has no members.
            _ if left > 0 => return SlotValue::Broken,
            _ => return SlotValue::Field(Field::Missing),
        };
    }
    SlotValue::Field(field)
}
