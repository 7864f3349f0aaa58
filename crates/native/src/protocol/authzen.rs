//! The OpenID AuthZEN Authorization API 1.0: the meaning of its requests, and its responses.
//!
//! The subject becomes the principal in `convert` and nowhere else;
//! `npm/src/authzen/authzen-decide.ts` does the same. Conditions find the context of a request and
//! the properties of its action under `request.auxData.jwts`, as `context.claims` and
//! `action.claims`. `auxData.jwt` stays empty: data that was not verified must not look like the
//! claims of a verified token.
//!
//! There is no HTTP here. Unknown members are ignored, as AuthZEN requires.

mod answer;
mod convert;
mod entity;
mod expression;
pub(crate) mod fast;
mod limits;
mod many;
mod read;
mod requests;
mod search;

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use wardgate_engine::attr::AttrMap;
use wardgate_engine::request::Request;

pub use answer::{response, write_answer, write_refusal};
pub use convert::{Verify, aux_data, principal, resource};
pub use entity::{Action, Entity};
pub use expression::Shape;
pub use many::{Evaluations, Semantic, Shared};
pub use requests::Requests;
pub use search::{
    Basis, Page, Search, SearchKind, SearchResults, SearchRun, SearchRuns, Verdict, Window, scan,
};

use limits::{MAX_VALUES, MAX_VALUES_OF_MANY};
use read::Object;

/// One question: may the subject perform the action on the resource? Several questions of one
/// request share the members that they do not name themselves.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The subject, which becomes the principal.
    pub subject: Arc<Entity>,
    /// The action.
    pub action: Arc<Action>,
    /// The resource.
    pub resource: Arc<Entity>,
    /// The context of the request.
    pub context: Arc<AttrMap>,
}

/// The entities that a host knows, with their properties.
pub trait Directory {
    /// Returns the properties of a subject, or `None` if it is not known.
    fn subject(&self, kind: &str, id: &str) -> Option<&AttrMap>;

    /// Returns the properties of a resource, or `None` if it is not known.
    fn resource(&self, kind: &str, id: &str) -> Option<&AttrMap>;

    /// Returns true if the host has no directory. Entities then have the properties in the request.
    fn is_empty(&self) -> bool {
        false
    }
}

/// The directory of a host without one.
#[derive(Clone, Copy, Debug)]
pub struct NoDirectory;

/// A part of a request, or why the request cannot be answered.
type Result<T, E = AuthzenError> = std::result::Result<T, E>;

/// The error of a request that cannot be answered, in one sentence for the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthzenError(String);

/// Reads an evaluation request.
///
/// ```
/// use wardgate_native::protocol::authzen::{NoDirectory, evaluation};
///
/// let evaluation = evaluation(
///     br#"{
///         "subject": { "type": "user", "id": "ada", "properties": { "roles": ["member"] } },
///         "action": { "name": "view" },
///         "resource": { "type": "document", "id": "d1" }
///     }"#,
/// )?;
/// let request = evaluation.request(&NoDirectory)?;
/// assert_eq!(request.principal.roles, ["member"]);
/// assert_eq!(request.actions, ["view"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The text is not JSON, or not an evaluation request.
pub fn evaluation(json: &[u8]) -> Result<Evaluation, AuthzenError> {
    let document = read::document(json, MAX_VALUES)?;
    Evaluation::read(&read::root(&document)?)
}

/// Reads a request for several evaluations.
///
/// ```
/// use wardgate_native::protocol::authzen::{Evaluations, evaluations};
///
/// let evaluations = evaluations(
///     br#"{
///         "subject": { "type": "user", "id": "ada" },
///         "action": { "name": "view" },
///         "evaluations": [
///             { "resource": { "type": "document", "id": "d1" } },
///             { "resource": { "type": "document", "id": "d2" } }
///         ]
///     }"#,
/// )?;
/// let Evaluations::Many { items, .. } = evaluations else { panic!("not a list") };
/// assert_eq!(items.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The text is not JSON, or not such a request. An error in one of the evaluations is its item in
/// the list.
pub fn evaluations(json: &[u8]) -> Result<Evaluations, AuthzenError> {
    let document = read::document(json, MAX_VALUES_OF_MANY)?;
    Evaluations::read(&read::root(&document)?)
}

/// Reads a search for subjects, resources or actions.
///
/// ```
/// use wardgate_native::protocol::authzen::{SearchKind, search};
///
/// let search = search(
///     br#"{
///         "subject": { "type": "user", "id": "ada" },
///         "action": { "name": "view" },
///         "resource": { "type": "document" }
///     }"#,
///     SearchKind::Resources,
/// )?;
/// assert_eq!(search.kind(), "document");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The text is not JSON, or not a search.
pub fn search(json: &[u8], search_kind: SearchKind) -> Result<Search, AuthzenError> {
    let document = read::document(json, MAX_VALUES_OF_MANY)?;
    Search::read(&read::root(&document)?, search_kind)
}

impl Evaluation {
    fn read(root: &Object<'_>) -> Result<Self, AuthzenError> {
        let subject = root.required("subject")?;
        let resource = root.required("resource")?;
        let action = root.required("action")?;
        Ok(Self {
            action: Arc::new(Action::read(&action)?),
            subject: Arc::new(Entity::read(&subject)?),
            resource: Arc::new(Entity::read(&resource)?),
            context: Arc::new(root.object("context")?.clone()),
        })
    }

    /// Returns the request that this question means, for hosts that verify no tokens. The directory
    /// supplies the properties that the question does not name.
    ///
    /// # Errors
    /// A property that selects roles or policies has a wrong value.
    pub fn request(&self, directory: &dyn Directory) -> Result<Request, AuthzenError> {
        Ok(Request {
            principal: principal(&self.subject, directory)?,
            resource: resource(&self.resource, directory)?,
            actions: vec![self.action.name.clone()],
            aux_data: aux_data(&self.context, &self.action.properties),
            ..Request::default()
        })
    }
}

impl Directory for NoDirectory {
    fn subject(&self, _: &str, _: &str) -> Option<&AttrMap> {
        None
    }

    fn resource(&self, _: &str, _: &str) -> Option<&AttrMap> {
        None
    }

    fn is_empty(&self) -> bool {
        true
    }
}

impl AuthzenError {
    /// Returns the error with one sentence for the caller.
    #[must_use]
    pub const fn new(message: String) -> Self {
        Self(message)
    }
}

impl fmt::Display for AuthzenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for AuthzenError {}

#[cfg(test)]
mod tests {
    use wardgate_engine::request::Principal;

    use super::*;

    fn read(json: &str) -> Result<Request, AuthzenError> {
        evaluation(json.as_bytes())?.request(&NoDirectory)
    }

    fn refused(json: &str, expected: &str) {
        let failure = read(json).unwrap_err();
        assert_eq!(failure.to_string(), expected, "{json}");
    }

    fn evaluation_json(subject: &str, rest: &str) -> String {
        format!(
            r#"{{"subject": {subject}, "action": {{"name": "view"}}, "resource": {{"type": "album", "id": "a"}}{rest}}}"#
        )
    }

    fn roles(properties: &str) -> Vec<String> {
        let subject = format!(r#"{{"type": "user", "id": "ada", "properties": {properties}}}"#);
        read(&evaluation_json(&subject, "")).unwrap().principal.roles
    }

    #[test]
    fn a_subject_becomes_the_principal() {
        let subject = r#"{"type": "user", "id": "ada", "properties": {"roles": ["member"], "team": "red",
            "cerbos.scope": "acme", "cerbos.policyVersion": "v2"}}"#;
        let context = r#", "context": {"ip": "10.0.0.1"}, "later": 1"#;
        let request = read(&evaluation_json(subject, context)).unwrap();
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
    fn roles_come_from_one_of_three_members() {
        assert_eq!(roles(r#"{"cerbos.roles": ["a"], "roles": ["b"]}"#), ["a"]);
        assert_eq!(roles(r#"{"roles": ["b"]}"#), ["b"]);
        assert_eq!(roles(r#"{"roles": "b"}"#), ["user"]);
        assert_eq!(roles("{}"), ["user"]);
        assert_eq!(roles("null"), ["user"]);
        assert!(roles(r#"{"roles": []}"#).is_empty());
    }

    #[test]
    fn errors_name_the_faulty_member() {
        refused("", "malformed JSON at byte 0: expected a value");
        refused("[]", "the request must be an object, found an array");
        refused("{}", "`subject` must be an object, found nothing");
        refused(&evaluation_json("1", ""), "`subject` must be an object, found a number");
        let subject = r#"{"type": "user", "id": 7}"#;
        refused(&evaluation_json(subject, ""), "`subject.id` must be a string, found a number");
        let subject = r#"{"id": "ada", "properties": {"roles": ["a"]}}"#;
        refused(&evaluation_json(subject, ""), "`subject.type` must be a string, found nothing");
        let subject = r#"{"type": "user", "id": "ada", "properties": {"cerbos.roles": "a"}}"#;
        let expected = "`subject.properties.cerbos.roles` must be an array of strings";
        refused(&evaluation_json(subject, ""), expected);
        let subject = r#"{"type": "user", "id": "ada"}"#;
        let context = r#", "context": []"#;
        refused(&evaluation_json(subject, context), "`context` must be an object, found an array");
    }

    #[test]
    fn names_are_bounded() {
        let named = |length: usize| {
            evaluation_json(&format!(r#"{{"type": "user", "id": "{}"}}"#, "a".repeat(length)), "")
        };
        assert!(read(&named(16 << 10)).is_ok());
        let expected = "`subject.id` must have at most 16384 bytes, found 16385";
        refused(&named((16 << 10) + 1), expected);
    }

    #[test]
    fn depth_and_number_of_values_are_bounded() {
        let subject = r#"{"type": "user", "id": "ada"}"#;
        let nested = |depth: usize| {
            let list = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            evaluation_json(subject, &format!(r#", "context": {{"a": {list}}}"#))
        };
        assert!(read(&nested(29)).is_ok());
        refused(&nested(40), "the request nests deeper than 32 levels");
        let many = format!("[{}0]", "0,".repeat(10_000));
        let many = evaluation_json(subject, &format!(r#", "context": {{"a": {many}}}"#));
        refused(&many, "the request holds more than 10000 values");
    }
}
