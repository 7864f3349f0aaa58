//! An expectation beside the decisions of all tests that it is about.

use std::collections::BTreeMap;

use wardgate_engine::attr::Attr;
use wardgate_engine::decision::{Effect, Output};

use super::expectation::PairOutcome;
use super::revision::{Replacement, Revision, Value};
use crate::suite::model::{Expectation, ExpectedEffect, ExpectedOutput, OutputEntry, Table};
use crate::suite::results::Outcome;

/// The cases of a suite by table, principal, resource and action.
pub(super) type Cases<'r> = BTreeMap<(&'r str, &'r str, &'r str, &'r str), &'r Outcome>;

/// An expectation with the tests that it is about.
pub(super) struct View<'v, 's> {
    pub(super) table: &'s Table,
    pub(super) expectation: &'s Expectation,
    pub(super) pairs: Vec<(String, String)>,
    pub(super) cases: &'v Cases<'s>,
}

impl<'s> View<'_, 's> {
    fn outcomes(&self, action: &str) -> impl Iterator<Item = &'s Outcome> {
        self.pairs.iter().filter_map(move |pair| self.outcome(pair, action))
    }

    fn outcome(
        &self,
        (principal, resource): &(String, String),
        action: &str,
    ) -> Option<&'s Outcome> {
        let table = self.table.name.name.as_str();
        self.cases.get(&(table, principal.as_str(), resource.as_str(), action)).copied()
    }

    /// Returns true if its tests have different outcomes, so that no single value is right for all.
    pub(super) fn is_divided(&self) -> bool {
        let differ = |mut values: Vec<Option<Value>>| {
            values.dedup();
            values.len() > 1
        };
        let effects = self.expectation.effects.iter().any(|expected| {
            let decided = self.outcomes(&expected.action).filter_map(decided);
            differ(decided.map(|effect| Some(Value::Effect(effect))).collect())
        });
        let outputs = self.expectation.outputs.iter().any(|output| {
            output.entries.iter().any(|entry| {
                let found = |outcome| found(outcome, &entry.source, entry.value.as_ref());
                let found = self.outcomes(&output.action).map(found);
                let known = found.filter(|found| *found != Ok(None));
                differ(known.map(|found| found.ok().flatten().map(Value::Output)).collect())
            })
        });
        effects || outputs
    }

    /// Returns the new outcome of each of its tests.
    pub(super) fn pair_outcomes(&self) -> Vec<(String, String, PairOutcome)> {
        let pair_outcome = |pair: &(String, String)| {
            let effect = |expected: &'s ExpectedEffect| {
                let found = self.outcome(pair, &expected.action).and_then(decided);
                (expected.action.clone(), found.unwrap_or(expected.effect))
            };
            let entry = |action: &str, entry: &'s OutputEntry| {
                let outcome = self.outcome(pair, action);
                let found =
                    outcome.map_or(Ok(None), |it| found(it, &entry.source, entry.value.as_ref()));
                // A rule that gives no output is expected to give none.
                let value = found.ok()?.or_else(|| entry.value.clone());
                Some((entry.source.clone(), value))
            };
            let output = |output: &'s ExpectedOutput| {
                let entries = output.entries.iter().filter_map(|it| entry(&output.action, it));
                (output.action.clone(), entries.collect::<Vec<_>>())
            };
            let outputs = self.expectation.outputs.iter().map(output);
            let effects = self.expectation.effects.iter().map(effect).collect();
            let outputs = outputs.filter(|(_, entries)| !entries.is_empty()).collect();
            (pair.0.clone(), pair.1.clone(), PairOutcome { effects, outputs })
        };
        self.pairs.iter().map(pair_outcome).collect()
    }

    pub(super) fn effects(&self, revision: &mut Revision<'s>) {
        for expected in &self.expectation.effects {
            let replacement =
                revision.replacements.entry(expected.node.offset).or_insert_with(|| Replacement {
                    node: &expected.node,
                    location: &expected.location,
                    key: None,
                    current: Value::Effect(expected.effect),
                    values: Vec::new(),
                });
            for effect in self.outcomes(&expected.action).filter_map(decided) {
                replacement.add(Value::Effect(effect));
            }
            replacement.settle();
        }
    }

    pub(super) fn outputs(&self, revision: &mut Revision<'s>) {
        for output in &self.expectation.outputs {
            for entry in &output.entries {
                for outcome in self.outcomes(&output.action) {
                    let found = found(outcome, &entry.source, entry.value.as_ref());
                    match (found, &entry.node, &entry.value) {
                        (Ok(None), ..) => {}
                        (Ok(Some(value)), Some(node), Some(current)) => {
                            let replacement = revision
                                .replacements
                                .entry(node.offset)
                                .or_insert_with(|| Replacement {
                                    node,
                                    location: &entry.location,
                                    key: entry.key.as_ref(),
                                    current: Value::Output(current.clone()),
                                    values: Vec::new(),
                                });
                            replacement.add(Value::Output(value));
                        }
                        (Ok(Some(_)), ..) => {
                            revision.refuse(&entry.location, "the entry has no `val` to replace");
                        }
                        (Err(why), ..) => revision.refuse(&entry.location, &why),
                    }
                }
            }
        }
    }
}

/// Returns the effect of a decision, if there was one.
pub(super) fn decided(outcome: &Outcome) -> Option<Effect> {
    match outcome {
        Outcome::Passed(effect, _) => Some(*effect),
        Outcome::Failed(failure) => Some(failure.actual),
        Outcome::Skipped(_) | Outcome::Errored(_) => None,
    }
}

/// Returns the output that a rule gave, if it was looked at.
fn found(outcome: &Outcome, rule: &str, expected: Option<&Attr>) -> Result<Option<Attr>, String> {
    match outcome {
        Outcome::Passed(..) => Ok(expected.cloned()),
        // Of several outputs of one rule the last one counts.
        Outcome::Failed(failure) => {
            match failure.given.iter().rfind(|output| output.source == rule) {
                None => Err("the rule gives no output: remove the entry by hand".to_owned()),
                Some(Output { value: Err(error), .. }) => {
                    Err(format!("the output of the rule failed: {error}"))
                }
                Some(Output { value: Ok(value), .. }) => Ok(Some(value.clone())),
            }
        }
        Outcome::Skipped(_) | Outcome::Errored(_) => Ok(None),
    }
}
