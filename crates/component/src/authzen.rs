//! Evaluation requests of the OpenID AuthZEN Authorization API 1.0.
//!
//! The subject becomes the principal here and nowhere else; `npm/src/authzen.ts` does the same. What a PEP
//! says of the context and of the action is found by conditions under `request.auxData.jwts`, as
//! `context.claims` and `action.claims`. `auxData.jwt` stays empty: nothing that was merely said may look like
//! the claims of a verified token.

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::decision::{Decision, Effect};
use wardgate_engine::request::{AuxData, Principal, Request, Resource};
use wardgate_engine::wire::Json;
use wardgate_native::documents;

use crate::failure::{Failure, Kind};
use crate::limits::{MAX_AUTHZEN_DEPTH, MAX_AUTHZEN_VALUES};

/// Reads an evaluation request. Members that are not known are passed over, as AuthZEN asks.
pub(crate) fn read(json: &[u8]) -> Result<Request, Failure> {
    let document = documents::attribute(json).map_err(|error| bad(error.to_string()))?;
    bounded(&document)?;
    let root = Place { path: "", map: object(&document, "the request")? };
    let subject = root.required("subject")?;
    let resource = root.required("resource")?;
    let action = root.required("action")?;
    Ok(Request {
        principal: principal(&subject)?,
        resource: resource_of(&resource)?,
        actions: vec![action.text("name")?],
        aux_data: aux_data(root.object("context")?, action.object("properties")?),
        ..Request::default()
    })
}

/// Writes the response to a request about one action.
pub(crate) fn response(decision: &Decision) -> String {
    let mut effects = decision.actions.iter().map(|action| action.effect);
    let mut json = Json::default();
    json.open('{');
    json.key("decision");
    json.boolean(effects.next() == Some(Effect::Allow));
    if !decision.outputs.is_empty() {
        json.key("context");
        json.open('{');
        json.key("outputs");
        json.open('[');
        decision.outputs.iter().for_each(|output| json.output(output));
        json.close(']');
        json.close('}');
    }
    json.close('}');
    json.finish()
}

fn principal(subject: &Place<'_>) -> Result<Principal, Failure> {
    let properties = subject.object("properties")?;
    let of = Place { path: "subject.properties", map: properties };
    let roles = match properties.get(ROLES) {
        Some(roles) => texts(roles)
            .ok_or_else(|| bad(format!("`{}` must be an array of strings", of.name(ROLES))))?,
        None => match properties.get("roles").and_then(texts) {
            Some(roles) => roles,
            None => vec![subject.text("type")?],
        },
    };
    subject.text("type")?;
    Ok(Principal {
        id: subject.text("id")?,
        roles,
        policy_version: of.optional(VERSION)?,
        scope: of.optional(SCOPE)?,
        attr: without(properties, &[ROLES, VERSION, SCOPE]),
    })
}

fn resource_of(resource: &Place<'_>) -> Result<Resource, Failure> {
    let properties = resource.object("properties")?;
    let of = Place { path: "resource.properties", map: properties };
    Ok(Resource {
        kind: resource.text("type")?,
        id: resource.text("id")?,
        policy_version: of.optional(VERSION)?,
        scope: of.optional(SCOPE)?,
        attr: without(properties, &[VERSION, SCOPE]),
    })
}

/// Both are there in any case, so that conditions may ask for what they hold.
fn aux_data(context: &AttrMap, action: &AttrMap) -> AuxData {
    let claims = |claims: &AttrMap| {
        Attr::Map([("claims".into(), Attr::Map(claims.clone()))].into_iter().collect())
    };
    let jwts = [("context".into(), claims(context)), ("action".into(), claims(action))];
    AuxData { jwt: AttrMap::new(), jwts: jwts.into_iter().collect() }
}

/// An object of the request.
struct Place<'a> {
    path: &'static str,
    map: &'a AttrMap,
}

impl<'a> Place<'a> {
    /// Returns an object that must be there.
    fn required(&self, name: &'static str) -> Result<Place<'a>, Failure> {
        let found = self.map.get(name).ok_or_else(|| self.wrong(name, "an object", None))?;
        Ok(Place { path: name, map: object(found, name)? })
    }

    /// Returns the object `name`, empty if there is none.
    fn object(&self, name: &str) -> Result<&'a AttrMap, Failure> {
        match self.map.get(name) {
            None | Some(Attr::Null) => Ok(&NOTHING),
            Some(Attr::Map(map)) => Ok(map),
            found => Err(self.wrong(name, "an object", found)),
        }
    }

    /// Returns text that must be there.
    fn text(&self, name: &str) -> Result<String, Failure> {
        match self.map.get(name) {
            Some(Attr::String(text)) => Ok(text.to_string()),
            found => Err(self.wrong(name, "a string", found)),
        }
    }

    /// Returns text, empty if there is none.
    fn optional(&self, name: &str) -> Result<String, Failure> {
        if self.map.get(name).is_none() { Ok(String::new()) } else { self.text(name) }
    }

    fn name(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    fn wrong(&self, name: &str, expected: &str, found: Option<&Attr>) -> Failure {
        let found = found.map_or("nothing", kind_of);
        bad(format!("`{}` must be {expected}, found {found}", self.name(name)))
    }
}

fn object<'a>(value: &'a Attr, name: &str) -> Result<&'a AttrMap, Failure> {
    match value {
        Attr::Map(map) => Ok(map),
        other => {
            let name = if name.contains(' ') { name.to_owned() } else { format!("`{name}`") };
            Err(bad(format!("{name} must be an object, found {}", kind_of(other))))
        }
    }
}

fn texts(value: &Attr) -> Option<Vec<String>> {
    let text = |item: &Attr| match item {
        Attr::String(text) => Some(text.to_string()),
        _ => None,
    };
    match value {
        Attr::List(items) => items.iter().map(text).collect(),
        _ => None,
    }
}

fn without(map: &AttrMap, names: &[&str]) -> AttrMap {
    let kept = map.entries().iter().filter(|(name, _)| !names.contains(&&**name));
    kept.cloned().collect()
}

/// Counts values level by level.
fn bounded(document: &Attr) -> Result<(), Failure> {
    let (mut level, mut values) = (vec![document], 0_usize);
    for _ in 0..=MAX_AUTHZEN_DEPTH {
        values = values.saturating_add(level.len());
        if values > MAX_AUTHZEN_VALUES {
            return Err(bad(format!("the request holds more than {MAX_AUTHZEN_VALUES} values")));
        }
        level = level.into_iter().flat_map(inside).collect();
        if level.is_empty() {
            return Ok(());
        }
    }
    Err(bad(format!("the request nests deeper than {MAX_AUTHZEN_DEPTH} levels")))
}

fn inside(value: &Attr) -> Vec<&Attr> {
    match value {
        Attr::List(items) => items.iter().collect(),
        Attr::Map(map) => map.entries().iter().map(|(_, value)| value).collect(),
        _ => Vec::new(),
    }
}

const fn kind_of(value: &Attr) -> &'static str {
    match value {
        Attr::Null => "null",
        Attr::Bool(_) => "a boolean",
        Attr::Number(_) => "a number",
        Attr::String(_) => "a string",
        Attr::List(_) => "an array",
        Attr::Map(_) => "an object",
    }
}

fn bad(message: String) -> Failure {
    Failure { kind: Kind::Request, code: "bad-request", message }
}

const ROLES: &str = "cerbos.roles";
const VERSION: &str = "cerbos.policyVersion";
const SCOPE: &str = "cerbos.scope";
static NOTHING: AttrMap = AttrMap::new();

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(json: &str, expected: &str) {
        let failure = read(json.as_bytes()).unwrap_err();
        assert_eq!((failure.code, failure.message.as_str()), ("bad-request", expected), "{json}");
    }

    fn evaluation(subject: &str, rest: &str) -> String {
        format!(
            r#"{{"subject": {subject}, "action": {{"name": "view"}}, "resource": {{"type": "album", "id": "a"}}{rest}}}"#
        )
    }

    fn roles(properties: &str) -> Vec<String> {
        let subject = format!(r#"{{"type": "user", "id": "ada", "properties": {properties}}}"#);
        read(evaluation(&subject, "").as_bytes()).unwrap().principal.roles
    }

    #[test]
    fn a_subject_becomes_the_principal() {
        let subject = r#"{"type": "user", "id": "ada", "properties": {"roles": ["member"], "team": "red",
            "cerbos.scope": "acme", "cerbos.policyVersion": "v2"}}"#;
        let context = r#", "context": {"ip": "10.0.0.1"}, "later": 1"#;
        let request = read(evaluation(subject, context).as_bytes()).unwrap();
        let Principal { id, policy_version, scope, roles, attr } = request.principal;
        assert_eq!([id, policy_version, scope].map(|text| text.to_string()), ["ada", "v2", "acme"]);
        assert_eq!(roles, ["member"]);
        let names: Vec<&str> = attr.entries().iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["roles", "team"]);
        assert_eq!((request.resource.kind.as_str(), request.resource.id.as_str()), ("album", "a"));
        assert_eq!(request.actions, ["view"]);
        assert!(request.aux_data.jwt.entries().is_empty());
        let names: Vec<&str> =
            request.aux_data.jwts.entries().iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["action", "context"]);
    }

    #[test]
    fn roles_are_looked_for_in_three_places() {
        assert_eq!(roles(r#"{"cerbos.roles": ["a"], "roles": ["b"]}"#), ["a"]);
        assert_eq!(roles(r#"{"roles": ["b"]}"#), ["b"]);
        assert_eq!(roles(r#"{"roles": "b"}"#), ["user"]);
        assert_eq!(roles("{}"), ["user"]);
        assert_eq!(roles("null"), ["user"]);
        assert!(roles(r#"{"roles": []}"#).is_empty());
    }

    #[test]
    fn what_is_no_evaluation_is_named() {
        refused("", "malformed JSON at byte 0: expected a value");
        refused("[]", "the request must be an object, found an array");
        refused("{}", "`subject` must be an object, found nothing");
        refused(&evaluation("1", ""), "`subject` must be an object, found a number");
        let subject = r#"{"type": "user", "id": 7}"#;
        refused(&evaluation(subject, ""), "`subject.id` must be a string, found a number");
        let subject = r#"{"id": "ada", "properties": {"roles": ["a"]}}"#;
        refused(&evaluation(subject, ""), "`subject.type` must be a string, found nothing");
        let subject = r#"{"type": "user", "id": "ada", "properties": {"cerbos.roles": "a"}}"#;
        let expected = "`subject.properties.cerbos.roles` must be an array of strings";
        refused(&evaluation(subject, ""), expected);
        let subject = r#"{"type": "user", "id": "ada"}"#;
        let context = r#", "context": []"#;
        refused(&evaluation(subject, context), "`context` must be an object, found an array");
    }

    #[test]
    fn depth_and_number_of_values_are_bounded() {
        let subject = r#"{"type": "user", "id": "ada"}"#;
        let nested = |depth: usize| {
            let list = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            evaluation(subject, &format!(r#", "context": {{"a": {list}}}"#))
        };
        assert!(read(nested(29).as_bytes()).is_ok());
        refused(&nested(40), "the request nests deeper than 32 levels");
        let many = format!("[{}0]", "0,".repeat(10_000));
        let many = evaluation(subject, &format!(r#", "context": {{"a": {many}}}"#));
        refused(&many, "the request holds more than 10000 values");
    }
}
