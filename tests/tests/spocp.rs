//! The order of S-expressions compared with its definition, and the laws of an order, on generated
//! expressions.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests stand outside of the functions that clippy knows as tests"
)]

use std::cell::Cell;
use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use wardgate_spocp::{Expression, Normal, RuleSet};
use wardgate_tests::program::root;
use wardgate_tests::rules::outcome;
use wardgate_tests::spocp::Tree;
use wardgate_tests::spocp::generate::{ALL, FINITE, MOST, NUMBERS, SIMPLE, tree};

#[test]
fn the_order_agrees_with_its_definition() {
    let (ordered, compared) = (Cell::new(0_u32), Cell::new(0_u32));
    let pairs = (tree(&FINITE), tree(&NUMBERS));
    run(&pairs, |(left, right)| {
        let Some(defined) = allows_each(&right, &left) else { return Ok(()) };
        prop_assert_eq!(is_at_most(&left, &right), defined, "{} in {}", left.text(), right.text());
        compared.set(compared.get() + 1);
        ordered.set(ordered.get() + u32::from(defined));
        Ok(())
    });
    assert!(ordered.get() * 50 > compared.get(), "{} of {} held", ordered.get(), compared.get());
}

#[test]
fn comparisons_of_simple_expressions_agree_with_the_definition() {
    let pairs = (tree(&SIMPLE), tree(&ALL));
    run(&pairs, |(left, right)| {
        prop_assert_eq!(is_at_most(&left, &right), right.allows(&left));
        Ok(())
    });
}

#[test]
fn nothing_is_allowed_of_which_a_part_is_not() {
    let pairs = (tree(&FINITE), tree(&ALL));
    run(&pairs, |(left, right)| {
        let is_defined = allows_each(&right, &left).unwrap_or(true);
        prop_assert!(is_defined || !is_at_most(&left, &right));
        Ok(())
    });
}

#[test]
fn the_order_is_reflexive_and_antisymmetric_up_to_the_normal_form() {
    run(&(tree(&ALL), tree(&ALL)), |(left, right)| {
        prop_assert!(is_at_most(&left, &left), "{}", left.text());
        if is_at_most(&left, &right) && is_at_most(&right, &left) {
            let text = |tree: &Tree| normal(tree).expression().to_canonical();
            prop_assert_eq!(text(&left), text(&right));
        }
        Ok(())
    });
}

#[test]
fn the_order_is_transitive() {
    // Three expressions that are generated independently are hardly ever a chain: sets of the same
    // few elements often are.
    let sets = || prop::collection::vec(tree(&ALL), 1..4);
    let found = Cell::new(0_u32);
    run(&(sets(), sets(), sets()), |(a, b, c)| {
        for (a, b) in a.iter().flat_map(|a| b.iter().map(move |b| (a, b))) {
            for c in c.iter().filter(|c| is_at_most(a, b) && is_at_most(b, c)) {
                prop_assert!(is_at_most(a, c), "{} {} {}", a.text(), b.text(), c.text());
                found.set(found.get() + 1);
            }
        }
        Ok(())
    });
    assert!(found.get() > 50, "{} chains only", found.get());
}

#[test]
fn a_set_of_rules_agrees_with_the_definition() {
    let found = Cell::new(0_usize);
    let rules = prop::collection::vec(tree(&ALL), 1..20);
    run(&(rules, prop::collection::vec(tree(&SIMPLE), 8)), |(rules, queries)| {
        let mut set = RuleSet::new();
        let ids: Vec<_> =
            rules.iter().map(|rule| set.insert(&normal(rule)).unwrap().id()).collect();
        for query in queries {
            let defined = ids.iter().zip(&rules).filter(|(_, rule)| rule.allows(&query));
            let defined: BTreeSet<_> = defined.map(|(id, _)| *id).collect();
            prop_assert!(
                set.matches(&normal(&query)).eq(defined.iter().copied()),
                "{}",
                query.text()
            );
            found.set(found.get() + defined.len());
        }
        Ok(())
    });
    assert!(found.get() > 10_000, "{} only", found.get());
}

#[test]
fn every_case_has_its_expected_answer() {
    let cases = wardgate_tests::rules::load(&root().join("tests/spocp")).unwrap();
    assert!(cases.len() > 3);
    for case in cases {
        for (query, expected) in &case.queries {
            let text = String::from_utf8_lossy(query);
            assert_eq!(outcome(&case.rules, query), *expected, "{}: {text}", case.name);
        }
    }
}

#[test]
fn both_forms_lose_nothing_and_a_normal_form_is_its_own() {
    run(&(tree(&ALL), prop::collection::vec(any::<u8>(), 1..9)), |(tree, bytes)| {
        let mut text = format!("(1:t{}{}:", tree.text(), bytes.len()).into_bytes();
        text.extend_from_slice(&bytes);
        text.push(b')');
        let expression = Expression::from_canonical(&text).unwrap();
        prop_assert_eq!(expression.to_canonical(), &text[..]);
        let advanced = expression.to_advanced();
        prop_assert_eq!(Expression::from_advanced(&advanced).unwrap().to_canonical(), text);
        let once = normal(&tree).expression().to_canonical();
        let twice = Normal::new(Expression::from_canonical(&once).unwrap());
        prop_assert_eq!(twice.expression().to_canonical(), once);
        Ok(())
    });
}

#[test]
fn no_text_is_too_much_to_read() {
    let pieces = PIECES.split_whitespace().chain(PIECES_WITH_SPACES);
    let piece = prop::sample::select(pieces.collect::<Vec<_>>());
    run(&prop::collection::vec(piece, 0..12), |pieces| {
        let text = pieces.concat();
        if let Ok(expression) = Expression::from_canonical(text.as_bytes()) {
            prop_assert_eq!(expression.to_canonical(), text.as_bytes());
        }
        if let Ok(expression) = Expression::from_advanced(text.as_bytes()) {
            let again = Expression::from_canonical(&expression.to_canonical()).unwrap();
            prop_assert_eq!(again.to_advanced(), expression.to_advanced());
        }
        Ok(())
    });
}

/// Returns the answer of the definition; `None` if an expression stands for too many to count.
fn allows_each(rule: &Tree, query: &Tree) -> Option<bool> {
    let members = query.members(MOST + 1)?;
    Some(members.iter().all(|member| rule.allows(member)))
}

fn is_at_most(left: &Tree, right: &Tree) -> bool {
    normal(left).is_at_most(&normal(right))
}

fn normal(tree: &Tree) -> Normal {
    Normal::new(Expression::from_canonical(tree.text().as_bytes()).unwrap())
}

fn run<S: Strategy>(strategy: &S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = Config {
        cases: 3_000,
        failure_persistence: None,
        max_local_rejects: u32::MAX,
        ..Config::default()
    };
    TestRunner::new(config).run(strategy, test).unwrap();
}

/// Parts of texts in both forms; those with a space stand apart.
const PIECES: &str = r##"
    ( ) 1:a 1:* 3:set 5:range 7:numeric 2:ge 2:lt 1:5 2:15 6:prefix 0: 01:a 999:a -1:a * set range a
    "\x41" #6162# |YWI=| | # 18446744073709551616: 4:date 1985-04-12T23:20:50.52Z é
"##;
const PIECES_WITH_SPACES: [&str; 2] = [" ", "\"a b\""];
