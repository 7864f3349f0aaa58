//! The demonstration: two tenants share documents. See `tests/demo`.

use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};
use wardgate_compiler::Options;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::Request;

use crate::{cases, check, yaml};

/// The requests of the demonstration, and the table that they are for.
#[derive(Debug)]
pub struct Demo {
    /// The options under which the policies compile.
    pub options: Options,
    /// The time of every check.
    pub now: Timestamp,
    /// The requests in order.
    pub requests: Vec<Entry>,
}

/// One request of the demonstration.
#[derive(Debug)]
pub struct Entry {
    /// Its meaning, as a phrase.
    pub name: String,
    /// The principal, the action and the resource.
    pub subject: [String; 3],
    /// The request.
    pub request: Request,
    /// The same as JSON.
    pub json: Json,
    /// `allow` or `deny`.
    pub expect: String,
    /// The name of the rule that decides, if one does.
    pub rule: Option<String>,
}

/// Reads `requests.yaml` of the folder.
///
/// # Errors
/// If the file cannot be read, or a request names a principal or resource that is missing.
pub fn load(folder: &Path) -> Result<Demo, String> {
    let text =
        fs::read_to_string(folder.join("requests.yaml")).map_err(|error| error.to_string())?;
    let json = yaml::parse(&text)?;
    let options = json.get("options").ok_or("no `options`")?;
    let now = options.get("now").and_then(Json::as_str).ok_or("no `now`")?;
    let entries = json.get("requests").and_then(Json::as_array).into_iter().flatten();
    Ok(Demo {
        options: cases::options(options)?,
        now: cases::time(now)?,
        requests: entries.map(|entry| one(&json, entry)).collect::<Result<_, _>>()?,
    })
}

fn one(json: &Json, entry: &Json) -> Result<Entry, String> {
    let text = |key: &str| entry.get(key).and_then(Json::as_str).map(str::to_owned);
    let need = |key: &str| text(key).ok_or_else(|| format!("a request needs `{key}`"));
    let (principal, action, resource) = (need("principal")?, need("action")?, need("resource")?);
    let json = json!({
        "principal": named(json, "principals", &principal)?,
        "resource": named(json, "resources", &resource)?,
        "actions": [action],
    });
    Ok(Entry {
        name: need("name")?,
        request: check::request(&json)?,
        json,
        expect: need("expect")?,
        rule: text("rule"),
        subject: [principal, action, resource],
    })
}

/// Returns the object under `key` in `list`, with the key as its id.
fn named(json: &Json, list: &str, key: &str) -> Result<Json, String> {
    let mut found = json.get(list).and_then(|list| list.get(key)).cloned();
    let fields = found.as_mut().and_then(Json::as_object_mut);
    let fields = fields.ok_or_else(|| format!("`{key}` is none of the {list}"))?;
    fields.insert("id".to_owned(), key.into());
    Ok(Json::Object(fields.clone()))
}
