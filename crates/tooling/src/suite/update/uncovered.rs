//! Decisions without an expectation.

use std::collections::{BTreeSet, HashMap, HashSet};

use wardgate_engine::decision::Effect;

use super::expectation::{NewExpectation, PairOutcome, merge_pairs};
use super::revision::{MissingAction, Revision};
use super::view::{View, decided};
use crate::suite::model::Table;
use crate::suite::results::CaseResult;

/// The allowed actions without an expectation; all actions where the table has no expectation yet.
pub(super) struct Uncovered<'o> {
    /// By principal and resource, in the order of the tests.
    pairs: Vec<(&'o str, &'o str, Actions<'o>)>,
    /// The number of each pair.
    numbers: HashMap<(&'o str, &'o str), usize>,
}

type Actions<'o> = Vec<(&'o str, Effect)>;

impl<'o> Uncovered<'o> {
    pub(super) fn new(table: &Table, list: &'o [CaseResult], views: &[View<'_, '_>]) -> Self {
        let mut covered: HashSet<(&str, &str, &str)> = HashSet::new();
        for view in views {
            for (principal, resource) in &view.pairs {
                let actions = view.expectation.effects.iter().map(|effect| effect.action.as_str());
                covered
                    .extend(actions.map(|action| (principal.as_str(), resource.as_str(), action)));
            }
        }
        let mut uncovered = Self { pairs: Vec::new(), numbers: HashMap::new() };
        for case in list.iter().filter(|case| case.table == table.name.name) {
            let (principal, resource) = (case.principal.as_str(), case.resource.as_str());
            let Some(effect) = decided(&case.outcome) else { continue };
            let is_news = effect == Effect::Allow || table.expected.is_empty();
            if is_news && !covered.contains(&(principal, resource, case.action.as_str())) {
                uncovered.note((principal, resource), (&case.action, effect));
            }
        }
        uncovered
    }

    fn note(&mut self, (principal, resource): (&'o str, &'o str), decided: (&'o str, Effect)) {
        let number = *self.numbers.entry((principal, resource)).or_insert(self.pairs.len());
        match self.pairs.get_mut(number) {
            Some((.., actions)) => actions.push(decided),
            None => self.pairs.push((principal, resource, vec![decided])),
        }
    }

    fn of(&mut self, (principal, resource): &(String, String)) -> Option<&mut Actions<'o>> {
        let number = *self.numbers.get(&(principal.as_str(), resource.as_str()))?;
        self.pairs.get_mut(number).map(|(.., actions)| actions)
    }

    /// Removes and returns the actions of a pair.
    pub(super) fn take(&mut self, pair: &(String, String)) -> Vec<(String, Effect)> {
        let actions = self.of(pair).map(std::mem::take).unwrap_or_default();
        actions.into_iter().map(|(action, effect)| (action.to_owned(), effect)).collect()
    }

    /// Adds allowed actions to the expectations all of whose tests have such a decision. An
    /// expectation that others share through an anchor stays as it is: there an action would be
    /// expected of their tests as well.
    pub(super) fn join<'s>(
        &mut self,
        whole: &[&View<'_, 's>],
        shared: &BTreeSet<usize>,
        revision: &mut Revision<'s>,
    ) {
        for view in whole.iter().filter(|view| !view.pairs.is_empty()) {
            let Some(last) = view.expectation.effects.last() else { continue };
            if shared.contains(&last.node.offset) {
                continue;
            }
            for action in view.table.input.actions.iter().map(|action| action.name.as_str()) {
                let is_uncovered = |pair: &(String, String)| {
                    self.of(pair).is_some_and(|actions| actions.contains(&(action, Effect::Allow)))
                };
                if !view.pairs.iter().all(is_uncovered) {
                    continue;
                }
                for pair in &view.pairs {
                    self.of(pair)
                        .into_iter()
                        .for_each(|actions| actions.retain(|(open, _)| *open != action));
                }
                revision.missing.push(MissingAction {
                    action,
                    after: &last.node,
                    column: last.location.position.column,
                    location: &view.expectation.location,
                });
            }
        }
    }

    /// Returns the expectations of the remaining actions.
    pub(super) fn expectations(self) -> Vec<NewExpectation> {
        let pair = |(principal, resource, actions): (&str, &str, Actions<'_>)| {
            let effects: Vec<_> =
                actions.into_iter().map(|(action, effect)| (action.to_owned(), effect)).collect();
            let outcome = PairOutcome { effects, outputs: Vec::new() };
            (principal.to_owned(), resource.to_owned(), outcome)
        };
        let rest = self.pairs.into_iter().filter(|(_, _, actions)| !actions.is_empty());
        merge_pairs(rest.map(pair).collect())
    }
}
