//! The ways to a decision in a native program.

use serde_json::Value as Json;
use wardgate_bundle::digest;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::{Decision, Effect};
use wardgate_engine::fastpath::Answer;
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;
use wardgate_engine::wire::decision_json;
use wardgate_tooling::accessors;

use super::hosts::{Forms, Host};
use super::{Difference, Tally};
use crate::check;
use crate::compiled::Compiled;
use crate::fill;
use crate::generate::World;
use crate::oracle::{Oracle, Report};

/// All native ways over the policies of one world.
pub struct Native {
    /// The policies, as a bundle.
    pub bundle: Vec<u8>,
    /// The time of every check.
    pub now: Timestamp,
    table: PolicyTable,
    host: Host,
    oracle: Oracle,
}

/// The answers of the ways to the requests of a world.
#[derive(Default)]
pub struct Compared {
    /// Canonical JSON of the decision on each request.
    pub decisions: Vec<String>,
    /// For each request and each of its actions, the answer of the general path.
    pub allowed: Vec<Vec<bool>>,
    /// The answers that disagree with it.
    pub differences: Vec<Difference>,
    /// The counts of all ways.
    pub tally: Tally,
}

impl Native {
    /// Compiles the policies; returns `None` if they do not compile.
    #[must_use]
    pub fn new(world: &World) -> Option<Self> {
        let (files, options) = (world.files(), world.table_options().ok()?);
        let Compiled { bundle, table } = Compiled::new(&files, &options).ok()?;
        let host = Host::open(&bundle)?;
        let oracle = Oracle::new(&files, &options).ok()?;
        Some(Self { bundle, now: World::now().ok()?, table, host, oracle })
    }

    /// Compares every way on every request.
    ///
    /// # Errors
    /// If a request cannot be read, which does not happen to a generated one.
    pub fn compare(&self, requests: &[Json]) -> Result<Compared, String> {
        let mut compared = Compared::default();
        for (at, json) in requests.iter().enumerate() {
            let request = check::request(json)?;
            let decision = self.table.check(&request, self.now);
            let mut comparison =
                Comparison { native: self, compared: &mut compared, request: &request, at };
            comparison.compare_oracle(&decision);
            let allowed = comparison.compare_actions(&decision, json);
            compared.decisions.push(decision_json(&decision));
            compared.allowed.push(allowed);
        }
        Ok(compared)
    }

    /// Returns the module of accessors of the policies.
    #[must_use]
    pub fn accessors(&self) -> String {
        accessors::module(&self.table, digest(&self.bundle).unwrap_or_default())
    }

    /// Returns the answers of the general path for the principal of one request and its first
    /// action on the resource of each.
    ///
    /// # Errors
    /// If a request cannot be read, which does not happen to a generated one.
    pub fn batch(&self, of: &Json, requests: &[Json]) -> Result<Vec<bool>, String> {
        let principal = check::request(of)?;
        let action = principal.actions.first().map_or("", String::as_str);
        let allowed = |json: &Json| {
            let resource = check::request(json)?.resource;
            let request = Request { resource, ..principal.clone() };
            Ok(self.table.is_allowed(&request, action, self.now))
        };
        requests.iter().map(allowed).collect()
    }
}

/// The comparison of one request.
struct Comparison<'a> {
    native: &'a Native,
    compared: &'a mut Compared,
    request: &'a Request,
    at: usize,
}

impl Comparison<'_> {
    /// Compares the whole decision with the oracle.
    fn compare_oracle(&mut self, decision: &Decision) {
        let expected = self.native.oracle.check(self.request, self.native.now);
        let found = Report::from(decision);
        self.compared.tally.count("oracle", [1, 1]);
        if found != expected {
            self.differs("oracle", "", expected.differences(&found));
        }
    }

    fn compare_actions(&mut self, decision: &Decision, json: &Json) -> Vec<bool> {
        let Native { table, now, .. } = self.native;
        let mut answers = Vec::new();
        for action in &self.request.actions {
            let allowed = table.is_allowed(self.request, action, *now);
            let decided = decision.actions.iter().find(|decided| decided.action == *action);
            let checked = decided.map(|decided| decided.effect == Effect::Allow);
            self.hold("check", action, checked, allowed);
            self.hold("fast path", action, self.by_fast_path(action), allowed);
            self.compare_forms(action, json, allowed);
            answers.push(allowed);
        }
        answers
    }

    fn by_fast_path(&self, action: &str) -> Option<bool> {
        let Native { table, now, .. } = self.native;
        match fill::decide(table, self.request, action, *now) {
            Answer::Allow => Some(true),
            Answer::Deny => Some(false),
            Answer::Unsure => None,
        }
    }

    /// Compares all forms. A form always answers; its answers by a fast path are counted.
    fn compare_forms(&mut self, action: &str, json: &Json, allowed: bool) {
        let (native, request) = (self.native, self.request);
        let forms = Forms::new(request, json, action);
        native.host.ask(&forms, native.now, |way, answer, by_fast_path| {
            self.compared.tally.count(way, [1, u64::from(by_fast_path)]);
            match answer {
                Ok(answer) if answer == allowed => {}
                Ok(answer) => self.differs(way, action, format!("allowed is {answer}")),
                Err(error) => self.differs(way, action, format!("{error}, allowed is {allowed}")),
            }
        });
    }

    /// Compares the answer of `way`, if there is one, with the right one.
    fn hold(&mut self, way: &str, action: &str, answer: Option<bool>, allowed: bool) {
        self.compared.tally.count(way, [1, u64::from(answer.is_some())]);
        if answer.is_some_and(|answer| answer != allowed) {
            self.differs(way, action, format!("allowed is {}, not {allowed}", !allowed));
        }
    }

    fn differs(&mut self, way: &str, action: &str, answer: String) {
        let (way, action) = (way.to_owned(), action.to_owned());
        self.compared.differences.push(Difference { way, request: self.at, action, answer });
    }
}
