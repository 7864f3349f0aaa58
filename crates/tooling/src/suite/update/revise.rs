//! Compares the expectations of a suite with its decisions.

use std::collections::BTreeSet;
use wardgate_engine::order::in_order;

use super::expectation::merge_pairs;
use super::revision::{Addition, Revision, Rewrite};
use super::uncovered::Uncovered;
use super::view::{Cases, View};
use crate::suite::files::Loaded;
use crate::suite::model::{Expectation, Suite};
use crate::suite::results::{CaseResult, SuiteOutcome, SuiteResult};
use crate::suite::selection::{AvailableFixtures, FixtureKind};

/// Returns the changes after which a suite expects its actual decisions.
pub(super) fn revise<'s>(
    loaded: &'s Loaded,
    suite: &'s Suite,
    result: &'s SuiteResult,
) -> Revision<'s> {
    let mut revision = Revision::default();
    let SuiteOutcome::Ran(list) = &result.outcome else { return revision };
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
        let mut uncovered = Uncovered::new(table, list, &views);
        let mut whole = Vec::new();
        for (at, view) in views.iter().enumerate() {
            if view.is_divided() {
                let mut outcomes = view.pair_outcomes();
                for (principal, resource, outcome) in &mut outcomes {
                    let pair = (principal.clone(), resource.clone());
                    outcome.effects.extend(uncovered.take(&pair));
                }
                let expectations = merge_pairs(outcomes);
                revision.rewrites.push(Rewrite {
                    table: number,
                    expectation: at,
                    old: view.expectation,
                    expectations,
                });
            } else {
                view.effects(&mut revision);
                view.outputs(&mut revision);
                whole.push(view);
            }
        }
        uncovered.join(&whole, &shared, &mut revision);
        let expectations = uncovered.expectations();
        if !expectations.is_empty() {
            revision.additions.push(Addition { number, table, expectations });
        } else if table.expected.is_empty() {
            revision.refuse(
                &table.location,
                "no action was decided, so there is no decision to expect",
            );
        }
    }
    revision
}

/// Returns the offsets of the effects that several expectations share, through an anchor.
fn shared(suite: &Suite) -> BTreeSet<usize> {
    let (mut seen, mut shared) = (BTreeSet::new(), BTreeSet::new());
    for expectation in suite.tables.iter().flat_map(|table| &table.expected) {
        let offsets = expectation.effects.iter().map(|effect| effect.node.offset);
        let own: BTreeSet<usize> = in_order(offsets);
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
