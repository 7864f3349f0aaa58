//! Programs over two long lists compare no more pairs than their budget allows.
//!
//! The count is of the whole process, so this test has a process of its own.

use wardgate_tests::fuzz::TARGETS;

#[test]
fn every_function_over_two_long_lists_ends_soon() {
    let target = TARGETS.iter().find(|target| target.name == "lists").unwrap();
    (target.seeds)().iter().for_each(|seed| (target.entry)(seed));
}
