//! The engine compared with the obvious evaluator, on generated policies and requests.

use std::cell::Cell;

use proptest::prelude::*;
use wardgate_engine::decide::observe::{Considered, Granting, Observer, Truth};
use wardgate_engine::decision::Effect;
use wardgate_tests::compiled::Compiled;
use wardgate_tests::generate::{World, world};
use wardgate_tests::oracle::{Oracle, Report};
use wardgate_tests::{check, property};

#[test]
fn the_engine_decides_as_the_obvious_evaluator_does() {
    let (allowed, compared) = (Cell::new(0), Cell::new(0));
    property::run([512, 30_000], &world(4), |world| {
        let (a, c) = compare(&world)?;
        allowed.set(allowed.get() + a);
        compared.set(compared.get() + c);
        Ok(())
    });
    let (allowed, compared): (u32, u32) = (allowed.get(), compared.get());
    println!("{compared} decisions, {allowed} allowed");
    // A generator whose rules never match would compare nothing.
    assert!(allowed * 25 > compared, "only {allowed} of {compared} decisions allow");
}

/// Returns the number of decisions that allow, and of all.
fn compare(world: &World) -> Result<(u32, u32), TestCaseError> {
    let options = world.table_options().map_err(TestCaseError::fail)?;
    let now = World::now().map_err(TestCaseError::fail)?;
    let Compiled { table, .. } = world.compiled()?;
    let oracle = Oracle::new(&world.files(), &options);
    let oracle = oracle.map_err(|errors| TestCaseError::fail(format!("{errors:?}")))?;
    let (mut allowed, mut compared) = (0, 0);
    for json in &world.requests {
        let request = check::request(json).map_err(TestCaseError::fail)?;
        let expected = oracle.check(&request, now);
        let decision = table.check(&request, now);
        let found = Report::from(&decision);
        if found != expected {
            let case = world.case(&[expected.as_check(json)]);
            let differences = expected.differences(&found);
            return Err(TestCaseError::fail(format!("{differences}\n\n{case}")));
        }
        for decided in &decision.actions {
            let alone = table.is_allowed(&request, &decided.action, now);
            compared += 1;
            allowed += u32::from(alone);
            prop_assert_eq!(alone, decided.effect == Effect::Allow, "is_allowed: {:?}", decided);
        }
        prop_assert_eq!(&table.explain(&request, now).decision, &decision);
        prop_assert_eq!(&table.observe(&request, now, &Curious), &decision);
    }
    Ok((allowed, compared))
}

/// An observer that requests everything, which must not change the decision.
struct Curious;

impl Observer for Curious {
    fn wants_excluded(&self) -> bool {
        true
    }

    fn expression(&self, _: Truth, _: bool) {}

    fn derived_role(&self, _: &Granting<'_>) {}

    fn rule(&self, rule: &Considered<'_, '_>) {
        let _ = (rule.role_condition(), rule.condition(), rule.roles(), rule.names_the_action());
    }
}
