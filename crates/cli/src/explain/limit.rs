//! The rate limits that an action meets, and what each would be charged. Nothing is charged.

use serde_json::{Value as Json, json};
use wardgate_engine::attr::Attr;
use wardgate_engine::budget::Budget;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decide::{Charge, LimitError, Met};
use wardgate_engine::decision::ActionDecision;
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;
use wardgate_engine::wire;

use crate::answer;

/// A rate limit that an action meets, as it is shown.
#[derive(Debug)]
pub(crate) struct Shown {
    name: String,
    file: String,
    line: u32,
    window: Option<u64>,
    is_shadow: bool,
    charge: Result<Charge, String>,
}

/// Returns the limits that an action meets after this decision.
pub(super) fn shown(
    table: &PolicyTable,
    request: &Request,
    action: &ActionDecision,
    now: Timestamp,
) -> Vec<Shown> {
    let budget = Budget::default();
    match table.charges(request, (&action.action, action.effect), now, &budget) {
        Ok(met) => met.into_iter().map(Shown::new).collect(),
        Err(error) => vec![Shown::unknown(&error)],
    }
}

impl Shown {
    fn new(met: Met<'_>) -> Self {
        let (file, line) = met.limit.file();
        Self {
            name: met.limit.name().to_owned(),
            file: file.to_owned(),
            line,
            window: met.limit.window(),
            is_shadow: !met.is_enforced(),
            charge: met.charge.map_err(|error| error.message()),
        }
    }

    /// Returns what is shown where the limits could not be found.
    fn unknown(error: &LimitError) -> Self {
        let charge = Err(error.message());
        let (name, file) = (String::new(), String::new());
        Self { name, file, line: 0, window: None, is_shadow: false, charge }
    }

    /// Returns the limit in words.
    pub(super) fn words(&self) -> String {
        let place = super::place(&self.file, self.line);
        let shadow = if self.is_shadow { ", which only reports" } else { "" };
        let charge = match &self.charge {
            Ok(charge) => charge_words(charge, self.window),
            Err(message) if self.is_shadow => format!("fails: {message}"),
            Err(message) => format!("fails, and so denies: {message}"),
        };
        format!("limit {} ({place}){shadow}: {charge}", self.name)
    }

    pub(super) fn json(&self) -> Json {
        let charge = self.charge.as_ref().ok();
        answer::present(json!({
            "limit": self.name,
            "file": self.file,
            "line": self.line,
            "shadow": self.is_shadow.then_some(true),
            "key": charge.map(|charge| charge.key_values().iter().map(json_value).collect::<Json>()),
            "cost": charge.map(|charge| charge.cost),
            "quota": charge.map(|charge| charge.quota),
            "window": window_words(self.window),
            "error": self.charge.as_ref().err(),
        }))
    }
}

fn charge_words(charge: &Charge, window: Option<u64>) -> String {
    let Charge { cost, quota, .. } = charge;
    let parts: Vec<String> = charge.key_values().iter().map(wire::attr_json).collect();
    let key = match parts.as_slice() {
        [] => "the one key of all requests".to_owned(),
        parts => format!("the key {}", parts.join(", ")),
    };
    format!("takes {cost} of {quota} in {} from {key}", window_words(window))
}

fn json_value(value: &Attr) -> Json {
    serde_json::from_str(&wire::attr_json(value)).unwrap_or_default()
}

/// Returns a window in the largest unit that it is a whole number of.
fn window_words(window: Option<u64>) -> String {
    let Some(micros) = window else { return "a month".to_owned() };
    let unit = UNITS.iter().find(|(_, length)| micros.is_multiple_of(*length));
    unit.map_or_else(String::new, |(unit, length)| format!("{}{unit}", micros / length))
}

const UNITS: [(&str, u64); 6] = [
    ("d", 86_400_000_000),
    ("h", 3_600_000_000),
    ("m", 60_000_000),
    ("s", 1_000_000),
    ("ms", 1_000),
    ("us", 1),
];
