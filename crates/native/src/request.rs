//! Requests for the engine: the form into which all others can be converted.
//!
//! A document is `{"principal": {"id", "roles", "attr"}, "action", "resource": {"kind", "id",
//! "attr"}}`, with optional `policyVersion` and `scope` of both, `auxData` and `requestId`. `null`
//! counts as missing.

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::{AuxData, Principal, Request, Resource};

use crate::error::RequestError;

/// Reads a document into a request that has its action as the only one.
pub(crate) fn of_document(document: &Attr) -> Result<Request, RequestError> {
    let root = Fields::read(document, "request", &ROOT)?;
    let mut request = read_common(&root)?;
    request.resource = resource(root.required(1)?)?;
    request.actions = vec![root.required_text(2)?];
    request.aux_data = aux_data(&root)?;
    Ok(request)
}

/// Reads a document with `actions` instead of the action.
pub(crate) fn of_check(document: &Attr) -> Result<Request, RequestError> {
    let root = Fields::read(document, "request", &CHECK)?;
    let mut request = read_common(&root)?;
    request.resource = resource(root.required(1)?)?;
    request.actions = root.texts(2)?;
    request.aux_data = aux_data(&root)?;
    Ok(request)
}

/// Reads a document with `resources` instead of the resource; the request then has no resource.
pub(crate) fn of_batch(document: &Attr) -> Result<(Request, Vec<Resource>), RequestError> {
    let root = Fields::read(document, "request", &BATCH)?;
    let mut request = read_common(&root)?;
    let resources = match root.required(1)? {
        Attr::List(items) => items.iter().map(resource).collect::<Result<_, _>>()?,
        other => return Err(wrong(root.path(1), "a list", other)),
    };
    request.actions = vec![root.required_text(2)?];
    request.aux_data = aux_data(&root)?;
    Ok((request, resources))
}

/// Reads the members that all forms have: principal and request id.
fn read_common(root: &Fields<'_, 5>) -> Result<Request, RequestError> {
    let principal = principal(root.required(0)?)?;
    Ok(Request { request_id: root.text(4)?, principal, ..Request::default() })
}

fn principal(value: &Attr) -> Result<Principal, RequestError> {
    let fields = Fields::read(value, "principal", &PRINCIPAL)?;
    Ok(Principal {
        id: fields.required_text(0)?,
        roles: fields.texts(1)?,
        attr: fields.object(2)?,
        policy_version: fields.text(3)?,
        scope: fields.text(4)?,
    })
}

fn resource(value: &Attr) -> Result<Resource, RequestError> {
    let fields = Fields::read(value, "resource", &RESOURCE)?;
    Ok(Resource {
        kind: fields.required_text(0)?,
        id: fields.required_text(1)?,
        attr: fields.object(2)?,
        policy_version: fields.text(3)?,
        scope: fields.text(4)?,
    })
}

fn aux_data(root: &Fields<'_, 5>) -> Result<AuxData, RequestError> {
    let Some(value) = root.field(3) else { return Ok(AuxData::default()) };
    let fields = Fields::read(value, "auxData", &AUX_DATA)?;
    Ok(AuxData { jwt: fields.object(0)?, jwts: fields.object(1)? })
}

/// The members of an object whose names are all known, in the order of the names.
struct Fields<'a, const N: usize> {
    paths: &'static [&'static str; N],
    values: [Option<&'a Attr>; N],
}

impl<'a, const N: usize> Fields<'a, N> {
    /// Reads the object `position`. `paths` are the paths of its fields.
    fn read(
        value: &'a Attr,
        position: &'static str,
        paths: &'static [&'static str; N],
    ) -> Result<Self, RequestError> {
        let Attr::Map(members) = value else { return Err(wrong(position, "an object", value)) };
        let mut values = [None; N];
        for (name, value) in members.entries() {
            let is_meant = |path: &&str| path.rsplit('.').next() == Some(name);
            let field = paths.iter().position(is_meant);
            let Some(field) = field.and_then(|field| values.get_mut(field)) else {
                return Err(RequestError::Unknown { position, name: name.to_string() });
            };
            *field = Some(value).filter(|value| **value != Attr::Null);
        }
        Ok(Self { paths, values })
    }

    fn path(&self, field: usize) -> &'static str {
        self.paths.get(field).copied().unwrap_or("request")
    }

    fn field(&self, field: usize) -> Option<&'a Attr> {
        self.values.get(field).copied().flatten()
    }

    fn required(&self, field: usize) -> Result<&'a Attr, RequestError> {
        self.field(field).ok_or(RequestError::Missing { field: self.path(field) })
    }

    fn required_text(&self, field: usize) -> Result<String, RequestError> {
        self.required(field)?;
        self.text(field)
    }

    /// Returns text, empty if there is none.
    fn text(&self, field: usize) -> Result<String, RequestError> {
        self.field(field).map_or(Ok(String::new()), |value| text(value, self.path(field)))
    }

    fn texts(&self, field: usize) -> Result<Vec<String>, RequestError> {
        match self.required(field)? {
            Attr::List(items) => items.iter().map(|item| text(item, self.path(field))).collect(),
            other => Err(wrong(self.path(field), "a list of text", other)),
        }
    }

    fn object(&self, field: usize) -> Result<AttrMap, RequestError> {
        match self.field(field) {
            None => Ok(AttrMap::new()),
            Some(Attr::Map(map)) => Ok(map.clone()),
            Some(other) => Err(wrong(self.path(field), "an object", other)),
        }
    }
}

fn text(value: &Attr, path: &'static str) -> Result<String, RequestError> {
    match value {
        Attr::String(text) => Ok(text.to_string()),
        other => Err(wrong(path, "text", other)),
    }
}

const fn wrong(field: &'static str, expected: &'static str, found: &Attr) -> RequestError {
    RequestError::Wrong { field, expected, found: word(found) }
}

/// Returns what a value is, for a message.
pub(crate) const fn word(found: &Attr) -> &'static str {
    match found {
        Attr::Null => "null",
        Attr::Bool(_) => "true or false",
        Attr::Number(_) => "a number",
        Attr::String(_) => "text",
        Attr::List(_) => "a list",
        Attr::Map(_) => "an object",
    }
}

const ROOT: [&str; 5] = ["principal", "resource", "action", "auxData", "requestId"];
const CHECK: [&str; 5] = ["principal", "resource", "actions", "auxData", "requestId"];
const BATCH: [&str; 5] = ["principal", "resources", "action", "auxData", "requestId"];
const PRINCIPAL: [&str; 5] = [
    "principal.id",
    "principal.roles",
    "principal.attr",
    "principal.policyVersion",
    "principal.scope",
];
const RESOURCE: [&str; 5] =
    ["resource.kind", "resource.id", "resource.attr", "resource.policyVersion", "resource.scope"];
const AUX_DATA: [&str; 2] = ["auxData.jwt", "auxData.jwts"];
