//! The usual CheckResources call, answered from its text.
//!
//! One pass: the parts of the principal and of each resource that fast paths may need are noted by
//! their positions and decided, and the answer is written with the names as they are in the text. A
//! call that is unusual, unsure or has more to report than effects is left to the reader of calls,
//! which reads all of it and gives the same answer or an error. The one difference: where the
//! general path reaches the limit of its steps for all actions together, a fast path may still
//! decide.

use std::cell::Cell;
use std::ops::Range;

use wardgate_engine::limits::MAX_FAST_PATH_STEPS;

use crate::clock::Clock;
use crate::fast::json::checked;
use crate::fast::json::input::{
    Entity, JsonInput, Scanned, Stop, each_member, or_unsupported, plain,
};
use crate::fast::json::scan::{Scanner, Start};
use crate::fast::json::tape::{Tape, with_tape};
use crate::policies::Policies;
use crate::protocol::cerbos::{is_scope, is_version};

impl Policies {
    /// Answers a CheckResources call of Cerbos that is JSON text. Returns `None` if fast paths
    /// cannot decide all of it, if the answer may hold more than effects, or if the call is unusual
    /// or wrong: [`Call`](crate::protocol::cerbos::Call) reads those.
    ///
    /// ```no_run
    /// use wardgate_native::{CallLimits, Pdp, SystemClock, Trust};
    ///
    /// let pdp = Pdp::open(&std::fs::read("policies.wardgate")?, Trust::Unsigned)?;
    /// let call = br#"{
    ///     "principal": { "id": "ada", "roles": ["member"] },
    ///     "resources": [{ "actions": ["view"], "resource": { "kind": "document", "id": "d1" } }]
    /// }"#;
    /// let limits = CallLimits { resources: 50, actions: 50, steps: 1_000_000 };
    /// if let Some(answered) = pdp.snapshot().answer_call(call, limits, SystemClock) {
    ///     println!("{}", answered.json);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn answer_call(
        &self,
        call: &[u8],
        limits: CallLimits,
        clock: impl Clock,
    ) -> Option<Answered> {
        let kinds_with_outputs = self.kinds_with_outputs.as_ref()?;
        // One call has one time.
        let now = clock.now();
        answer(call, limits, |input| self.try_fast_effects(kinds_with_outputs, input, &now))
    }
}

/// An answer to a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// The JSON of the response.
    pub json: String,
    /// The number of resources in the call.
    pub resources: u64,
    /// The number of allowed actions.
    pub allowed: u64,
    /// The number of denied actions.
    pub denied: u64,
}

/// The bounds of one call.
#[derive(Clone, Copy, Debug)]
pub struct CallLimits {
    /// The largest number of resources.
    pub resources: usize,
    /// The largest number of actions on each of them.
    pub actions: usize,
    /// The largest number of steps of all programs together.
    pub steps: u32,
}

/// Answers a call by `decide`; `None` if it is unusual or `decide` returns `None`.
pub(crate) fn answer(
    call: &[u8],
    limits: CallLimits,
    decide: impl FnMut(&JsonInput<'_>) -> Option<bool>,
) -> Option<Answered> {
    written(call, limits, decide).map(|(answered, _)| answered)
}

/// Answers a call, and returns the length of what is before its results.
pub(crate) fn written(
    call: &[u8],
    limits: CallLimits,
    decide: impl Decide,
) -> Option<(Answered, usize)> {
    let text = checked(call).ok()?;
    with_tape(|tape| {
        let json = String::with_capacity(text.len());
        let answered = Answered { json, ..Answered::default() };
        let steps = Cell::new(limits.steps.min(MAX_FAST_PATH_STEPS));
        let mut writer = Writer { limits, decide, answered, resources: 0, steps, head: 0 };
        writer.call(&mut Scanner::new(text), tape).ok()?;
        let resources = u64::try_from(writer.resources).unwrap_or(u64::MAX);
        Some((Answered { resources, ..writer.answered }, writer.head))
    })
}

/// The one who decides about each action of a call.
pub(crate) trait Decide {
    fn decide(&mut self, input: &JsonInput<'_>) -> Option<bool>;

    /// Notes where in the results the effect of the action will be that was just decided.
    fn note_effect(&mut self, _at: usize) {}

    /// Notes where in the results the fields of a resource end.
    fn note_end(&mut self, _at: usize) {}

    /// Notes the id of the request at its end; empty if there is none.
    fn note_request(&mut self, _id: &str) {}
}

impl<D: FnMut(&JsonInput<'_>) -> Option<bool>> Decide for D {
    fn decide(&mut self, input: &JsonInput<'_>) -> Option<bool> {
        self(input)
    }
}

struct Writer<D> {
    limits: CallLimits,
    decide: D,
    answered: Answered,
    resources: usize,
    /// The steps that are left: the cost of an answer must not grow with the number of its parts.
    steps: Cell<u32>,
    /// The length of what is before the results.
    head: usize,
}

/// One element of `resources`.
struct Entry<'a> {
    resource: Entity<'a>,
    actions: Range<usize>,
}

impl<D: Decide> Writer<D> {
    fn call(&mut self, scanner: &mut Scanner<'_>, tape: &mut Tape) -> Scanned<()> {
        tape.begin(scanner.whole());
        if scanner.start()? != Start::Object {
            return Err(Stop::Unsupported);
        }
        let (mut id, mut principal) = (None, None);
        let (mut is_answered, mut is_silent) = (false, false);
        each_member(scanner, |scanner, name, start| {
            match scanner.raw_bytes(name) {
                b"requestId" if id.is_none() => id = Some(plain(scanner, start)?),
                b"includeMeta" if !is_silent => {
                    is_silent = start == Start::Literal && scanner.literal()? == Some(false);
                    or_unsupported(is_silent.then_some(()))?;
                }
                b"principal" if principal.is_none() => {
                    let entity = Entity::read(scanner, start, tape)?;
                    entity.must_be_principal(scanner.whole(), tape)?;
                    principal = Some(entity);
                }
                // A principal behind the resources is not known yet.
                b"resources" if !is_answered => {
                    is_answered = true;
                    self.resources(scanner, start, (or_unsupported(principal.as_ref())?, tape))?;
                }
                _ => return Err(Stop::Unsupported),
            }
            Ok(())
        })?;
        scanner.end()?;
        if !is_answered || self.resources == 0 {
            return Err(Stop::Unsupported);
        }
        self.decide.note_request(id.unwrap_or(""));
        let head = match id {
            None | Some("") => "{\"results\":[".to_owned(),
            Some(id) => format!("{{\"requestId\":\"{id}\",\"results\":["),
        };
        self.head = head.len();
        self.answered.json.insert_str(0, &head);
        self.answered.json.push_str("]}");
        Ok(())
    }

    fn resources<'a>(
        &mut self,
        scanner: &mut Scanner<'a>,
        start: Start,
        (principal, tape): (&Entity<'a>, &mut Tape),
    ) -> Scanned<()> {
        if start != Start::List {
            return Err(Stop::Unsupported);
        }
        scanner.enter();
        let mark = tape.mark();
        while scanner.element(self.resources == 0)? {
            let start = scanner.start()?;
            let entry = Entry::read(scanner, start, tape)?;
            self.resources += 1;
            if self.resources > self.limits.resources {
                return Err(Stop::Unsupported);
            }
            self.entry(scanner.whole(), tape, (principal, &entry))?;
            tape.rewind(mark);
        }
        Ok(())
    }

    fn entry(
        &mut self,
        text: &str,
        tape: &Tape,
        (principal, entry): (&Entity<'_>, &Entry<'_>),
    ) -> Scanned<()> {
        let out = &mut self.answered.json;
        if self.resources > 1 {
            out.push(',');
        }
        entry.resource.write(out);
        out.push_str(",\"actions\":{");
        if entry.actions.len() > self.limits.actions {
            return Err(Stop::Unsupported);
        }
        for (at, action) in tape.named(text, &entry.actions).enumerate() {
            let parties = (principal.clone(), entry.resource.clone());
            let input = JsonInput::new((text, tape), action, parties, Some(&self.steps));
            let is_allowed = or_unsupported(self.decide.decide(&input))?;
            let effect = if is_allowed { "EFFECT_ALLOW" } else { "EFFECT_DENY" };
            let comma = if at == 0 { "" } else { "," };
            for part in [comma, "\"", action, "\":\""] {
                out.push_str(part);
            }
            self.decide.note_effect(out.len());
            out.push_str(effect);
            out.push('"');
            self.answered.allowed += u64::from(is_allowed);
            self.answered.denied += u64::from(!is_allowed);
        }
        out.push('}');
        self.decide.note_end(out.len());
        out.push('}');
        Ok(())
    }
}

impl<'a> Entry<'a> {
    fn read(scanner: &mut Scanner<'a>, start: Start, tape: &mut Tape) -> Scanned<Self> {
        if start != Start::Object {
            return Err(Stop::Unsupported);
        }
        let (mut resource, mut actions) = (None, None);
        each_member(scanner, |scanner, name, start| {
            match scanner.raw_bytes(name) {
                b"resource" if resource.is_none() => {
                    resource = Some(Entity::read(scanner, start, tape)?);
                }
                b"actions" if actions.is_none() => actions = Some(tape.texts(scanner, start)?),
                _ => return Err(Stop::Unsupported),
            }
            Ok(())
        })?;
        let (resource, actions) = (or_unsupported(resource)?, or_unsupported(actions)?);
        resource.must_be_resource(scanner.whole(), tape)?;
        tape.must_be_names(scanner.whole(), &actions)?;
        Ok(Self { resource, actions })
    }
}

impl Entity<'_> {
    /// Writes the fields of a resource that an answer repeats. They have no escapes, so they are
    /// JSON as they are.
    fn write(&self, out: &mut String) {
        let (id, kind) = (self.id.unwrap_or(""), self.kind.unwrap_or(""));
        for part in ["{\"resource\":{\"id\":\"", id, "\",\"kind\":\"", kind, "\""] {
            out.push_str(part);
        }
        for (name, text) in [("policyVersion", self.version), ("scope", self.scope)] {
            if !text.is_empty() {
                for part in [",\"", name, "\":\"", text, "\""] {
                    out.push_str(part);
                }
            }
        }
        out.push('}');
    }

    fn must_be_principal(&self, text: &str, tape: &Tape) -> Scanned<()> {
        let roles = or_unsupported(self.roles.as_ref())?;
        tape.must_be_names(text, roles)?;
        self.must_be(text, tape, self.kind.is_none())
    }

    fn must_be_resource(&self, text: &str, tape: &Tape) -> Scanned<()> {
        let is_named = self.kind.is_some_and(|kind| !kind.is_empty());
        self.must_be(text, tape, is_named && self.roles.is_none())
    }

    /// Checks the fields that the reader of calls would refuse.
    fn must_be(&self, text: &str, tape: &Tape, is_right: bool) -> Scanned<()> {
        let is_placed = is_version(self.version) && is_scope(self.scope);
        let is_named = self.id.is_some_and(|id| !id.is_empty());
        let has_unnamed = tape.named(text, &self.attributes).any(str::is_empty);
        or_unsupported((is_right && is_named && is_placed && !has_unnamed).then_some(()))
    }
}

impl Tape {
    /// Returns the names of a range, as they are in the text.
    fn named<'t>(
        &'t self,
        text: &'t str,
        range: &Range<usize>,
    ) -> impl Iterator<Item = &'t str> + Clone {
        self.range(range).iter().filter_map(move |member| member.name_in(text))
    }

    /// Checks that there are names, none empty and none twice. The bound of their number makes
    /// comparing each with each fast.
    fn must_be_names(&self, text: &str, range: &Range<usize>) -> Scanned<()> {
        let names = self.named(text, range);
        let is_few = (1..=MAX_COMPARED).contains(&range.len());
        let is_right = |(at, name): (usize, &str)| {
            !name.is_empty() && names.clone().take(at).all(|other| other != name)
        };
        let are_right = is_few && names.clone().enumerate().all(is_right);
        or_unsupported(are_right.then_some(()))
    }
}

/// The largest number of names that are compared each with each.
pub(crate) const MAX_COMPARED: usize = 32;

#[cfg(test)]
mod tests;
