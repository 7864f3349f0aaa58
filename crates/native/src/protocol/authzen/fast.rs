//! The usual evaluation of AuthZEN, answered from its text.
//!
//! Subject and resource are noted by their positions, as in a request in Wardgate's own form. An
//! unusual evaluation, or one with properties that select roles or policies, is left to the reader
//! of [`authzen`](crate::protocol::authzen).

use std::ops::Range;

use crate::clock::Clock;
use crate::fast::json::checked;
use crate::fast::json::input::{
    Entity, JsonInput, Scanned, Stop, each_member, or_unsupported, plain, plain_text,
};
use crate::fast::json::scan::{Scanner, Start, Text};
use crate::fast::json::tape::{Member, Tape, with_tape};
use crate::policies::Policies;

impl Policies {
    /// Answers an evaluation of AuthZEN that is JSON text, with the entities as it describes them.
    /// Returns `None` if no fast path can decide it, if the answer may hold more than yes or no, or
    /// if the evaluation is unusual or wrong:
    /// [`authzen::evaluation`](crate::protocol::authzen::evaluation) reads those.
    ///
    /// ```no_run
    /// use wardgate_native::{Pdp, SystemClock, Trust};
    ///
    /// let pdp = Pdp::open(&std::fs::read("policies.wardgate")?, Trust::Unsigned)?;
    /// let evaluation = br#"{
    ///     "subject": { "type": "user", "id": "ada" },
    ///     "action": { "name": "view" },
    ///     "resource": { "type": "document", "id": "d1" }
    /// }"#;
    /// if let Some(is_allowed) = pdp.snapshot().answer_evaluation(evaluation, SystemClock) {
    ///     println!("{is_allowed}");
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn answer_evaluation(&self, evaluation: &[u8], clock: impl Clock) -> Option<bool> {
        let kinds_with_outputs = self.kinds_with_outputs.as_ref()?;
        answer(evaluation, |input| self.try_fast_effects(kinds_with_outputs, input, &clock))
    }
}

/// Answers an evaluation by `decide`; `None` if it is unusual.
pub(crate) fn answer(
    json: &[u8],
    decide: impl FnOnce(&JsonInput<'_>) -> Option<bool>,
) -> Option<bool> {
    let is_open = |byte: &&u8| matches!(byte, b'{' | b'[');
    // A text of this length with so few brackets stays within the bounds of values and depth of an
    // evaluation.
    if json.len() > MAX_BYTES || json.iter().filter(is_open).count() > MAX_OPEN {
        return None;
    }
    let text = checked(json).ok()?;
    with_tape(|tape| read(&mut Scanner::new(text), tape).ok().and_then(|input| decide(&input)))
}

fn read<'a>(scanner: &mut Scanner<'a>, tape: &'a mut Tape) -> Scanned<JsonInput<'a>> {
    tape.begin(scanner.whole());
    if scanner.start()? != Start::Object {
        return Err(Stop::Unsupported);
    }
    let (mut subject, mut action, mut resource) = (None, None, None);
    let mut object = tape.names.open();
    each_member(scanner, |scanner, name, start| {
        tape.names.note(scanner, name, &mut object)?;
        match scanner.raw_bytes(name) {
            b"subject" => subject = Some(entity(scanner, start, tape)?),
            b"resource" => resource = Some(entity(scanner, start, tape)?),
            b"action" => action = Some(named(scanner, start, tape)?),
            b"context" => context(scanner, start, tape)?,
            // Unknown members are ignored.
            _ => tape.names.skip(scanner, start)?,
        }
        Ok(())
    })?;
    scanner.end()?;
    let ((subject, kind), (resource, resource_kind)) =
        (or_unsupported(subject)?, or_unsupported(resource)?);
    let roles = roles(scanner, tape, (&subject, kind))?;
    let principal = Entity { roles: Some(roles), ..subject };
    let resource = Entity { kind: Some(scanner.raw(resource_kind)), ..resource };
    Ok(JsonInput::new(
        (scanner.whole(), tape),
        or_unsupported(action)?,
        (principal, resource),
        None,
    ))
}

/// Reads a subject or a resource, and the position of its type.
fn entity<'a>(
    scanner: &mut Scanner<'a>,
    start: Start,
    tape: &mut Tape,
) -> Scanned<(Entity<'a>, Text)> {
    if start != Start::Object {
        return Err(Stop::Unsupported);
    }
    let (mut entity, mut kind) = (Entity::default(), None);
    let mut object = tape.names.open();
    each_member(scanner, |scanner, name, start| {
        tape.names.note(scanner, name, &mut object)?;
        match scanner.raw_bytes(name) {
            b"type" => kind = Some(plain_text(scanner, start)?),
            b"id" => entity.id = Some(plain(scanner, start)?),
            b"properties" => entity.attributes = tape.object(scanner, start)?,
            _ => tape.names.skip(scanner, start)?,
        }
        Ok(())
    })?;
    tape.names.close(object);
    let text = scanner.whole();
    let selects =
        |member: &Member| member.name_in(text).is_none_or(|name| name.starts_with("cerbos."));
    if entity.id.is_none() || tape.range(&entity.attributes).iter().any(selects) {
        return Err(Stop::Unsupported);
    }
    Ok((entity, or_unsupported(kind)?))
}

/// Returns the roles of a subject: its property `roles`, or else its type.
fn roles(
    scanner: &Scanner<'_>,
    tape: &mut Tape,
    (subject, kind): (&Entity<'_>, Text),
) -> Scanned<Range<usize>> {
    let is_meant = |member: &&Member| member.name_in(scanner.whole()) == Some("roles");
    let Some(found) = tape.range(&subject.attributes).iter().find(is_meant) else {
        return tape.text(kind);
    };
    let mut list = scanner.clone_at(found.value_at().ok_or(Stop::Unsupported)?);
    let start = list.start()?;
    tape.texts(&mut list, start)
}

fn named<'a>(scanner: &mut Scanner<'a>, start: Start, tape: &mut Tape) -> Scanned<&'a str> {
    if start != Start::Object {
        return Err(Stop::Unsupported);
    }
    let (mut found, mut object) = (None, tape.names.open());
    each_member(scanner, |scanner, name, start| {
        tape.names.note(scanner, name, &mut object)?;
        match scanner.raw_bytes(name) {
            b"name" => found = Some(plain(scanner, start)?),
            b"properties" if start != Start::Object => return Err(Stop::Unsupported),
            _ => tape.names.skip(scanner, start)?,
        }
        Ok(())
    })?;
    tape.names.close(object);
    or_unsupported(found)
}

/// Skips the context: rules that read it have no fast path. Options for the server are left to the
/// plain reader.
fn context(scanner: &mut Scanner<'_>, start: Start, tape: &mut Tape) -> Scanned<()> {
    if start != Start::Object {
        return Err(Stop::Unsupported);
    }
    let mut object = tape.names.open();
    each_member(scanner, |scanner, name, start| {
        tape.names.note(scanner, name, &mut object)?;
        if scanner.raw_bytes(name).starts_with(b"cerbos.") {
            return Err(Stop::Unsupported);
        }
        tape.names.skip(scanner, start)
    })?;
    tape.names.close(object);
    Ok(())
}

/// The bytes of the longest evaluation that is answered from its text.
const MAX_BYTES: usize = 16 << 10;

/// The largest number of objects and lists in such an evaluation.
const MAX_OPEN: usize = 32;
