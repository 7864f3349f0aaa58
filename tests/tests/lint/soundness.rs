//! Findings about rules and conditions hold for every request, as far as generated ones can show.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use wardgate_compiler::Options;
use wardgate_compiler::diagnostics::{Code, Diagnostic, Severity};
use wardgate_engine::decision::Effect;
use wardgate_engine::table::Evaluation;
use wardgate_tests::generate::{World, world};
use wardgate_tests::oracle::{Oracle, Report};
use wardgate_tests::{check, property};
use wardgate_tooling::lint::Lint;
use wardgate_tooling::lint_files;

/// Rules that change nothing by their findings are taken out, conditions that are constant by
/// theirs are replaced by the constant, and no decision changes.
#[test]
fn findings_about_rules_hold_for_every_request() {
    let tally = Tally::default();
    property::run([384, 20_000], &world(6), |world| {
        let world = salted(&world);
        tally.count(checked(&world)?);
        Ok(())
    });
    let found = tally.found.take();
    println!("{found:?}");
    // A generator that makes no such rule would prove nothing.
    for lint in [
        Lint::UnreachableRule,
        Lint::ShadowedRule,
        Lint::DuplicateRule,
        Lint::AllowWithoutEffect,
        Lint::AllowCanOnlyDeny,
        Lint::ConditionAlwaysFalse,
        Lint::ConditionAlwaysTrue,
        Lint::RoleNeverAllowed,
    ] {
        assert!(found.get(lint.name()).is_some_and(|count| *count >= 20), "{}", lint.name());
    }
}

#[derive(Default)]
struct Tally {
    found: Cell<BTreeMap<&'static str, u32>>,
}

impl Tally {
    fn count(&self, codes: Vec<&'static str>) {
        let mut found = self.found.take();
        for code in codes {
            *found.entry(code).or_default() += 1;
        }
        self.found.set(found);
    }
}

/// Adds rules that are likely to be repeated, hidden or constant.
fn salted(world: &World) -> World {
    let mut world = world.clone();
    for (number, (_, document)) in world.policies.iter_mut().enumerate() {
        let rules = ["resourcePolicy", "rolePolicy"];
        let Some(kind) = rules.iter().find(|kind| document.get(**kind).is_some()) else { continue };
        let Some(rules) = document[*kind]["rules"].as_array_mut() else { continue };
        let old = rules.clone();
        for (at, rule) in old.iter().enumerate().take(4) {
            let mut rule = rule.clone();
            let Some(fields) = rule.as_object_mut() else { continue };
            fields.remove("name");
            fields.remove("output");
            let expr = fields
                .get("condition")
                .and_then(|one| one["match"]["expr"].as_str())
                .map(str::to_owned);
            match ((at + number) % 5, expr) {
                (0, _) => drop(fields.remove("condition")),
                (1, Some(expr)) => {
                    fields["condition"] =
                        json!({"match": {"expr": format!("({expr}) && !({expr})")}});
                }
                (2, Some(expr)) => {
                    fields["condition"] = json!({"match": {"any": {"of": [
                        {"expr": format!("({expr}) || !({expr})")},
                        {"expr": expr},
                    ]}}});
                }
                (4, _) if *kind == "resourcePolicy" => {
                    fields.remove("derivedRoles");
                    fields.insert("roles".to_owned(), json!(["banned"]));
                    fields.insert("effect".to_owned(), "EFFECT_DENY".into());
                }
                (3, _) if *kind == "resourcePolicy" => {
                    fields.remove("condition");
                    fields.insert("effect".to_owned(), "EFFECT_DENY".into());
                }
                _ => {}
            }
            match (at + number) % 3 {
                0 => rules.insert(0, rule),
                _ => rules.push(rule),
            }
        }
    }
    world
}

/// Returns the codes that were found and hold.
fn checked(world: &World) -> Result<Vec<&'static str>, TestCaseError> {
    let options = world.table_options().map_err(TestCaseError::fail)?;
    let found = lint_files(&world.files(), &options);
    if found.iter().any(|one| one.severity == Severity::Error) {
        return Err(TestCaseError::reject("the policies do not compile"));
    }
    let (mut less, mut constant) = (world.clone(), world.clone());
    let mut codes = Vec::new();
    let mut rules = Vec::new();
    for one in &found {
        let Code::Lint(lint) = one.code else { continue };
        codes.push(lint.name());
        match lint {
            Lint::UnreachableRule
            | Lint::ShadowedRule
            | Lint::DuplicateRule
            | Lint::AllowWithoutEffect => rules.push(one),
            Lint::ConditionAlwaysFalse => replace(&mut constant, one, "false"),
            Lint::ConditionAlwaysTrue => replace(&mut constant, one, "true"),
            _ => {}
        }
    }
    // From the last to the first, so that the others keep their positions.
    rules.sort_by_key(|one| std::cmp::Reverse(steps(&one.path)));
    rules.iter().for_each(|one| remove(&mut less, one));
    compare(world, &less, &options, |_| false)?;
    // A constant condition that fails denies in a strict table, which the finding reports.
    compare(world, &constant, &options, |report| failed(report, &options))?;
    only_deny(world, &found, &options)?;
    are_never_allowed(world, &found, &options)?;
    Ok(codes)
}

/// Returns the fields and numbers of a path such as `$.resourcePolicy.rules[0]`.
fn steps(path: &str) -> Vec<Result<usize, String>> {
    let parts = path.trim_start_matches("$.").split(['.', '[']);
    let step = |part: &str| {
        part.strip_suffix(']').and_then(|n| n.parse().ok()).ok_or_else(|| part.to_owned())
    };
    parts.map(step).collect()
}

fn document<'w>(world: &'w mut World, found: &Diagnostic) -> &'w mut Json {
    &mut world.policies.iter_mut().find(|(name, _)| *name == found.file).unwrap().1
}

fn replace(world: &mut World, found: &Diagnostic, value: &str) {
    // A part of a condition would have to be cut out of its text; whole ones are enough.
    if !found.message.starts_with("this condition is") {
        return;
    }
    let mut here = document(world, found);
    for step in steps(&found.path) {
        here = match step {
            Ok(number) => &mut here[number],
            Err(field) => &mut here[field.as_str()],
        };
    }
    *here = value.into();
}

fn remove(world: &mut World, found: &Diagnostic) {
    let mut here = document(world, found);
    let steps = steps(&found.path);
    let (last, before) = steps.split_last().unwrap();
    for step in before {
        here = match step {
            Ok(number) => &mut here[*number],
            Err(field) => &mut here[field.as_str()],
        };
    }
    let rules = here.as_array_mut().unwrap();
    rules.remove(*last.as_ref().unwrap());
    if rules.is_empty() && matches!(before.last(), Some(Err(field)) if field == "actions") {
        // A principal policy has no resource without actions.
        let (last, above) = before[..before.len() - 1].split_last().unwrap();
        let mut here = document(world, found);
        for step in above {
            here = match step {
                Ok(number) => &mut here[*number],
                Err(field) => &mut here[field.as_str()],
            };
        }
        here.as_array_mut().unwrap().remove(*last.as_ref().unwrap());
    }
}

fn oracle(world: &World, options: &Options) -> Result<Oracle, TestCaseError> {
    Oracle::new(&world.files(), options)
        .map_err(|errors| TestCaseError::fail(format!("{errors:?}\n{world:?}")))
}

fn compare(
    world: &World,
    less: &World,
    options: &Options,
    excused: impl Fn(&Report) -> bool,
) -> Result<(), TestCaseError> {
    let now = World::now().map_err(TestCaseError::fail)?;
    let (all, some) = (oracle(world, options)?, oracle(less, options)?);
    for json in &world.requests {
        let request = check::request(json).map_err(TestCaseError::fail)?;
        let (all, some) = (all.check(&request, now), some.check(&request, now));
        if all.actions != some.actions && !excused(&all) {
            let message =
                format!("{:?}\n{:?}\n{json}\n{world:?}\n{less:?}", all.actions, some.actions);
            return Err(TestCaseError::fail(message));
        }
    }
    Ok(())
}

fn failed(report: &Report, options: &Options) -> bool {
    options.evaluation == Evaluation::Strict && !report.errors.is_empty()
}

/// Checks allows that can only deny: without them, no action is allowed that was not, but for
/// failures.
fn only_deny(world: &World, found: &[Diagnostic], options: &Options) -> Result<(), TestCaseError> {
    let now = World::now().map_err(TestCaseError::fail)?;
    let of = found.iter().filter(|one| one.code == Code::Lint(Lint::AllowCanOnlyDeny));
    for one in of {
        let mut less = world.clone();
        remove(&mut less, one);
        let (all, some) = (oracle(world, options)?, oracle(&less, options)?);
        for json in &world.requests {
            let request = check::request(json).map_err(TestCaseError::fail)?;
            let (all, some) = (all.check(&request, now), some.check(&request, now));
            let allowed = |report: &Report| -> BTreeSet<String> {
                let actions = report.actions.iter();
                actions
                    .filter(|(_, one)| one.effect == Effect::Allow)
                    .map(|(name, _)| name.clone())
                    .collect()
            };
            if !allowed(&all).is_subset(&allowed(&some)) {
                return Err(TestCaseError::fail(format!("{one}\n{json}\n{world:?}")));
            }
        }
    }
    Ok(())
}

/// Checks roles that are never allowed: a principal without another role is allowed nothing, except
/// by a principal policy.
fn are_never_allowed(
    world: &World,
    found: &[Diagnostic],
    options: &Options,
) -> Result<(), TestCaseError> {
    let now = World::now().map_err(TestCaseError::fail)?;
    let of = found.iter().filter(|one| one.code == Code::Lint(Lint::RoleNeverAllowed));
    let roles: Vec<&str> = of.filter_map(|one| one.message.split('`').nth(1)).collect();
    let oracle = oracle(world, options)?;
    for json in world.requests.iter().filter(|_| !roles.is_empty()) {
        let mut request = check::request(json).map_err(TestCaseError::fail)?;
        request.principal.roles = roles.iter().map(|role| (*role).into()).collect();
        let report = oracle.check(&request, now);
        let allowed = report.actions.values().filter(|one| one.effect == Effect::Allow);
        for one in allowed {
            prop_assert!(one.policy.starts_with("principal."), "{:?} {}\n{:?}", one, json, world);
        }
    }
    Ok(())
}
