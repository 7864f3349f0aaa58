//! `request`, its parts, and `runtime`: values with a fixed set of fields.
//!
//! A field is selected by its protobuf name or its JSON name. As in proto3, a string or list field
//! is present when it is not empty, and reading an absent one gives its default.

use super::{Error, List, Map, Str, Value};
use crate::attr::AttrMap;
use crate::request::{AuxData, Principal, Request, Resource};

/// A message that expressions can read.
#[derive(Clone, Debug)]
pub enum Message<'a> {
    /// `request`.
    Request(&'a Request),
    /// `request.principal`.
    Principal(&'a Principal),
    /// `request.resource`.
    Resource(&'a Resource),
    /// `request.auxData`.
    AuxData(&'a AuxData),
    /// `runtime`, with the effective derived roles.
    Runtime(List<'a>),
}

impl<'a> Message<'a> {
    /// Returns the protobuf name of the message's type.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Request(_) => "cerbos.engine.v1.Request",
            Self::Principal(_) => "cerbos.engine.v1.Request.Principal",
            Self::Resource(_) => "cerbos.engine.v1.Request.Resource",
            Self::AuxData(_) => "cerbos.engine.v1.AuxData",
            Self::Runtime(_) => "cerbos.engine.v1.Runtime",
        }
    }

    /// Returns the value of field `name`.
    ///
    /// # Errors
    ///
    /// The message has no such field.
    pub fn field(&self, name: &str) -> Result<Value<'a>, Error<'a>> {
        let value = match self {
            Self::Request(request) => request_field(request, name),
            Self::Principal(principal) => principal_field(principal, name),
            Self::Resource(resource) => resource_field(resource, name),
            Self::AuxData(aux) => aux_data_field(aux, name),
            Self::Runtime(roles) => {
                matches!(name, "effectiveDerivedRoles" | "effective_derived_roles")
                    .then(|| Value::List(roles.clone()))
            }
        };
        value.ok_or_else(|| Error::text(format_args!("no such field '{name}'")))
    }

    /// Returns true if field `name` is present.
    ///
    /// # Errors
    ///
    /// The message has no such field.
    pub fn has(&self, name: &str) -> Result<bool, Error<'a>> {
        // Cerbos reports the derived roles as set even when there are none.
        if let Self::Runtime(_) = self {
            return self.field(name).map(|_| true);
        }
        self.field(name).map(|value| is_present(&value))
    }

    /// Returns the fields that are present, with their JSON names.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, Value<'a>)> + '_ {
        let names: &[&'static str] = match self {
            Self::Request(_) => &["principal", "resource", "auxData"],
            Self::Principal(_) => &["id", "roles", "attr", "policyVersion", "scope"],
            Self::Resource(_) => &["kind", "id", "attr", "policyVersion", "scope"],
            Self::AuxData(_) => &["jwt", "jwts"],
            Self::Runtime(_) => &["effectiveDerivedRoles"],
        };
        let present = |name: &'static str| {
            self.field(name).ok().filter(is_present).map(|value| (name, value))
        };
        names.iter().copied().filter_map(present)
    }
}

pub(crate) fn is_present(value: &Value<'_>) -> bool {
    match value {
        Value::String(text) => !text.is_empty(),
        Value::List(list) => !list.is_empty(),
        Value::Map(map) => !map.is_empty(),
        // A request without verified claims has no auxData at all.
        Value::Message(Message::AuxData(aux)) => {
            !aux.jwt.entries().is_empty() || !aux.jwts.entries().is_empty()
        }
        _ => true,
    }
}

fn aux_data_field<'a>(aux: &'a AuxData, name: &str) -> Option<Value<'a>> {
    match name {
        "jwt" => Some(map(&aux.jwt)),
        "jwts" => Some(map(&aux.jwts)),
        _ => None,
    }
}

fn request_field<'a>(request: &'a Request, name: &str) -> Option<Value<'a>> {
    Some(Value::Message(match name {
        "principal" => Message::Principal(&request.principal),
        "resource" => Message::Resource(&request.resource),
        "auxData" | "aux_data" => Message::AuxData(&request.aux_data),
        _ => return None,
    }))
}

fn principal_field<'a>(principal: &'a Principal, name: &str) -> Option<Value<'a>> {
    Some(match name {
        "id" => text(&principal.id),
        "roles" => Value::List(List::Strings(&principal.roles)),
        "attr" => map(&principal.attr),
        "policyVersion" | "policy_version" => text(&principal.policy_version),
        "scope" => text(&principal.scope),
        _ => return None,
    })
}

fn resource_field<'a>(resource: &'a Resource, name: &str) -> Option<Value<'a>> {
    Some(match name {
        "kind" => text(&resource.kind),
        "id" => text(&resource.id),
        "attr" => map(&resource.attr),
        "policyVersion" | "policy_version" => text(&resource.policy_version),
        "scope" => text(&resource.scope),
        _ => return None,
    })
}

fn text(content: &str) -> Value<'_> {
    Value::String(Str::Borrowed(content))
}

fn map(attrs: &AttrMap) -> Value<'_> {
    Value::Map(Map::Attrs(attrs))
}
