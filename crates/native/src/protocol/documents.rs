//! JSON text as requests, for hosts that take them as text and need more than yes or no.
//!
//! Names and bounds are those of [`Policies::is_allowed_json`](crate::Policies::is_allowed_json):
//! an unknown or repeated name is an error, and `null` counts as missing.

use wardgate_engine::attr::Attr;
use wardgate_engine::request::{Request, Resource};

use crate::error::RequestError;
use crate::fast::json;
use crate::request;

/// Reads any JSON text. No object in it may have a name twice.
///
/// # Errors
/// The text is not JSON, has a member twice, or is too large or too deep for a request.
pub fn attribute(json: &[u8]) -> Result<Attr, RequestError> {
    json::document(json)
}

/// Reads the JSON text of a [`Call`](crate::protocol::cerbos::Call), whose attributes are deeper
/// than those of one resource.
///
/// # Errors
/// The text is not JSON, or too large or too deep for a call.
pub fn call(json: &[u8]) -> Result<Attr, RequestError> {
    json::call_document(json)
}

/// Reads `{"principal", "action", "resource"}` into a request that has its action as the only one.
///
/// # Errors
/// The text is not JSON, or not a request.
pub fn question(json: &[u8]) -> Result<Request, RequestError> {
    json::request(json)
}

/// Reads `{"principal", "actions", "resource"}`.
///
/// ```
/// use wardgate_native::protocol::documents;
///
/// let request = documents::check(
///     br#"{
///         "principal": { "id": "ada", "roles": ["member"] },
///         "actions": ["view", "delete"],
///         "resource": { "kind": "document", "id": "d1" }
///     }"#,
/// )?;
/// assert_eq!(request.actions, ["view", "delete"]);
/// # Ok::<(), wardgate_native::RequestError>(())
/// ```
///
/// # Errors
/// The text is not JSON, or not a request.
pub fn check(json: &[u8]) -> Result<Request, RequestError> {
    request::of_check(json::document(json)?)
}

/// Reads `{"principal", "action", "resources"}` into a request without a resource, and the
/// resources.
///
/// # Errors
/// The text is not JSON, or not a request.
pub fn batch(json: &[u8]) -> Result<(Request, Vec<Resource>), RequestError> {
    request::of_batch(json::document(json)?)
}

#[cfg(test)]
mod tests {
    use super::{attribute, batch, check, question};

    const PRINCIPAL: &str = r#""principal": { "id": "ada", "roles": ["member"] }"#;
    const ALBUM: &str = r#"{ "kind": "album", "id": "a", "attr": { "public": true } }"#;

    fn refused(json: &str, expected: &str) {
        let messages = [
            question(json.as_bytes()).unwrap_err().to_string(),
            check(json.as_bytes()).unwrap_err().to_string(),
            batch(json.as_bytes()).unwrap_err().to_string(),
        ];
        assert!(messages.iter().any(|messages| messages == expected), "{messages:?}");
    }

    #[test]
    fn each_form_is_read_by_its_own_reader() {
        let json = format!(r#"{{ {PRINCIPAL}, "action": "view", "resource": {ALBUM} }}"#);
        let one = question(json.as_bytes()).unwrap();
        assert_eq!(
            (one.actions.as_slice(), one.resource.id.as_str()),
            (&["view".to_owned()][..], "a")
        );
        let json =
            format!(r#"{{ {PRINCIPAL}, "actions": ["view", "edit"], "resource": {ALBUM} }}"#);
        let several = check(json.as_bytes()).unwrap();
        assert_eq!(several.actions, ["view", "edit"]);
        assert_eq!((several.principal, several.resource), (one.principal, one.resource.clone()));
        let json =
            format!(r#"{{ {PRINCIPAL}, "action": "view", "resources": [{ALBUM}, {ALBUM}] }}"#);
        let (request, resources) = batch(json.as_bytes()).unwrap();
        assert_eq!(request.actions, ["view"]);
        assert_eq!(resources, [one.resource.clone(), one.resource]);
    }

    #[test]
    fn errors_name_the_faulty_member() {
        refused("", "malformed JSON at byte 0: expected a value");
        refused("[]", "`request`: expected an object, found a list");
        refused(r#"{ "subject": 1 }"#, "unknown field `subject` in `request`");
        refused(&format!("{{ {PRINCIPAL} }}"), "`resources` is missing");
        refused(
            &format!(r#"{{ {PRINCIPAL}, "resources": {ALBUM}, "action": "view" }}"#),
            "`resources`: expected a list, found an object",
        );
        refused(
            &format!(r#"{{ {PRINCIPAL}, "resource": {ALBUM}, "actions": "view" }}"#),
            "`actions`: expected a list of text, found text",
        );
    }

    #[test]
    fn any_json_is_an_attribute() {
        assert!(attribute(b"[1, {\"a\": null}]").is_ok());
        assert!(attribute(b"[1").is_err());
    }
}
