//! Sequences of operations with their outcomes, and their JSON.

use serde_json::{Value, json};
use wardgate_ratelimit::{Admission, Algorithm, Operation, Outcome, Rule, RuleError, Window};

/// The numbers of a rule, checked or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) algorithm: Algorithm,
    pub(crate) quota: u64,
    pub(crate) window: Window,
}

/// An operation at a time, and what it meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) time: u64,
    pub(crate) operation: Operation,
    pub(crate) outcome: Outcome,
}

/// A rule and operations on one key that has no state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sequence {
    pub(crate) name: String,
    pub(crate) terms: Terms,
    pub(crate) steps: Vec<Step>,
}

impl Terms {
    pub(crate) fn gcra(quota: u64, window: u64, burst: Option<u64>) -> Self {
        let window = Window::Micros(window);
        Self { algorithm: Algorithm::Gcra { burst }, quota, window }
    }

    pub(crate) fn fixed(quota: u64, window: Window) -> Self {
        Self { algorithm: Algorithm::Fixed, quota, window }
    }

    pub(crate) fn sliding(quota: u64, window: u64) -> Self {
        Self { algorithm: Algorithm::Sliding, quota, window: Window::Micros(window) }
    }

    pub(crate) fn rule(&self) -> Result<Rule, RuleError> {
        Rule::new(self.algorithm, self.quota, self.window)
    }

    /// Returns the tokens of a full key.
    pub(crate) fn capacity(&self) -> u64 {
        match self.algorithm {
            Algorithm::Gcra { burst } => burst.unwrap_or(self.quota),
            _ => self.quota,
        }
    }

    pub(crate) fn algorithm_name(&self) -> &'static str {
        match self.algorithm {
            Algorithm::Gcra { .. } => "gcra",
            Algorithm::Fixed => "fixed",
            Algorithm::Sliding => "sliding",
        }
    }

    pub(crate) fn to_json(self) -> Value {
        let window = match self.window {
            Window::Month => json!("month"),
            Window::Micros(micros) => json!(micros),
        };
        let name = self.algorithm_name();
        match self.algorithm {
            Algorithm::Gcra { burst: Some(burst) } => {
                json!({ "algorithm": name, "quota": self.quota, "window": window, "burst": burst })
            }
            _ => json!({ "algorithm": name, "quota": self.quota, "window": window }),
        }
    }

    pub(crate) fn from_json(value: &Value) -> Self {
        let algorithm = match value["algorithm"].as_str().unwrap() {
            "gcra" => Algorithm::Gcra { burst: value["burst"].as_u64() },
            "fixed" => Algorithm::Fixed,
            "sliding" => Algorithm::Sliding,
            other => panic!("{other}"),
        };
        let window = match &value["window"] {
            Value::String(month) if month == "month" => Window::Month,
            number => Window::Micros(number.as_u64().unwrap()),
        };
        Self { algorithm, quota: value["quota"].as_u64().unwrap(), window }
    }
}

impl Step {
    /// Makes a step as the files have it: `wait` is 0 if allowed and -1 for never.
    pub(crate) fn new(time: u64, (name, cost): (&str, u64), numbers: [i64; 3]) -> Self {
        let operation = match name {
            "charge" => Operation::Charge(cost),
            "look" => Operation::Look(cost),
            "refund" => Operation::Refund(cost),
            "reset" => Operation::Reset,
            other => panic!("{other}"),
        };
        Self { time, operation, outcome: outcome(numbers) }
    }

    fn to_json(self) -> Value {
        let [wait, remaining, reset] = numbers(&self.outcome);
        let (name, cost) = named(self.operation);
        json!([self.time, name, cost, wait, remaining, reset])
    }

    fn from_json(row: &Value) -> Self {
        let number = |at: usize| row[at].as_i64().unwrap();
        let operation = (row[1].as_str().unwrap(), row[2].as_u64().unwrap());
        Self::new(row[0].as_u64().unwrap(), operation, [number(3), number(4), number(5)])
    }
}

impl Sequence {
    pub(crate) fn from_json(value: &Value) -> Self {
        Self {
            name: value["name"].as_str().unwrap().to_owned(),
            terms: Terms::from_json(&value["rule"]),
            steps: value["steps"].as_array().unwrap().iter().map(Step::from_json).collect(),
        }
    }

    /// Writes the sequence with a line for each step.
    pub(crate) fn to_text(&self) -> String {
        let (name, rule) = (json!(self.name), self.terms.to_json());
        let steps: Vec<String> =
            self.steps.iter().map(|step| format!("    {}", step.to_json())).collect();
        let steps = steps.join(",\n");
        format!("  {{\"name\": {name}, \"rule\": {rule}, \"steps\": [\n{steps}\n  ]}}")
    }
}

/// Returns the name and the cost of an operation.
pub(crate) fn named(operation: Operation) -> (&'static str, u64) {
    match operation {
        Operation::Charge(cost) => ("charge", cost),
        Operation::Look(cost) => ("look", cost),
        Operation::Refund(cost) => ("refund", cost),
        Operation::Undo(cost) => ("undo", cost),
        Operation::Reset => ("reset", 0),
    }
}

/// Returns the numbers of an outcome as the files and the script have them.
pub(crate) fn numbers(outcome: &Outcome) -> [i64; 3] {
    let wait = match outcome.admission {
        Admission::Allowed => 0,
        Admission::After { micros } => micros as i64,
        Admission::Never => -1,
    };
    [wait, outcome.remaining as i64, outcome.reset as i64]
}

fn outcome([wait, remaining, reset]: [i64; 3]) -> Outcome {
    let admission = match wait {
        0 => Admission::Allowed,
        -1 => Admission::Never,
        micros => Admission::After { micros: micros.try_into().unwrap() },
    };
    let [remaining, reset] = [remaining, reset].map(|number| number.try_into().unwrap());
    Outcome { admission, remaining, reset }
}
