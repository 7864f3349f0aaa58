//! The usual request, noted by the places of its parts.

use std::cell::Cell;
use std::ops::Range;

use super::scan::{Fault, Scanner, Start, Text, value_of};
use super::tape::{Member, Tape};
use crate::fast::ask::{Ask, Reading};
use crate::fast::index::Target;
use crate::field::Field;

/// A request in which nothing is odd.
pub(crate) struct JsonAsk<'a> {
    text: &'a str,
    tape: &'a Tape,
    action: &'a str,
    principal: Party<'a>,
    resource: Party<'a>,
    /// Steps that programs may still take, for this question and others.
    steps: Option<&'a Cell<u32>>,
}

/// A principal or a resource.
#[derive(Clone, Default)]
pub(crate) struct Party<'a> {
    pub(crate) id: Option<&'a str>,
    pub(crate) kind: Option<&'a str>,
    pub(crate) version: &'a str,
    pub(crate) scope: &'a str,
    pub(crate) roles: Option<Range<usize>>,
    pub(crate) attributes: Range<usize>,
}

/// Why a request is not noted.
pub(crate) enum Stop {
    /// The plain reader must look at it.
    Odd,
    /// It is no JSON.
    Fault(Fault),
}

pub(crate) type Noted<T> = Result<T, Stop>;

impl<'a> JsonAsk<'a> {
    /// Goes through a whole document.
    pub(crate) fn read(scanner: &mut Scanner<'a>, tape: &'a mut Tape) -> Noted<Self> {
        tape.begin(scanner.whole());
        if scanner.start()? != Start::Object {
            return Err(Stop::Odd);
        }
        let (mut action, mut principal, mut resource) = (None, None, None);
        let mut seen = Seen::default();
        each_member(scanner, |scanner, name, start| {
            match scanner.raw_bytes(name) {
                b"action" => {
                    seen.note(1);
                    action = Some(plain(scanner, start)?);
                }
                b"principal" => {
                    seen.note(2);
                    principal = Some(Party::read(scanner, start, tape)?);
                }
                b"resource" => {
                    seen.note(4);
                    resource = Some(Party::read(scanner, start, tape)?);
                }
                b"requestId" => {
                    seen.note(8);
                    plain(scanner, start)?;
                }
                _ => return Err(Stop::Odd),
            }
            Ok(())
        })?;
        seen.must_be_single()?;
        scanner.end()?;
        let (action, principal, resource) = (odd(action)?, odd(principal)?, odd(resource)?);
        let is_principal = principal.roles.is_some() && principal.kind.is_none();
        let is_resource = resource.roles.is_none() && resource.kind.is_some();
        let are_named = principal.id.is_some() && resource.id.is_some();
        if !(is_principal && is_resource && are_named) {
            return Err(Stop::Odd);
        }
        Ok(Self::new((scanner.whole(), tape), action, (principal, resource), None))
    }

    /// A question whose parts were noted. If other questions share the steps that programs may take with it, it says
    /// where they are counted.
    pub(crate) fn new(
        (text, tape): (&'a str, &'a Tape),
        action: &'a str,
        (principal, resource): (Party<'a>, Party<'a>),
        steps: Option<&'a Cell<u32>>,
    ) -> Self {
        Self { text, tape, action, principal, resource, steps }
    }

    fn members(&self, range: &Range<usize>) -> &[Member] {
        self.tape.range(range)
    }

    #[inline]
    fn name(&self, member: &Member) -> &[u8] {
        let place = |at: u32| usize::try_from(at).unwrap_or(usize::MAX);
        let (start, end) = member.name;
        self.text.as_bytes().get(place(start)..place(end)).unwrap_or(&[])
    }

    fn slice(&self, start: u32, end: u32) -> Option<&str> {
        self.text.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }

    /// Follows a path into noted members.
    fn attribute(&self, party: &Party<'_>, path: &[Box<str>]) -> Reading<'_> {
        let Some((first, rest)) = path.split_first() else { return Reading::Odd };
        let is_meant = |member: &&Member| self.name(member) == first.as_bytes();
        match self.members(&party.attributes).iter().find(is_meant) {
            None if rest.is_empty() => Reading::Field(Field::Missing),
            None => Reading::Broken,
            Some(member) => self.value(member, rest),
        }
    }

    /// Follows the rest of a path from a noted member.
    fn value(&self, member: &Member, rest: &[Box<str>]) -> Reading<'_> {
        let Some(raw) = self.slice(member.value, member.end) else { return Reading::Odd };
        if must_be_read_again(raw, rest) && !self.tape.affords(raw) {
            return Reading::Odd;
        }
        if let Some((name, rest)) = rest.split_first() {
            return nested(raw, name, rest);
        }
        scalar(raw)
    }
}

impl<'a> Party<'a> {
    pub(crate) fn read(scanner: &mut Scanner<'a>, start: Start, tape: &mut Tape) -> Noted<Self> {
        let mut party = Self::default();
        let mut seen = Seen::default();
        if start != Start::Object {
            return Err(Stop::Odd);
        }
        each_member(scanner, |scanner, name, start| {
            match scanner.raw_bytes(name) {
                b"id" => {
                    seen.note(1);
                    party.id = Some(plain(scanner, start)?);
                }
                b"kind" => {
                    seen.note(2);
                    party.kind = Some(plain(scanner, start)?);
                }
                b"attr" => {
                    seen.note(4);
                    party.attributes = tape.object(scanner, start)?;
                }
                b"roles" => {
                    seen.note(8);
                    party.roles = Some(tape.texts(scanner, start)?);
                }
                b"policyVersion" => {
                    seen.note(16);
                    party.version = plain(scanner, start)?;
                }
                b"scope" => {
                    seen.note(32);
                    party.scope = plain(scanner, start)?;
                }
                _ => return Err(Stop::Odd),
            }
            Ok(())
        })?;
        seen.must_be_single()?;
        Ok(party)
    }
}

impl Ask for JsonAsk<'_> {
    #[inline]
    fn target(&self) -> Target<'_> {
        let Party { kind, version, scope, .. } = self.resource;
        Target { kind: kind.unwrap_or(""), action: self.action, policy_version: version, scope }
    }

    #[inline]
    fn principal(&self) -> &str {
        self.principal.id.unwrap_or("")
    }

    #[inline]
    fn resource(&self) -> &str {
        self.resource.id.unwrap_or("")
    }

    #[inline]
    fn roles(&self) -> impl Iterator<Item = &str> {
        let roles = self.principal.roles.as_ref().map_or(&[][..], |roles| self.members(roles));
        roles.iter().filter_map(|role| self.slice(role.name.0, role.name.1))
    }

    fn pays(&self, taken: u32) -> bool {
        let Some(steps) = self.steps else { return true };
        let left = steps.get().checked_sub(taken);
        steps.set(left.unwrap_or(0));
        left.is_some()
    }

    #[inline]
    fn principal_attribute(&self, path: &[Box<str>]) -> Reading<'_> {
        self.attribute(&self.principal, path)
    }

    #[inline]
    fn resource_attribute(&self, path: &[Box<str>]) -> Reading<'_> {
        self.attribute(&self.resource, path)
    }
}

impl From<Fault> for Stop {
    #[inline]
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Goes through the object that begins here, to its end.
#[inline]
pub(crate) fn each_member<'a>(
    scanner: &mut Scanner<'a>,
    mut visit: impl FnMut(&mut Scanner<'a>, Text, Start) -> Noted<()>,
) -> Noted<()> {
    scanner.enter();
    let mut is_first = true;
    while let Some(name) = scanner.member(is_first)? {
        is_first = false;
        if name.is_escaped {
            return Err(Stop::Odd);
        }
        let start = scanner.start()?;
        visit(scanner, name, start)?;
    }
    Ok(())
}

/// Which members an object has: a bit for each.
#[derive(Clone, Copy, Default)]
struct Seen {
    once: u32,
    twice: u32,
}

impl Seen {
    #[inline(always)]
    const fn note(&mut self, bit: u32) {
        self.twice |= self.once & bit;
        self.once |= bit;
    }

    #[inline]
    fn must_be_single(self) -> Noted<()> {
        odd((self.twice == 0).then_some(()))
    }
}

/// Reads text without escapes.
#[inline]
pub(crate) fn plain<'a>(scanner: &mut Scanner<'a>, start: Start) -> Noted<&'a str> {
    let text = plain_text(scanner, start)?;
    Ok(scanner.raw(text))
}

#[inline]
pub(crate) fn plain_text(scanner: &mut Scanner<'_>, start: Start) -> Noted<Text> {
    if start != Start::Text {
        return Err(Stop::Odd);
    }
    let text = scanner.text()?;
    if text.is_escaped { Err(Stop::Odd) } else { Ok(text) }
}

/// Skips a value and returns whether it stands there as it is: not if it is text with escapes.
#[inline]
pub(crate) fn skip(scanner: &mut Scanner<'_>, start: Start) -> Result<bool, Fault> {
    if start == Start::Text {
        return scanner.text().map(|text| !text.is_escaped);
    }
    scanner.skip(start)?;
    Ok(true)
}

/// Returns true if more than the ends of a value must be looked at: if it is not text, or a path leads into it.
#[inline]
fn must_be_read_again(raw: &str, rest: &[Box<str>]) -> bool {
    !rest.is_empty() || !raw.starts_with('"')
}

/// Follows a path from a value that was found to be JSON.
fn nested<'a>(raw: &'a str, name: &str, rest: &[Box<str>]) -> Reading<'a> {
    #[cfg(test)]
    super::reread::note(raw);
    let mut scanner = Scanner::new(raw);
    match scanner.start() {
        Ok(Start::Object) => {}
        Ok(Start::List) | Err(_) => return Reading::Broken,
        Ok(_) if rest.is_empty() => return Reading::Field(Field::Missing),
        Ok(_) => return Reading::Broken,
    }
    let mut found = None;
    let scanned = each_member(&mut scanner, |scanner, member, start| {
        let at = scanner.at();
        let is_whole = skip(scanner, start)?;
        if scanner.raw(member) == name {
            found = Some((scanner.since(at), is_whole));
        }
        Ok(())
    });
    match (scanned, found, rest.split_first()) {
        (Err(_), ..) | (_, Some((_, false)), _) => Reading::Odd,
        (_, None, None) => Reading::Field(Field::Missing),
        (_, None, Some(_)) => Reading::Broken,
        (_, Some((raw, _)), None) => scalar(raw),
        (_, Some((raw, _)), Some((name, rest))) => nested(raw, name, rest),
    }
}

/// Reads a value that was found to be JSON, and to have no escapes if it is text.
#[inline]
fn scalar(raw: &str) -> Reading<'_> {
    Reading::Field(match raw.as_bytes() {
        [b'"', inner @ .., b'"'] => match raw.get(1..=inner.len()) {
            Some(text) => Field::Text(text),
            None => return Reading::Odd,
        },
        [b'{' | b'[', ..] => return Reading::Json(raw),
        [b't', ..] => Field::Bool(true),
        [b'f', ..] => Field::Bool(false),
        [b'n', ..] => Field::Null,
        _ => Field::Number(value_of(raw)),
    })
}

#[inline]
pub(crate) fn odd<T>(value: Option<T>) -> Noted<T> {
    value.ok_or(Stop::Odd)
}
