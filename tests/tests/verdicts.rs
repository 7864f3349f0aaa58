//! Whole checks by fast paths compared with the general path: where they decide, every text of the
//! decision is the same.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use wardgate_bundle::pack;
use wardgate_compiler::{compile_dir, compile_files};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::Decision;
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;
use wardgate_tests::compiled::Compiled;
use wardgate_tests::fill::verdicts;
use wardgate_tests::generate::{World, world};
use wardgate_tests::{cases, check, demo, property};

#[test]
fn most_checks_of_the_demonstration_are_decided_by_fast_paths() {
    let ways = Ways::default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo");
    let demo = demo::load(&folder).unwrap();
    let compiled = compile_dir(&folder.join("policies"), &demo.options).unwrap();
    let Compiled { table, .. } = Compiled::opened(pack(&compiled.parts)).unwrap();
    for entry in &demo.requests {
        ways.compare(&table, &entry.request, demo.now, "demo").unwrap();
    }
    ways.report("demonstration");
    ways.assert_quiet(100);
}

#[test]
fn most_checks_of_the_cases_are_decided_by_fast_paths() {
    let ways = Ways::default();
    for case in cases::all().unwrap() {
        let Ok(compiled) = compile_files(&case.files, &case.options) else { continue };
        let Compiled { table, .. } = Compiled::opened(pack(&compiled.parts)).unwrap();
        for check in &case.checks {
            ways.compare(&table, &check.request, case.now, &case.name).unwrap();
        }
    }
    ways.report("cases");
    ways.assert_quiet(80);
}

#[test]
fn checks_of_generated_worlds_are_those_of_the_general_path() {
    let ways = Ways::default();
    property::run([512, 30_000], &world(4), |world| {
        let Compiled { table, .. } = world.compiled()?;
        for json in &world.requests {
            let request = check::request(json).map_err(TestCaseError::fail)?;
            let compared = ways.compare(&table, &request, World::now().unwrap(), "world");
            compared
                .map_err(|difference| TestCaseError::fail(format!("{difference}\n\n{world:?}")))?;
        }
        Ok(())
    });
    ways.report("worlds");
    ways.assert_quiet(30);
}

/// The number of actions that fast paths decided, and of those that they left, by reason.
#[derive(Default)]
struct Ways(RefCell<BTreeMap<String, usize>>);

impl Ways {
    /// Decides a request, and each of its actions alone, by fast paths and by the general path.
    fn compare(
        &self,
        table: &PolicyTable,
        request: &Request,
        now: Timestamp,
        name: &str,
    ) -> Result<(), String> {
        let _ = same(table, request, now)?;
        for action in &request.actions {
            let one = Request { actions: Vec::from([action.clone()]), ..request.clone() };
            let way = match same(table, &one, now)? {
                Ok(()) => ANSWERED.to_owned(),
                Err(reason) => {
                    let Decision { outputs, evaluation_errors, .. } = table.check(&one, now);
                    let has_errors = !evaluation_errors.is_empty()
                        || outputs.iter().any(|output| output.value.is_err());
                    let has = if has_errors { HAS_ERRORS } else { "" };
                    format!("{reason}{has} ({name})")
                }
            };
            *self.0.borrow_mut().entry(way).or_default() += 1;
        }
        Ok(())
    }

    fn report(&self, what: &str) {
        for (way, count) in &*self.0.borrow() {
            println!("{what}: {count:5} {way}");
        }
    }

    /// Fails unless fast paths decide so many of the actions that report no error: only the general
    /// path can do that.
    fn assert_quiet(&self, percent: usize) {
        let ways = self.0.borrow();
        let count = |is_counted: fn(&str) -> bool| -> usize {
            ways.iter().filter(|(way, _)| is_counted(way)).map(|(_, count)| count).sum()
        };
        let (answered, all) = (count(|way| way == ANSWERED), count(|_| true));
        let quiet = all - count(|way| way.contains(HAS_ERRORS));
        println!("fast paths decide {answered} of {all}, {quiet} of them without errors");
        assert!(answered * 100 >= quiet * percent, "fast paths decide {answered} of {quiet}");
    }
}

const ANSWERED: &str = "decided by a fast path";
const HAS_ERRORS: &str = ", has errors";

/// Checks a request both ways. The inner error is the reason why fast paths leave it.
fn same(
    table: &PolicyTable,
    request: &Request,
    now: Timestamp,
) -> Result<Result<(), &'static str>, String> {
    let decision = match verdicts::check(table, request, now) {
        Ok(decision) => decision,
        Err(reason) => return Ok(Err(reason)),
    };
    let expected = table.check(request, now);
    if decision == expected {
        return Ok(Ok(()));
    }
    Err(format!("fast paths decide {decision:?}\nthe general path {expected:?}\nof {request:?}"))
}
