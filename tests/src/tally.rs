//! Counts the answers of fast paths while they are compared with the general path.

use std::cell::Cell;

use wardgate_engine::cel::Timestamp;
use wardgate_engine::fastpath::Answer;
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;

use crate::fill;

/// The decisions that were compared, and those that a fast path answered.
#[derive(Debug, Default)]
pub struct Tally {
    /// All decisions.
    pub questions: Cell<u32>,
    /// Those for which there is a fast path.
    pub covered: Cell<u32>,
    /// Those that a fast path answered.
    pub answered: Cell<u32>,
    /// Those that allow.
    pub allowed: Cell<u32>,
}

impl Tally {
    /// Decides every action of a request both ways.
    ///
    /// # Errors
    /// If an answer differs; the text shows the first difference.
    pub fn compare(
        &self,
        table: &PolicyTable,
        request: &Request,
        now: Timestamp,
    ) -> Result<(), String> {
        for action in &request.actions {
            let expected = table.is_allowed(request, action, now);
            let answer = fill::decide(table, request, action, now);
            let resource = &request.resource;
            let list =
                table.fast_path_list(&resource.kind, &resource.policy_version, &resource.scope);
            let covered =
                list.is_some_and(|list| table.fast_path_of_action(list, action).is_some());
            add(&self.questions, 1);
            add(&self.covered, covered.into());
            add(&self.answered, (answer != Answer::Unsure).into());
            add(&self.allowed, expected.into());
            let differs = match answer {
                Answer::Unsure => false,
                Answer::Allow => !expected,
                Answer::Deny => expected,
            };
            if differs {
                return Err(format!("{action}: {answer:?}, expected {expected}: {request:?}"));
            }
        }
        Ok(())
    }

    /// Prints the counts.
    pub fn report(&self, what: &str) {
        let [questions, covered, answered, allowed] =
            [&self.questions, &self.covered, &self.answered, &self.allowed].map(Cell::get);
        println!(
            "{what}: {questions} asked, {covered} covered, {answered} answered, {allowed} allowed"
        );
    }
}

fn add(count: &Cell<u32>, more: u32) {
    count.set(count.get() + more);
}
