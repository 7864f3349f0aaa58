//! Reads a JavaScript object into a request.
//!
//! The names are those of the Cerbos API. A name that is not known is an error: a misspelt `attr` that
//! passed unseen would change the decision.

use alloc::vec;

use wardgate_engine::request::{AuxData, Principal, Request, Resource};
use wasm_bindgen::JsValue;

use crate::failure::Failure;
use crate::path::Path;
use crate::value::Reader;

/// How a call names what the principal wants to do.
#[derive(Clone, Copy)]
pub(crate) enum Asked {
    /// One, under `action`.
    Action,
    /// Several, under `actions`.
    Actions,
}

/// Reads a request.
pub(crate) fn read(value: &JsValue, asked: Asked) -> Result<Request, Failure> {
    let mut reader = Reader::new();
    let root = Path::ROOT;
    let fields = reader.fields(value, &root, asked.fields())?;
    Ok(Request {
        request_id: reader.optional_string(fields.member("requestId"), &root.key("requestId"))?,
        principal: principal(&mut reader, fields.member("principal"), &root.key("principal"))?,
        resource: resource(&mut reader, fields.member("resource"), &root.key("resource"))?,
        actions: match asked {
            Asked::Action => vec![reader.string(fields.member("action"), &root.key("action"))?],
            Asked::Actions => reader.strings(fields.member("actions"), &root.key("actions"))?,
        },
        aux_data: aux_data(&mut reader, fields.member("auxData"), &root.key("auxData"))?,
    })
}

impl Asked {
    fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Action => &["principal", "resource", "action", "auxData", "requestId"],
            Self::Actions => &["principal", "resource", "actions", "auxData", "requestId"],
        }
    }
}

fn principal(reader: &mut Reader, value: &JsValue, path: &Path<'_>) -> Result<Principal, Failure> {
    let fields = reader.fields(value, path, &["id", "roles", "attr", "policyVersion", "scope"])?;
    Ok(Principal {
        id: reader.string(fields.member("id"), &path.key("id"))?,
        policy_version: reader
            .optional_string(fields.member("policyVersion"), &path.key("policyVersion"))?,
        scope: reader.optional_string(fields.member("scope"), &path.key("scope"))?,
        roles: reader.strings(fields.member("roles"), &path.key("roles"))?,
        attr: reader.attributes(fields.member("attr"), &path.key("attr"))?,
    })
}

fn resource(reader: &mut Reader, value: &JsValue, path: &Path<'_>) -> Result<Resource, Failure> {
    let fields = reader.fields(value, path, &["kind", "id", "attr", "policyVersion", "scope"])?;
    Ok(Resource {
        kind: reader.string(fields.member("kind"), &path.key("kind"))?,
        policy_version: reader
            .optional_string(fields.member("policyVersion"), &path.key("policyVersion"))?,
        id: reader.string(fields.member("id"), &path.key("id"))?,
        scope: reader.optional_string(fields.member("scope"), &path.key("scope"))?,
        attr: reader.attributes(fields.member("attr"), &path.key("attr"))?,
    })
}

fn aux_data(reader: &mut Reader, value: &JsValue, path: &Path<'_>) -> Result<AuxData, Failure> {
    if value.is_undefined() {
        return Ok(AuxData::default());
    }
    let fields = reader.fields(value, path, &["jwt", "jwts"])?;
    Ok(AuxData {
        jwt: reader.attributes(fields.member("jwt"), &path.key("jwt"))?,
        jwts: reader.attributes(fields.member("jwts"), &path.key("jwts"))?,
    })
}
