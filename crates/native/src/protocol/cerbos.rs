//! The CheckResources call of Cerbos, read into what the engine is asked.
//!
//! What Cerbos's own validation refuses is refused here: an empty id, no roles, no actions, an action
//! twice. The same call for one resource may be written without its list. What stands in `auxData` is for
//! the host to read: some verify tokens, and some are given claims.

pub(crate) mod fast;
mod message;

use wardgate_engine::attr::Attr;
use wardgate_engine::names::trimmed_scope;
use wardgate_engine::request::{AuxData, Principal, Request, Resource};

pub use message::Message;

/// One call: a principal, and the actions that it wants to perform on some resources.
#[derive(Debug)]
pub struct Call {
    /// Everything but the resource and the actions.
    request: Request,
    /// Whether the answer is to tell what decided.
    pub include_meta: bool,
    entries: Vec<(Resource, Vec<String>)>,
}

impl Call {
    /// Reads a call, and what stands in `auxData` with `aux_data`.
    ///
    /// # Errors
    /// It is none, in words for its sender.
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

    /// Hands a request for each resource to `act`, without copying the principal for each.
    ///
    /// # Errors
    /// The first of `act`.
    pub fn each<E>(&mut self, mut act: impl FnMut(&Request) -> Result<(), E>) -> Result<(), E> {
        for (resource, actions) in self.entries.drain(..) {
            self.request.resource = resource;
            self.request.actions = actions;
            act(&self.request)?;
        }
        Ok(())
    }

    /// The resources, and the actions on each.
    #[must_use]
    pub fn entries(&self) -> &[(Resource, Vec<String>)] {
        &self.entries
    }

    /// The id that the sender chose, empty if there is none.
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
    let value = message.required("resource")?;
    let fields = Message::read(value, message.at("resource"), RESOURCE)?;
    let resource = Resource {
        kind: fields.name("kind")?,
        id: fields.name("id")?,
        policy_version: version(&fields)?,
        scope: scope(&fields)?,
        attr: fields.attributes("attr")?,
    };
    Ok((resource, message.names("actions")?))
}

/// Reads a principal.
///
/// # Errors
/// It is none, in words for its sender.
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
/// It is none, in words for its sender.
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
/// It is none, in words for its sender.
pub fn scope(fields: &Message<'_>) -> Result<String, String> {
    let scope = fields.text("scope")?;
    if is_scope(trimmed_scope(scope)) {
        return Ok(scope.to_owned());
    }
    let at = fields.at("scope");
    Err(format!("`{at}`: expected names joined by dots, such as `acme.legal`, found `{scope}`"))
}

/// Whether policies can have this version; empty stands for the default one.
pub(crate) fn is_version(version: &str) -> bool {
    version.chars().all(is_word)
}

/// Whether policies can be of this scope, without dots around it.
pub(crate) fn is_scope(path: &str) -> bool {
    let is_segment = |segment: &str| {
        segment.starts_with(is_word) && segment.chars().all(|c| is_word(c) || c == '-')
    };
    path.is_empty() || path.split('.').all(is_segment)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The context of a call is for audit logs, of which there are none here.
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
