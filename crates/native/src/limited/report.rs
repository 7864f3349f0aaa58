//! A limit that was met, as outputs and answers report it.
//!
//! It is an object with `name`, `quota`, `state`, and where they are known `remaining`, `resetMs` and
//! `retryAfterMs`. Durations are whole milliseconds, rounded up. A limit whose charge is unknown
//! is the error of its output.

use core::fmt::Write;

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::decision::{Decision, Output};
use wardgate_engine::number::uint_to_double;
use wardgate_engine::wire::Json;

use super::limiter::LimitedDecision;
use super::standing::{LimitState, MetLimit};

impl MetLimit {
    /// Returns the limit as a value.
    ///
    /// # Errors
    /// The charge of the limit is unknown; the error in words.
    pub fn value(&self) -> Result<Attr, String> {
        match &self.state {
            LimitState::Failed { message } => Err(message.clone()),
            _ => Ok(self.entry()),
        }
    }

    /// Returns the limit as an entry of a list, in which one whose charge is unknown has an `error`.
    #[must_use]
    pub fn entry(&self) -> Attr {
        let milliseconds = |micros: u64| number(micros.div_ceil(1000));
        let error = match &self.state {
            LimitState::Failed { message } => Some(Attr::String(message.as_str().into())),
            _ => None,
        };
        let members = [
            ("error", error),
            ("name", Some(Attr::String((&*self.name).into()))),
            ("quota", Some(number(self.quota))),
            ("remaining", self.remaining.map(number)),
            ("resetMs", self.reset.map(milliseconds)),
            ("retryAfterMs", self.retry().map(milliseconds)),
            ("state", Some(Attr::String(self.word().into()))),
        ];
        let known = members.into_iter().filter_map(|(name, value)| Some((name.into(), value?)));
        Attr::Map(known.collect::<AttrMap>())
    }

    /// Adds the limit as an output of Cerbos, with the value of [`MetLimit::value`]. The action and the name
    /// are texts that JSON has as they are.
    pub(crate) fn write_output(&self, action: &str, out: &mut String) {
        for part in ["{\"src\":\"limit.", &*self.name, "\",\"action\":\"", action, "\","] {
            out.push_str(part);
        }
        if let LimitState::Failed { message } = &self.state {
            out.push_str("\"error\":");
            let mut text = Json::default();
            text.string(message);
            out.push_str(&text.finish());
            return out.push('}');
        }
        let milliseconds = |micros: u64| micros.div_ceil(1000);
        let numbers = [
            ("\"remaining\":", self.remaining),
            ("\"resetMs\":", self.reset.map(milliseconds)),
            ("\"retryAfterMs\":", self.retry().map(milliseconds)),
        ];
        // Writing to a string cannot fail.
        let _ = write!(out, "\"val\":{{\"name\":\"{}\",\"quota\":{},", self.name, self.quota);
        for (name, number) in numbers {
            let Some(number) = number else { continue };
            let _ = write!(out, "{name}{number},");
        }
        let _ = write!(out, "\"state\":\"{}\"}}}}", self.word());
    }

    /// Returns the microseconds until the cost is there: 0 if it is, and `None` if it never will be or
    /// nobody knows.
    #[must_use]
    pub const fn retry(&self) -> Option<u64> {
        match self.state {
            LimitState::Spared if self.remaining.is_none() => None,
            LimitState::Charged | LimitState::Spared => Some(0),
            LimitState::Refused { retry } => Some(retry),
            LimitState::Never | LimitState::Away { .. } | LimitState::Failed { .. } => None,
        }
    }

    /// Returns the word for the state: `charged`, `untouched`, `refused`, `never`, `store-away` or
    /// `failed`; of a limit that never denies, `shadow` in place of the first four.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self.state {
            LimitState::Away { .. } => "store-away",
            LimitState::Failed { .. } => "failed",
            _ if self.is_shadow => "shadow",
            LimitState::Charged => "charged",
            LimitState::Spared => "untouched",
            LimitState::Refused { .. } => "refused",
            LimitState::Never => "never",
        }
    }
}

impl LimitedDecision {
    /// Returns the decision with an output for each limit that an action met: its source is `limit.`
    /// and the name, its value that of [`MetLimit::value`].
    #[must_use]
    pub fn with_outputs(mut self) -> Decision {
        for (action, met) in self.decision.actions.iter().zip(&self.limits) {
            let output = |limit: &MetLimit| Output {
                source: format!("limit.{}", limit.name),
                action: action.action.clone(),
                value: limit.value(),
            };
            self.decision.outputs.extend(met.iter().map(output));
        }
        self.decision
    }
}

fn number(number: u64) -> Attr {
    Attr::Number(uint_to_double(number))
}
