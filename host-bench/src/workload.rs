//! Workloads: policies, requests about them, and what the answers must be.
//!
//! The same workload is the same in every run. The answers come from the rules written by hand, and the
//! oracle confirms them.

mod classic;
mod conditions;
mod five_rules;
mod single_kind;

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use wardgate_compiler::Options;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::Effect;
use wardgate_engine::request::Request;
use wardgate_tests::oracle::Oracle;

use crate::rows::floor;

/// Policies, requests, and the answers.
pub(crate) struct Workload {
    /// What files and arguments call it.
    pub(crate) name: String,
    /// What people call it.
    pub(crate) title: String,
    pub(crate) rules: RuleSet,
    pub(crate) kinds: Vec<String>,
    /// How many actions a kind has.
    pub(crate) actions: usize,
    /// As Cerbos writes them.
    pub(crate) policies: Vec<(String, Vec<u8>)>,
    /// As JavaScript asks them: principal, action, resource.
    pub(crate) requests: Vec<Json>,
    pub(crate) expected: Vec<bool>,
    pub(crate) objects: Objects,
    /// Which rivals can answer it.
    pub(crate) rivals: Rivals,
}

/// The rules of a workload: each set has its hand-written form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleSet {
    FiveRules,
    SingleKind,
    Conditions,
    Classic,
}

/// Where the objects of the requests come from in JavaScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Objects {
    /// The same objects in every pass.
    Reused,
    /// Written anew before each pass, strings too.
    Rebuilt,
    /// Read from JSON before each pass.
    Parsed,
}

/// Who else answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rivals {
    /// Everyone.
    All,
    /// Those that read Rego: the others lack what the conditions need.
    Rego,
    None,
}

impl Workload {
    /// Every workload, the first that a reader wants to see first.
    pub(crate) fn names() -> Vec<String> {
        NAMES.iter().map(ToString::to_string).collect()
    }

    /// Makes a workload. Its answers are those of the rules by hand until the oracle confirms them.
    pub(crate) fn generate(name: &str) -> Result<Self, String> {
        let mut workload = match name {
            "five-rules-20" => five_rules::workload(20, five_rules::Size::Small),
            "five-rules-200" => five_rules::workload(200, five_rules::Size::Small),
            "five-rules-2000" => five_rules::workload(2000, five_rules::Size::Small),
            "large" => five_rules::workload(200, five_rules::Size::Large),
            "fresh" => five_rules::fresh(Objects::Rebuilt),
            "parsed" => five_rules::fresh(Objects::Parsed),
            "single-kind-100" => single_kind::workload(100),
            "single-kind-1000" => single_kind::workload(1_000),
            "single-kind-100000" => single_kind::workload(100_000),
            "conditions" => conditions::workload(),
            "classic" => classic::workload(),
            other => return Err(format!("no workload `{other}`, expected one of {NAMES:?}")),
        };
        let counts = (workload.kinds.len(), workload.actions);
        let requests = workload.engine_requests()?;
        workload.expected = floor::answers(workload.rules, counts, &requests)?;
        Ok(workload)
    }

    /// The requests as the engine takes them.
    pub(crate) fn engine_requests(&self) -> Result<Vec<Request>, String> {
        self.requests.iter().map(engine_request).collect()
    }

    /// Asks the oracle whether the answers are right.
    pub(crate) fn confirm(&self) -> Result<(), String> {
        let requests = self.engine_requests()?;
        let oracle = Oracle::new(&self.policies, &Options::default()).map_err(|errors| {
            errors.iter().map(|error| format!("{error}\n")).collect::<String>()
        })?;
        let start = Instant::now();
        for (request, expected) in requests.iter().zip(&self.expected) {
            if decided(&oracle, request).is_some_and(|decided| decided != *expected) {
                return Err(format!("{}: the oracle decides otherwise on {request:?}", self.name));
            }
            // The oracle walks every policy for each request: of a large set it confirms a part.
            if start.elapsed() > ORACLE_TIME {
                break;
            }
        }
        Ok(())
    }
}

impl RuleSet {
    /// The word for them in a job for Node.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::FiveRules => "five-rules",
            Self::SingleKind => "single-kind",
            Self::Conditions => "conditions",
            Self::Classic => "classic",
        }
    }
}

impl Objects {
    /// The word for them in a job for Node.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Reused => "kept",
            Self::Rebuilt => "rebuilt",
            Self::Parsed => "parsed",
        }
    }
}

/// Returns a request of JavaScript as the engine takes it.
fn engine_request(question: &Json) -> Result<Request, String> {
    let mut request = question.clone();
    let action = request.get("action").cloned().unwrap_or_default();
    if let Some(fields) = request.as_object_mut() {
        fields.insert("actions".to_owned(), json!([action]));
    }
    wardgate_tests::check::request(&request)
}

/// What the oracle decides; nothing where it lacks a function, such as those for addresses. In these
/// workloads no condition has another reason to fail.
fn decided(oracle: &Oracle, request: &Request) -> Option<bool> {
    let report = oracle.check(request, Timestamp::default());
    let allowed = report.actions.values().all(|decided| decided.effect == Effect::Allow);
    report.errors.is_empty().then_some(allowed)
}

/// Numbers that look random (xorshift64), the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The low bits of a xorshift are its weakest.
        usize::try_from(self.0 >> 32).unwrap_or(0) % bound
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    fn pick<T: Copy + Default>(&mut self, table: &[T]) -> T {
        pick(table, self.below(table.len()))
    }
}

/// Returns an entry of a table that is not empty, counting round.
fn pick<T: Copy + Default>(table: &[T], at: usize) -> T {
    table.get(at % table.len()).copied().unwrap_or_default()
}

fn user(number: usize) -> String {
    format!("user_{number}")
}

const NAMES: &[&str] = &[
    "five-rules-20",
    "five-rules-200",
    "five-rules-2000",
    "large",
    "fresh",
    "parsed",
    "single-kind-100",
    "single-kind-1000",
    "single-kind-100000",
    "conditions",
    "classic",
];

/// Even for the slowest reader of a report two thousand requests are enough to learn nothing by heart.
const REQUESTS: usize = 2000;
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
const ORACLE_TIME: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::Workload;

    #[test]
    fn neither_answer_is_rare() {
        for name in ["five-rules-20", "large", "single-kind-100", "conditions", "classic"] {
            let workload = Workload::generate(name).unwrap();
            workload.confirm().unwrap();
            let allowed = workload.expected.iter().filter(|allowed| **allowed).count();
            assert!((300..1700).contains(&allowed), "{name}: {allowed} of 2000 are allowed");
        }
    }
}
