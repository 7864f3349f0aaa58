//! Fills a frame from a request, and decides by fast paths where they have an answer.
//!
//! The obvious filler: hosts with requests of another shape have their own and are compared with
//! it. Numbers that are not finite are left to the general path.

mod fits;
mod tested;
pub mod verdicts;

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::cel::pool::Root;
use wardgate_engine::cel::value::{List, Str};
use wardgate_engine::cel::{Timestamp, Value};
use wardgate_engine::fastpath::{Contents, Coverage};
use wardgate_engine::limits::{MAX_FAST_PATH_ROLE_BYTES, MAX_FAST_PATH_ROLES};
use wardgate_engine::names::trimmed_scope;
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;
use wardgate_engine::number::int_to_double;
use wardgate_fastpath::layout::{BY_CLASS, CONSTANTS, MAX_REQUEST_CLASSES, MAX_SLOTS, test};
use wardgate_fastpath::{Answer, FastPath, Frame, SlotRecord, SlotTest, word};

use fits::fits;
use tested::{Tested, tested};

/// A frame and the values that its words cannot hold.
#[derive(Debug)]
pub struct Filled<'r> {
    /// The words and numbers.
    pub frame: Frame,
    values: [SlotValue<'r>; MAX_SLOTS],
    /// The texts that have temporary words.
    texts: [&'r str; MAX_SLOTS],
    temporary: usize,
}

/// The roles of a principal in terms of a fast path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roles {
    /// The masks of all roles, united.
    Mask(u32),
    /// The classes of the roles in their order, and how many there are: for a fast path by class.
    Classes([u32; MAX_REQUEST_CLASSES], usize),
}

/// Decides by the fast path for `action`: returns the answer of [`PolicyTable::is_allowed`], or
/// Unsure.
#[must_use]
pub fn decide(table: &PolicyTable, request: &Request, action: &str, now: Timestamp) -> Answer {
    try_fast_path(table, request, action, now).unwrap_or(Answer::Unsure)
}

fn try_fast_path(
    table: &PolicyTable,
    request: &Request,
    action: &str,
    now: Timestamp,
) -> Option<Answer> {
    let list = match coverage(table, request) {
        Coverage::List(offset) => table.fast_paths().list(offset)?,
        Coverage::NoPolicy => return Some(Answer::Deny),
        Coverage::General => return None,
    };
    let id = table.fast_path_of_action(list, action)?;
    let fast_path = table.fast_path(id)?;
    let filled = fill(table, &fast_path, request, now)?;
    let contents: (&Frame, &dyn Contents) = (&filled.frame, &filled);
    Some(match roles(table, &fast_path, &request.principal.roles)? {
        Roles::Mask(roles) => table.decide_with(id, roles, contents, now),
        Roles::Classes(classes, count) => {
            table.decide_classes_with(id, classes.get(..count)?, contents, now)
        }
    })
}

/// Returns the way to decide a request. Fast paths cover policies of the principal itself in the
/// root scope.
fn coverage(table: &PolicyTable, request: &Request) -> Coverage {
    let (principal, resource) = (&request.principal, &request.resource);
    let names = [&resource.kind, &resource.policy_version, &resource.scope].map(String::as_str);
    if !table.principals().any(|id| id == principal.id) {
        return table.coverage(names, || table.has_role_policies());
    }
    if !trimmed_scope(&principal.scope).is_empty() {
        return Coverage::General;
    }
    table.own_coverage(&principal.id, names, || table.has_role_policies())
}

/// Returns the roles of a principal in terms of a fast path; `None` if they are too many or too
/// long.
#[must_use]
pub fn roles(table: &PolicyTable, fast_path: &FastPath<'_>, roles: &[String]) -> Option<Roles> {
    if roles.iter().any(|role| role.len() > MAX_FAST_PATH_ROLE_BYTES) {
        return None;
    }
    let mut known = roles.iter().map(|role| fast_path.role(table.string_id(role)));
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

/// Fills a frame for `fast_path`; returns `None` if the request holds a value that no frame can
/// hold.
#[must_use]
pub fn fill<'r>(
    table: &PolicyTable,
    fast_path: &FastPath<'_>,
    request: &'r Request,
    now: Timestamp,
) -> Option<Filled<'r>> {
    let mut filled = Filled {
        frame: Frame::new(),
        values: [SlotValue::Missing; MAX_SLOTS],
        texts: [""; MAX_SLOTS],
        temporary: 0,
    };
    for (position, slot) in fast_path.slots().enumerate() {
        let (root, path) = table.slot_path(slot.slot)?;
        if let Some(SlotTest { kind: test::FITS, terms }) = slot.test {
            let (principal, resource) = (&request.principal.attr, &request.resource.attr);
            let attributes = if root == Root::PrincipalAttr { principal } else { resource };
            filled.frame.set(position, word::TRUE);
            fits(table, terms, attributes).then_some(())?;
            continue;
        }
        let value = find(request, root, path)?;
        match slot.test {
            None => filled.put(table, position, slot, value)?,
            Some(test) if test.kind == test::NOW => filled.put_time(position, now)?,
            Some(test) => filled.put_test(table, position, test, value)?,
        }
    }
    Some(filled)
}

/// The value at the end of a path.
#[derive(Clone, Copy, Debug)]
enum SlotValue<'r> {
    Missing,
    Broken,
    Text(&'r str),
    Roles(&'r [String]),
    Attr(&'r Attr),
}

impl SlotValue<'_> {
    /// Returns a copy of the value; `None` if there is none.
    fn attr(&self) -> Option<Attr> {
        Some(match self {
            Self::Missing | Self::Broken => return None,
            Self::Text(text) => Attr::String((*text).into()),
            Self::Roles(roles) => {
                Attr::List(roles.iter().map(|role| Attr::String(role.as_str().into())).collect())
            }
            Self::Attr(attr) => (*attr).clone(),
        })
    }
}

impl<'r> Filled<'r> {
    fn put(
        &mut self,
        table: &PolicyTable,
        position: usize,
        slot: SlotRecord<'_>,
        value: SlotValue<'r>,
    ) -> Option<()> {
        *self.values.get_mut(position)? = value;
        let word = match value {
            SlotValue::Missing => word::MISSING,
            SlotValue::Broken => word::BROKEN,
            SlotValue::Text(text) => self.text_word(table, slot, text)?,
            SlotValue::Attr(Attr::String(text)) => self.text_word(table, slot, text)?,
            SlotValue::Attr(Attr::Null) => word::NULL,
            SlotValue::Attr(Attr::Bool(false)) => word::FALSE,
            SlotValue::Attr(Attr::Bool(true)) => word::TRUE,
            SlotValue::Attr(Attr::Number(number)) => {
                self.frame.set_number(position, *number);
                return number.is_finite().then_some(());
            }
            SlotValue::Attr(Attr::List(_) | Attr::Map(_)) | SlotValue::Roles(_) => word::VALUE,
        };
        self.frame.set(position, word);
        Some(())
    }

    fn put_test(
        &mut self,
        table: &PolicyTable,
        position: usize,
        test: SlotTest<'_>,
        value: SlotValue<'r>,
    ) -> Option<()> {
        let operand = |slot: u32| self.values.get(usize::try_from(slot).ok()?)?.attr();
        match tested(table, test, value.attr(), &operand)? {
            Tested::Truth(None) => self.frame.set(position, word::MISSING),
            Tested::Truth(Some(false)) => self.frame.set(position, word::FALSE),
            Tested::Truth(Some(true)) => self.frame.set(position, word::TRUE),
            Tested::Size(size) => {
                self.frame.set_number(position, f64::from(u32::try_from(size).ok()?));
            }
            Tested::Time(moment) => self.put_time(position, moment)?,
        }
        Some(())
    }

    /// Writes a moment of whole milliseconds.
    fn put_time(&mut self, position: usize, moment: Timestamp) -> Option<()> {
        let rest = moment.nanos() / 1_000_000;
        let is_whole = rest * 1_000_000 == moment.nanos();
        let number = int_to_double(moment.seconds()) * 1000.0 + f64::from(rest);
        self.frame.set_number(position, number);
        is_whole.then_some(())
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
            SlotValue::Text(text) => Some(text),
            SlotValue::Attr(Attr::String(text)) => Some(text),
            _ => None,
        }
    }

    fn value(&self, slot: usize) -> Option<Value<'_>> {
        match self.values.get(slot)? {
            SlotValue::Text(text) => Some(Value::String(Str::Borrowed(text))),
            SlotValue::Attr(attr) => Some(Value::from(*attr)),
            SlotValue::Roles(roles) => Some(Value::List(List::Strings(roles))),
            SlotValue::Missing | SlotValue::Broken => None,
        }
    }
}

fn find<'r, 't>(
    request: &'r Request,
    root: Root,
    path: impl Iterator<Item = &'t str>,
) -> Option<SlotValue<'r>> {
    let (principal, resource) = (&request.principal, &request.resource);
    Some(match root {
        Root::PrincipalId => SlotValue::Text(&principal.id),
        Root::PrincipalRoles => SlotValue::Roles(&principal.roles),
        Root::ResourceKind => SlotValue::Text(&resource.kind),
        Root::ResourceId => SlotValue::Text(&resource.id),
        Root::PrincipalAttr => follow(&principal.attr, path),
        Root::ResourceAttr => follow(&resource.attr, path),
        Root::AuxDataJwt => follow(&request.aux_data.jwt, path),
        Root::AuxDataJwts => follow(&request.aux_data.jwts, path),
        _ => return None,
    })
}

/// Follows a path through maps. Looking into a list fails; a scalar has no members, which only
/// matters at the last step: the steps before need a value to go on.
fn follow<'r, 't>(attributes: &'r AttrMap, path: impl Iterator<Item = &'t str>) -> SlotValue<'r> {
    let mut path = path.peekable();
    let mut map = attributes;
    while let Some(name) = path.next() {
        let found = map.get(name);
        if path.peek().is_none() {
            return found.map_or(SlotValue::Missing, SlotValue::Attr);
        }
        map = match found {
            Some(Attr::Map(inner)) => inner,
            None | Some(Attr::List(_)) => return SlotValue::Broken,
            Some(_) => {
                path.next();
                return if path.peek().is_none() { SlotValue::Missing } else { SlotValue::Broken };
            }
        };
    }
    SlotValue::Broken
}

#[cfg(test)]
mod tests {
    use wardgate_engine::attr::{Attr, AttrMap};

    use super::follow;

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
