//! Comparisons of two tables against brute force: what is told equal is decided equally, and what is shown
//! to differ is decided so by the engine and by the oracle.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

use wardgate_analysis::compare::{Access, Change, Comparison, Why, compare};
use wardgate_compiler::Options;
use wardgate_engine::decision::Effect;
use wardgate_engine::names::{sanitized, trimmed_scope};
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;
use wardgate_tests::check;
use wardgate_tests::compiled::Compiled;
use wardgate_tests::generate::{World, worlds};
use wardgate_tests::oracle::Oracle;

/// Returns the number of pairs, usually and with `SLOW_TESTS=1`.
fn pairs(usual: usize, slow: usize) -> usize {
    if std::env::var_os("SLOW_TESTS").is_some() { slow } else { usual }
}

/// What became of many comparisons.
#[derive(Debug, Default)]
struct Tally {
    pairs: usize,
    decisions: usize,
    differing: usize,
    proved: usize,
    shown: usize,
    unknown: [usize; 5],
}

#[test]
fn one_changed_rule_is_found_or_proved_to_change_nothing() {
    let mut tally = Tally::default();
    for (number, world) in worlds(7, 12).take(pairs(1_000, 10_000)).enumerate() {
        let changed = world.clone().with_changed_rule(number);
        check_pair(&world, &changed, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.shown > tally.pairs / 4, "{tally:?}");
}

#[test]
fn other_policies_are_compared_as_requests_are_decided() {
    let mut tally = Tally::default();
    let mut before: Option<World> = None;
    for world in worlds(8, 12).take(pairs(60, 2_000)) {
        if let Some(before) = before.replace(world.clone()) {
            check_pair(&before, &world, &mut tally);
        }
    }
    println!("{tally:?}");
    assert!(tally.differing > tally.pairs / 4, "{tally:?}");
}

#[test]
fn equal_policies_are_equal_at_once() {
    for world in worlds(9, 1).take(pairs(250, 4_000)) {
        let Some(table) = table(&world) else { continue };
        let Some(again) = table_of(&world.files(), &options(&world)) else { continue };
        let found = compare(&table, &again, World::now().unwrap());
        assert!(found.differences.is_empty() && found.unknown.is_empty(), "{world:?}");
        assert_eq!(found.counts.targets, found.counts.same_targets);
    }
}

/// Returns a policy about documents with these rules for employees: actions and conditions.
fn policy(rules: impl Iterator<Item = (String, String)>) -> PolicyTable {
    let rules = rules.map(|(action, condition)| {
        format!("    - {{ actions: ['{action}'], roles: [employee], effect: EFFECT_ALLOW, condition: {{ match: {{ expr: '{condition}' }} }} }}\n")
    });
    let rules: String = rules.collect();
    let text = format!(
        "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  resource: doc\n  version: default\n  rules:\n{rules}"
    );
    table_of(&[("doc.yaml".to_owned(), text.into_bytes())], &Options::default()).unwrap()
}

#[test]
fn one_rule_of_5000_is_found() {
    let rules = |changed: usize| {
        (0..5_000).map(move |number| {
            let level = if number == changed { 2 } else { 3 };
            (format!("do-{number}"), format!("P.attr.level > {level} && R.attr.a{number} == true"))
        })
    };
    let found = compare(&policy(rules(5_000)), &policy(rules(4_321)), World::now().unwrap());
    assert!(found.unknown.is_empty());
    let [difference] = found.differences.as_slice() else { panic!("{:?}", found.counts) };
    assert_eq!(difference.change, Change::More);
    assert_eq!(difference.place.action.as_deref(), Some("do-4321"));
}

#[test]
fn too_many_rules_about_one_action_are_unknown_and_never_equal() {
    let rules = |changed: usize| {
        (0..5_000).map(move |number| {
            let value = if number == changed { 2 } else { 3 };
            ("view".to_owned(), format!("has(R.attr.a{number}) && R.attr.a{number} == {value}"))
        })
    };
    let found = compare(&policy(rules(5_000)), &policy(rules(4_321)), World::now().unwrap());
    assert!(found.differences.is_empty());
    assert_eq!(found.unknown.len(), 1);
    assert_eq!(found.unknown[0].why, Why::TooLarge);
}

#[test]
fn a_condition_of_4000_bytes_is_compared() {
    let text = |count: usize| {
        let values = (0..count).map(|number| format!("R.attr.status == \"value-{number}\""));
        values.collect::<Vec<_>>().join(" || ")
    };
    let (long, short) = (text(130), text(129));
    assert!(long.len() > 4_000);
    let of = |condition: &str| policy([("view".to_owned(), condition.to_owned())].into_iter());
    let found = compare(&of(&short), &of(&long), World::now().unwrap());
    assert!(found.unknown.is_empty());
    assert_eq!(found.differences.len(), 1);
    let listed = (0..130).rev().map(|number| format!("\"value-{number}\""));
    let listed = format!("R.attr.status in [{}]", listed.collect::<Vec<_>>().join(", "));
    let found = compare(&of(&long), &of(&listed), World::now().unwrap());
    assert!(found.unknown.is_empty() && found.differences.is_empty());
    assert_eq!(found.counts.proved, 1);
}

fn options(world: &World) -> Options {
    world.table_options().unwrap()
}

fn table(world: &World) -> Option<PolicyTable> {
    world.compiled().ok().map(|compiled| compiled.table)
}

fn table_of(files: &[(String, Vec<u8>)], options: &Options) -> Option<PolicyTable> {
    Compiled::new(files, options).ok().map(|compiled| compiled.table)
}

/// Compares two worlds, checks the witnesses, and decides the requests of both with both.
fn check_pair(old: &World, new: &World, tally: &mut Tally) {
    let (Some(old_table), Some(new_table)) = (table(old), table(new)) else { return };
    let found = compare(&old_table, &new_table, World::now().unwrap());
    tally.pairs += 1;
    tally.proved += found.counts.proved;
    tally.shown += found.differences.len();
    for unknown in &found.unknown {
        let index = [Why::NoWitness, Why::TooLarge, Why::Bound, Why::Schema, Why::Topics]
            .iter()
            .position(|why| *why == unknown.why)
            .unwrap();
        tally.unknown[index] += 1;
        if std::env::var_os("SHOW_UNKNOWN").is_some() {
            println!("UNKNOWN {unknown:?}\n{old:?}\n{new:?}");
        }
    }
    check_witnesses((old, &old_table), (new, &new_table), &found);
    for json in old.requests.iter().chain(&new.requests) {
        let request = check::request(json).unwrap();
        check_request(&request, [&old_table, &new_table], &found, tally, (old, new));
    }
}

/// Decides each witness again, by the engine and by the oracle.
fn check_witnesses(
    (old, old_table): (&World, &PolicyTable),
    (new, new_table): (&World, &PolicyTable),
    found: &Comparison,
) {
    let oracles = [old, new].map(|world| Oracle::new(&world.files(), &options(world)).unwrap());
    for difference in &found.differences {
        let witness = &difference.witness;
        let wanted = [difference.change == Change::Less, difference.change == Change::More];
        assert_eq!([witness.old.is_allowed, witness.new.is_allowed], wanted);
        let action = &witness.request.actions[0];
        let tables = [old_table, new_table];
        let decided = tables.map(|table| table.is_allowed(&witness.request, action, witness.now));
        assert_eq!(decided, wanted, "{difference:?}");
        let oracles = oracles.each_ref().map(|oracle| {
            let report = oracle.check(&witness.request, witness.now);
            report.actions[action].effect == Effect::Allow
        });
        assert_eq!(oracles, wanted, "{difference:?}\n{old:?}\n{new:?}");
    }
}

/// Decides a request with both tables; what differs has to be among the differences, or unknown.
fn check_request(
    request: &Request,
    tables: [&PolicyTable; 2],
    found: &Comparison,
    tally: &mut Tally,
    worlds: (&World, &World),
) {
    let now = World::now().unwrap();
    for action in &request.actions {
        let [old, new] = tables.map(|table| table.is_allowed(request, action, now));
        tally.decisions += 1;
        if old == new {
            continue;
        }
        tally.differing += 1;
        let change = if new { Change::More } else { Change::Less };
        let shown = found.differences.iter().any(|difference| {
            difference.change == change && covers(&difference.place, request, action, tables)
        });
        let may = found.unknown.iter().any(|unknown| {
            unknown.may.is_none_or(|may| may == change)
                && covers(&unknown.place, request, action, tables)
        });
        assert!(
            shown || may,
            "{change:?} {action}\n{request:#?}\n{:#?}\n{:#?}\n{:?}\n{:?}",
            found.differences,
            found.unknown,
            worlds.0,
            worlds.1
        );
    }
}

/// Returns true if a place is about a request.
fn covers(place: &Access, request: &Request, action: &str, tables: [&PolicyTable; 2]) -> bool {
    let kind = sanitized(&request.resource.kind);
    let is_kind = match &place.kind {
        Some(of) => *of == kind,
        None => true,
    };
    let defaults = tables.map(PolicyTable::default_version);
    let is_version = match request.resource.policy_version.as_str() {
        "" if defaults[0] == defaults[1] => place.version == defaults[0],
        version => place.version == version,
    };
    let is_principal = place.principal.as_ref().is_none_or(|id| *id == request.principal.id);
    let is_action = place.action.as_ref().is_none_or(|of| of == action);
    // A search may begin above the scope of the request; a principal's policies are shown in one scope.
    let scope = trimmed_scope(&request.resource.scope);
    let above = place.scope.trim_end_matches("others").trim_end_matches("other");
    let is_scope = place.principal.is_some()
        || scope == place.scope
        || scope.starts_with(above.trim_end_matches('.'));
    let is_role = place.roles.is_empty()
        || place.roles.iter().any(|role| match role {
            Some(role) => request.principal.roles.contains(role),
            None => true,
        });
    is_kind && is_version && is_principal && is_action && is_scope && is_role
}
