//! A folder of policies: compiled as `wardgate compile` does it, and the requests about it.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use wardgate_bundle::{Conditions, Trust, open, pack};
use wardgate_compiler::policy::model::{Body, Policy};
use wardgate_compiler::repository::Repository;
use wardgate_compiler::{Options, compile_repository};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::Effect;
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;
use wardgate_tooling::suite::{Test, files, tests};

use super::generate;
use crate::workload::lines;

/// A folder whose policies compile.
pub(crate) struct Folder {
    pub(crate) name: String,
    pub(crate) bundle: Vec<u8>,
    pub(crate) table: PolicyTable,
    /// The number of rules that its authors wrote.
    pub(crate) rules: usize,
    /// The requests of its test suites.
    pub(crate) suites: Vec<Inquiry>,
    /// Requests that are generated from what its rules name.
    pub(crate) generated: Vec<Inquiry>,
}

/// A request, and the answers of the general path.
pub(crate) struct Inquiry {
    /// The request, each action once.
    pub(crate) request: Request,
    /// True for each action that is allowed.
    pub(crate) expected: Vec<bool>,
}

impl Folder {
    /// Reads, compiles and opens the policies of a folder, and collects the requests; the inner
    /// error is that of policies that do not compile.
    pub(crate) fn read(path: &Path) -> Result<Result<Self, String>, String> {
        let repository = Repository::read(path);
        let compiled = match compile_repository(&repository, path, &Options::default()) {
            Ok(compiled) => compiled,
            Err(errors) => return Ok(Err(lines(errors.first()))),
        };
        let bundle = pack(&compiled.parts);
        let opened = open(&bundle, Trust::Unsigned, &Conditions::default());
        let table = opened.map_err(|error| error.to_string())?.table;
        let ask = |requests: Vec<Request>| -> Result<Vec<Inquiry>, String> {
            requests.into_iter().map(|request| Inquiry::new(&table, request)).collect()
        };
        Ok(Ok(Self {
            name: path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            rules: repository.policies.iter().map(rules_of).sum(),
            suites: ask(suites(path))?,
            generated: ask(generate::requests(&repository.policies))?,
            bundle,
            table,
        }))
    }

    /// Returns the requests that are timed.
    pub(crate) fn timed(&self) -> &[Inquiry] {
        if self.suites.is_empty() { &self.generated } else { &self.suites }
    }

    /// Returns the size of the bundle, and its size after `gzip -9`.
    pub(crate) fn bytes(&self) -> Result<[usize; 2], String> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let packed = encoder.write_all(&self.bundle).and_then(|()| encoder.finish());
        Ok([self.bundle.len(), packed.map_err(|error| error.to_string())?.len()])
    }
}

impl Inquiry {
    fn new(table: &PolicyTable, mut request: Request) -> Result<Self, String> {
        request.actions.sort();
        request.actions.dedup();
        let now = now();
        let decided = table.check(&request, now).actions;
        let expected: Vec<bool> =
            decided.iter().map(|decided| decided.effect == Effect::Allow).collect();
        let alone = request.actions.iter().map(|action| table.is_allowed(&request, action, now));
        if !alone.eq(expected.iter().copied()) {
            return Err(format!("`check` and `is_allowed` differ: {request:?}"));
        }
        Ok(Self { request, expected })
    }

    /// Returns the request, each of its actions, and the answer.
    pub(crate) fn decisions(&self) -> impl Iterator<Item = (&Request, &str, bool)> {
        let actions = self.request.actions.iter().zip(&self.expected);
        actions.map(|(action, expected)| (&self.request, action.as_str(), *expected))
    }
}

/// Returns the requests of the suites that can be run, evenly chosen if there are very many.
fn suites(path: &Path) -> Vec<Request> {
    let loaded = files::load(&files::read(path).unwrap_or_default());
    let tests = loaded.iter().flat_map(|suite| tests(suite).unwrap_or_default());
    let request = |test: Test<'_>| {
        let actions = test.table.input.actions.iter().map(|action| action.name.clone());
        test.request(actions.collect())
    };
    let all: Vec<Request> =
        tests.map(request).filter(|request| !request.actions.is_empty()).collect();
    let step = all.len().div_ceil(MAX_REQUESTS).max(1);
    all.into_iter().step_by(step).collect()
}

/// Returns the number of rules of a policy.
fn rules_of(policy: &Policy) -> usize {
    match &policy.body {
        Body::Resource(body) => body.rules.len(),
        Body::Principal(body) => body.rules.iter().map(|rule| rule.actions.len()).sum(),
        Body::Role(body) => body.rules.len(),
        _ => 0,
    }
}

/// The largest number of requests of the suites of one folder that are decided.
const MAX_REQUESTS: usize = 1000;

/// Returns the time of every decision, whatever a test says of it: 2024-05-06T07:08:09Z.
pub(crate) fn now() -> Timestamp {
    Timestamp::new(NOW_SECONDS, 0).unwrap_or_default()
}

pub(crate) const NOW_SECONDS: i64 = 1_714_979_289;
