//! Decisions: those of the cases, and those on generated requests.

use std::path::Path;

use serde_json::{Value as Json, json};
use wardgate_compiler::Options;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;
use wardgate_engine::wire::decision_json;

use super::{Entry, Put, Suite};
use crate::cases::{self, Case};
use crate::check;
use crate::compiled::Compiled;
use crate::generate::{World, with, worlds};
use crate::node::{Job, Right};

/// The number of generated requests, and their seed.
#[derive(Clone, Debug)]
pub struct Size {
    /// The least number of requests.
    pub requests: usize,
    /// The number of recorded decisions that are made again.
    pub replays: usize,
    /// The same number always means the same requests.
    pub seed: u8,
}

/// Puts the decisions of every case, and every way to them.
pub(super) fn cases(root: &Path, put: &mut Put<'_>) -> Result<(), String> {
    for case in cases::load(&root.join("tests/cases"))? {
        let Case { name, files, options, now, checks, .. } = case;
        let policies = Policies::new(&files, &options, now);
        let policies = policies.ok_or_else(|| format!("{name} does not compile"))?;
        let requests: Vec<_> =
            checks.into_iter().map(|check| (check.request, check.json)).collect();
        put(policies.entry(Suite::Cases, name, &requests, requests.len()))?;
    }
    Ok(())
}

/// Puts the decisions on generated requests, and every way to some of them. Policies that do not
/// compile are left out.
pub(super) fn generated(size: &Size, put: &mut Put<'_>) -> Result<(), String> {
    let mut left = size.requests;
    for (number, world) in worlds(size.seed, PER_WORLD).enumerate() {
        if left == 0 {
            break;
        }
        let Some(policies) = Policies::new(&world.files(), &world.table_options()?, World::now()?)
        else {
            continue;
        };
        let read = |json: Json| Ok((check::request(&json)?, json));
        let requests = world.requests.into_iter().map(read).collect::<Result<Vec<_>, String>>()?;
        put(policies.entry(Suite::Generated, format!("world {number}"), &requests, BY_ALL_WAYS))?;
        left = left.saturating_sub(requests.len());
    }
    Ok(())
}

/// A table, and the bundle that it was opened from.
struct Policies {
    bundle: Vec<u8>,
    table: PolicyTable,
    now: Timestamp,
}

impl Policies {
    fn new(files: &[(String, Vec<u8>)], options: &Options, now: Timestamp) -> Option<Self> {
        let Compiled { bundle, table } = Compiled::new(files, options).ok()?;
        Some(Self { bundle, table, now })
    }

    /// Returns the questions about the requests; the first `compared` of them are decided in every
    /// way.
    fn entry(
        self,
        suite: Suite,
        name: String,
        requests: &[(Request, Json)],
        compared: usize,
    ) -> Entry {
        let decide = |(request, _): &(Request, Json)| {
            decision_json(&self.table.check(request, self.now)).into_bytes()
        };
        let answers: Vec<Vec<u8>> = requests.iter().map(decide).collect();
        // A request that reaches a limit takes as long as the limit allows: once is enough.
        let compared = if answers.iter().any(|answer| is_at_limit(answer)) { 0 } else { compared };
        let right = self.right(requests.get(..compared).unwrap_or(requests));
        let requests = requests.iter().map(|(_, json)| json.clone()).collect();
        let job = Job { right: Some(right), ..Job::new(self.bundle, self.now, requests) };
        // JavaScript has doubles, and reads `now`.
        let exact = json!([self.now.seconds(), self.now.nanos()]);
        let question = with(&job.json(), "time", exact);
        Entry { suite, name, question, answers }
    }

    fn right(&self, requests: &[(Request, Json)]) -> Right {
        let allowed = |(request, _): &(Request, Json)| {
            let one = |action: &String| self.table.is_allowed(request, action, self.now);
            request.actions.iter().map(one).collect()
        };
        let batch = |(of, (principal, _)): (usize, &(Request, Json))| {
            let action = principal.actions.first().map_or("", String::as_str);
            let one = |(request, _): &(Request, Json)| {
                let resource = request.resource.clone();
                self.table.is_allowed(&Request { resource, ..principal.clone() }, action, self.now)
            };
            (of, requests.iter().map(one).collect())
        };
        Right {
            allowed: requests.iter().map(allowed).collect(),
            batches: requests.iter().enumerate().step_by(BATCH_EVERY).map(batch).collect(),
            accessors: None,
        }
    }
}

fn is_at_limit(decision: &[u8]) -> bool {
    str::from_utf8(decision).is_ok_and(|text| text.contains("\"limit-reached\""))
}

/// The largest number of requests to one generated policy set: compiling it takes as long as
/// deciding some hundred of them.
const PER_WORLD: usize = 300;
/// The number of those that are decided in every way.
const BY_ALL_WAYS: usize = 40;
/// The distance between requests whose principal is decided on the resources of all requests.
const BATCH_EVERY: usize = 20;
