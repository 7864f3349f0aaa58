//! The fast input of a request that was made for the engine.

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::Request;

use crate::fast::index::Target;
use crate::fast::input::{FastInput, SlotValue, follow_on};
use crate::fast::path::SlotRoot;
use crate::field::{AsField, Field};
use crate::field_impls::member;

/// A request for the engine, about one action.
pub(crate) struct RequestInput<'a> {
    pub(crate) request: &'a Request,
    pub(crate) action: &'a str,
}

impl FastInput for RequestInput<'_> {
    #[inline]
    fn target(&self) -> Target<'_> {
        let resource = &self.request.resource;
        Target {
            kind: &resource.kind,
            action: self.action,
            policy_version: &resource.policy_version,
            scope: &resource.scope,
        }
    }

    #[inline]
    fn principal(&self) -> &str {
        &self.request.principal.id
    }

    fn principal_scope(&self) -> &str {
        &self.request.principal.scope
    }

    #[inline]
    fn resource(&self) -> &str {
        &self.request.resource.id
    }

    #[inline]
    fn roles(&self) -> impl Iterator<Item = &str> {
        self.request.principal.roles.iter().map(String::as_str)
    }

    fn list_of_roles(&self) -> Option<&[String]> {
        Some(&self.request.principal.roles)
    }

    #[inline]
    fn principal_attribute(&self, path: &[Box<str>]) -> SlotValue<'_> {
        find(&self.request.principal.attr, path)
    }

    #[inline]
    fn resource_attribute(&self, path: &[Box<str>]) -> SlotValue<'_> {
        find(&self.request.resource.attr, path)
    }

    fn all_names(&self, root: SlotRoot, is_known: &mut dyn FnMut(&str) -> bool) -> bool {
        let attributes = match root {
            SlotRoot::PrincipalAttr => &self.request.principal.attr,
            SlotRoot::ResourceAttr => &self.request.resource.attr,
            _ => return false,
        };
        attributes.entries().iter().all(|(name, _)| is_known(name))
    }

    fn claim(&self, path: &[Box<str>]) -> SlotValue<'_> {
        find(&self.request.aux_data.jwt, path)
    }

    fn token(&self, path: &[Box<str>]) -> SlotValue<'_> {
        find(&self.request.aux_data.jwts, path)
    }
}

/// Follows a path into attributes. Returns lists and objects as references, so that programs need
/// no copy.
#[inline]
fn find<'a>(attributes: &'a AttrMap, path: &[Box<str>]) -> SlotValue<'a> {
    let Some((first, mut rest)) = path.split_first() else { return SlotValue::Unsupported };
    let mut found = member(attributes, first);
    while let (Some(Attr::Map(map)), Some((name, further))) = (found, rest.split_first()) {
        found = member(map, name);
        rest = further;
    }
    match found {
        Some(nested @ (Attr::List(_) | Attr::Map(_))) if rest.is_empty() => SlotValue::Attr(nested),
        found => follow_on(found.map_or(Field::Missing, Attr::field), rest),
    }
}
