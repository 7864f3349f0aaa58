//! The CheckResources call of Cerbos, read into requests for the engine.
//!
//! A call that Cerbos's own validation refuses is refused here: an empty id, no roles, no actions,
//! an action twice. The same call for one resource may be written without its list. The host reads
//! `auxData`: some verify tokens, and some are given claims.

pub mod answer;
pub(crate) mod fast;
#[cfg(feature = "replay")]
pub mod logged;
mod message;

use wardgate_engine::attr::Attr;
use wardgate_engine::names::trimmed_scope;
use wardgate_engine::request::{AuxData, Principal, Request, Resource};

pub use message::Message;

/// One call: a principal, and the actions that it wants to perform on some resources.
#[derive(Debug)]
pub struct Call {
    /// The request without the resource and the actions.
    request: Request,
    /// True if the answer is to name the policies that decided.
    pub include_meta: bool,
    entries: Vec<(Resource, Vec<String>)>,
}

impl Call {
    /// Reads a call, and its `auxData` with `aux_data`.
    ///
    /// ```
    /// use wardgate_native::AuxData;
    /// use wardgate_native::protocol::{cerbos::Call, documents};
    ///
    /// let document = documents::call(
    ///     br#"{
    ///         "principal": { "id": "ada", "roles": ["member"] },
    ///         "resources": [
    ///             { "actions": ["view"], "resource": { "kind": "document", "id": "d1" } }
    ///         ]
    ///     }"#,
    /// )?;
    /// let mut call = Call::read(&document, |_| Ok(AuxData::default()))?;
    /// call.each(|request| {
    ///     assert_eq!((request.resource.id.as_str(), request.actions.len()), ("d1", 1));
    ///     Ok::<(), String>(())
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The value is not a call; the message is for its sender.
    pub fn read(
        value: &Attr,
        aux_data: impl FnOnce(&Attr) -> Result<AuxData, String>,
    ) -> Result<Self, String> {
        let is_single = matches!(value, Attr::Map(map) if map.get("resource").is_some());
        let call = Message::read(value, String::new(), if is_single { SINGLE } else { CALL })?;
        context(&call)?;
        Ok(Self {
            request: Request {
                request_id: call.text("requestId")?.to_owned(),
                principal: principal(call.required("principal")?)?,
                aux_data: call.field("auxData").map_or(Ok(AuxData::default()), aux_data)?,
                ..Request::default()
            },
            include_meta: call.flag("includeMeta")?,
            entries: if is_single { vec![entry(&call)?] } else { entries(&call)? },
        })
    }

    /// Calls `act` with a request for each resource, without copying the principal for each.
    ///
    /// # Errors
    /// The first error of `act`.
    pub fn each<E>(&mut self, mut act: impl FnMut(&Request) -> Result<(), E>) -> Result<(), E> {
        for (resource, actions) in self.entries.drain(..) {
            self.request.resource = resource;
            self.request.actions = actions;
            act(&self.request)?;
        }
        Ok(())
    }

    /// Returns the resources, and the actions on each.
    #[must_use]
    pub fn entries(&self) -> &[(Resource, Vec<String>)] {
        &self.entries
    }

    /// Returns the id that the sender chose, empty if there is none.
    #[must_use]
    pub fn request_id(&self) -> &str {
        &self.request.request_id
    }
}

fn entries(call: &Message<'_>) -> Result<Vec<(Resource, Vec<String>)>, String> {
    let read = |(index, value)| {
        let path = format!("{}[{index}]", call.at("resources"));
        entry(&Message::read(value, path, &["actions", "resource"])?)
    };
    call.list("resources")?.iter().enumerate().map(read).collect()
}

fn entry(message: &Message<'_>) -> Result<(Resource, Vec<String>), String> {
    let resource = resource(message.required("resource")?, message.at("resource"))?;
    Ok((resource, message.names("actions")?))
}

/// Reads a resource, which is at `path` of its request.
///
/// # Errors
/// The value is not a resource; the message is for its sender.
pub(crate) fn resource(value: &Attr, path: String) -> Result<Resource, String> {
    let fields = Message::read(value, path, RESOURCE)?;
    Ok(Resource {
        kind: fields.name("kind")?,
        id: fields.name("id")?,
        policy_version: version(&fields)?,
        scope: scope(&fields)?,
        attr: fields.attributes("attr")?,
    })
}

/// Reads a principal.
///
/// # Errors
/// The value is not a principal; the message is for its sender.
pub fn principal(value: &Attr) -> Result<Principal, String> {
    let fields = Message::read(value, "principal".to_owned(), PRINCIPAL)?;
    Ok(Principal {
        id: fields.name("id")?,
        policy_version: version(&fields)?,
        scope: scope(&fields)?,
        roles: fields.names("roles")?,
        attr: fields.attributes("attr")?,
    })
}

/// Reads the version of policies to use.
///
/// # Errors
/// The field is not a version; the message is for its sender.
pub fn version(fields: &Message<'_>) -> Result<String, String> {
    let version = fields.text("policyVersion")?;
    if is_version(version) {
        return Ok(version.to_owned());
    }
    let at = fields.at("policyVersion");
    Err(format!("`{at}`: expected letters, digits and `_`, found `{version}`"))
}

/// Reads the scope to begin the search in.
///
/// # Errors
/// The field is not a scope; the message is for its sender.
pub fn scope(fields: &Message<'_>) -> Result<String, String> {
    let scope = fields.text("scope")?;
    if is_scope(trimmed_scope(scope)) {
        return Ok(scope.to_owned());
    }
    let at = fields.at("scope");
    Err(format!("`{at}`: expected names joined by dots, such as `acme.legal`, found `{scope}`"))
}

/// Returns true if policies can have this version; empty means the default one.
pub(crate) fn is_version(version: &str) -> bool {
    version.chars().all(is_word)
}

/// Returns true if policies can have this scope, which has no dots at its ends.
pub(crate) fn is_scope(path: &str) -> bool {
    let is_segment = |segment: &str| {
        segment.starts_with(is_word) && segment.chars().all(|c| is_word(c) || c == '-')
    };
    path.is_empty() || path.split('.').all(is_segment)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Checks the context of a call. It is for audit logs, which this crate does not write.
fn context(call: &Message<'_>) -> Result<(), String> {
    match call.field("requestContext") {
        None => Ok(()),
        Some(context) => {
            let path = call.at("requestContext");
            Message::read(context, path, &["annotations"])?.attributes("annotations").map(drop)
        }
    }
}

const CALL: &[&str] =
    &["requestId", "includeMeta", "principal", "resources", "auxData", "requestContext"];
const SINGLE: &[&str] =
    &["requestId", "includeMeta", "principal", "resource", "actions", "auxData", "requestContext"];
const PRINCIPAL: &[&str] = &["id", "roles", "attr", "policyVersion", "scope"];
const RESOURCE: &[&str] = &["kind", "id", "attr", "policyVersion", "scope"];
