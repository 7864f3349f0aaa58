//! Small policies before and after a change, and what is said about it.

use wardgate_compiler::{Options, compile_files};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::table::{Evaluation, PolicyTable};

use super::{Change, Comparison, compare};

fn table(files: &[(&str, &str)], options: &Options) -> PolicyTable {
    let file = |(name, text): &(&str, &str)| ((*name).to_owned(), text.as_bytes().to_vec());
    let files: Vec<_> = files.iter().map(file).collect();
    PolicyTable::from_parts(compile_files(&files, options).unwrap().parts).unwrap()
}

/// Returns a policy about documents with these rules.
fn policy(rules: &str) -> String {
    format!(
        "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  resource: doc\n  version: default\n  rules:\n{rules}"
    )
}

/// Returns a rule for employees; the condition may be empty.
fn rule(action: &str, effect: &str, condition: &str) -> String {
    let condition = match condition {
        "" => String::new(),
        expr => format!("      condition: {{ match: {{ expr: '{expr}' }} }}\n"),
    };
    format!(
        "    - actions: ['{action}']\n      effect: EFFECT_{effect}\n      roles: [employee]\n{condition}"
    )
}

fn compared(old: &str, new: &str, options: &Options) -> Comparison {
    let [old, new] = [old, new].map(|text| table(&[("doc.yaml", text)], options));
    compare(&old, &new, Timestamp::default())
}

/// Returns the directions of the differences, each once, and whether something is unknown.
fn words(found: &Comparison) -> String {
    let is = |change| found.differences.iter().any(|difference| difference.change == change);
    let mut words = Vec::new();
    words.extend(is(Change::More).then_some("more"));
    words.extend(is(Change::Less).then_some("less"));
    words.extend((!found.unknown.is_empty()).then_some("unknown"));
    if words.is_empty() { "equal".to_owned() } else { words.join(" ") }
}

/// Checks what is said if the condition of the one rule that allows changes.
fn check_condition(old: &str, new: &str, expected: &str) {
    check_in(Evaluation::Strict, old, new, expected);
}

fn check_in(evaluation: Evaluation, old: &str, new: &str, expected: &str) {
    let options = Options { evaluation, ..Options::default() };
    let [before, after] = [old, new].map(|condition| policy(&rule("view", "ALLOW", condition)));
    assert_eq!(words(&compared(&before, &after, &options)), expected, "{old} -> {new}");
}

#[test]
fn conditions_that_mean_the_same_are_equal() {
    let check = |old, new| check_condition(old, new, "equal");
    check("R.attr.a == 1", "1 == R.attr.a");
    check("R.attr.a == 1 || R.attr.a == 2", "R.attr.a in [2, 1]");
    check("!(R.attr.a == 1 && R.attr.b == 2)", "R.attr.a != 1 || R.attr.b != 2");
    check("R.attr.a < 5", "5 > R.attr.a");
    check("R.attr.owner == P.id", "P.id == R.attr.owner");
    check("R.attr.a ? R.attr.b : false", "R.attr.a ? R.attr.b : !true");
    check(
        "R.attr.a == 1 && R.attr.b.startsWith(\"x\")",
        "R.attr.b.startsWith(\"x\") && R.attr.a == 1",
    );
    check(
        "R.attr.tags.exists(t, t == P.id) && R.attr.a == 1",
        "R.attr.a == 1 && R.attr.tags.exists(x, x == P.id)",
    );
    check("has(R.attr.a) && R.attr.a == 1 || !has(R.attr.a)", "!has(R.attr.a) || R.attr.a == 1");
}

#[test]
fn a_condition_that_holds_for_more_gives_more() {
    check_condition("R.attr.a == 1", "R.attr.a in [1, 2]", "more");
    check_condition("R.attr.a in [1, 2]", "R.attr.a == 1", "less");
    check_condition("R.attr.a == 1", "R.attr.a == 2", "more less");
    check_condition("R.attr.a > 10", "R.attr.a >= 10", "more");
    check_condition(
        "R.attr.owner == P.id",
        "R.attr.owner == P.id || R.attr.public == true",
        "more",
    );
    check_condition("R.attr.tags.exists(t, t == \"red\")", "true", "more");
    check_condition("R.attr.a.b.c == 1 && P.attr.level > 3", "P.attr.level > 3", "more");
    check_condition("timestamp(R.attr.at) < now()", "true", "more");
}

#[test]
fn errors_are_a_part_of_the_meaning() {
    // A failure of a rule that allows denies what other rules would allow.
    let with = |condition: &str| {
        policy(&(rule("view", "ALLOW", condition) + &rule("view", "ALLOW", "R.attr.b == 1")))
    };
    let (plain, guarded) = (with("R.attr.a == 1"), with("has(R.attr.a) && R.attr.a == 1"));
    let check = |evaluation, expected| {
        let options = Options { evaluation, ..Options::default() };
        assert_eq!(words(&compared(&plain, &guarded, &options)), expected);
    };
    check(Evaluation::Strict, "more");
    check(Evaluation::Lenient, "equal");
    check_in(Evaluation::Lenient, "!(R.attr.a == 1)", "has(R.attr.a) && R.attr.a != 1", "equal");
    // Without a rule that allows otherwise, a failure and a denial are the same.
    check_in(Evaluation::Strict, "R.attr.a == 1", "has(R.attr.a) && R.attr.a == 1", "equal");
}

#[test]
fn what_rules_are_for_counts() {
    let check = |old: &str, new: &str, expected: &str| {
        let found = compared(&policy(old), &policy(new), &Options::default());
        assert_eq!(words(&found), expected, "{old} -> {new}");
    };
    let view = rule("view", "ALLOW", "");
    check(&view, &(rule("edit", "ALLOW", "") + &view), "more");
    check(&view, &rule("*", "ALLOW", ""), "more");
    check(&view, &rule("v*", "ALLOW", ""), "more");
    check(&rule("*", "ALLOW", ""), &(rule("*", "ALLOW", "") + &view), "equal");
    check(&view, &view.replace("employee", "'*'"), "more");
    check(&view, &(view.clone() + &rule("view", "DENY", "R.attr.a == 1")), "less");
    check(&(view.clone() + &rule("view", "ALLOW", "R.attr.a")), &view, "more");
    check(&view.replace("employee", "boss"), &view, "more less");
}

#[test]
fn a_role_that_fails_takes_from_other_roles() {
    // `boss` ends the search of a principal who is also an employee.
    let boss = rule("view", "ALLOW", "R.attr.a == 1").replace("employee", "boss");
    let employee = rule("view", "ALLOW", "");
    let harmless = boss.replace("R.attr.a == 1", "has(R.attr.a) && R.attr.a == 1");
    let found = compared(
        &policy(&(boss + &employee)),
        &policy(&(harmless + &employee)),
        &Options::default(),
    );
    assert_eq!(words(&found), "more");
    assert_eq!(found.differences[0].witness.request.principal.roles, ["boss", "employee"]);
}

#[test]
fn a_witness_is_small_and_names_the_rules() {
    let old = policy(&rule("view", "ALLOW", "R.attr.a == 1 && R.attr.b == 2"));
    let new = policy(&rule("view", "ALLOW", "R.attr.a == 1"));
    let found = compared(&old, &new, &Options::default());
    // Without `b` the old condition fails; with another value it does not hold.
    let witness = &found.differences[0].witness;
    assert_eq!(witness.request.resource.attr.entries().len(), 1);
    assert!(witness.request.principal.attr.entries().is_empty());
    let rule = witness.new.rule.as_ref().unwrap();
    assert_eq!((rule.file.as_str(), rule.line), ("doc.yaml", 6));
    assert_eq!(found.differences[0].place.roles, [Some("employee".to_owned())]);
}

#[test]
fn a_new_kind_gives_more_and_a_removed_one_less() {
    let other = policy(&rule("view", "ALLOW", "")).replace("resource: doc", "resource: album");
    let doc = policy(&rule("view", "ALLOW", ""));
    let options = Options::default();
    let one = table(&[("doc.yaml", &doc)], &options);
    let both = table(&[("doc.yaml", &doc), ("album.yaml", &other)], &options);
    let found = compare(&one, &both, Timestamp::default());
    assert_eq!(words(&found), "more");
    assert_eq!(found.differences[0].place.kind.as_deref(), Some("album"));
    assert_eq!(words(&compare(&both, &one, Timestamp::default())), "less");
}

#[test]
fn conditions_beyond_the_bounds_are_unknown() {
    // 40 pairs of paths in an order that needs 2^40 nodes.
    let pair = |number: usize| format!("R.attr.a{number} == true && R.attr.b{number} == true");
    let first: Vec<String> = (0..40).map(|number| format!("has(R.attr.a{number})")).collect();
    let pairs: Vec<String> = (0..40).map(pair).collect();
    let old = format!("({}) && ({})", first.join(" && "), pairs.join(" || "));
    let mut turned = pairs.clone();
    turned.reverse();
    let new = format!("({}) && ({})", first.join(" && "), turned.join(" || "));
    check_condition(&old, &new, "unknown");
}
