//! Questions whose attributes are found by their names: lists of pairs, maps, or types of the host.

use wardgate_engine::request::{Principal, Request, Resource};

use crate::fast::index::Target;
use crate::fast::input::{FastInput, SlotValue, ToRequest, all_names_of, follow, follow_nothing};
use crate::fast::path::SlotRoot;
use crate::field::{Copier, Lookup};

/// One question about one action.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a, S, P: ?Sized, R: ?Sized> {
    /// The principal.
    pub principal: PrincipalRef<'a, S, P>,
    /// The name of the action.
    pub action: &'a str,
    /// The resource.
    pub resource: ResourceRef<'a, R>,
}

/// A principal of the host. `S` is the text of a role, `A` holds the attributes.
#[derive(Clone, Copy, Debug)]
pub struct PrincipalRef<'a, S, A: ?Sized> {
    /// Unique id of the principal.
    pub id: &'a str,
    /// Roles, in the order in which they are tried.
    pub roles: &'a [S],
    /// Attributes.
    pub attributes: &'a A,
    /// Version of the principal policies to use; empty means the default of the table.
    pub policy_version: &'a str,
    /// Scope where the search for principal policies starts; empty is the root.
    pub scope: &'a str,
}

/// A resource of the host. `A` holds the attributes.
#[derive(Clone, Copy, Debug)]
pub struct ResourceRef<'a, A: ?Sized> {
    /// Kind of the resource, such as `leave_request`.
    pub kind: &'a str,
    /// Id of this one resource.
    pub id: &'a str,
    /// Attributes.
    pub attributes: &'a A,
    /// Version of the resource policies to use; empty means the default of the table.
    pub policy_version: &'a str,
    /// Scope where the search for resource policies starts; empty is the root.
    pub scope: &'a str,
}

impl<'a, S, A: ?Sized> PrincipalRef<'a, S, A> {
    /// Returns a principal in the default version and the root scope.
    #[inline]
    #[must_use]
    pub const fn new(id: &'a str, roles: &'a [S], attributes: &'a A) -> Self {
        Self { id, roles, attributes, policy_version: "", scope: "" }
    }
}

impl<'a, A: ?Sized> ResourceRef<'a, A> {
    /// Returns a resource in the default version and the root scope.
    #[inline]
    #[must_use]
    pub const fn new(kind: &'a str, id: &'a str, attributes: &'a A) -> Self {
        Self { kind, id, attributes, policy_version: "", scope: "" }
    }
}

impl<S: AsRef<str>, A: Lookup + ?Sized> PrincipalRef<'_, S, A> {
    pub(crate) fn copied(&self, copier: &mut Copier) -> Principal {
        Principal {
            id: self.id.to_owned(),
            policy_version: self.policy_version.to_owned(),
            scope: self.scope.to_owned(),
            roles: self.roles.iter().map(|role| role.as_ref().to_owned()).collect(),
            attr: copier.object(&self.attributes),
        }
    }
}

impl<A: Lookup + ?Sized> ResourceRef<'_, A> {
    pub(crate) fn copied(&self, copier: &mut Copier) -> Resource {
        Resource {
            kind: self.kind.to_owned(),
            policy_version: self.policy_version.to_owned(),
            id: self.id.to_owned(),
            scope: self.scope.to_owned(),
            attr: copier.object(&self.attributes),
        }
    }
}

impl<S: AsRef<str>, P: Lookup + ?Sized, R: Lookup + ?Sized> FastInput for Question<'_, S, P, R> {
    #[inline]
    fn target(&self) -> Target<'_> {
        let ResourceRef { kind, policy_version, scope, .. } = self.resource;
        Target { kind, action: self.action, policy_version, scope }
    }

    #[inline]
    fn principal(&self) -> &str {
        self.principal.id
    }

    fn principal_scope(&self) -> &str {
        self.principal.scope
    }

    #[inline]
    fn resource(&self) -> &str {
        self.resource.id
    }

    #[inline]
    fn roles(&self) -> impl Iterator<Item = &str> {
        self.principal.roles.iter().map(AsRef::as_ref)
    }

    #[inline]
    fn principal_attribute(&self, path: &[Box<str>]) -> SlotValue<'_> {
        follow(self.principal.attributes, path)
    }

    #[inline]
    fn resource_attribute(&self, path: &[Box<str>]) -> SlotValue<'_> {
        follow(self.resource.attributes, path)
    }

    fn all_names(&self, root: SlotRoot, is_known: &mut dyn FnMut(&str) -> bool) -> bool {
        match root {
            SlotRoot::PrincipalAttr => all_names_of(self.principal.attributes, is_known),
            SlotRoot::ResourceAttr => all_names_of(self.resource.attributes, is_known),
            _ => false,
        }
    }

    fn claim(&self, path: &[Box<str>]) -> SlotValue<'_> {
        follow_nothing(path)
    }

    fn token(&self, path: &[Box<str>]) -> SlotValue<'_> {
        follow_nothing(path)
    }
}

impl<S: AsRef<str>, P: Lookup + ?Sized, R: Lookup + ?Sized> ToRequest for Question<'_, S, P, R> {
    fn request(&self) -> Option<Request> {
        let mut copier = Copier::new();
        let request = Request {
            principal: self.principal.copied(&mut copier),
            resource: self.resource.copied(&mut copier),
            actions: vec![self.action.to_owned()],
            ..Request::default()
        };
        copier.is_complete().then_some(request)
    }
}
