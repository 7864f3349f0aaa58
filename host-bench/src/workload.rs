//! Workloads: policies, requests about them, and the right answers.
//!
//! The same workload is the same in every run. The answers come from the rules written by hand, and
//! the oracle confirms them.

mod classic;
mod conditions;
mod five_rules;
mod single_kind;

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
#[cfg(any(feature = "decision-log", feature = "ratelimit"))]
use wardgate_bundle::pack;
use wardgate_compiler::Options;
#[cfg(any(feature = "decision-log", feature = "ratelimit"))]
use wardgate_compiler::compile_files;
use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::Effect;
use wardgate_engine::request::Request;
use wardgate_tests::oracle::Oracle;
use wardgate_tests::random;

use crate::measure::Cases;
use crate::rows::floor;

/// Policies, requests, and the answers.
pub(crate) struct Workload {
    /// Its name in files and arguments.
    pub(crate) name: String,
    /// Its name for people.
    pub(crate) title: String,
    pub(crate) rules: RuleSet,
    pub(crate) kinds: Vec<String>,
    /// The number of actions of a kind.
    pub(crate) actions: usize,
    /// The policies as Cerbos writes them.
    pub(crate) policies: Vec<(String, Vec<u8>)>,
    /// The requests as JavaScript makes them: principal, action, resource.
    pub(crate) requests: Vec<Json>,
    pub(crate) expected: Vec<bool>,
    pub(crate) objects: Objects,
    /// The rivals that can answer it.
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

/// The origin of the objects of the requests in JavaScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Objects {
    /// The same objects in every pass.
    Reused,
    /// Written anew before each pass, strings too.
    Rebuilt,
    /// Read from JSON before each pass.
    Parsed,
}

/// The rivals that answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rivals {
    /// All rivals.
    All,
    /// Those that read Rego: the others lack functions of the conditions.
    Rego,
    None,
}

impl Workload {
    /// Returns every workload, in the order of the report.
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

    /// Returns the requests as the engine takes them.
    pub(crate) fn engine_requests(&self) -> Result<Vec<Request>, String> {
        self.requests.iter().map(engine_request).collect()
    }

    /// Returns inputs, one for each request, with the answers.
    pub(crate) fn cases<I>(&self, inputs: I) -> Cases<'_, I> {
        Cases { inputs, expected: &self.expected }
    }

    /// Compares the answers with those of the oracle.
    pub(crate) fn confirm(&self) -> Result<(), String> {
        let requests = self.engine_requests()?;
        let oracle = Oracle::new(&self.policies, &Options::default());
        let oracle = oracle.map_err(|errors| lines(&errors))?;
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
    /// Returns its name in a job for Node.
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
    /// Returns its name in a job for Node.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Reused => "kept",
            Self::Rebuilt => "rebuilt",
            Self::Parsed => "parsed",
        }
    }
}

/// Compiles policies to a bundle.
#[cfg(any(feature = "decision-log", feature = "ratelimit"))]
pub(crate) fn bundle(files: &[(&str, &str)]) -> Result<Vec<u8>, String> {
    let files = files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
    let files: Vec<_> = files.collect();
    let compiled = compile_files(&files, &Options::default());
    Ok(pack(&compiled.map_err(|errors| lines(&errors))?.parts))
}

/// Writes each error on a line.
pub(crate) fn lines<'e>(errors: impl IntoIterator<Item = &'e Diagnostic>) -> String {
    errors.into_iter().map(|error| format!("{error}\n")).collect()
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

/// Returns the decision of the oracle; `None` where it lacks a function, such as those for
/// addresses. In these workloads no condition has another reason to fail.
fn decided(oracle: &Oracle, request: &Request) -> Option<bool> {
    let report = oracle.check(request, Timestamp::default());
    let allowed = report.actions.values().all(|decided| decided.effect == Effect::Allow);
    report.errors.is_empty().then_some(allowed)
}

/// The numbers that workloads are made from, the same in every run.
pub(crate) struct Random(random::Random);

impl Random {
    const fn new() -> Self {
        Self(random::Random::new(SEED))
    }

    /// Starts anew for one part of a workload.
    pub(crate) const fn of_part(number: u64) -> Self {
        // An odd factor keeps different parts apart; a seed must not be 0.
        let mut random =
            random::Random::new(number.wrapping_mul(2).wrapping_add(1).wrapping_mul(SEED));
        // The first numbers of near seeds are alike.
        let mut round = 0;
        while round < 16 {
            random.number();
            round += 1;
        }
        Self(random)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        // The low bits of a xorshift are its weakest.
        usize::try_from(self.0.number() >> 32).unwrap_or(0) % bound
    }

    pub(crate) fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    pub(crate) fn pick<T: Copy + Default>(&mut self, table: &[T]) -> T {
        pick(table, self.below(table.len()))
    }
}

/// Returns an entry of a table that is not empty, counting round.
fn pick<T: Copy + Default>(table: &[T], at: usize) -> T {
    table.get(at % table.len()).copied().unwrap_or_default()
}

/// Returns a policy with the same rules for each kind, as Cerbos writes it, each in a file.
fn policies(kinds: &[String], rules: &str) -> Vec<(String, Vec<u8>)> {
    let policy = |kind: &String| {
        let text = format!(
            "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  version: default\n  \
             resource: {kind}\n  rules:\n{rules}"
        );
        (format!("{kind}.yaml"), text.into_bytes())
    };
    kinds.iter().map(policy).collect()
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

/// Enough requests that no row learns them by heart.
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
