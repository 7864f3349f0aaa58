//! Reads Cerbos's check inputs from JSON into requests.

use serde_json::Value as Json;
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::{AuxData, Principal, Request, Resource};
use wardgate_native::{PrincipalRef, Question, ResourceRef};

/// Reads a check input.
///
/// # Errors
/// If a field that must be text, or a list of text, is something else.
pub fn request(json: &Json) -> Result<Request, String> {
    let principal = json.get("principal").unwrap_or(&Json::Null);
    let resource = json.get("resource").unwrap_or(&Json::Null);
    Ok(Request {
        request_id: word(json, "requestId")?,
        principal: Principal {
            id: word(principal, "id")?,
            policy_version: word(principal, "policyVersion")?,
            scope: word(principal, "scope")?,
            roles: words(principal, "roles")?,
            attr: attributes(principal.get("attr")),
        },
        resource: Resource {
            kind: word(resource, "kind")?,
            policy_version: word(resource, "policyVersion")?,
            id: word(resource, "id")?,
            scope: word(resource, "scope")?,
            attr: attributes(resource.get("attr")),
        },
        actions: words(json, "actions")?,
        aux_data: AuxData {
            jwt: attributes(json.pointer("/auxData/jwt")),
            jwts: attributes(json.pointer("/auxData/jwts")),
        },
    })
}

/// Returns the question about one action by fields, which cannot carry auxiliary data.
#[must_use]
pub fn question<'a>(
    request: &'a Request,
    action: &'a str,
) -> Question<'a, String, AttrMap, AttrMap> {
    let Request { principal, resource, .. } = request;
    Question {
        principal: PrincipalRef {
            id: &principal.id,
            roles: &principal.roles,
            attributes: &principal.attr,
            policy_version: &principal.policy_version,
            scope: &principal.scope,
        },
        action,
        resource: ResourceRef {
            kind: &resource.kind,
            id: &resource.id,
            attributes: &resource.attr,
            policy_version: &resource.policy_version,
            scope: &resource.scope,
        },
    }
}

/// Returns a check input with the field names that hosts take. Protobuf's JSON has two spellings,
/// `policyVersion` and `policy_version`, and the corpora use both.
#[must_use]
pub fn normalised(input: &Json) -> Json {
    let Json::Object(fields) = input else { return input.clone() };
    let message = |(name, value): (&String, &Json)| {
        let name = camel_case(name);
        let value = match name.as_str() {
            "principal" | "resource" | "auxData" => normalised(value),
            _ => value.clone(),
        };
        (name, value)
    };
    fields.iter().map(message).collect()
}

/// Returns the field called `name` in either spelling.
#[must_use]
pub fn field<'a>(message: &'a Json, name: &str) -> Option<&'a Json> {
    let fields = message.as_object()?;
    fields.iter().find(|(spelt, _)| camel_case(spelt) == name).map(|(_, value)| value)
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |joined, word| {
        let mut letters = word.chars();
        joined
            + &letters.next().map(|c| c.to_ascii_uppercase().to_string()).unwrap_or_default()
            + letters.as_str()
    })
}

fn word(json: &Json, key: &str) -> Result<String, String> {
    match json.get(key) {
        None | Some(Json::Null) => Ok(String::new()),
        Some(Json::String(text)) => Ok(text.clone()),
        Some(other) => Err(format!("`{key}`: expected text, found {other}")),
    }
}

fn words(json: &Json, key: &str) -> Result<Vec<String>, String> {
    let items = json.get(key).and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    let text = |item: &Json| {
        item.as_str()
            .map(str::to_owned)
            .ok_or_else(|| format!("`{key}`: expected text, found {item}"))
    };
    items.iter().map(text).collect()
}

/// Makes attributes of the members of an object.
pub fn attributes(json: Option<&Json>) -> AttrMap {
    let entries = json.and_then(Json::as_object).into_iter().flatten();
    entries.map(|(key, value)| (key.as_str().into(), attribute(value))).collect()
}

/// Makes an attribute of JSON; numbers become doubles, as in the Cerbos API.
pub fn attribute(json: &Json) -> Attr {
    match json {
        Json::Null => Attr::Null,
        Json::Bool(value) => Attr::Bool(*value),
        Json::Number(value) => Attr::Number(value.as_f64().unwrap_or(f64::NAN)),
        Json::String(text) => Attr::String(text.as_str().into()),
        Json::Array(items) => Attr::List(items.iter().map(attribute).collect()),
        Json::Object(_) => Attr::Map(attributes(Some(json))),
    }
}
