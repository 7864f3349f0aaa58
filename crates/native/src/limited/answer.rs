//! The usual CheckResources call under policies with plain limits: answered from its text, charged, and
//! then corrected.
//!
//! The answer of the policies is written at once, with the positions of the effects that limits may change
//! and of the outputs that they add.

use wardgate_engine::budget::Budget;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::{Effect, Reason};

use super::{ActionLimits, Few, MetLimit};
use crate::clock::Clock;
use crate::fast::input::FastInput;
use crate::fast::json::input::JsonInput;
use crate::names::Names;
use crate::policies::Policies;
use crate::protocol::cerbos::answer::effect;
use crate::protocol::cerbos::fast::{Answered, CallLimits, Decide, written};

/// An answer to a call whose limits are not charged yet. Until they are, it allows nothing.
#[derive(Debug)]
pub struct UnchargedAnswer {
    /// The answer of the policies alone.
    answered: Answered,
    /// The length of what is before the results, to which all positions are relative.
    head: usize,
    actions: Vec<UnchargedAction>,
    /// The end of the fields of each resource, and the number of its actions and those before.
    ends: Vec<(usize, usize)>,
}

/// An action of a call.
#[derive(Debug)]
struct UnchargedAction {
    /// The length of its name, which is before the effect.
    name: usize,
    is_allowed: bool,
    effect_at: usize,
    limits: ActionLimits,
    met: Few<MetLimit>,
    is_charged: bool,
    is_denied: bool,
}

impl Policies {
    /// Answers a call like [`Policies::answer_call`], under policies with limits. Returns `None` where that
    /// does, or if the limits of an action may not be plain.
    #[must_use]
    pub fn answer_call_uncharged(
        &self,
        call: &[u8],
        limits: CallLimits,
        clock: impl Clock,
    ) -> Option<UnchargedAnswer> {
        let mut decider = Decider {
            policies: self,
            kinds_with_outputs: self.kinds_with_outputs.as_ref()?,
            now: clock.now(),
            budget: Budget::new(limits.steps),
            actions: Vec::new(),
            ends: Vec::new(),
        };
        let (answered, head) = written(call, limits, &mut decider)?;
        let Decider { actions, ends, .. } = decider;
        Some(UnchargedAnswer { answered, head, actions, ends })
    }
}

struct Decider<'p> {
    policies: &'p Policies,
    kinds_with_outputs: &'p Names<()>,
    /// One call has one time.
    now: Timestamp,
    budget: Budget,
    actions: Vec<UnchargedAction>,
    ends: Vec<(usize, usize)>,
}

impl Decide for &mut Decider<'_> {
    fn decide(&mut self, input: &JsonInput<'_>) -> Option<bool> {
        let (policies, names) = (self.policies, self.kinds_with_outputs);
        let is_allowed = policies.try_fast_before_limits(names, input, &self.now)?;
        self.actions.push(UnchargedAction {
            name: input.target().action.len(),
            is_allowed,
            effect_at: 0,
            limits: policies.plain_limits_of(input, is_allowed, &self.budget)?,
            met: Few::None,
            is_charged: false,
            is_denied: false,
        });
        Some(is_allowed)
    }

    fn note_effect(&mut self, at: usize) {
        if let Some(action) = self.actions.last_mut() {
            action.effect_at = at;
        }
    }

    fn note_end(&mut self, at: usize) {
        self.ends.push((at, self.actions.len()));
    }
}

impl UnchargedAnswer {
    /// Returns the answer of the policies if no action meets a limit, so that there is nothing to charge.
    ///
    /// # Errors
    /// An action meets a limit; the answer as it was.
    pub fn without_limits(self) -> Result<Answered, Self> {
        if self.actions.iter().any(|action| action.limits.is_some()) {
            return Err(self);
        }
        Ok(self.answered)
    }

    /// Takes the limits of the actions, in their order, to charge them.
    pub fn take_limits(&mut self) -> Few<ActionLimits> {
        self.actions.iter_mut().map(|action| core::mem::take(&mut action.limits)).collect()
    }

    /// Notes for each action, in the same order, the limits that it met, and the reason for which they deny.
    pub fn settle(&mut self, charged: Few<(Few<MetLimit>, Option<Reason>)>) {
        for (action, (met, denied)) in self.actions.iter_mut().zip(charged) {
            (action.met, action.is_denied, action.is_charged) = (met, denied.is_some(), true);
        }
    }

    /// Returns the answer, in which what limits deny is denied, and the limits are outputs. An action that
    /// was not charged is denied.
    #[must_use]
    pub fn into_answered(self) -> Answered {
        let Self { answered, head, actions, ends } = self;
        let mut corrected = Corrected { text: &answered.json, done: 0, out: String::new() };
        let met = actions.iter().map(|action| action.met.len()).sum::<usize>();
        let added = met.saturating_mul(OUTPUT_BYTES);
        corrected.out.reserve(answered.json.len().saturating_add(added));
        let mut first = 0;
        for (end, next) in ends {
            let own = actions.get(first..next).unwrap_or_default();
            first = next;
            let denied = own.iter().filter(|action| action.is_allowed && !action.stays_allowed());
            denied.for_each(|action| corrected.deny(head.saturating_add(action.effect_at)));
            corrected.copy(head.saturating_add(end));
            corrected.add_outputs(own, head);
        }
        corrected.copy(answered.json.len());
        let allowed = actions.iter().filter(|action| action.stays_allowed()).count();
        let denied = u64::try_from(actions.len().saturating_sub(allowed)).unwrap_or(u64::MAX);
        let allowed = u64::try_from(allowed).unwrap_or(0);
        Answered { json: corrected.out, allowed, denied, ..answered }
    }
}

impl UnchargedAction {
    /// Returns the name of the action in an answer with this head.
    fn name_in<'t>(&self, text: &'t str, head: usize) -> &'t str {
        let end = head.saturating_add(self.effect_at).saturating_sub(BETWEEN.len());
        text.get(end.saturating_sub(self.name)..end).unwrap_or_default()
    }

    /// Returns true if neither the policies nor limits deny the action.
    const fn stays_allowed(&self) -> bool {
        self.is_allowed && self.is_charged && !self.is_denied
    }
}

/// An answer that is copied with other effects and with outputs.
struct Corrected<'t> {
    text: &'t str,
    /// The bytes of it that are done.
    done: usize,
    out: String,
}

impl Corrected<'_> {
    /// Copies up to a position.
    fn copy(&mut self, to: usize) {
        self.out.push_str(self.text.get(self.done..to).unwrap_or_default());
        self.done = to;
    }

    /// Denies what is allowed at a position.
    fn deny(&mut self, at: usize) {
        self.copy(at);
        self.out.push_str(effect(Effect::Deny));
        self.done = at.saturating_add(effect(Effect::Allow).len());
    }

    /// Adds the outputs of the actions on a resource, behind its other fields.
    fn add_outputs(&mut self, actions: &[UnchargedAction], head: usize) {
        if actions.iter().all(|action| action.met.is_empty()) {
            return;
        }
        self.out.push_str(",\"outputs\":");
        let mut bracket = '[';
        for action in actions {
            let name = action.name_in(self.text, head);
            for met in &action.met {
                self.out.push(bracket);
                met.write_output(name, &mut self.out);
                bracket = ',';
            }
        }
        self.out.push(']');
    }
}

/// The text between the name of an action and its effect.
const BETWEEN: &str = "\":\"";

/// The usual length of the output of a limit.
const OUTPUT_BYTES: usize = 256;
