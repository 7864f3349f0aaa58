//! Requests for the engine: the form into which all others can be converted.
//!
//! A document is `{"principal": {"id", "roles", "attr"}, "action", "resource": {"kind", "id",
//! "attr"}}`, with optional `policyVersion` and `scope` of both, `auxData` and `requestId`. `null`
//! counts as missing.

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::{AuxData, Principal, Request, Resource};

use crate::error::RequestError;

/// Reads a document into a request that has its action as the only one.
pub(crate) fn of_document(document: Attr) -> Result<Request, RequestError> {
    let mut root = Fields::read(document, "request", &ROOT)?;
    let mut request = read_common(&mut root)?;
    request.resource = resource(root.required(1)?)?;
    request.actions = vec![root.required_text(2)?];
    request.aux_data = aux_data(&mut root)?;
    Ok(request)
}

/// Reads a document with `actions` instead of the action.
pub(crate) fn of_check(document: Attr) -> Result<Request, RequestError> {
    let mut root = Fields::read(document, "request", &CHECK)?;
    let mut request = read_common(&mut root)?;
    request.resource = resource(root.required(1)?)?;
    request.actions = root.texts(2)?;
    request.aux_data = aux_data(&mut root)?;
    Ok(request)
}

/// Reads a document with `resources` instead of the resource; the request then has no resource.
pub(crate) fn of_batch(document: Attr) -> Result<(Request, Vec<Resource>), RequestError> {
    let mut root = Fields::read(document, "request", &BATCH)?;
    let mut request = read_common(&mut root)?;
    let resources = match root.required(1)? {
        Attr::List(items) => items.into_iter().map(resource).collect::<Result<_, _>>()?,
        other => return Err(wrong(root.path(1), "a list", &other)),
    };
    request.actions = vec![root.required_text(2)?];
    request.aux_data = aux_data(&mut root)?;
    Ok((request, resources))
}

/// Reads the members that all forms have: principal and request id.
fn read_common(root: &mut Fields<5>) -> Result<Request, RequestError> {
    let principal = principal(root.required(0)?)?;
    Ok(Request { request_id: root.text(4)?, principal, ..Request::default() })
}

fn principal(value: Attr) -> Result<Principal, RequestError> {
    let mut fields = Fields::read(value, "principal", &PRINCIPAL)?;
    Ok(Principal {
        id: fields.required_text(0)?,
        roles: fields.texts(1)?,
        attr: fields.object(2)?,
        policy_version: fields.text(3)?,
        scope: fields.text(4)?,
    })
}

fn resource(value: Attr) -> Result<Resource, RequestError> {
    let mut fields = Fields::read(value, "resource", &RESOURCE)?;
    Ok(Resource {
        kind: fields.required_text(0)?,
        id: fields.required_text(1)?,
        attr: fields.object(2)?,
        policy_version: fields.text(3)?,
        scope: fields.text(4)?,
    })
}

fn aux_data(root: &mut Fields<5>) -> Result<AuxData, RequestError> {
    let Some(value) = root.take(3) else { return Ok(AuxData::default()) };
    let mut fields = Fields::read(value, "auxData", &AUX_DATA)?;
    Ok(AuxData { jwt: fields.object(0)?, jwts: fields.object(1)? })
}

/// The members of an object whose names are all known, in the order of the names. Each is taken once.
struct Fields<const N: usize> {
    paths: &'static [&'static str; N],
    values: [Option<Attr>; N],
}

impl<const N: usize> Fields<N> {
    /// Reads the object `position`. `paths` are the paths of its fields.
    fn read(
        value: Attr,
        position: &'static str,
        paths: &'static [&'static str; N],
    ) -> Result<Self, RequestError> {
        let members = match value {
            Attr::Map(members) => members,
            other => return Err(wrong(position, "an object", &other)),
        };
        let mut values = [const { None }; N];
        for (name, value) in members {
            let is_meant = |path: &&str| path.rsplit('.').next() == Some(&*name);
            let field = paths.iter().position(is_meant);
            let Some(field) = field.and_then(|field| values.get_mut(field)) else {
                return Err(RequestError::Unknown { position, name: name.into() });
            };
            *field = Some(value).filter(|value| *value != Attr::Null);
        }
        Ok(Self { paths, values })
    }

    fn path(&self, field: usize) -> &'static str {
        self.paths.get(field).copied().unwrap_or("request")
    }

    fn take(&mut self, field: usize) -> Option<Attr> {
        self.values.get_mut(field).and_then(Option::take)
    }

    fn required(&mut self, field: usize) -> Result<Attr, RequestError> {
        let path = self.path(field);
        self.take(field).ok_or(RequestError::Missing { field: path })
    }

    fn required_text(&mut self, field: usize) -> Result<String, RequestError> {
        text(self.required(field)?, self.path(field))
    }

    /// Returns text, empty if there is none.
    fn text(&mut self, field: usize) -> Result<String, RequestError> {
        let path = self.path(field);
        self.take(field).map_or(Ok(String::new()), |value| text(value, path))
    }

    fn texts(&mut self, field: usize) -> Result<Vec<String>, RequestError> {
        let path = self.path(field);
        match self.required(field)? {
            Attr::List(items) => items.into_iter().map(|item| text(item, path)).collect(),
            other => Err(wrong(path, "a list of text", &other)),
        }
    }

    fn object(&mut self, field: usize) -> Result<AttrMap, RequestError> {
        match self.take(field) {
            None => Ok(AttrMap::new()),
            Some(Attr::Map(map)) => Ok(map),
            Some(other) => Err(wrong(self.path(field), "an object", &other)),
        }
    }
}

fn text(value: Attr, path: &'static str) -> Result<String, RequestError> {
    match value {
        Attr::String(text) => Ok(text.into()),
        other => Err(wrong(path, "text", &other)),
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
