//! From tables to tests: every principal with every resource, and the expectation of each pair.
//!
//! Expectations about the same pair must agree. An expectation that no test of the table can meet
//! is an error, because it would never be compared.

use std::collections::{BTreeMap, BTreeSet};

use wardgate_engine::attr::Attr;
use wardgate_engine::decision::Effect;
use wardgate_engine::order::in_order;
use wardgate_engine::request::{AuxData, Principal, Request, Resource};

use super::limits::{MAX_CASES, MAX_TESTS};
use super::model::{Expectation, Fixtures, Settings, Suite, Table};
use super::selection::{AvailableFixtures, FixtureKind};
use wardgate_compiler::diagnostics::{Code, Diagnostic, sort};
use wardgate_compiler::nearest::suggestion;
use wardgate_compiler::policy::model::Named;
use wardgate_compiler::source::Location;

/// A principal, a resource, and the expectation of the pair.
#[derive(Clone, Debug)]
pub struct Test<'s> {
    /// The table that it is of.
    pub table: &'s Table,
    /// The name of the principal's fixture.
    pub principal_name: &'s str,
    /// The name of the resource's fixture.
    pub resource_name: &'s str,
    /// The principal of the request.
    pub principal: &'s Principal,
    /// The resource of the request.
    pub resource: &'s Resource,
    /// The context of the request.
    pub aux_data: Option<&'s AuxData>,
    /// The settings of the decision.
    pub settings: &'s Settings,
    /// The expectation; empty where the table has none about the pair.
    pub expected: Expected<'s>,
}

/// The expectation of a pair.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expected<'s> {
    /// The effects by action, with their locations in the suite.
    pub effects: BTreeMap<&'s str, (Effect, &'s Location)>,
    /// The outputs by action and rule, with their locations in the suite.
    pub outputs: BTreeMap<&'s str, BTreeMap<&'s str, (Option<&'s Attr>, &'s Location)>>,
}

impl Test<'_> {
    /// Returns the request for `actions`.
    #[must_use]
    pub fn request(&self, actions: Vec<String>) -> Request {
        let mut request = Request {
            principal: self.principal.clone(),
            resource: self.resource.clone(),
            actions,
            aux_data: self.aux_data.cloned().unwrap_or_default(),
            ..Request::default()
        };
        for scope in [&mut request.principal.scope, &mut request.resource.scope] {
            if scope.is_empty() {
                scope.clone_from(&self.settings.default_scope);
            }
        }
        request
    }
}

/// Returns the tests of a suite.
///
/// # Errors
/// Everything that keeps them from being run.
pub(super) fn tests<'s>(
    suite: &'s Suite,
    available: AvailableFixtures<'s>,
) -> Result<Vec<Test<'s>>, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let mut tests = Vec::new();
    let mut cases = 0_usize;
    for table in &suite.tables {
        let settings = table.settings.as_ref().unwrap_or(&suite.settings);
        let builder = Builder { table, available, settings };
        match builder.tests(tests.len()) {
            Ok(found) => {
                cases = cases.saturating_add(found.len().saturating_mul(table.input.actions.len()));
                tests.extend(found);
            }
            Err(found) => errors.extend(found),
        }
        if cases > MAX_CASES {
            let error = Diagnostic::error(Code::Limit, &table.location, "the suite is too large");
            errors.push(error.expected(format!("at most {MAX_CASES} decisions")));
            break;
        }
    }
    sort(&mut errors);
    if errors.is_empty() { Ok(tests) } else { Err(errors) }
}

struct Builder<'s> {
    table: &'s Table,
    available: AvailableFixtures<'s>,
    settings: &'s Settings,
}

/// Expectations by principal and resource.
type Lookup<'s> = BTreeMap<(String, String), Expected<'s>>;

impl<'s> Builder<'s> {
    fn tests(&self, before: usize) -> Result<Vec<Test<'s>>, Vec<Diagnostic>> {
        let mut errors = Vec::new();
        let input = &self.table.input;
        let principals =
            self.available.select(FixtureKind::Principal, &input.principals, &mut errors);
        let resources = self.available.select(FixtureKind::Resource, &input.resources, &mut errors);
        if before.saturating_add(principals.len().saturating_mul(resources.len())) > MAX_TESTS {
            let error = Diagnostic::error(Code::Limit, &input.location, "the suite is too large");
            return Err(vec![error.expected(format!("at most {MAX_TESTS} tests"))]);
        }
        let mut lookup = self.lookup(&principals, &resources, &mut errors);
        let people = |fixtures: &'s Fixtures| &fixtures.principals;
        let people = self.fixtures(&principals, FixtureKind::Principal, people, &mut errors);
        let things = |fixtures: &'s Fixtures| &fixtures.resources;
        let things = self.fixtures(&resources, FixtureKind::Resource, things, &mut errors);
        let aux_data = self.aux_data(&mut errors);
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut tests = Vec::with_capacity(people.len().saturating_mul(things.len()));
        for (principal_name, principal) in people {
            for &(resource_name, resource) in &things {
                let key = (principal_name.to_owned(), resource_name.to_owned());
                tests.push(Test {
                    table: self.table,
                    principal_name,
                    resource_name,
                    principal,
                    resource,
                    aux_data,
                    settings: self.settings,
                    expected: lookup.remove(&key).unwrap_or_default(),
                });
            }
        }
        Ok(tests)
    }

    fn fixtures<T>(
        &self,
        names: &[String],
        kind: FixtureKind,
        map: impl Fn(&'s Fixtures) -> &'s BTreeMap<String, T>,
        errors: &mut Vec<Diagnostic>,
    ) -> Vec<(&'s str, &'s T)> {
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            match self.available.find(&map, name) {
                Some((name, fixture)) => found.push((name.as_str(), fixture)),
                None => errors.push(self.nowhere(kind, name)),
            }
        }
        found
    }

    /// Makes the error of an undefined fixture, at the location that names it: through a group,
    /// that is the input.
    fn nowhere(&self, kind: FixtureKind, name: &str) -> Diagnostic {
        let input = &self.table.input;
        let named: &[Named] = match kind {
            FixtureKind::Principal => &input.principals.names,
            FixtureKind::Resource => &input.resources.names,
        };
        let named = named.iter().find(|named| named.name == name);
        let location = named.map_or(&input.location, |named| &named.location);
        let message = format!("no {} is named `{name}`", kind.name());
        let known = self.available.names(kind);
        Diagnostic::error(Code::UnknownFixture, location, message)
            .with(None, suggestion(name, known))
    }

    fn aux_data(&self, errors: &mut Vec<Diagnostic>) -> Option<&'s AuxData> {
        let named = self.table.input.aux_data.as_ref()?;
        let found = self.available.find(|fixtures| &fixtures.aux_data, &named.name);
        if found.is_none() {
            let message = format!("no `auxData` is named `{}`", named.name);
            let error = Diagnostic::error(Code::UnknownFixture, &named.location, message);
            let known = self.available.all(|fixtures| &fixtures.aux_data);
            errors.push(error.with(None, suggestion(&named.name, known)));
        }
        found.map(|(_, data)| data)
    }

    fn lookup(
        &self,
        principals: &[String],
        resources: &[String],
        errors: &mut Vec<Diagnostic>,
    ) -> Lookup<'s> {
        let actions: BTreeSet<&str> =
            in_order(self.table.input.actions.iter().map(|action| action.name.as_str()));
        let known = [principals, resources]
            .map(|names| in_order::<BTreeSet<_>, _>(names.iter().map(String::as_str)));
        let mut lookup = Lookup::new();
        for expectation in &self.table.expected {
            let before = errors.len();
            let expected = expected(expectation, &actions, errors);
            let principals =
                self.available.select(FixtureKind::Principal, &expectation.principals, errors);
            let resources =
                self.available.select(FixtureKind::Resource, &expectation.resources, errors);
            let sides =
                [(FixtureKind::Principal, &principals), (FixtureKind::Resource, &resources)];
            for ((kind, names), known) in sides.into_iter().zip(&known) {
                let unknown = names.iter().filter(|name| !known.contains(name.as_str()));
                for name in unknown {
                    let message = format!(
                        "the `input` of this test has no {} `{name}`, so nothing is compared with this expectation",
                        kind.name()
                    );
                    let at = &expectation.location;
                    let error = Diagnostic::error(Code::UnreachableExpectation, at, message);
                    errors.push(error.with(None, suggestion(name, known.iter().copied())));
                }
            }
            if errors.len() > before {
                continue;
            }
            for principal in &principals {
                for resource in &resources {
                    let key = (principal.clone(), resource.clone());
                    if let Err(error) = merge(lookup.entry(key).or_default(), &expected) {
                        errors.push(contradiction(&error, principal, resource));
                    }
                }
            }
        }
        lookup
    }
}

/// Returns the expectation of one entry for each of its pairs.
fn expected<'s>(
    expectation: &'s Expectation,
    actions: &BTreeSet<&str>,
    errors: &mut Vec<Diagnostic>,
) -> Expected<'s> {
    let mut expected = Expected::default();
    let mut check_action = |action: &str, location: &Location| {
        if !actions.contains(action) {
            let message = format!(
                "the `input` of this test has no action `{action}`, so nothing is compared with this expectation"
            );
            let error = Diagnostic::error(Code::UnreachableExpectation, location, message);
            errors.push(error.with(None, suggestion(action, actions.iter().copied())));
        }
    };
    for output in &expectation.outputs {
        check_action(&output.action, &output.location);
        let entries = output.entries.iter();
        let entries =
            entries.map(|entry| (entry.source.as_str(), (entry.value.as_ref(), &entry.location)));
        expected.outputs.insert(&output.action, entries.collect());
    }
    for effect in &expectation.effects {
        check_action(&effect.action, &effect.location);
        expected.effects.insert(&effect.action, (effect.effect, &effect.location));
    }
    expected
}

/// The disagreement of two expectations: the action, perhaps the rule, and their locations.
struct Contradiction<'s> {
    action: &'s str,
    rule: Option<&'s str>,
    location: &'s Location,
    /// The location of the earlier one.
    other: &'s Location,
}

fn merge<'s>(into: &mut Expected<'s>, expected: &Expected<'s>) -> Result<(), Contradiction<'s>> {
    for (action, (effect, location)) in &expected.effects {
        let (known, other) = *into.effects.entry(action).or_insert((*effect, location));
        if known != *effect {
            return Err(Contradiction { action, rule: None, location, other });
        }
    }
    for (action, entries) in &expected.outputs {
        let known = into.outputs.entry(action).or_default();
        for (rule, (value, location)) in entries {
            let (old, other) = *known.entry(rule).or_insert((*value, location));
            if old != *value {
                return Err(Contradiction { action, rule: Some(rule), location, other });
            }
        }
    }
    Ok(())
}

fn contradiction(found: &Contradiction<'_>, principal: &str, resource: &str) -> Diagnostic {
    let Contradiction { action, rule, location, other } = found;
    let line = other.position.line;
    let what = rule.map_or_else(String::new, |rule| format!(" of the output of `{rule}`"));
    let message = format!(
        "the expectation on line {line} has another value{what} for `{action}` by `{principal}` on `{resource}`"
    );
    Diagnostic::error(Code::ContradictoryExpectation, location, message)
}
