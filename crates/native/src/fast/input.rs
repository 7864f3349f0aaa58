//! A question in any form of a host, as the fast path reads it.
//!
//! The fast path reads the slots that it names and no others. An unusual request is left to the
//! general path, which reads all of it.

use wardgate_engine::attr::Attr;
use wardgate_engine::request::Request;

use crate::fast::index::Target;
use crate::fast::path::{Slot, SlotRoot};
use crate::field::{Field, Lookup};

/// A question about one action.
pub(crate) trait FastInput {
    /// Returns kind, version, scope and action.
    fn target(&self) -> Target<'_>;

    /// Returns the id of the principal.
    fn principal(&self) -> &str;

    /// Returns the scope of the principal.
    fn principal_scope(&self) -> &str;

    /// Returns the id of the resource.
    fn resource(&self) -> &str;

    /// Returns the roles of the principal, in their order.
    fn roles(&self) -> impl Iterator<Item = &str>;

    /// Returns the roles as a list of the engine, if the host has one.
    fn list_of_roles(&self) -> Option<&[String]> {
        None
    }

    /// Notes that a program took so many steps, and returns true if they were left.
    fn pays(&self, _steps: u32) -> bool {
        true
    }

    /// Follows a path of at least one name into the attributes of the principal.
    fn principal_attribute(&self, path: &[Box<str>]) -> SlotValue<'_>;

    /// Follows a path of at least one name into the attributes of the resource.
    fn resource_attribute(&self, path: &[Box<str>]) -> SlotValue<'_>;

    /// Returns true if `is_known` holds for the name of every attribute below `root`. Without a
    /// method of the host, questions about all names are for the general path.
    fn all_names(&self, _root: SlotRoot, _is_known: &mut dyn FnMut(&str) -> bool) -> bool {
        false
    }

    /// Follows a path of at least one name into the claims of the token of the auxiliary data.
    /// Without a method of the host, questions about them are for the general path.
    fn claim(&self, _path: &[Box<str>]) -> SlotValue<'_> {
        SlotValue::Unsupported
    }

    /// Follows a path of at least one name into the tokens of the auxiliary data.
    fn token(&self, _path: &[Box<str>]) -> SlotValue<'_> {
        SlotValue::Unsupported
    }
}

/// A question that can be copied for the general path.
pub(crate) trait ToRequest: FastInput {
    /// Returns the request for the engine, or `None` if it exceeds the bounds of a request.
    fn request(&self) -> Option<Request>;
}

/// The value of a slot.
#[derive(Clone, Copy)]
pub(crate) enum SlotValue<'a> {
    /// A value of the host, or [`Field::Missing`] if the last step finds none. It has the memory
    /// layout of the field, so that making it costs no instruction.
    Field(Field<'a>),
    /// A list or an object of the engine.
    Attr(&'a Attr),
    /// The roles of the principal.
    Roles,
    /// A list or an object as JSON.
    Json(&'a str),
    /// A step before the last one fails, or the last one looks into a list.
    Broken,
    /// A value that only the general path reads.
    Unsupported,
}

/// Returns true if `is_known` holds for the name of every member.
pub(crate) fn all_names_of<L: Lookup + ?Sized>(
    object: &L,
    is_known: &mut dyn FnMut(&str) -> bool,
) -> bool {
    let mut are_known = true;
    object.each(&mut |name, field| {
        are_known = are_known && (matches!(field, Field::Missing) || is_known(name));
    });
    are_known
}

/// Reads a slot: its value, or the result of its test.
#[inline]
pub(crate) fn read<'a>(input: &'a impl FastInput, slot: &Slot) -> SlotValue<'a> {
    match &slot.test {
        None => read_value(input, slot),
        Some(_) => read_derived(input, slot),
    }
}

/// Returns the result of the test of a slot; [`SlotValue::Unsupported`] if it has none.
pub(crate) fn read_derived<'r>(input: &impl FastInput, slot: &Slot) -> SlotValue<'r> {
    match &slot.test {
        None => SlotValue::Unsupported,
        Some(test) => test.result(read_value(input, slot), input),
    }
}

#[inline]
fn read_value<'a>(input: &'a impl FastInput, slot: &Slot) -> SlotValue<'a> {
    read_path(input, slot.root, &slot.path)
}

/// Reads the value at the end of a path.
#[inline]
pub(crate) fn read_path<'a>(
    input: &'a impl FastInput,
    root: SlotRoot,
    path: &[Box<str>],
) -> SlotValue<'a> {
    let text = match root {
        SlotRoot::PrincipalAttr => return input.principal_attribute(path),
        SlotRoot::ResourceAttr => return input.resource_attribute(path),
        SlotRoot::Claims => return input.claim(path),
        SlotRoot::Tokens => return input.token(path),
        SlotRoot::PrincipalRoles if path.is_empty() => return SlotValue::Roles,
        SlotRoot::PrincipalRoles => return SlotValue::Broken,
        SlotRoot::PrincipalId => input.principal(),
        SlotRoot::ResourceKind => input.target().kind,
        SlotRoot::ResourceId => input.resource(),
    };
    below_text(text, path)
}

/// Returns the value at the end of a path that begins at text, which has no members.
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

/// Returns the value at the end of a path of at least one name into an object without members.
#[inline]
pub(crate) const fn follow_nothing<'a>(path: &[Box<str>]) -> SlotValue<'a> {
    match path.len() {
        1 => SlotValue::Field(Field::Missing),
        _ => SlotValue::Broken,
    }
}

/// Follows the rest of a path from a field.
#[inline]
pub(crate) fn follow_on<'a>(mut field: Field<'a>, rest: &[Box<str>]) -> SlotValue<'a> {
    for (left, name) in (0..rest.len()).rev().zip(rest) {
        field = match field {
            Field::Map(map) => map.get(name),
            Field::Missing | Field::List(_) => return SlotValue::Broken,
            // A value other than an object has no members.
            _ if left > 0 => return SlotValue::Broken,
            _ => return SlotValue::Field(Field::Missing),
        };
    }
    SlotValue::Field(field)
}
