//! Relations of rules against comparisons: a rule within another adds nothing to it.

use fastrand::Rng;
use wardgate_analysis::compare::compare;
use wardgate_analysis::index::Index;
use wardgate_analysis::similar::Relation;
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::table::{Evaluation, PolicyTable};

use super::generated::{Document, Rule, policies, text};
use super::resolved;

fn with(rules: &[&Rule]) -> Document {
    let mut document = policies(1, &mut Rng::with_seed(41)).remove(0);
    let allows = |rule: &&Rule| Rule { effect: "EFFECT_ALLOW", ..(*rule).clone() };
    document.rules = rules.iter().map(allows).collect();
    document
}

fn table(rules: &[&Rule]) -> PolicyTable {
    // A relation is about where conditions hold. In a strict table one that fails has an effect too.
    let options = Options { evaluation: Evaluation::Lenient, ..Options::default() };
    let compiled = compile_files(&[text(&with(rules))], &options).unwrap();
    PolicyTable::from_parts_with_limits(compiled.parts).unwrap()
}

/// Returns true if the second rule adds nothing to the first, as comparing both tells.
fn adds_nothing(first: &Rule, second: &Rule) -> bool {
    let now = Timestamp::new(0, 0).unwrap();
    let found = compare(&table(&[first]), &table(&[first, second]), now);
    found.differences.is_empty() && found.unknown.is_empty()
}

/// Returns the relation of two rules with equal effects.
fn relation(first: &Rule, second: &Rule) -> Relation {
    let index = Index::new(&resolved(&[with(&[second])]));
    let queries = index.queries(&resolved(&[with(&[first])]));
    index.similar(&queries[0], 1)[0].relation()
}

/// Returns a rule that is like another, with some parts added or removed.
fn varied(rule: &Rule, rng: &mut Rng) -> Rule {
    let mut rule = rule.clone();
    for list in [&mut rule.actions, &mut rule.roles, &mut rule.condition] {
        if list.len() > 1 && rng.bool() {
            list.remove(rng.usize(..list.len()));
        }
    }
    if rng.bool() {
        rule.condition.push("R.attr.extra == true".to_owned());
    }
    if rng.u8(..4) == 0 {
        rule.roles = vec!["*".to_owned()];
    }
    rule
}

#[test]
fn a_rule_within_another_adds_nothing_to_it() {
    let mut rng = Rng::with_seed(42);
    let is_slow = std::env::var_os("SLOW_TESTS").is_some();
    let all = policies(if is_slow { 5_000 } else { 60 }, &mut rng);
    let mut counts = [0; 5];
    for first in all.iter().flat_map(|document| &document.rules) {
        let second = varied(first, &mut rng);
        let relation = relation(first, &second);
        let (is_within, contains) = (adds_nothing(&second, first), adds_nothing(first, &second));
        let count = match relation {
            Relation::Equal => usize::from(!(is_within && contains)),
            Relation::Within => usize::from(!is_within),
            Relation::Contains => usize::from(!contains),
            _ => 0,
        };
        assert_eq!(count, 0, "{relation:?}\n{first:?}\n{second:?}");
        let known = [Relation::Equal, Relation::Within, Relation::Contains, Relation::Unknown];
        let position = known.iter().position(|one| *one == relation).unwrap_or(4);
        counts[position] += 1;
    }
    assert!(counts[..3].iter().all(|count| *count > 5), "{counts:?}");
}

#[test]
fn relations_have_their_words() {
    let rule = |actions: &[&str], condition: &[&str], effect| Rule {
        actions: actions.iter().map(|action| (*action).to_owned()).collect(),
        roles: vec!["user".to_owned()],
        effect,
        condition: condition.iter().map(|part| (*part).to_owned()).collect(),
    };
    let check = |first: &Rule, second: &Rule, expected: &str| {
        let (mut one, mut other) = (with(&[]), with(&[]));
        (one.rules, other.rules) = (vec![first.clone()], vec![second.clone()]);
        let index = Index::new(&resolved(&[other]));
        let queries = index.queries(&resolved(&[one]));
        let found = index.similar(&queries[0], 1);
        assert_eq!(found[0].relation().name(), expected, "{first:?} {second:?}");
    };
    let (allow, deny) = ("EFFECT_ALLOW", "EFFECT_DENY");
    let narrow = rule(&["view"], &["R.attr.a == 1", "R.attr.b == 2"], allow);
    let wide = rule(&["view", "edit"], &["R.attr.b == 2"], allow);
    check(&narrow, &narrow, "equal");
    check(&narrow, &wide, "within");
    check(&wide, &narrow, "contains");
    check(&narrow, &rule(&["*"], &[], deny), "contradict");
    check(&narrow, &rule(&["edit"], &[], deny), "disjoint");
    check(&narrow, &rule(&["e*"], &["R.attr.a == 1"], allow), "unknown");
    check(&narrow, &rule(&["view"], &["R.attr.a == 1 || R.attr.b == 2"], allow), "unknown");
}
