//! Types of a host, with one field for each attribute that the generator writes.

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::{Principal, Resource};
use wardgate_native::{
    Accessor, AsField, AsPrincipal, AsResource, Attributes, Field, Lookup, Pdp, Prepared, Target,
};

use super::{Asked, Counted};

/// Asks with types, the principal looked at anew.
pub(super) fn ask(pdp: &Pdp, asked: &Asked<'_>, clock: &Counted) -> bool {
    let (who, what) = (Who(&asked.request.principal), What(&asked.request.resource));
    prepared(pdp, asked).is_allowed(&who, &what, clock)
}

/// Asks with types, the principal looked at before.
pub(super) fn ask_for(pdp: &Pdp, asked: &Asked<'_>, clock: &Counted) -> bool {
    let (who, what) = (Who(&asked.request.principal), What(&asked.request.resource));
    prepared(pdp, asked).principal(&who).is_allowed(&what, clock)
}

fn prepared<'a>(pdp: &Pdp, asked: &Asked<'_>) -> Prepared<Who<'a>, What<'a>> {
    let resource = &asked.request.resource;
    pdp.prepare_in(Target {
        kind: &resource.kind,
        action: asked.action,
        policy_version: &resource.policy_version,
        scope: &resource.scope,
    })
}

struct Who<'a>(&'a Principal);

struct What<'a>(&'a Resource);

impl AsPrincipal for Who<'_> {
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

impl AsResource for What<'_> {
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

typed!(Who: "dept", "level", "teams", "profile", "ip", "constructor", "__proto__", "toString",
    "hasOwnProperty", "a.b", "qu\"ote", "ключ", "", "length", "0");
typed!(What: "owner", "status", "count", "tags", "meta", "locked", "public", "at", "dept",
    "constructor", "__proto__", "toString", "hasOwnProperty", "a.b", "qu\"ote", "ключ", "", "length",
    "0");

fn field<'a>(attributes: &'a AttrMap, name: &str) -> Field<'a> {
    attributes.get(name).map_or(Field::Missing, Attr::field)
}
