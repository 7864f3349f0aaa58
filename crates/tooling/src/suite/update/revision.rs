//! The changes that the text of a suite needs.

use std::collections::BTreeMap;

use wardgate_engine::attr::Attr;
use wardgate_engine::decision::Effect;

use super::expectation::NewExpectation;
use crate::suite::model::{Expectation, Table};
use wardgate_compiler::diagnostics::{Code, Diagnostic};
use wardgate_compiler::source::Location;
use wardgate_compiler::yaml::Node;

/// The changes of a suite's text.
#[derive(Default)]
pub(super) struct Revision<'s> {
    /// By the offset of the value.
    pub(super) replacements: BTreeMap<usize, Replacement<'s>>,
    pub(super) missing: Vec<MissingAction<'s>>,
    pub(super) rewrites: Vec<Rewrite<'s>>,
    pub(super) additions: Vec<Addition<'s>>,
    pub(super) refused: Vec<Diagnostic>,
}

/// The new value of a node, for each test that it is about.
pub(super) struct Replacement<'s> {
    pub(super) node: &'s Node,
    pub(super) location: &'s Location,
    /// The location of the value's name, if it is an output.
    pub(super) key: Option<&'s Location>,
    pub(super) current: Value,
    pub(super) values: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Effect(Effect),
    Output(Attr),
}

/// An expectation about tests that are decided differently, and those that take its place.
pub(super) struct Rewrite<'s> {
    pub(super) table: usize,
    pub(super) expectation: usize,
    pub(super) old: &'s Expectation,
    pub(super) expectations: Vec<NewExpectation>,
}

/// New expectations for tests without one.
pub(super) struct Addition<'s> {
    pub(super) number: usize,
    pub(super) table: &'s Table,
    pub(super) expectations: Vec<NewExpectation>,
}

/// An allowed action that an expectation lacks about its tests.
pub(super) struct MissingAction<'s> {
    pub(super) action: &'s str,
    /// The last value of the map that it belongs into.
    pub(super) after: &'s Node,
    /// The column in which the map has its keys.
    pub(super) column: u32,
    pub(super) location: &'s Location,
}

impl Revision<'_> {
    pub(super) fn refuse(&mut self, location: &Location, message: &str) {
        self.refused.push(Diagnostic::error(Code::UnreachableExpectation, location, message));
    }
}

impl Replacement<'_> {
    pub(super) fn add(&mut self, value: Value) {
        if !self.values.contains(&value) {
            self.values.push(value);
        }
    }

    /// Keeps the current value if no test has a decision.
    pub(super) fn settle(&mut self) {
        if self.values.is_empty() {
            self.values.push(self.current.clone());
        }
    }
}
