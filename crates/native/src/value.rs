//! Requests that are `serde_json` values.

use serde_json::{Map, Value};
use wardgate_engine::attr::Attr;
use wardgate_engine::request::Request;

use crate::error::RequestError;
use crate::fast::index::Target;
use crate::fast::input::{FastInput, SlotValue, follow, follow_nothing};
use crate::fast::path::SlotRoot;
use crate::field::{AsField, Copier};
use crate::request::of_document;

/// A request of the usual form; other forms are read by [`request`].
pub(crate) struct ValueInput<'a> {
    action: &'a str,
    principal: Entity<'a>,
    resource: Entity<'a>,
    /// The claims of the token, and the tokens by name.
    aux_data: [Option<&'a Map<String, Value>>; 2],
}

/// A principal or a resource.
#[derive(Default)]
struct Entity<'a> {
    id: Option<&'a str>,
    kind: Option<&'a str>,
    roles: Option<&'a [Value]>,
    attributes: Option<&'a Map<String, Value>>,
    version: &'a str,
    scope: &'a str,
}

impl<'a> ValueInput<'a> {
    /// Reads a request of the usual form; `None` for any other.
    pub(crate) fn read(request: &'a Value) -> Option<Self> {
        let (mut action, mut principal, mut resource) = (None, None, None);
        let mut aux_data = [None; 2];
        for (name, value) in request.as_object()? {
            match name.as_str() {
                "action" => action = Some(value.as_str()?),
                "principal" => principal = Some(Entity::read(value)?),
                "resource" => resource = Some(Entity::read(value)?),
                "auxData" => aux_data = read_aux_data(value)?,
                "requestId" if value.is_string() => {}
                _ => return None,
            }
        }
        let (principal, resource) = (principal?, resource?);
        let is_principal = principal.roles.is_some() && principal.kind.is_none();
        let is_resource = resource.roles.is_none() && resource.kind.is_some();
        let are_named = principal.id.is_some() && resource.id.is_some();
        let is_default = is_principal && is_resource && are_named;
        is_default.then_some(Self { action: action?, principal, resource, aux_data })
    }
}

impl<'a> Entity<'a> {
    fn read(value: &'a Value) -> Option<Self> {
        let mut entity = Self::default();
        for (name, value) in value.as_object()? {
            match name.as_str() {
                "id" => entity.id = Some(value.as_str()?),
                "kind" => entity.kind = Some(value.as_str()?),
                "attr" => entity.attributes = Some(value.as_object()?),
                "policyVersion" => entity.version = value.as_str()?,
                "scope" => entity.scope = value.as_str()?,
                "roles" => {
                    let roles = value.as_array()?;
                    entity.roles = roles.iter().all(Value::is_string).then_some(roles);
                }
                _ => return None,
            }
        }
        Some(entity)
    }

    #[inline]
    fn attribute(&self, path: &[Box<str>]) -> SlotValue<'_> {
        follow_into(self.attributes, path)
    }
}

fn read_aux_data(value: &Value) -> Option<[Option<&Map<String, Value>>; 2]> {
    let mut found = [None; 2];
    let [claims, tokens] = &mut found;
    for (name, value) in value.as_object()? {
        match name.as_str() {
            "jwt" => *claims = Some(value.as_object()?),
            "jwts" => *tokens = Some(value.as_object()?),
            _ => return None,
        }
    }
    Some(found)
}

#[inline]
fn follow_into<'a>(object: Option<&'a Map<String, Value>>, path: &[Box<str>]) -> SlotValue<'a> {
    object.map_or_else(|| follow_nothing(path), |object| follow(object, path))
}

impl FastInput for ValueInput<'_> {
    #[inline]
    fn target(&self) -> Target<'_> {
        let Entity { kind, version, scope, .. } = self.resource;
        Target { kind: kind.unwrap_or(""), action: self.action, policy_version: version, scope }
    }

    #[inline]
    fn principal(&self) -> &str {
        self.principal.id.unwrap_or("")
    }

    fn principal_scope(&self) -> &str {
        self.principal.scope
    }

    #[inline]
    fn resource(&self) -> &str {
        self.resource.id.unwrap_or("")
    }

    #[inline]
    fn roles(&self) -> impl Iterator<Item = &str> {
        self.principal.roles.unwrap_or(&[]).iter().filter_map(Value::as_str)
    }

    #[inline]
    fn principal_attribute(&self, path: &[Box<str>]) -> SlotValue<'_> {
        self.principal.attribute(path)
    }

    #[inline]
    fn resource_attribute(&self, path: &[Box<str>]) -> SlotValue<'_> {
        self.resource.attribute(path)
    }

    fn all_names(&self, root: SlotRoot, is_known: &mut dyn FnMut(&str) -> bool) -> bool {
        let attributes = match root {
            SlotRoot::PrincipalAttr => self.principal.attributes,
            SlotRoot::ResourceAttr => self.resource.attributes,
            _ => return false,
        };
        attributes.is_none_or(|attributes| attributes.keys().all(|name| is_known(name)))
    }

    fn claim(&self, path: &[Box<str>]) -> SlotValue<'_> {
        let [claims, _] = self.aux_data;
        follow_into(claims, path)
    }

    fn token(&self, path: &[Box<str>]) -> SlotValue<'_> {
        let [_, tokens] = self.aux_data;
        follow_into(tokens, path)
    }
}

/// Reads a request of any form.
pub(crate) fn request(value: &Value) -> Result<Request, RequestError> {
    let mut copier = Copier::new();
    let document = copier.document(value.field()).unwrap_or(Attr::Null);
    match copier.into_fault() {
        None => of_document(document),
        Some(fault) => Err(fault),
    }
}
