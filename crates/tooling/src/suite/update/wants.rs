//! What expectations would have to say, gathered over all tests that each of them speaks of.

use std::collections::{BTreeMap, BTreeSet};

use wardgate_engine::attr::Attr;
use wardgate_engine::decision::{Effect, Output};

use super::items::{Said, Told, told};
use super::open::Open;
use crate::suite::files::Loaded;
use crate::suite::model::{Expectation, ExpectedEffect, ExpectedOutput, OutputEntry, Suite, Table};
use crate::suite::results::{CaseResult, Outcome, SuiteOutcome, SuiteResult};
use crate::suite::selection::{AvailableFixtures, FixtureKind};
use wardgate_compiler::diagnostics::{Code, Diagnostic};
use wardgate_compiler::source::Location;
use wardgate_compiler::yaml::Node;

/// What is wanted of the text of a suite.
#[derive(Default)]
pub(super) struct Wants<'s> {
    /// By the offset of the value.
    pub(super) values: BTreeMap<usize, Want<'s>>,
    pub(super) missing: Vec<Missing<'s>>,
    pub(super) rewrites: Vec<Rewrite<'s>>,
    pub(super) additions: Vec<Addition<'s>>,
    pub(super) refused: Vec<Diagnostic>,
}

/// What a value should be, for each test that it is about.
pub(super) struct Want<'s> {
    pub(super) node: &'s Node,
    pub(super) location: &'s Location,
    /// Where the name of the value stands, if it is an output.
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
    pub(super) told: Vec<Told>,
}

/// What is to be told of tests of which no expectation speaks.
pub(super) struct Addition<'s> {
    pub(super) number: usize,
    pub(super) table: &'s Table,
    pub(super) told: Vec<Told>,
}

/// An allowed action that one expectation does not say about its tests.
pub(super) struct Missing<'s> {
    pub(super) action: &'s str,
    /// The last value of the map that it belongs into.
    pub(super) after: &'s Node,
    /// The column in which the map has its keys.
    pub(super) column: u32,
    pub(super) location: &'s Location,
}

/// The cases of a suite by table, principal, resource and action.
type Cases<'r> = BTreeMap<(&'r str, &'r str, &'r str, &'r str), &'r Outcome>;

pub(super) fn of<'s>(loaded: &'s Loaded, suite: &'s Suite, result: &'s SuiteResult) -> Wants<'s> {
    let mut wants = Wants::default();
    let SuiteOutcome::Ran(list) = &result.fate else { return wants };
    let key = |case: &'s CaseResult| {
        let names = [&case.table, &case.principal, &case.resource, &case.action];
        let [table, principal, resource, action] = names.map(String::as_str);
        ((table, principal, resource, action), &case.outcome)
    };
    let cases: Cases<'s> = list.iter().map(key).collect();
    let available = AvailableFixtures { own: &suite.fixtures, shared: loaded.fixtures.as_deref() };
    let shared = shared(suite);
    for (number, table) in suite.tables.iter().enumerate() {
        let views: Vec<View<'_, 's>> = (table.expected.iter())
            .map(|expectation| View {
                table,
                expectation,
                pairs: pairs(expectation, available),
                cases: &cases,
            })
            .collect();
        let mut open = Open::new(table, list, &views);
        let mut whole = Vec::new();
        for (at, view) in views.iter().enumerate() {
            if view.is_divided() {
                let told = told(view.told(&mut open));
                wants.rewrites.push(Rewrite {
                    table: number,
                    expectation: at,
                    old: view.expectation,
                    told,
                });
            } else {
                view.effects(&mut wants);
                view.outputs(&mut wants);
                whole.push(view);
            }
        }
        open.join(&whole, &shared, &mut wants);
        let told = open.told();
        if !told.is_empty() {
            wants.additions.push(Addition { number, table, told });
        } else if table.expected.is_empty() {
            wants.refuse(&table.location, "nothing was decided, so there is nothing to expect");
        }
    }
    wants
}

/// Returns where the effects stand that several expectations read, through an anchor.
fn shared(suite: &Suite) -> BTreeSet<usize> {
    let (mut seen, mut shared) = (BTreeSet::new(), BTreeSet::new());
    for expectation in suite.tables.iter().flat_map(|table| &table.expected) {
        let offsets = expectation.effects.iter().map(|effect| effect.node.offset);
        let own: BTreeSet<usize> = offsets.collect();
        shared.extend(own.into_iter().filter(|offset| !seen.insert(*offset)));
    }
    shared
}

fn pairs(expectation: &Expectation, available: AvailableFixtures<'_>) -> Vec<(String, String)> {
    let mut ignored = Vec::new();
    let principals =
        available.select(FixtureKind::Principal, &expectation.principals, &mut ignored);
    let resources = available.select(FixtureKind::Resource, &expectation.resources, &mut ignored);
    let with = |principal: &String| {
        resources.iter().map(|resource| (principal.clone(), resource.clone())).collect::<Vec<_>>()
    };
    principals.iter().flat_map(with).collect()
}

/// An expectation, and the tests that it speaks of.
pub(super) struct View<'v, 's> {
    pub(super) table: &'s Table,
    pub(super) expectation: &'s Expectation,
    pub(super) pairs: Vec<(String, String)>,
    cases: &'v Cases<'s>,
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

    /// Whether its tests would have to say different things, so that no value of its own is right for all.
    fn is_divided(&self) -> bool {
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

    /// Returns what is to be said of each of its tests, with what is open about them.
    fn told(&self, open: &mut Open<'_>) -> Vec<(String, String, Said)> {
        let said = |pair: &(String, String)| {
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
            let mut effects: Vec<_> = self.expectation.effects.iter().map(effect).collect();
            effects.extend(open.take(pair));
            let outputs = outputs.filter(|(_, entries)| !entries.is_empty()).collect();
            (pair.0.clone(), pair.1.clone(), Said { effects, outputs })
        };
        self.pairs.iter().map(said).collect()
    }

    fn effects(&self, wants: &mut Wants<'s>) {
        for expected in &self.expectation.effects {
            let want = wants.values.entry(expected.node.offset).or_insert_with(|| Want {
                node: &expected.node,
                location: &expected.location,
                key: None,
                current: Value::Effect(expected.effect),
                values: Vec::new(),
            });
            for effect in self.outcomes(&expected.action).filter_map(decided) {
                want.add(Value::Effect(effect));
            }
            want.settle();
        }
    }

    fn outputs(&self, wants: &mut Wants<'s>) {
        for output in &self.expectation.outputs {
            for entry in &output.entries {
                for outcome in self.outcomes(&output.action) {
                    let found = found(outcome, &entry.source, entry.value.as_ref());
                    match (found, &entry.node, &entry.value) {
                        (Ok(None), ..) => {}
                        (Ok(Some(value)), Some(node), Some(current)) => {
                            let want = wants.values.entry(node.offset).or_insert_with(|| Want {
                                node,
                                location: &entry.location,
                                key: entry.key.as_ref(),
                                current: Value::Output(current.clone()),
                                values: Vec::new(),
                            });
                            want.add(Value::Output(value));
                        }
                        (Ok(Some(_)), ..) => {
                            wants.refuse(&entry.location, "the entry has no `val` to replace");
                        }
                        (Err(why), ..) => wants.refuse(&entry.location, &why),
                    }
                }
            }
        }
    }
}

impl Wants<'_> {
    fn refuse(&mut self, location: &Location, message: &str) {
        self.refused.push(Diagnostic::error(Code::UnreachableExpectation, location, message));
    }
}

impl Want<'_> {
    fn add(&mut self, value: Value) {
        if !self.values.contains(&value) {
            self.values.push(value);
        }
    }

    /// Where nothing was decided, everything stays.
    fn settle(&mut self) {
        if self.values.is_empty() {
            self.values.push(self.current.clone());
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
