//! The usual entry, noted by the positions of its parts.

use std::ops::Range;

use super::Other;
use crate::fast::json::input::{
    Entity, Scanned, Stop, each_member, or_unsupported, plain, read_aux_data, skip,
};
use crate::fast::json::scan::{Scanner, Start};
use crate::fast::json::tape::Tape;

/// What was noted of an entry.
pub(super) struct Entry<'a> {
    pub(super) time: Option<&'a str>,
    pub(super) inputs: Result<Vec<Noted<'a>>, Other>,
}

/// One input, with the effects of its output.
#[derive(Clone)]
pub(super) struct Noted<'a> {
    pub(super) principal: Entity<'a>,
    pub(super) resource: Entity<'a>,
    pub(super) actions: Range<usize>,
    pub(super) aux_data: [Range<usize>; 2],
    /// The text of the principal, of the resource and of the auxiliary data.
    pub(super) spans: [Range<usize>; 3],
    /// The text of the input.
    pub(super) whole: Range<usize>,
    /// A bit for each action that was allowed.
    pub(super) allowed: u64,
    /// A bit for each action that was denied.
    pub(super) denied: u64,
}

/// Reads an entry. Outputs before inputs, members twice, and more than 64 actions are unsupported.
pub(super) fn entry<'a>(scanner: &mut Scanner<'a>, tape: &mut Tape) -> Scanned<Entry<'a>> {
    if scanner.start()? != Start::Object {
        return Err(Stop::Unsupported);
    }
    let mut time = None;
    let mut checks = Collected::default();
    let mut other = None;
    each_member(scanner, |scanner, name, start| {
        match scanner.raw_bytes(name) {
            b"timestamp" if time.is_none() => time = Some(plain(scanner, start)?),
            b"checkResources" => checks.object(scanner, start, tape)?,
            b"inputs" | b"outputs" | b"error" => {
                checks.member(scanner, (scanner.raw_bytes(name), start), tape)?;
            }
            b"planResources" => {
                other = Some(Other::Plan);
                skip(scanner, start)?;
            }
            b"oversized" if start == Start::Literal => {
                if scanner.literal()? == Some(true) {
                    other = other.or(Some(Other::Oversized));
                }
            }
            b"log.kind" if start == Start::Text => {
                if plain(scanner, start)? == "access" {
                    other = Some(Other::Access);
                }
            }
            b"timestamp" | b"check_resources" | b"plan_resources" => return Err(Stop::Unsupported),
            _ => drop(skip(scanner, start)?),
        }
        Ok(())
    })?;
    scanner.end()?;
    let inputs = match (checks.inputs, other) {
        (Some(inputs), _) if checks.has_outputs => Ok(inputs),
        (_, Some(other)) => Err(other),
        (_, None) if checks.has_failed => Err(Other::Failed),
        (Some(inputs), None) => Ok(inputs),
        // The plain reader looks into envelopes.
        (None, None) => return Err(Stop::Unsupported),
    };
    Ok(Entry { time, inputs })
}

/// The checks of an entry, as they are collected.
#[derive(Default)]
struct Collected<'a> {
    inputs: Option<Vec<Noted<'a>>>,
    has_outputs: bool,
    has_failed: bool,
}

impl<'a> Collected<'a> {
    fn object(&mut self, scanner: &mut Scanner<'a>, start: Start, tape: &mut Tape) -> Scanned<()> {
        if start != Start::Object {
            return Err(Stop::Unsupported);
        }
        each_member(scanner, |scanner, name, start| {
            self.member(scanner, (scanner.raw_bytes(name), start), tape)
        })
    }

    fn member(
        &mut self,
        scanner: &mut Scanner<'a>,
        (name, start): (&[u8], Start),
        tape: &mut Tape,
    ) -> Scanned<()> {
        match name {
            b"inputs" if self.inputs.is_none() => self.inputs = Some(inputs(scanner, start, tape)?),
            b"outputs" if !self.has_outputs => {
                self.has_outputs = true;
                let inputs = or_unsupported(self.inputs.as_mut())?;
                outputs(scanner, start, (inputs, tape))?;
            }
            b"error" if !self.has_failed => self.has_failed = !plain(scanner, start)?.is_empty(),
            b"inputs" | b"outputs" | b"error" => return Err(Stop::Unsupported),
            _ => drop(skip(scanner, start)?),
        }
        Ok(())
    }
}

fn inputs<'a>(scanner: &mut Scanner<'a>, start: Start, tape: &mut Tape) -> Scanned<Vec<Noted<'a>>> {
    // Most entries have one: its list comes from the small lists that the allocator keeps at hand.
    let mut inputs = Vec::with_capacity(1);
    each_element(scanner, start, |scanner, start| {
        inputs.push(input(scanner, start, tape)?);
        Ok(())
    })?;
    Ok(inputs)
}

fn input<'a>(scanner: &mut Scanner<'a>, start: Start, tape: &mut Tape) -> Scanned<Noted<'a>> {
    if start != Start::Object {
        return Err(Stop::Unsupported);
    }
    let begin = scanner.at();
    let (mut principal, mut resource, mut actions, mut aux_data) = (None, None, None, None);
    each_member(scanner, |scanner, name, start| {
        let from = scanner.at();
        match scanner.raw_bytes(name) {
            b"principal" if principal.is_none() => {
                let entity = Entity::read(scanner, start, tape)?;
                principal = Some((entity, from..scanner.at()));
            }
            b"resource" if resource.is_none() => {
                let entity = Entity::read(scanner, start, tape)?;
                resource = Some((entity, from..scanner.at()));
            }
            b"actions" if actions.is_none() => actions = Some(tape.texts(scanner, start)?),
            b"auxData" if aux_data.is_none() => {
                let read = read_aux_data(scanner, start, tape)?;
                aux_data = Some((read, from..scanner.at()));
            }
            b"requestId" => drop(plain(scanner, start)?),
            _ => return Err(Stop::Unsupported),
        }
        Ok(())
    })?;
    let (principal, of_principal) = or_unsupported(principal)?;
    let (resource, of_resource) = or_unsupported(resource)?;
    let actions = or_unsupported(actions.filter(|actions| actions.len() <= MAX_NOTED_ACTIONS))?;
    let (aux_data, of_aux_data) = aux_data.unwrap_or(([0..0, 0..0], 0..0));
    let is_usual = principal.is_principal() && resource.is_resource();
    or_unsupported(is_usual.then_some(()))?;
    Ok(Noted {
        principal,
        resource,
        actions,
        aux_data,
        spans: [of_principal, of_resource, of_aux_data],
        whole: begin..scanner.at(),
        allowed: 0,
        denied: 0,
    })
}

/// Reads the outputs, which are in the order of the inputs.
fn outputs(
    scanner: &mut Scanner<'_>,
    start: Start,
    (inputs, tape): (&mut [Noted<'_>], &Tape),
) -> Scanned<()> {
    let mut inputs = inputs.iter_mut();
    each_element(scanner, start, |scanner, start| {
        output(scanner, start, (or_unsupported(inputs.next())?, tape))
    })
}

fn output(
    scanner: &mut Scanner<'_>,
    start: Start,
    (input, tape): (&mut Noted<'_>, &Tape),
) -> Scanned<()> {
    if start != Start::Object {
        return Err(Stop::Unsupported);
    }
    each_member(scanner, |scanner, name, start| match scanner.raw_bytes(name) {
        b"actions" if start == Start::Object => each_member(scanner, |scanner, action, start| {
            let action = scanner.raw_bytes(action);
            let is_allowed = effect(scanner, start)?;
            input.note(scanner.whole(), tape, (action, is_allowed))
        }),
        b"resourceId" => {
            let is_same = Some(plain(scanner, start)?) == input.resource.id;
            or_unsupported(is_same.then_some(()))
        }
        b"actions" | b"resource_id" => Err(Stop::Unsupported),
        _ => skip(scanner, start).map(|_| ()).map_err(Stop::from),
    })
}

/// Reads the effect of an action; `None` if there is none that is known.
fn effect(scanner: &mut Scanner<'_>, start: Start) -> Scanned<Option<bool>> {
    if start != Start::Object {
        return Err(Stop::Unsupported);
    }
    let mut found = None;
    let mut is_twice = false;
    each_member(scanner, |scanner, name, start| {
        if scanner.raw_bytes(name) != b"effect" {
            return skip(scanner, start).map(|_| ()).map_err(Stop::from);
        }
        is_twice |= found.is_some();
        found = Some(super::plain::effect(plain(scanner, start)?));
        Ok(())
    })?;
    or_unsupported((!is_twice).then_some(found.flatten()))
}

impl Noted<'_> {
    /// Notes the effect of an action. An action that was not asked about, or twice, is unsupported.
    fn note(
        &mut self,
        text: &str,
        tape: &Tape,
        (action, is_allowed): (&[u8], Option<bool>),
    ) -> Scanned<()> {
        let is_meant = |member: &&crate::fast::json::tape::Member| {
            member.name_in(text).is_some_and(|name| name.as_bytes() == action)
        };
        let mut asked = tape.range(&self.actions).iter();
        let at = or_unsupported(asked.position(|member| is_meant(&member)))?;
        let bit = 1_u64 << at;
        or_unsupported(((self.allowed | self.denied) & bit == 0).then_some(()))?;
        match is_allowed {
            Some(true) => self.allowed |= bit,
            Some(false) => self.denied |= bit,
            None => {}
        }
        Ok(())
    }
}

fn each_element<'a>(
    scanner: &mut Scanner<'a>,
    start: Start,
    mut visit: impl FnMut(&mut Scanner<'a>, Start) -> Scanned<()>,
) -> Scanned<()> {
    if start != Start::List {
        return Err(Stop::Unsupported);
    }
    scanner.enter();
    let mut is_first = true;
    while scanner.element(is_first)? {
        is_first = false;
        let start = scanner.start()?;
        visit(scanner, start)?;
    }
    Ok(())
}

/// The most actions of an input that is noted: they have a bit each.
const MAX_NOTED_ACTIONS: usize = 64;
