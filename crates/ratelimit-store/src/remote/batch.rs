//! Checks as the arguments of one call, and its reply as their outcomes.

use core::fmt::Write;

use redis::{Cmd, Value};
use wardgate_ratelimit::{Admission, Algorithm, Outcome, Window};

use super::Check;
use crate::demand::{Demand, Terms};
use crate::store::{Action, Away};

/// Builds calls; its buffers are used again.
#[derive(Default)]
pub(super) struct Batch {
    rules: Vec<Terms>,
    text: String,
}

impl Batch {
    /// Returns the call of a script for these checks.
    pub(super) fn call(&mut self, digest: &str, checks: &[Check]) -> Cmd {
        let keys = count(checks);
        let mut cmd = Cmd::with_capacity(keys.saturating_mul(4).saturating_add(64), keys * 96);
        cmd.arg("EVALSHA").arg(digest).arg(keys);
        for demand in checks.iter().flat_map(|check| check.demands.each()) {
            cmd.arg(self.key(demand));
        }
        self.rules.clear();
        for demand in checks.iter().flat_map(|check| check.demands.each()) {
            self.rule_number(&demand.terms);
        }
        cmd.arg("batch").arg(self.rules.len());
        self.rules.iter().for_each(|terms| rule(&mut cmd, terms));
        for check in checks {
            let mut word = word(check.action);
            for demand in check.demands.each() {
                cmd.arg(word).arg(self.rule_number(&demand.terms)).arg(demand.cost);
                word = "and";
            }
        }
        cmd
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

/// Returns the outcomes in a reply to checks, three integers for each demand.
pub(super) fn outcomes(reply: Value, checks: &[Check]) -> Result<Vec<Outcome>, Away> {
    let Value::Array(values) = reply else { return Err(Away::Garbled) };
    if values.len() != count(checks).saturating_mul(3) {
        return Err(Away::Garbled);
    }
    values.as_chunks().0.iter().map(outcome).collect()
}

fn outcome([wait, remaining, reset]: &[Value; 3]) -> Result<Outcome, Away> {
    let admission = match wait {
        Value::Int(-1) => Admission::Never,
        Value::Int(0) => Admission::Allowed,
        wait => Admission::After { micros: number(wait)? },
    };
    Ok(Outcome { admission, remaining: number(remaining)?, reset: number(reset)? })
}

fn number(value: &Value) -> Result<u64, Away> {
    match value {
        Value::Int(number) => u64::try_from(*number).map_err(|_| Away::Garbled),
        _ => Err(Away::Garbled),
    }
}

/// Returns the demands of all checks.
fn count(checks: &[Check]) -> usize {
    checks.iter().map(|check| check.demands.each().len()).fold(0, usize::saturating_add)
}

fn rule(cmd: &mut Cmd, terms: &Terms) {
    let (name, burst) = match terms.algorithm() {
        Algorithm::Gcra { .. } => ("gcra", terms.rule().capacity()),
        Algorithm::Fixed => ("fixed", 0),
        Algorithm::Sliding => ("sliding", 0),
    };
    cmd.arg(name).arg(terms.quota());
    match terms.window() {
        Window::Micros(micros) => cmd.arg(micros),
        Window::Month => cmd.arg("month"),
    };
    cmd.arg(burst);
}

const fn word(action: Action) -> &'static str {
    match action {
        Action::Charge => "charge",
        Action::Look => "look",
        Action::Refund => "refund",
        Action::Reset => "reset",
    }
}
