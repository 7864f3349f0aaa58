//! Rules of the corpus that were planted in other words, and those with one part changed: all are found.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

use std::fs;
use std::path::PathBuf;

use fastrand::Rng;
use serde_json::{Value as Json, json};
use wardgate_analysis::groups::Kind;
use wardgate_analysis::index::{Index, RuleId};
use wardgate_analysis::similar::Part;
use wardgate_compiler::compile::FilesByPath;
use wardgate_compiler::policy::name::policy_key;
use wardgate_compiler::resolve::resolve;
use wardgate_tests::conformance::files_below;

#[test]
fn a_rule_of_the_corpus_in_other_words_is_the_same_rule() {
    let (mut planted, mut own) = (0, 0);
    for seed in 0..if std::env::var_os("SLOW_TESTS").is_some() { 50 } else { 3 } {
        let mut rng = Rng::with_seed(seed);
        let originals = policies();
        let copies = originals.iter().filter_map(|one| copy(one, "_copy"));
        let copies: Vec<Json> = copies.map(|copy| respelled(copy, &mut rng)).collect();
        let index = index(originals.iter().chain(&copies));
        let groups = index.groups();
        for (original, copy) in originals.iter().filter(|one| is_of_resource(one)).zip(&copies) {
            for (at, [old, new]) in pairs(&index, original, copy).into_iter().enumerate() {
                let rule = &original["resourcePolicy"]["rules"][at];
                // What reads the derived roles of its policy means something there only.
                if original.to_string().contains("runtime") {
                    own += 1;
                    continue;
                }
                planted += 1;
                let is_same = match rule.get("condition") {
                    Some(_) => groups.iter().any(|group| {
                        group.kind == Kind::SameRule
                            && group.rules.contains(&old)
                            && group.rules.contains(&new)
                    }),
                    // Rules without a condition are groups within their policy only.
                    None => {
                        let query = index.query(new).unwrap();
                        index.similar(&query, 1)[0].score == 1_000_000
                    }
                };
                assert!(is_same, "{rule}\n{}", copy["resourcePolicy"]["rules"][at]);
            }
        }
    }
    println!("planted {planted}, of their own policy {own}");
    assert!(planted > 150 && own < planted / 4, "{planted} {own}");
}

#[test]
fn one_edit_of_a_rule_of_the_corpus_is_found() {
    let (mut planted, mut near) = (0, 0);
    let originals = policies();
    let mut rng = Rng::with_seed(5);
    for part in [Part::Roles, Part::Actions, Part::Effect, Part::Kind] {
        let mut all = originals.clone();
        let mut edits = Vec::new();
        for original in originals.iter().filter(|one| is_of_resource(one)) {
            let Some(mut draft) = copy(original, "_copy") else { continue };
            for (at, rule) in rules_mut(&mut draft).iter_mut().enumerate() {
                if edit(rule, part, &mut rng) {
                    edits.push((original.clone(), at));
                }
            }
            all.push(draft);
        }
        let index = index(all.iter());
        let groups = index.groups();
        for (original, at) in edits {
            let copy = copy(&original, "_copy").unwrap();
            let [old, new] = pairs(&index, &original, &copy)[at];
            planted += 1;
            let has_condition = original["resourcePolicy"]["rules"][at].get("condition").is_some();
            let is_own = original.to_string().contains("runtime");
            if has_condition && !is_own && part != Part::Kind {
                let is_found = groups.iter().any(|group| {
                    group.kind == Kind::DiffersIn(part)
                        && group.rules.contains(&old)
                        && group.rules.contains(&new)
                });
                assert!(is_found, "{part:?} {}", original["resourcePolicy"]["rules"][at]);
            }
            let query = index.query(new).unwrap();
            let body = |found: &wardgate_analysis::similar::Match<'_>| {
                let place = [Part::Kind, Part::Version, Part::Scope];
                let found = found.parts();
                let mut parts =
                    found.differs.iter().map(|one| one.part).filter(|one| !place.contains(one));
                match (part, parts.next()) {
                    (Part::Kind, None) => true,
                    (part, Some(first)) => first == part && parts.next().is_none(),
                    _ => is_own,
                }
            };
            near += usize::from(is_own || index.similar(&query, 3).iter().any(body));
        }
    }
    println!("planted {planted}, near {near}");
    assert!(planted > 250 && near * 100 >= planted * 99, "{near} of {planted}");
}

fn edit(rule: &mut Json, part: Part, rng: &mut Rng) -> bool {
    match part {
        Part::Roles => match rule.get_mut("roles").and_then(Json::as_array_mut) {
            Some(roles) if !roles.contains(&json!("*")) => roles.push(json!("visitor")),
            _ => return false,
        },
        Part::Actions => match rule["actions"].as_array_mut() {
            Some(actions) => actions.insert(rng.usize(..=actions.len()), json!("archive")),
            None => return false,
        },
        Part::Effect => {
            let is_allow = rule["effect"] == "EFFECT_ALLOW";
            rule["effect"] = json!(if is_allow { "EFFECT_DENY" } else { "EFFECT_ALLOW" });
        }
        _ => {}
    }
    true
}

/// Returns the numbers of the rules of two policies, pair by pair.
fn pairs(index: &Index, original: &Json, copy: &Json) -> Vec<[RuleId; 2]> {
    let [old, new] = [original, copy].map(|policy| index.find(&key(policy), None));
    assert_eq!(old.len(), new.len());
    old.into_iter().zip(new).map(|(old, new)| [old, new]).collect()
}

fn key(policy: &Json) -> String {
    let body = &policy["resourcePolicy"];
    let text = |key: &str| body.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
    policy_key("resource", &text("resource"), &text("version"), &text("scope"))
}

fn is_of_resource(policy: &Json) -> bool {
    policy.get("resourcePolicy").is_some() && policy.get("disabled") != Some(&json!(true))
}

/// Returns a policy for another kind.
fn copy(policy: &Json, end: &str) -> Option<Json> {
    let mut copy = is_of_resource(policy).then(|| policy.clone())?;
    let kind = copy["resourcePolicy"]["resource"].as_str()?.to_owned();
    copy["resourcePolicy"]["resource"] = json!(format!("{kind}{end}"));
    Some(copy)
}

fn rules_mut(policy: &mut Json) -> &mut [Json] {
    let rules = policy.pointer_mut("/resourcePolicy/rules").and_then(Json::as_array_mut);
    rules.map_or(&mut [], |rules| rules)
}

/// Returns a policy in other words with the same meaning: other names of variables, other orders, expressions taken out
/// into variables, De Morgan, other quotes, spaces and comments.
fn respelled(mut policy: Json, rng: &mut Rng) -> Json {
    let mut new = Vec::new();
    for rule in rules_mut(&mut policy) {
        for key in ["actions", "roles", "derivedRoles"] {
            if let Some(names) = rule.get_mut(key).and_then(Json::as_array_mut) {
                rng.shuffle(names);
            }
        }
        if let Some(condition) = rule.pointer_mut("/condition/match") {
            condition_in_other_words(condition, rng, &mut new);
        }
    }
    if !new.is_empty() {
        let body = &mut policy["resourcePolicy"];
        if body.get("variables").is_none_or(|variables| variables.get("local").is_none()) {
            body["variables"]["local"] = json!({});
        }
        for (at, text) in new.into_iter().enumerate() {
            body["variables"]["local"][format!("planted_{at}")] = json!(text);
        }
    }
    policy
}

fn condition_in_other_words(condition: &mut Json, rng: &mut Rng, new: &mut Vec<String>) {
    for key in ["all", "any", "none"] {
        let parts = condition.get_mut(key).and_then(|list| list.get_mut("of"));
        for part in parts.and_then(Json::as_array_mut).into_iter().flatten() {
            condition_in_other_words(part, rng, new);
        }
    }
    let Some(text) = condition.get("expr").and_then(Json::as_str).map(str::to_owned) else {
        return;
    };
    let text = in_other_words(&text, rng);
    condition["expr"] = json!(match rng.u8(..4) {
        0 => {
            new.push(text);
            format!("variables.planted_{}", new.len() - 1)
        }
        1 => format!("({text})"),
        _ => text,
    });
    if rng.u8(..4) == 0 {
        let inner = condition.clone();
        *condition = match rng.bool() {
            true => json!({ "all": { "of": [inner] } }),
            false => json!({ "any": { "of": [inner] } }),
        };
    }
}

fn in_other_words(text: &str, rng: &mut Rng) -> String {
    let mut text = text.trim().to_owned();
    let has_texts = text.contains(['"', '\'', '\\', '`']);
    if !has_texts && rng.bool() {
        text = text.replace("request.resource.", "R.").replace("request.principal.", "P.");
    }
    if !text.contains(['\'', '\\', '`']) && rng.bool() {
        text = text.replace('"', "'");
    }
    let operands = operands(&text);
    if operands.len() > 1 {
        let mut operands = operands;
        rng.shuffle(&mut operands);
        text = match rng.bool() {
            true => operands.join(" && "),
            false => {
                let negated: Vec<String> = operands.iter().map(|one| format!("!({one})")).collect();
                format!("!( {} )", negated.join(" ||\n  "))
            }
        };
    }
    text
}

/// Returns the operands of `&&`, if nothing else joins them.
fn operands(text: &str) -> Vec<String> {
    let (mut depth, mut quote, mut start) = (0_usize, None, 0);
    let mut operands = Vec::new();
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, '?' | '|' | '\\') => return Vec::new(),
            (None, '&') if depth == 0 && text[at..].starts_with("&&") => {
                operands.push(text[start..at].trim().to_owned());
                start = at + 2;
            }
            _ => {}
        }
    }
    operands.push(text[start..].trim().to_owned());
    operands
}

fn index<'p>(policies: impl Iterator<Item = &'p Json>) -> Index {
    let file =
        |(at, policy): (usize, &Json)| (format!("{at:04}.json"), policy.to_string().into_bytes());
    let files: Vec<(String, Vec<u8>)> = policies.enumerate().map(file).collect();
    let repository = FilesByPath::of(&files).repository();
    assert!(repository.errors.is_empty(), "{:?}", repository.errors);
    let (resolved, errors) = resolve(&repository);
    assert!(errors.is_empty(), "{errors:?}");
    Index::new(&resolved)
}

/// Returns the policies of the corpus.
fn policies() -> Vec<Json> {
    let store = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/corpora/cerbos/testdata/store");
    let mut policies = Vec::new();
    for path in files_below(&store).unwrap() {
        let below = path.strip_prefix(&store).unwrap().to_string_lossy().into_owned();
        let is_test = below.starts_with("tests/") || below.ends_with("_test.yaml");
        let is_policy = below.ends_with(".yaml") && !is_test && !below.starts_with('_');
        let text = fs::read_to_string(&path).unwrap_or_default();
        if is_policy && text.contains("apiVersion") {
            policies.push(serde_yaml_ng::from_str(&text).unwrap());
        }
    }
    policies
}
