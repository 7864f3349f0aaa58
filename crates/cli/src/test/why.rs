//! The reason for the decision in a failed test, in the words of `wardgate explain`.

use std::collections::HashMap;

use wardgate_tooling::suite::decider::now;
use wardgate_tooling::suite::results::CaseResult;
use wardgate_tooling::suite::{Loaded, Native, Test, tests};

use crate::explain;

/// Explains the tests of one suite after the other.
pub(super) struct Why<'w> {
    native: Native<'w>,
    tests: HashMap<[&'w str; 3], Test<'w>>,
}

impl<'w> Why<'w> {
    pub(super) fn new(native: Native<'w>) -> Self {
        Self { native, tests: HashMap::new() }
    }

    /// Turns to the tests of a suite.
    pub(super) fn enter(&mut self, suite: &'w Loaded) {
        let tests = tests(suite).unwrap_or_default().into_iter();
        let named = |test: Test<'w>| {
            let table = test.table.name.name.as_str();
            ([table, test.principal_name, test.resource_name], test)
        };
        self.tests = tests.map(named).collect();
    }

    /// Returns the lines about a test of this suite.
    pub(super) fn lines(&mut self, case: &CaseResult) -> Vec<String> {
        let key = [case.table.as_str(), &case.principal, &case.resource];
        let Some(test) = self.tests.get(&key) else { return Vec::new() };
        let Ok(table) = self.native.table(test.settings) else { return Vec::new() };
        explain::lines(&table, &test.request(vec![case.action.clone()]), now(test.settings))
    }
}
