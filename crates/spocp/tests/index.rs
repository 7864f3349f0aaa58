//! The answers of a set of rules equal those of a linear scan over the rules, after any insertions
//! and removals.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests stand outside of the functions that clippy knows as tests"
)]

use std::cell::Cell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};
use wardgate_spocp::{Normal, RuleId, RuleSet};

#[test]
fn answers_are_those_of_the_linear_scan() {
    answers_are_right((600, 100), &RuleSet::new(), (text(&RULES), text(&QUERIES)));
}

/// Queries look ahead in a set of this size.
#[test]
fn answers_of_a_large_set_are_those_of_the_linear_scan() {
    let mut set = RuleSet::new();
    for number in 0..5000 {
        set.insert(&normal(&format!("(other {number} a b c (x a) d e)"))).unwrap();
    }
    answers_are_right((200, 100), &set, (text(&RULES), text(&QUERIES)));
}

/// Where all rules have one shape, most queries are answered by the hash of their row alone; a few
/// rules of other shapes must still be found.
#[test]
fn rules_of_one_shape_are_found_beside_a_few_others() {
    let mut set = RuleSet::new();
    for number in 0..5000 {
        let rule = format!("(r {number} (x p q) (x p (y q)))");
        set.insert(&normal(&rule)).unwrap();
    }
    let mixed = |others| prop_oneof![30 => shaped(SHAPES), 1 => shaped(others)].boxed();
    answers_are_right((200, 40), &set, (mixed(SHAPES), mixed(LONGER)));
    for stars in STARS {
        answers_are_right((40, 40), &set, (mixed(core::slice::from_ref(stars)), mixed(LONGER)));
    }
}

/// Fills `_` with words.
fn shaped(shapes: &'static [&'static str]) -> impl Strategy<Value = String> {
    let words = prop::collection::vec(select(&["a", "abcdefghi"][..]), 8);
    (select(shapes), words).prop_map(|(shape, words)| {
        words.into_iter().fold(shape.to_owned(), |text, word| text.replacen('_', word, 1))
    })
}

/// Compares a set that is changed at random with its rules, except those that it has beforehand, which
/// allow none of the queries. At least so many percent of the queries must find a rule.
fn answers_are_right(
    (cases, percent): (u32, usize),
    set: &RuleSet,
    (rules, queries): (BoxedStrategy<String>, BoxedStrategy<String>),
) {
    let (compared, found) = (Cell::new(0), Cell::new(0));
    let changes = prop::collection::vec(change(rules), 1..60);
    let queries = prop::collection::vec(queries, 20);
    run(cases, &(changes, queries), |(changes, queries)| {
        let (set, rules) = changed(set.clone(), &changes);
        let queries = queries.iter().map(|text| normal(text));
        for query in queries.chain(rules.values().cloned()) {
            let expected = scan(&rules, &query);
            prop_assert_eq!(
                &set.matches(&query).collect::<Vec<_>>(),
                &expected,
                "{}",
                advanced(&query)
            );
            prop_assert_eq!(set.first(&query), expected.first().copied());
            prop_assert_eq!(set.allows(&query), !expected.is_empty());
            compared.set(compared.get() + 1);
            found.set(found.get() + expected.len());
        }
        Ok(())
    });
    let (found, compared) = (found.get(), compared.get());
    assert!(found * 100 > compared * percent, "{found} of {compared}");
}

#[test]
fn a_set_has_the_rules_that_were_inserted_and_not_removed() {
    run(600, &prop::collection::vec(change(text(&RULES)), 1..80), |changes| {
        let (mut set, rules) = changed(RuleSet::new(), &changes);
        prop_assert_eq!(set.len(), rules.len());
        let listed: Vec<_> = set.iter().map(|(id, rule)| (id, canonical(&rule))).collect();
        let expected: Vec<_> = rules.iter().map(|(id, rule)| (*id, canonical(rule))).collect();
        prop_assert_eq!(listed, expected);
        for (id, rule) in &rules {
            prop_assert_eq!(set.find(rule), Some(*id));
            prop_assert_eq!(set.insert(rule).unwrap().is_new(), false);
            prop_assert!(set.remove(*id) && set.find(rule).is_none() && set.rule(*id).is_none());
        }
        let anything = rules.values().any(|rule| set.allows(rule));
        prop_assert!(set.is_empty() && !anything);
        Ok(())
    });
}

#[test]
fn the_seed_changes_no_answer() {
    run(
        50,
        &(prop::collection::vec(text(&RULES), 1..40), text(&QUERIES), any::<u64>()),
        |(rules, query, seed)| {
            let (mut plain, mut seeded) = (RuleSet::new(), RuleSet::seeded(seed));
            for rule in &rules {
                prop_assert_eq!(plain.insert(&normal(rule)), seeded.insert(&normal(rule)));
            }
            let query = normal(&query);
            prop_assert!(plain.matches(&query).eq(seeded.matches(&query)));
            Ok(())
        },
    );
}

#[derive(Clone, Debug)]
enum Change {
    Insert(String),
    Remove(Index),
}

fn change(rules: BoxedStrategy<String>) -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => rules.prop_map(Change::Insert),
        1 => any::<Index>().prop_map(Change::Remove),
    ]
}

/// Applies the changes to a set, and to a plain map of rules.
fn changed(mut set: RuleSet, changes: &[Change]) -> (RuleSet, BTreeMap<RuleId, Normal>) {
    let mut rules = BTreeMap::new();
    for change in changes {
        match change {
            Change::Insert(text) => {
                let rule = normal(text);
                let inserted = set.insert(&rule).unwrap();
                let known = rules.values().any(|other| canonical(other) == canonical(&rule));
                assert_eq!(inserted.is_new(), !known);
                rules.insert(inserted.id(), rule);
            }
            Change::Remove(at) if !rules.is_empty() => {
                let id = *at.get(&rules.keys().collect::<Vec<_>>()).to_owned();
                assert!(set.remove(id) && rules.remove(&id).is_some());
            }
            Change::Remove(_) => {}
        }
    }
    (set, rules)
}

fn scan(rules: &BTreeMap<RuleId, Normal>, query: &Normal) -> Vec<RuleId> {
    rules.iter().filter(|(_, rule)| query.is_at_most(rule)).map(|(id, _)| *id).collect()
}

fn normal(text: &str) -> Normal {
    Normal::from_advanced(text.as_bytes()).unwrap()
}

fn canonical(rule: &Normal) -> Vec<u8> {
    rule.expression().to_canonical()
}

fn advanced(rule: &Normal) -> String {
    String::from_utf8(rule.expression().to_advanced()).unwrap()
}

fn run<S: Strategy>(
    cases: u32,
    strategy: &S,
    test: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new(config).run(strategy, test).unwrap();
}

/// The frequency of star forms among ten elements.
struct Kinds {
    stars: u32,
}

/// The shape of most rules.
const SHAPES: &[&str] = &["(r _ (x _ _) (x _ (y _)))"];
/// Queries that go on where those rules end.
const LONGER: &[&str] = &[
    "(r _ (x _ _) (x _ (y _ _)))",
    "(r _ (x _ _) (x _ (y _)) _)",
    "(r _ (x _ _ _) (x _ (y _)))",
    "(r _ (x _ _) (x _ (* set _ _)))",
    "(r _ (* prefix _) (x _ (y _)))",
    "(r _ (x _ _) (x _))",
];
/// Rules that allow queries of that shape.
const STARS: &[&str] = &[
    "(r _ (x _))",
    "(r (*) (x _ _) (x _ (y _)))",
    "(r _ (x _ _) (x _ (y)))",
    "(r _ (x (* prefix _) _) (x _))",
    "(r _ (* set (x _ _) (y _)) (x _ (y _)))",
    "(r _ (x _ _) (x _ (y (* suffix _))))",
    "(r _ (x (* set a b) _) (x _ (y _)))",
    "(r _ (x _ (* range alpha ge a)) (x _ (y _)))",
    "(r _)",
];

const RULES: Kinds = Kinds { stars: 4 };
const QUERIES: Kinds = Kinds { stars: 1 };

/// Returns an expression in advanced form: few words and short lists, so that many are alike.
fn text(kinds: &Kinds) -> BoxedStrategy<String> {
    let atom = select(ATOMS.split(' ').collect::<Vec<_>>()).prop_map(str::to_owned).boxed();
    let star = prop_oneof![
        3 => Just("(*)".to_owned()),
        4 => range(),
        3 => select(WORDS).prop_map(|word| format!("(* prefix {word})")),
        3 => select(WORDS).prop_map(|word| format!("(* suffix {word})")),
    ];
    let leaf = prop_oneof![10 - kinds.stars => atom, kinds.stars => star].boxed();
    let mut element = leaf.clone();
    for _ in 0..3 {
        let inner = element.clone();
        let list = prop::collection::vec(inner.clone(), 0..4);
        let list = (select(&["x", "y"][..]), list).prop_map(|(tag, rest)| list_of(tag, &rest));
        let set = prop::collection::vec(inner, 1..5).prop_map(set_of);
        element = prop_oneof![3 => leaf.clone(), 5 => list, kinds.stars => set].boxed();
    }
    element
}

fn list_of(tag: &str, rest: &[String]) -> String {
    format!("({tag} {})", rest.join(" "))
}

/// Returns a set that the draft allows: no set in it, and no two lists with the same tag.
fn set_of(elements: Vec<String>) -> String {
    let mut distinct = Vec::new();
    let mut tags = Vec::new();
    for element in elements {
        let tag = element.strip_prefix('(').map(|rest| rest[..1].to_owned());
        match tag {
            Some(tag) if tag == "*" && element.starts_with("(* set") => return element,
            Some(tag) if tag != "*" && tags.contains(&tag) => continue,
            Some(tag) => tags.push(tag),
            None => {}
        }
        distinct.push(element);
    }
    format!("(* set {})", distinct.join(" "))
}

fn range() -> BoxedStrategy<String> {
    let bounds = |kind: &'static str, values: &'static [&'static str]| {
        let side = || (any::<u8>(), 0..values.len());
        (side(), side()).prop_filter_map("narrow", move |((low, from), (high, to))| {
            let bound = |word, value: &str| format!(" {word} {value}");
            let low = match low % 3 {
                0 => String::new(),
                1 => bound("ge", values[from]),
                _ => bound("gt", values[from]),
            };
            let high = match high % 3 {
                0 => String::new(),
                1 => bound("le", values[to]),
                _ => bound("lt", values[to]),
            };
            let text = format!("(* range {kind}{low}{high})");
            Normal::from_advanced(text.as_bytes()).is_ok().then_some(text)
        })
    };
    prop_oneof![
        3 => bounds("numeric", NUMBERS),
        2 => bounds("alpha", WORDS),
        1 => bounds("time", TIMES),
        1 => bounds("date", DATES),
        1 => bounds("ipv4", IPV4),
        1 => bounds("ipv6", IPV6),
    ]
    .boxed()
}

const WORDS: &[&str] =
    &["a", "b", "ab", "ba", "aba", "abb", "1", "12", "abcdefgh", "abcdefghi", "hgfedcba"];
const NUMBERS: &[&str] = &["0", "1", "2", "3", "5", "12", "4294967295"];
const TIMES: &[&str] = &["00:00:00", "08:00:00", "08:00:00.5", "17:00:00", "23:59:60"];
const DATES: &[&str] =
    &["2001-01-01T00:00:00Z", "2001-01-01T01:00:00+01:00", "2002-02-02T02:02:02Z"];
const IPV4: &[&str] = &["0.0.0.0", "10.0.0.1", "10.0.0.9", "255.255.255.255"];
const IPV6: &[&str] = &["::", "::1", "fe80::1", "fe80:0:0:0:0:0:0:1", "ffff::"];
const ATOMS: &str = "a b ab ba aba abba abcdefgh abcdefghijk xhgfedcba 0 1 2 3 12 012 08:00:00 \
    12:30:00 2001-01-01T00:00:00Z 2001-06-01T00:00:00Z 10.0.0.1 10.0.0.5 ::1 fe80::1 fe80:0::1";
