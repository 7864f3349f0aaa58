//! Filling a frame from a request, and deciding by fast paths.
//!
//! The plain filler: hosts with requests of another form have their own, which are compared with
//! it. Numbers that are not finite are left to the general path.

use alloc::string::String;

use wardgate_fastpath::layout::{BY_CLASS, CONSTANTS, MAX_REQUEST_CLASSES, MAX_SLOTS};
use wardgate_fastpath::{Answer, FastPath, Frame, SlotRecord, word};

use super::frame::Contents;
use crate::attr::{Attr, AttrMap};
use crate::cel::pool::Root;
use crate::cel::value::{List, Str};
use crate::cel::{Timestamp, Value};
use crate::decide::scopes::Search;
use crate::limits::{MAX_FAST_PATH_ROLE_BYTES, MAX_FAST_PATH_ROLES};
use crate::names::trimmed_scope;
use crate::request::Request;
use crate::table::layout::{INDEX_WORDS, Key};
use crate::table::{PolicyTable, Section, word as word_at};

/// A frame, and the values that its words cannot hold.
#[derive(Debug)]
pub struct Filled<'r> {
    /// The words and numbers.
    pub frame: Frame,
    values: [PathValue<'r>; MAX_SLOTS],
    /// The texts that have temporary words.
    texts: [&'r str; MAX_SLOTS],
    temporary: usize,
}

/// The roles of a principal as a fast path reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roles {
    /// The masks of all roles, united.
    Mask(u32),
    /// The classes of the roles in their order, and their number: for a fast path by class.
    Classes([u32; MAX_REQUEST_CLASSES], usize),
}

impl PolicyTable {
    /// Decides by the fast path for `action`: answers as [`PolicyTable::is_allowed`] does, or
    /// Unsure if there is none.
    #[must_use]
    pub fn decide_request(&self, request: &Request, action: &str, now: Timestamp) -> Answer {
        self.try_fast_path(request, action, now).unwrap_or(Answer::Unsure)
    }

    fn try_fast_path(&self, request: &Request, action: &str, now: Timestamp) -> Option<Answer> {
        if self.concerns_principal(request) {
            return None;
        }
        let resource = &request.resource;
        let list =
            self.fast_path_list(&resource.kind, &resource.policy_version, &resource.scope)?;
        let id = list.fast_path(self.string_id(action))?;
        let fast_path = self.fast_path(id)?;
        let filled = self.fill(&fast_path, request)?;
        let contents: (&Frame, &dyn Contents) = (&filled.frame, &filled);
        Some(match self.roles(&fast_path, &request.principal.roles)? {
            Roles::Mask(roles) => self.decide_with(id, roles, contents, now),
            Roles::Classes(classes, count) => {
                self.decide_classes_with(id, classes.get(..count)?, contents, now)
            }
        })
    }

    /// Returns true if any principal has policies of its own.
    #[must_use]
    pub fn has_principal_policies(&self) -> bool {
        self.principals().next().is_some()
    }

    /// Returns the ids of the principals that have policies of their own, once for each policy.
    /// Fast paths do not cover those policies: the general path decides requests of these
    /// principals.
    pub fn principals(&self) -> impl Iterator<Item = &str> {
        let entries = self.section(Section::Index).chunks_exact(INDEX_WORDS);
        let own =
            |entry: &&[u32]| word_at(entry, 0) == Key::Principal.code() && word_at(entry, 4) != 0;
        entries.filter(own).map(|entry| self.string(word_at(entry, 1)))
    }

    /// Returns true if a policy of the principal itself applies to a request.
    #[must_use]
    pub fn concerns_principal(&self, request: &Request) -> bool {
        let Some(principal) = self.string_id(&request.principal.id) else { return false };
        let version = match request.resource.policy_version.as_str() {
            "" => self.default_version(),
            version => version,
        };
        let Some(version) = self.string_id(version) else { return false };
        let scope = self.name(trimmed_scope(&request.principal.scope));
        let mut scopes = Search::new(self, Key::PrincipalScope, scope).visited();
        scopes.any(|scope| self.find(Key::Principal, [principal, version, scope]).is_some())
    }

    /// Returns the roles of a principal for a fast path; `None` if they are too many or too long.
    #[must_use]
    pub fn roles(&self, fast_path: &FastPath<'_>, roles: &[String]) -> Option<Roles> {
        if roles.iter().any(|role| role.len() > MAX_FAST_PATH_ROLE_BYTES) {
            return None;
        }
        let mut known = roles.iter().map(|role| fast_path.role(self.string_id(role)));
        if fast_path.flags() & BY_CLASS == 0 {
            let mask = known.fold(0, |mask, role| mask | role);
            return (roles.len() <= MAX_FAST_PATH_ROLES).then_some(Roles::Mask(mask));
        }
        let mut classes = [0; MAX_REQUEST_CLASSES];
        for (position, class) in classes.iter_mut().zip(&mut known) {
            *position = class;
        }
        (roles.len() <= classes.len()).then_some(Roles::Classes(classes, roles.len()))
    }

    /// Fills a frame for `fast_path`; `None` if the request has a value that a frame cannot hold.
    #[must_use]
    pub fn fill<'r>(&self, fast_path: &FastPath<'_>, request: &'r Request) -> Option<Filled<'r>> {
        let mut filled = Filled {
            frame: Frame::new(),
            values: [PathValue::Missing; MAX_SLOTS],
            texts: [""; MAX_SLOTS],
            temporary: 0,
        };
        for (position, slot) in fast_path.slots().enumerate() {
            let (root, path) = self.slot_path(slot.slot)?;
            let found = find(request, root, path)?;
            filled.put(self, position, slot, found)?;
        }
        Some(filled)
    }
}

/// The value at the end of a path.
#[derive(Clone, Copy, Debug)]
enum PathValue<'r> {
    Missing,
    Broken,
    Text(&'r str),
    Roles(&'r [String]),
    Attr(&'r Attr),
}

impl<'r> Filled<'r> {
    fn put(
        &mut self,
        table: &PolicyTable,
        position: usize,
        slot: SlotRecord<'_>,
        found: PathValue<'r>,
    ) -> Option<()> {
        *self.values.get_mut(position)? = found;
        let word = match found {
            PathValue::Missing => word::MISSING,
            PathValue::Broken => word::BROKEN,
            PathValue::Text(text) => self.text_word(table, slot, text)?,
            PathValue::Attr(Attr::String(text)) => self.text_word(table, slot, text)?,
            PathValue::Attr(Attr::Null) => word::NULL,
            PathValue::Attr(Attr::Bool(false)) => word::FALSE,
            PathValue::Attr(Attr::Bool(true)) => word::TRUE,
            PathValue::Attr(Attr::Number(number)) => {
                self.frame.set_number(position, *number);
                return number.is_finite().then_some(());
            }
            PathValue::Attr(Attr::List(_) | Attr::Map(_)) | PathValue::Roles(_) => word::VALUE,
        };
        self.frame.set(position, word);
        Some(())
    }

    fn text_word(
        &mut self,
        table: &PolicyTable,
        slot: SlotRecord<'_>,
        text: &'r str,
    ) -> Option<u32> {
        if slot.uses & CONSTANTS != 0
            && let Some(id) = slot.constants.iter().find(|id| table.string(**id) == text)
        {
            return word::FIRST_STRING.checked_add(*id);
        }
        let known = self.texts.get(..self.temporary)?.iter().position(|known| *known == text);
        let number = known.unwrap_or(self.temporary);
        if known.is_none() {
            *self.texts.get_mut(number)? = text;
            self.temporary += 1;
        }
        word::FIRST_TEMPORARY.checked_add(u32::try_from(number).ok()?)
    }
}

impl Contents for Filled<'_> {
    fn text(&self, slot: usize) -> Option<&str> {
        match self.values.get(slot)? {
            PathValue::Text(text) => Some(text),
            PathValue::Attr(Attr::String(text)) => Some(text),
            _ => None,
        }
    }

    fn value(&self, slot: usize) -> Option<Value<'_>> {
        match self.values.get(slot)? {
            PathValue::Text(text) => Some(Value::String(Str::Borrowed(text))),
            PathValue::Attr(attr) => Some(Value::from(*attr)),
            PathValue::Roles(roles) => Some(Value::List(List::Strings(roles))),
            PathValue::Missing | PathValue::Broken => None,
        }
    }
}

fn find<'r, 't>(
    request: &'r Request,
    root: Root,
    path: impl Iterator<Item = &'t str>,
) -> Option<PathValue<'r>> {
    let (principal, resource) = (&request.principal, &request.resource);
    Some(match root {
        Root::PrincipalId => PathValue::Text(&principal.id),
        Root::PrincipalRoles => PathValue::Roles(&principal.roles),
        Root::ResourceKind => PathValue::Text(&resource.kind),
        Root::ResourceId => PathValue::Text(&resource.id),
        Root::PrincipalAttr => follow(&principal.attr, path),
        Root::ResourceAttr => follow(&resource.attr, path),
        _ => return None,
    })
}

/// Follows a path through maps. A step into a list fails. A step into a scalar finds no member: at
/// the last step the value is missing, before it the path is broken.
fn follow<'r, 't>(attributes: &'r AttrMap, path: impl Iterator<Item = &'t str>) -> PathValue<'r> {
    let mut path = path.peekable();
    let mut map = attributes;
    while let Some(name) = path.next() {
        let found = map.get(name);
        if path.peek().is_none() {
            return found.map_or(PathValue::Missing, PathValue::Attr);
        }
        map = match found {
            Some(Attr::Map(inner)) => inner,
            None | Some(Attr::List(_)) => return PathValue::Broken,
            Some(_) => {
                path.next();
                return if path.peek().is_none() { PathValue::Missing } else { PathValue::Broken };
            }
        };
    }
    PathValue::Broken
}

#[cfg(test)]
mod tests {
    use alloc::boxed::Box;
    use alloc::format;
    use alloc::vec::Vec;

    use super::follow;
    use crate::attr::{Attr, AttrMap};

    fn map(entries: Vec<(&str, Attr)>) -> AttrMap {
        entries.into_iter().map(|(name, value)| (Box::from(name), value)).collect()
    }

    #[test]
    fn a_path_ends_missing_or_broken_as_reading_it_would() {
        let inner = map(Vec::from([("text", Attr::String("x".into())), ("none", Attr::Null)]));
        let attributes = map(Vec::from([
            ("inner", Attr::Map(inner)),
            ("list", Attr::List(Vec::new())),
            ("number", Attr::Number(1.0)),
        ]));
        let check = |path: &[&str], expected: &str| {
            let found = format!("{:?}", follow(&attributes, path.iter().copied()));
            assert!(found.starts_with(expected), "{path:?}: {found}");
        };
        check(&["number"], "Attr(Number");
        check(&["nothing"], "Missing");
        check(&["inner", "none"], "Attr(Null");
        check(&["inner", "nothing"], "Missing");
        check(&["inner", "text", "more"], "Missing");
        check(&["inner", "text", "more", "still"], "Broken");
        check(&["nothing", "more"], "Broken");
        check(&["list", "more"], "Broken");
        check(&["number", "more"], "Missing");
        check(&["number", "more", "still"], "Broken");
    }
}
