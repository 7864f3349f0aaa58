//! Types of a host, with one field for each attribute that the generator writes.

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::{Principal, Resource};
use wardgate_native::{
    Accessor, AsField, AsPrincipal, AsResource, Attributes, Field, Lookup, Pdp, Prepared, Target,
};

use super::{Counted, Forms};

/// Decides with types, without a prepared principal.
pub(super) fn anew(pdp: &Pdp, forms: &Forms<'_>, clock: &Counted) -> bool {
    let (principal, resource) =
        (PrincipalView(&forms.request.principal), ResourceView(&forms.request.resource));
    prepared(pdp, forms).is_allowed(&principal, &resource, clock)
}

/// Decides with types and a prepared principal.
pub(super) fn of_principal(pdp: &Pdp, forms: &Forms<'_>, clock: &Counted) -> bool {
    let (principal, resource) =
        (PrincipalView(&forms.request.principal), ResourceView(&forms.request.resource));
    prepared(pdp, forms).principal(&principal).is_allowed(&resource, clock)
}

fn prepared<'a>(pdp: &Pdp, forms: &Forms<'_>) -> Prepared<PrincipalView<'a>, ResourceView<'a>> {
    let resource = &forms.request.resource;
    pdp.prepare_in(Target {
        kind: &resource.kind,
        action: forms.action,
        policy_version: &resource.policy_version,
        scope: &resource.scope,
    })
}

struct PrincipalView<'a>(&'a Principal);

struct ResourceView<'a>(&'a Resource);

impl AsPrincipal for PrincipalView<'_> {
    fn id(&self) -> &str {
        &self.0.id
    }

    fn roles(&self) -> impl Iterator<Item = &str> {
        self.0.roles.iter().map(String::as_str)
    }

    fn policy_version(&self) -> &str {
        &self.0.policy_version
    }

    fn scope(&self) -> &str {
        &self.0.scope
    }
}

impl AsResource for ResourceView<'_> {
    fn id(&self) -> &str {
        &self.0.id
    }
}

macro_rules! typed {
    ($type:ident: $($name:literal),*) => {
        impl Attributes for $type<'_> {
            fn accessor(name: &str) -> Option<Accessor<Self>> {
                match name {
                    $($name => Some(|of| field(&of.0.attr, $name)),)*
                    _ => None,
                }
            }
        }

        impl Lookup for $type<'_> {
            fn get(&self, name: &str) -> Field<'_> {
                field(&self.0.attr, name)
            }

            fn each(&self, visit: &mut dyn FnMut(&str, Field<'_>)) {
                self.0.attr.entries().iter().for_each(|(name, value)| visit(name, value.field()));
            }
        }
    };
}

typed!(PrincipalView: "dept", "level", "teams", "profile", "ip", "constructor", "__proto__", "toString",
    "hasOwnProperty", "a.b", "qu\"ote", "ключ", "", "length", "0");
typed!(ResourceView: "owner", "status", "count", "tags", "meta", "locked", "public", "at", "dept",
    "constructor", "__proto__", "toString", "hasOwnProperty", "a.b", "qu\"ote", "ключ", "", "length",
    "0");

fn field<'a>(attributes: &'a AttrMap, name: &str) -> Field<'a> {
    attributes.get(name).map_or(Field::Missing, Attr::field)
}
