//! From the entities of AuthZEN to those of the engine: a subject becomes the principal here and
//! nowhere else.
//!
//! Properties in a request override those of the directory, one by one.

use std::cmp::Ordering;
use std::iter;

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::{AuxData, Principal, Resource};

use super::read::{bad, kind_of, texts};
use super::{AuthzenError, Directory, Entity, Result};

/// Returns the principal that a subject means: its roles are its property `roles`, or else its
/// type.
///
/// # Errors
/// A property that selects roles or policies has a wrong value.
pub fn principal(subject: &Entity, directory: &dyn Directory) -> Result<Principal, AuthzenError> {
    let known = directory.subject(&subject.kind, &subject.id);
    let properties = Properties::new("subject.properties", subject, known);
    let roles = match properties.get(ROLES) {
        Some(roles) => texts(roles).ok_or_else(|| {
            bad(format!("`{}.{ROLES}` must be an array of strings", properties.path))
        })?,
        None => match properties.get("roles").and_then(texts) {
            Some(roles) => roles,
            None => vec![subject.kind.clone()],
        },
    };
    Ok(Principal {
        id: subject.id.clone(),
        roles,
        policy_version: properties.text(VERSION)?,
        scope: properties.text(SCOPE)?,
        attr: properties.without(&[ROLES, VERSION, SCOPE]),
    })
}

/// Returns the resource that a resource of AuthZEN means.
///
/// # Errors
/// A property that selects policies has a wrong value.
pub fn resource(resource: &Entity, directory: &dyn Directory) -> Result<Resource, AuthzenError> {
    let known = directory.resource(&resource.kind, &resource.id);
    let properties = Properties::new("resource.properties", resource, known);
    Ok(Resource {
        kind: resource.kind.clone(),
        id: resource.id.clone(),
        policy_version: properties.text(VERSION)?,
        scope: properties.text(SCOPE)?,
        attr: properties.without(&[VERSION, SCOPE]),
    })
}

/// Returns the data in which conditions find the context and the properties of the action. Both are
/// always present, so that conditions may test their members.
#[must_use]
pub fn aux_data(context: &AttrMap, action: &AttrMap) -> AuxData {
    let jwts = [(CONTEXT.into(), claims(context)), (ACTION.into(), claims(action))];
    AuxData { jwt: AttrMap::new(), jwts: jwts.into_iter().collect() }
}

/// Verifies the tokens in the value of `cerbos.auxData`, and returns their claims.
pub type Verify<'v> = &'v dyn Fn(&Attr) -> Result<AuxData, String>;

/// Adds the claims of the tokens that a context holds, once they are verified. If both a token and
/// the request have a name, the token's value counts.
pub(super) fn add_tokens(
    aux_data: &mut AuxData,
    context: &AttrMap,
    verify: Verify<'_>,
) -> Result<()> {
    let Some(tokens) = context.get(TOKENS) else { return Ok(()) };
    let verified = verify(tokens).map_err(bad)?;
    let given = std::mem::take(&mut aux_data.jwts);
    aux_data.jwts = given.into_iter().chain(verified.jwts).collect();
    aux_data.jwt = verified.jwt;
    Ok(())
}

/// Returns claims in the form in which conditions read them.
pub(super) fn claims(claims: &AttrMap) -> Attr {
    Attr::Map([("claims".into(), Attr::Map(claims.clone()))].into_iter().collect())
}

/// The properties of one entity: those in the request, and those in the directory.
pub(super) struct Properties<'a> {
    path: &'static str,
    given: Option<&'a AttrMap>,
    known: Option<&'a AttrMap>,
}

impl<'a> Properties<'a> {
    pub(super) const fn of(map: &'a AttrMap) -> Self {
        Self { path: "", given: Some(map), known: None }
    }

    pub(super) fn new(path: &'static str, entity: &'a Entity, known: Option<&'a AttrMap>) -> Self {
        Self { path, given: entity.properties.as_ref(), known }
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a Attr> {
        [self.given, self.known].into_iter().flatten().find_map(|map| map.get(name))
    }

    /// Returns all properties in the order of their names.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a str, &'a Attr)> {
        let of = |map: Option<&'a AttrMap>| map.map_or(&[][..], AttrMap::entries).iter();
        let (mut known, mut given) = (of(self.known).peekable(), of(self.given).peekable());
        iter::from_fn(move || {
            if let (Some((name, _)), Some((other, _))) = (known.peek(), given.peek()) {
                match name.cmp(other) {
                    Ordering::Less => return known.next(),
                    Ordering::Equal => drop(known.next()),
                    Ordering::Greater => {}
                }
                return given.next();
            }
            given.next().or_else(|| known.next())
        })
        .map(|(name, value)| (&**name, value))
    }

    /// Returns text, empty if there is none.
    fn text(&self, name: &str) -> Result<String> {
        match self.get(name) {
            None => Ok(String::new()),
            Some(Attr::String(text)) => Ok(text.to_string()),
            Some(other) => {
                let (path, found) = (self.path, kind_of(other));
                Err(bad(format!("`{path}.{name}` must be a string, found {found}")))
            }
        }
    }

    /// Returns the properties without the names that select roles and policies.
    fn without(&self, names: &[&str]) -> AttrMap {
        let all = self.entries().filter(|(name, _)| !names.contains(name));
        all.map(|(name, value)| (name.into(), value.clone())).collect()
    }
}

pub(super) const ACTION: &str = "action";
const CONTEXT: &str = "context";
const TOKENS: &str = "cerbos.auxData";
const ROLES: &str = "cerbos.roles";
const VERSION: &str = "cerbos.policyVersion";
const SCOPE: &str = "cerbos.scope";
