//! Checks as the arguments of one call, and its reply as their outcomes.

use core::fmt::Write;

use wardgate_ratelimit::{Admission, Algorithm, Outcome, Window};

use super::connection::Commands;
use super::reply::Reply;
use super::{Answer, Check};
use crate::demand::{Demand, Terms};
use crate::few::Few;
use crate::store::{Action, Away};

/// Builds calls; its buffers are used again.
#[derive(Debug, Default)]
pub(super) struct Batch {
    rules: Vec<Terms>,
    text: String,
}

impl Batch {
    /// Returns the call of the script for these checks.
    pub(super) fn call<'c>(
        &mut self,
        digest: &str,
        checks: impl Iterator<Item = &'c Check> + Clone,
    ) -> Commands {
        let demands = || checks.clone().flat_map(|check| check.demands.each());
        self.rules.clear();
        let mut keys: usize = 0;
        for demand in demands() {
            self.rule_number(&demand.terms);
            keys = keys.saturating_add(1);
        }
        let mut call = Commands::default();
        let words = [4, keys.saturating_mul(4), self.rules.len().saturating_mul(4)];
        call.add(words.into_iter().fold(0, usize::saturating_add));
        call.word(b"EVALSHA");
        call.word(digest.as_bytes());
        call.number(number_of(keys));
        demands().for_each(|demand| call.word(self.key(demand).as_bytes()));
        call.number(number_of(self.rules.len()));
        self.rules.iter().for_each(|terms| rule(&mut call, terms));
        checks.for_each(|check| self.check(&mut call, check));
        call
    }

    fn check(&mut self, call: &mut Commands, check: &Check) {
        for (at, demand) in check.demands.each().iter().enumerate() {
            match check.ends.get(at) {
                // Each refund ends for itself.
                Some(end) => {
                    self.text.clear();
                    // Writing to a text does not fail.
                    let _ = write!(self.text, "refund {end}");
                    call.word(self.text.as_bytes());
                }
                None if at == 0 => call.word(word(check.action)),
                None => call.word(b"and"),
            }
            call.number(number_of(self.rule_number(&demand.terms)));
            call.number(demand.cost);
        }
    }

    /// Returns the name of a key: the limit, the algorithm and the window are part of it, and the
    /// digest of what was given alone chooses the slot.
    fn key(&mut self, demand: &Demand) -> &str {
        let Self { text, .. } = self;
        text.clear();
        text.push_str("wg1:{");
        for byte in demand.key.bytes() {
            for digit in [byte >> 4, byte & 15] {
                text.push(char::from_digit(digit.into(), 16).unwrap_or('-'));
            }
        }
        let (letter, micros) = (demand.terms.letter(), demand.terms.micros());
        // Writing to a text does not fail.
        let _ = write!(text, "}}:{letter}{micros}:{}", demand.limit.name());
        text
    }

    /// Returns the number of a rule in the call, from 1 on, and adds it if it is new. A call has
    /// few rules: the limits of a policy, times their quotas.
    fn rule_number(&mut self, terms: &Terms) -> usize {
        let place = self.rules.iter().position(|known| known == terms);
        let place = place.unwrap_or_else(|| {
            self.rules.push(*terms);
            self.rules.len().saturating_sub(1)
        });
        place.saturating_add(1)
    }
}

/// Returns the answers in a reply to checks with so many demands each: three integers for each demand,
/// and the time.
pub(super) fn answers(
    reply: &Reply,
    counts: impl Iterator<Item = usize> + Clone,
) -> Result<Few<Answer>, Away> {
    let Reply::List(values) = reply else { return Err(Away::Garbled) };
    let Some((time, values)) = values.split_last() else { return Err(Away::Garbled) };
    let demands = counts.clone().fold(0, usize::saturating_add);
    if values.len() != demands.saturating_mul(3) {
        return Err(Away::Garbled);
    }
    let time = number(time)?;
    let mut outcomes = values.as_chunks().0.iter().map(outcome);
    counts
        .map(|count| {
            let outcomes = outcomes.by_ref().take(count).collect::<Result<_, _>>()?;
            Ok(Answer { outcomes, time })
        })
        .collect()
}

fn outcome([wait, remaining, reset]: &[Reply; 3]) -> Result<Outcome, Away> {
    let admission = match wait {
        Reply::Integer(-1) => Admission::Never,
        Reply::Integer(0) => Admission::Allowed,
        wait => Admission::After { micros: number(wait)? },
    };
    Ok(Outcome { admission, remaining: number(remaining)?, reset: number(reset)? })
}

fn number(value: &Reply) -> Result<u64, Away> {
    match value {
        Reply::Integer(number) => u64::try_from(*number).map_err(|_| Away::Garbled),
        _ => Err(Away::Garbled),
    }
}

fn number_of(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn rule(call: &mut Commands, terms: &Terms) {
    let (name, burst) = match terms.algorithm() {
        Algorithm::Gcra { .. } => ("gcra", terms.rule().capacity()),
        Algorithm::Fixed => ("fixed", 0),
        Algorithm::Sliding => ("sliding", 0),
    };
    call.word(name.as_bytes());
    call.number(terms.quota());
    match terms.window() {
        Window::Micros(micros) => call.number(micros),
        Window::Month => call.word(b"month"),
    }
    call.number(burst);
}

const fn word(action: Action) -> &'static [u8] {
    match action {
        Action::Charge => b"charge",
        Action::Look => b"look",
        Action::Refund => b"refund",
        Action::Reset => b"reset",
    }
}
