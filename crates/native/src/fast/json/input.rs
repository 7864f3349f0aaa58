//! The usual request, noted by the positions of its parts.

use std::cell::Cell;
use std::ops::Range;

use super::scan::{Fault, Scanner, Start, Text, value_of};
use super::tape::{Member, Tape};
use crate::fast::index::Target;
use crate::fast::input::{FastInput, SlotValue};
use crate::fast::path::SlotRoot;
use crate::field::Field;

/// A request in the usual form.
pub(crate) struct JsonInput<'a> {
    text: &'a str,
    tape: &'a Tape,
    action: &'a str,
    principal: Entity<'a>,
    resource: Entity<'a>,
    /// The claims of the token, and the tokens by name; `None` if the message has them elsewhere.
    aux_data: Option<[Range<usize>; 2]>,
    /// The steps that programs may still take, for this question and others.
    steps: Option<&'a Cell<u32>>,
}

/// A principal or a resource.
#[derive(Clone, Default)]
pub(crate) struct Entity<'a> {
    pub(crate) id: Option<&'a str>,
    pub(crate) kind: Option<&'a str>,
    pub(crate) version: &'a str,
    pub(crate) scope: &'a str,
    pub(crate) roles: Option<Range<usize>>,
    pub(crate) attributes: Range<usize>,
}

/// The reason why a request is not noted.
pub(crate) enum Stop {
    /// The plain reader must read it.
    Unsupported,
    /// It is not JSON.
    Fault(Fault),
}

pub(crate) type Scanned<T> = Result<T, Stop>;

impl<'a> JsonInput<'a> {
    /// Reads a whole document.
    pub(crate) fn read(scanner: &mut Scanner<'a>, tape: &'a mut Tape) -> Scanned<Self> {
        tape.begin(scanner.whole());
        if scanner.start()? != Start::Object {
            return Err(Stop::Unsupported);
        }
        let (mut action, mut principal, mut resource) = (None, None, None);
        let (mut seen, mut aux_data) = (Seen::default(), [0..0, 0..0]);
        scanner.enter();
        while scanner.next_member(seen.is_empty())? {
            let part = seen.noted(Part::of(scanner)?);
            let start = scanner.start()?;
            match part {
                Part::ACTION => action = Some(plain(scanner, start)?),
                Part::PRINCIPAL => principal = Some(Entity::read(scanner, start, tape)?),
                Part::RESOURCE => resource = Some(Entity::read(scanner, start, tape)?),
                Part::AUX_DATA => aux_data = read_aux_data(scanner, start, tape)?,
                _ => drop(plain(scanner, start)?),
            }
        }
        seen.must_be_single()?;
        scanner.end()?;
        let (action, principal, resource) =
            (or_unsupported(action)?, or_unsupported(principal)?, or_unsupported(resource)?);
        if !(principal.is_principal() && resource.is_resource()) {
            return Err(Stop::Unsupported);
        }
        let input = Self::new((scanner.whole(), tape), action, (principal, resource), None);
        Ok(input.with_aux_data(aux_data))
    }

    /// Returns a question whose parts were noted. `steps` counts the steps that its programs share
    /// with those of other questions.
    pub(crate) fn new(
        (text, tape): (&'a str, &'a Tape),
        action: &'a str,
        (principal, resource): (Entity<'a>, Entity<'a>),
        steps: Option<&'a Cell<u32>>,
    ) -> Self {
        Self { text, tape, action, principal, resource, aux_data: None, steps }
    }

    /// Adds the claims of the token, and the tokens by name.
    pub(crate) fn with_aux_data(self, aux_data: [Range<usize>; 2]) -> Self {
        Self { aux_data: Some(aux_data), ..self }
    }

    fn members(&self, range: &Range<usize>) -> &[Member] {
        self.tape.range(range)
    }

    #[inline]
    fn name(&self, member: &Member) -> &[u8] {
        let position = |at: u32| usize::try_from(at).unwrap_or(usize::MAX);
        let (start, end) = member.name;
        self.text.as_bytes().get(position(start)..position(end)).unwrap_or(&[])
    }

    fn slice(&self, start: u32, end: u32) -> Option<&str> {
        self.text.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }

    /// Follows a path into noted members.
    fn attribute(&self, members: &Range<usize>, path: &[Box<str>]) -> SlotValue<'_> {
        let Some((first, rest)) = path.split_first() else { return SlotValue::Unsupported };
        let is_meant = |member: &&Member| self.name(member) == first.as_bytes();
        match self.members(members).iter().find(is_meant) {
            None if rest.is_empty() => SlotValue::Field(Field::Missing),
            None => SlotValue::Broken,
            Some(member) => self.value(member, rest),
        }
    }

    /// Follows the rest of a path from a noted member.
    fn value(&self, member: &Member, rest: &[Box<str>]) -> SlotValue<'_> {
        let Some(raw) = self.slice(member.value, member.end) else { return SlotValue::Unsupported };
        if must_be_read_again(raw, rest) && !self.tape.affords(raw) {
            return SlotValue::Unsupported;
        }
        if let Some((name, rest)) = rest.split_first() {
            return nested(raw, name, rest);
        }
        scalar(raw)
    }
}

impl<'a> Entity<'a> {
    pub(crate) fn read(scanner: &mut Scanner<'a>, start: Start, tape: &mut Tape) -> Scanned<Self> {
        let mut entity = Self::default();
        let mut seen = Seen::default();
        if start != Start::Object {
            return Err(Stop::Unsupported);
        }
        scanner.enter();
        while scanner.next_member(seen.is_empty())? {
            let part = seen.noted(Part::of_entity(scanner)?);
            let start = scanner.start()?;
            match part {
                Part::ID => entity.id = Some(plain(scanner, start)?),
                Part::KIND => entity.kind = Some(plain(scanner, start)?),
                Part::ATTR => entity.attributes = tape.object(scanner, start)?,
                Part::ROLES => entity.roles = Some(tape.texts(scanner, start)?),
                Part::VERSION => entity.version = plain(scanner, start)?,
                _ => entity.scope = plain(scanner, start)?,
            }
        }
        seen.must_be_single()?;
        Ok(entity)
    }

    /// Returns true if it has what a principal must have, and nothing of a resource.
    pub(crate) const fn is_principal(&self) -> bool {
        self.roles.is_some() && self.kind.is_none() && self.id.is_some()
    }

    /// Returns true if it has what a resource must have, and nothing of a principal.
    pub(crate) const fn is_resource(&self) -> bool {
        self.roles.is_none() && self.kind.is_some() && self.id.is_some()
    }
}

/// The members that a request may have, and those of its principal and its resource: a bit for each.
struct Part;

impl Part {
    const ACTION: u32 = 1;
    const PRINCIPAL: u32 = 2;
    const RESOURCE: u32 = 4;
    const REQUEST_ID: u32 = 8;
    const AUX_DATA: u32 = 16;

    const ID: u32 = 1;
    const KIND: u32 = 2;
    const ATTR: u32 = 4;
    const ROLES: u32 = 8;
    const VERSION: u32 = 16;
    const SCOPE: u32 = 32;

    /// Reads the name of a member of a request. The usual spelling needs one comparison.
    #[inline(always)]
    fn of(scanner: &mut Scanner<'_>) -> Scanned<u32> {
        match scanner.byte(scanner.at() + 1) {
            b'a' if scanner.passes(b"\"action\":") => return Ok(Self::ACTION),
            b'p' if scanner.passes(b"\"principal\":") => return Ok(Self::PRINCIPAL),
            b'r' if scanner.passes(b"\"resource\":") => return Ok(Self::RESOURCE),
            _ => {}
        }
        Ok(match plain_name(scanner)? {
            b"action" => Self::ACTION,
            b"principal" => Self::PRINCIPAL,
            b"resource" => Self::RESOURCE,
            b"requestId" => Self::REQUEST_ID,
            b"auxData" => Self::AUX_DATA,
            _ => return Err(Stop::Unsupported),
        })
    }

    /// Reads the name of a member of a principal or a resource.
    #[inline(always)]
    fn of_entity(scanner: &mut Scanner<'_>) -> Scanned<u32> {
        match scanner.byte(scanner.at() + 1) {
            b'i' if scanner.passes(b"\"id\":") => return Ok(Self::ID),
            b'k' if scanner.passes(b"\"kind\":") => return Ok(Self::KIND),
            b'a' if scanner.passes(b"\"attr\":") => return Ok(Self::ATTR),
            b'r' if scanner.passes(b"\"roles\":") => return Ok(Self::ROLES),
            _ => {}
        }
        Ok(match plain_name(scanner)? {
            b"id" => Self::ID,
            b"kind" => Self::KIND,
            b"attr" => Self::ATTR,
            b"roles" => Self::ROLES,
            b"policyVersion" => Self::VERSION,
            b"scope" => Self::SCOPE,
            _ => return Err(Stop::Unsupported),
        })
    }
}

impl FastInput for JsonInput<'_> {
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
    fn principal_attribute(&self, path: &[Box<str>]) -> SlotValue<'_> {
        self.attribute(&self.principal.attributes, path)
    }

    #[inline]
    fn resource_attribute(&self, path: &[Box<str>]) -> SlotValue<'_> {
        self.attribute(&self.resource.attributes, path)
    }

    fn all_names(&self, root: SlotRoot, is_known: &mut dyn FnMut(&str) -> bool) -> bool {
        let range = match root {
            SlotRoot::PrincipalAttr => &self.principal.attributes,
            SlotRoot::ResourceAttr => &self.resource.attributes,
            _ => return false,
        };
        let mut names = self.members(range).iter().map(|member| member.name_in(self.text));
        names.all(|name| name.is_some_and(&mut *is_known))
    }

    fn claim(&self, path: &[Box<str>]) -> SlotValue<'_> {
        let Some([claims, _]) = &self.aux_data else { return SlotValue::Unsupported };
        self.attribute(claims, path)
    }

    fn token(&self, path: &[Box<str>]) -> SlotValue<'_> {
        let Some([_, tokens]) = &self.aux_data else { return SlotValue::Unsupported };
        self.attribute(tokens, path)
    }
}

/// Reads the claims of the token, and the tokens by name.
pub(crate) fn read_aux_data(
    scanner: &mut Scanner<'_>,
    start: Start,
    tape: &mut Tape,
) -> Scanned<[Range<usize>; 2]> {
    if start != Start::Object {
        return Err(Stop::Unsupported);
    }
    let (mut seen, mut claims, mut tokens) = (Seen::default(), 0..0, 0..0);
    each_member(scanner, |scanner, name, start| {
        match scanner.raw_bytes(name) {
            b"jwt" => {
                seen.note(1);
                claims = tape.object(scanner, start)?;
            }
            b"jwts" => {
                seen.note(2);
                tokens = tape.object(scanner, start)?;
            }
            _ => return Err(Stop::Unsupported),
        }
        Ok(())
    })?;
    seen.must_be_single()?;
    Ok([claims, tokens])
}

impl From<Fault> for Stop {
    #[inline]
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Reads the object that begins here to its end, and calls `each` for every member.
#[inline]
pub(crate) fn each_member<'a>(
    scanner: &mut Scanner<'a>,
    mut visit: impl FnMut(&mut Scanner<'a>, Text, Start) -> Scanned<()>,
) -> Scanned<()> {
    scanner.enter();
    let mut is_first = true;
    while let Some(name) = scanner.member(is_first)? {
        is_first = false;
        if name.is_escaped {
            return Err(Stop::Unsupported);
        }
        let start = scanner.start()?;
        visit(scanner, name, start)?;
    }
    Ok(())
}

/// The members of an object: a bit for each.
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

    /// Notes a bit and returns it.
    #[inline(always)]
    const fn noted(&mut self, bit: u32) -> u32 {
        self.note(bit);
        bit
    }

    #[inline(always)]
    const fn is_empty(self) -> bool {
        self.once == 0
    }

    #[inline]
    fn must_be_single(self) -> Scanned<()> {
        or_unsupported((self.twice == 0).then_some(()))
    }
}

/// Reads a name without escapes, and its colon.
#[inline]
fn plain_name<'a>(scanner: &mut Scanner<'a>) -> Scanned<&'a [u8]> {
    let name = scanner.name()?;
    if name.is_escaped { Err(Stop::Unsupported) } else { Ok(scanner.raw_bytes(name)) }
}

/// Reads text without escapes.
#[inline]
pub(crate) fn plain<'a>(scanner: &mut Scanner<'a>, start: Start) -> Scanned<&'a str> {
    let text = plain_text(scanner, start)?;
    Ok(scanner.raw(text))
}

#[inline]
pub(crate) fn plain_text(scanner: &mut Scanner<'_>, start: Start) -> Scanned<Text> {
    if start != Start::Text {
        return Err(Stop::Unsupported);
    }
    let text = scanner.text()?;
    if text.is_escaped { Err(Stop::Unsupported) } else { Ok(text) }
}

/// Skips a value and returns true if its text is its content: not if it is a string with escapes.
#[inline]
pub(crate) fn skip(scanner: &mut Scanner<'_>, start: Start) -> Result<bool, Fault> {
    if start == Start::Text {
        return scanner.text().map(|text| !text.is_escaped);
    }
    scanner.skip(start)?;
    Ok(true)
}

/// Returns true if more than the ends of a value must be read: if it is not text, or a path leads
/// into it.
#[inline]
fn must_be_read_again(raw: &str, rest: &[Box<str>]) -> bool {
    !rest.is_empty() || !raw.starts_with('"')
}

/// Follows a path from a value that was checked to be JSON.
fn nested<'a>(raw: &'a str, name: &str, rest: &[Box<str>]) -> SlotValue<'a> {
    #[cfg(test)]
    super::reread::note(raw);
    let mut scanner = Scanner::new(raw);
    match scanner.start() {
        Ok(Start::Object) => {}
        Ok(Start::List) | Err(_) => return SlotValue::Broken,
        Ok(_) if rest.is_empty() => return SlotValue::Field(Field::Missing),
        Ok(_) => return SlotValue::Broken,
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
        (Err(_), ..) | (_, Some((_, false)), _) => SlotValue::Unsupported,
        (_, None, None) => SlotValue::Field(Field::Missing),
        (_, None, Some(_)) => SlotValue::Broken,
        (_, Some((raw, _)), None) => scalar(raw),
        (_, Some((raw, _)), Some((name, rest))) => nested(raw, name, rest),
    }
}

/// Reads a value that was checked to be JSON, and to have no escapes if it is text.
#[inline]
fn scalar(raw: &str) -> SlotValue<'_> {
    SlotValue::Field(match raw.as_bytes() {
        [b'"', inner @ .., b'"'] => match raw.get(1..=inner.len()) {
            Some(text) => Field::Text(text),
            None => return SlotValue::Unsupported,
        },
        [b'{' | b'[', ..] => return SlotValue::Json(raw),
        [b't', ..] => Field::Bool(true),
        [b'f', ..] => Field::Bool(false),
        [b'n', ..] => Field::Null,
        _ => Field::Number(value_of(raw)),
    })
}

#[inline]
pub(crate) fn or_unsupported<T>(value: Option<T>) -> Scanned<T> {
    value.ok_or(Stop::Unsupported)
}
