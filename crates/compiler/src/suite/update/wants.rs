//! What expectations would have to say, gathered over all tests that each of them speaks of.

use std::collections::{BTreeMap, BTreeSet};

use wardgate_engine::attr::Attr;
use wardgate_engine::decision::Effect;

use crate::diagnostics::{Code, Diagnostic};
use crate::source::Place;
use crate::suite::files::Loaded;
use crate::suite::model::{Expectation, Suite, Table};
use crate::suite::results::{CaseResult, Fate, Found, Outcome, SuiteResult};
use crate::suite::selection::{Shelf, Sort};
use crate::yaml::Node;

/// What is wanted of the text of a suite.
#[derive(Default)]
pub(super) struct Wants<'s> {
    /// By the offset of the value.
    pub(super) values: BTreeMap<usize, Want<'s>>,
    pub(super) missing: Vec<Missing<'s>>,
    pub(super) refused: Vec<Diagnostic>,
}

/// What a value should be, for each test that it is about.
pub(super) struct Want<'s> {
    pub(super) node: &'s Node,
    pub(super) place: &'s Place,
    /// Where the name of the value stands, if it is an output.
    pub(super) key: Option<&'s Place>,
    pub(super) current: Value,
    pub(super) values: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Effect(Effect),
    Output(Attr),
}

/// An allowed action that nothing is said about.
pub(super) struct Missing<'s> {
    pub(super) action: &'s str,
    /// The principal and the resource, for messages.
    pub(super) tests: String,
    /// The last value of the map that it belongs into, if there is one.
    pub(super) after: Option<&'s Node>,
    /// The column in which the map has its keys.
    pub(super) column: u32,
    pub(super) place: &'s Place,
}

/// The cases of a suite by table, principal, resource and action.
type Cases<'r> = BTreeMap<(&'r str, &'r str, &'r str, &'r str), &'r Outcome>;

pub(super) fn of<'s>(loaded: &'s Loaded, suite: &'s Suite, result: &'s SuiteResult) -> Wants<'s> {
    let mut wants = Wants::default();
    let Fate::Ran(list) = &result.fate else { return wants };
    let key = |case: &'s CaseResult| {
        let names = [&case.table, &case.principal, &case.resource, &case.action];
        let [table, principal, resource, action] = names.map(String::as_str);
        ((table, principal, resource, action), &case.outcome)
    };
    let cases: Cases<'s> = list.iter().map(key).collect();
    let shelf = Shelf { own: &suite.fixtures, shared: loaded.fixtures.as_deref() };
    for table in &suite.tables {
        let mut said = BTreeSet::new();
        let mut covered = Vec::new();
        for expectation in &table.expected {
            let pairs = pairs(expectation, shelf);
            let view = View { table, pairs: &pairs, cases: &cases };
            view.effects(expectation, &mut wants);
            view.outputs(expectation, &mut wants);
            for (principal, resource) in &pairs {
                for effect in &expectation.effects {
                    said.insert((principal.clone(), resource.clone(), effect.action.as_str()));
                }
            }
            covered.push((expectation, pairs));
        }
        unsaid(table, &covered, &said, &cases, &mut wants);
    }
    wants
}

fn pairs(expectation: &Expectation, shelf: Shelf<'_>) -> Vec<(String, String)> {
    let mut ignored = Vec::new();
    let principals = shelf.select(Sort::Principal, &expectation.principals, &mut ignored);
    let resources = shelf.select(Sort::Resource, &expectation.resources, &mut ignored);
    let with = |principal: &String| {
        resources.iter().map(|resource| (principal.clone(), resource.clone())).collect::<Vec<_>>()
    };
    principals.iter().flat_map(with).collect()
}

struct View<'v, 's> {
    table: &'s Table,
    pairs: &'v [(String, String)],
    cases: &'v Cases<'s>,
}

impl<'s> View<'_, 's> {
    fn outcomes(&self, action: &str) -> impl Iterator<Item = &'s Outcome> {
        let table = self.table.name.name.as_str();
        self.pairs.iter().filter_map(move |(principal, resource)| {
            self.cases.get(&(table, principal.as_str(), resource.as_str(), action)).copied()
        })
    }

    fn effects(&self, expectation: &'s Expectation, wants: &mut Wants<'s>) {
        for expected in &expectation.effects {
            let want = wants.values.entry(expected.node.offset).or_insert_with(|| Want {
                node: &expected.node,
                place: &expected.place,
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

    fn outputs(&self, expectation: &'s Expectation, wants: &mut Wants<'s>) {
        for output in &expectation.outputs {
            for entry in &output.entries {
                for outcome in self.outcomes(&output.action) {
                    let found = found(outcome, &entry.source, entry.value.as_ref());
                    match (found, &entry.node, &entry.value) {
                        (Ok(None), ..) => {}
                        (Ok(Some(value)), Some(node), Some(current)) => {
                            let want = wants.values.entry(node.offset).or_insert_with(|| Want {
                                node,
                                place: &entry.place,
                                key: entry.key.as_ref(),
                                current: Value::Output(current.clone()),
                                values: Vec::new(),
                            });
                            want.add(Value::Output(value));
                        }
                        (Ok(Some(_)), ..) => {
                            wants.refuse(&entry.place, "the entry has no `val` to replace");
                        }
                        (Err(why), ..) => wants.refuse(&entry.place, &why),
                    }
                }
            }
        }
    }
}

impl Wants<'_> {
    fn refuse(&mut self, place: &Place, message: &str) {
        self.refused.push(Diagnostic::error(Code::UnreachableExpectation, place, message));
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
fn decided(outcome: &Outcome) -> Option<Effect> {
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
        // The effect was wrong already, so nobody looked at the outputs.
        Outcome::Failed(failure) if failure.outputs.is_empty() => Ok(None),
        Outcome::Failed(failure) => {
            match failure.outputs.iter().find(|output| output.source == rule) {
                None => Ok(expected.cloned()),
                Some(output) => match &output.found {
                    Found::Value(value) => Ok(Some(value.clone())),
                    Found::Nothing => {
                        Err("the rule gives no output: remove the entry by hand".to_owned())
                    }
                    Found::Error(error) => Err(format!("the output of the rule failed: {error}")),
                },
            }
        }
        Outcome::Skipped(_) | Outcome::Errored(_) => Ok(None),
    }
}

/// Finds a place for allowed actions that nothing is said about: the one expectation about tests that
/// are all decided so.
fn unsaid<'s>(
    table: &'s Table,
    covered: &[(&'s Expectation, Vec<(String, String)>)],
    said: &BTreeSet<(String, String, &str)>,
    cases: &Cases<'s>,
    wants: &mut Wants<'s>,
) {
    let is_wanted = |principal: &str, resource: &str, action: &str| {
        let outcome = cases.get(&(table.name.name.as_str(), principal, resource, action));
        let is_allowed = outcome.is_some_and(|it| decided(it) == Some(Effect::Allow));
        is_allowed && !said.contains(&(principal.to_owned(), resource.to_owned(), action))
    };
    let mut placed = BTreeSet::new();
    for (expectation, pairs) in covered {
        for action in &table.input.actions {
            let action = action.name.as_str();
            let is_open = |(principal, resource): &(String, String)| {
                is_wanted(principal, resource, action)
                    && !placed.contains(&(principal.clone(), resource.clone(), action))
            };
            if pairs.is_empty() || !pairs.iter().all(is_open) {
                continue;
            }
            let Some(last) = expectation.effects.last() else { continue };
            wants.missing.push(Missing {
                action,
                tests: String::new(),
                after: Some(&last.node),
                column: last.place.position.column,
                place: &expectation.place,
            });
            for (principal, resource) in pairs {
                placed.insert((principal.clone(), resource.clone(), action));
            }
        }
    }
    for (name, principal, resource, action) in cases.keys() {
        let key = ((*principal).to_owned(), (*resource).to_owned(), *action);
        let is_here = *name == table.name.name && is_wanted(principal, resource, action);
        if is_here && !placed.contains(&key) {
            wants.missing.push(Missing {
                action,
                tests: format!("{principal}, {resource}"),
                after: None,
                column: 0,
                place: &table.place,
            });
        }
    }
}
