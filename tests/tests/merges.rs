//! Merges of split rules: each edit is compiled, and decides every request as before, by the engine and by
//! the oracle.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use fastrand::Rng;
use serde_json::{Value as Json, json};
use wardgate_analysis::compare::compare;
use wardgate_analysis::index::Index;
use wardgate_analysis::merges::{Merges, merges};
use wardgate_analysis::proof::{Basis, Edit, Refusal};
use wardgate_compiler::Options;
use wardgate_compiler::compile::FilesByPath;
use wardgate_compiler::resolve::resolve;
use wardgate_engine::request::Request;
use wardgate_engine::table::{Evaluation, PolicyTable};
use wardgate_tests::check;
use wardgate_tests::compiled::Compiled;
use wardgate_tests::conformance::{files, files_below};
use wardgate_tests::generate::{World, worlds};
use wardgate_tests::oracle::{Oracle, Report};

/// Policies by the paths of their files.
type Files = Vec<(String, Vec<u8>)>;

/// What became of many policies.
#[derive(Debug, Default)]
struct Tally {
    planted: usize,
    merges: usize,
    refused: usize,
    unproved: usize,
    decisions: usize,
}

fn is_slow() -> bool {
    std::env::var_os("SLOW_TESTS").is_some()
}

#[test]
fn merges_of_generated_policies_change_no_decision() {
    let mut rng = Rng::with_seed(41);
    let mut tally = Tally::default();
    let many = if is_slow() { 9_000 } else { 250 };
    for world in worlds(11, 12).take(many) {
        let mut world = world;
        for (_, document) in &mut world.policies {
            tally.planted += split_rules(document, &mut rng);
        }
        let requests: Vec<Request> =
            world.requests.iter().map(|json| check::request(json).unwrap()).collect();
        check_merges(&world.files(), &world.table_options().unwrap(), &requests, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.merges > tally.planted / 4, "{tally:?}");
    assert!(tally.decisions > if is_slow() { 100_000 } else { 2_000 }, "{tally:?}");
}

#[test]
fn merges_of_the_corpus_change_no_decision() {
    let testdata = corpora().join("cerbos/testdata");
    let (original, requests) =
        (policies_of(&testdata.join("store")), requests_of(&testdata.join("engine")));
    assert!(original.len() > 50 && requests.len() > 30, "{} {}", original.len(), requests.len());
    let mut tally = Tally::default();
    for round in 0..if is_slow() { 12 } else { 1 } {
        let mut rng = Rng::with_seed(round);
        let split = |(path, document): &(String, Json)| {
            let mut document = document.clone();
            let count = split_rules(&mut document, &mut rng);
            // Both layouts: lines that are indented, and brackets.
            let text = match rng.bool() {
                true => serde_yaml_ng::to_string(&document).unwrap(),
                false => serde_json::to_string_pretty(&document).unwrap(),
            };
            (count, (path.clone(), text.into_bytes()))
        };
        let mut split = split;
        let split: Vec<(usize, (String, Vec<u8>))> = original.iter().map(&mut split).collect();
        tally.planted += split.iter().map(|(count, _)| count).sum::<usize>();
        let mut files: Files = split.into_iter().map(|(_, file)| file).collect();
        files.extend(schemas_of(&testdata.join("store")));
        for evaluation in [Evaluation::Strict, Evaluation::Lenient] {
            let options = Options { evaluation, ..Options::default() };
            check_merges(&files, &options, &requests, &mut tally);
        }
    }
    println!("{tally:?}");
    assert!(tally.merges >= tally.planted, "{tally:?}");
}

/// Merges rules, and decides requests with the policies before and after.
fn check_merges(files: &Files, options: &Options, requests: &[Request], tally: &mut Tally) {
    let Ok(Compiled { table, .. }) = Compiled::new(files, options) else { return };
    let (found, texts) = merged(files, options);
    assert_eq!((&found, &texts), (&merged(files, options).0, &texts), "two runs differ");
    tally.unproved += found.unproved;
    let proposed = found.found.iter().filter(|merge| merge.edits.is_ok());
    tally.merges += proposed.clone().map(|merge| merge.rules.len() - 1).sum::<usize>();
    tally.refused += found.found.iter().filter(|merge| merge.edits.is_err()).count();
    for merge in &found.found {
        let reason = merge.edits.as_ref().err();
        assert!(reason.is_none_or(|reason| *reason != Refusal::Layout), "{merge:?}\n{files:?}");
    }
    if texts.is_empty() {
        return;
    }
    let new: Files = files
        .iter()
        .map(|(path, old)| {
            let text = texts.get(path).map(|text| text.as_bytes().to_vec());
            (path.clone(), text.unwrap_or_else(|| old.clone()))
        })
        .collect();
    let merged = Compiled::new(&new, options).unwrap().table;
    let found = compare(&table, &merged, World::now().unwrap());
    assert!(found.differences.is_empty() && found.unknown.is_empty(), "{found:?}");
    let oracles = [files, &new].map(|files| Oracle::new(files, options).unwrap());
    for request in requests {
        check_request(request, [&table, &merged], &oracles, tally);
    }
}

fn check_request(
    request: &Request,
    tables: [&PolicyTable; 2],
    oracles: &[Oracle; 2],
    tally: &mut Tally,
) {
    let now = World::now().unwrap();
    let [old, new] = tables.map(|table| Report::from(&table.check(request, now)));
    let [old_oracle, new_oracle] = oracles.each_ref().map(|oracle| oracle.check(request, now));
    assert_eq!(new.actions, new_oracle.actions, "{request:#?}");
    for [one, other] in [[&old, &new], [&old_oracle, &new_oracle]] {
        assert_eq!(one.actions, other.actions, "{request:#?}");
        assert_eq!(one.outputs, other.outputs, "{request:#?}");
        assert_eq!(one.derived_roles, other.derived_roles, "{request:#?}");
    }
    tally.decisions += old.actions.len();
}

/// Returns the merges, and the texts of the files that they change.
fn merged(files: &Files, options: &Options) -> (Merges, BTreeMap<String, String>) {
    let found = FilesByPath::of(files);
    let repository = found.repository();
    let (resolved, _) = resolve(&repository);
    let load = |path: &str| found.schema(path);
    let mut basis = Basis::new(&repository, options, &load).unwrap();
    let merges = merges(&Index::new(&resolved), &resolved, &mut basis);
    let edits: Vec<&Edit> = merges.edits().collect();
    let texts = basis.texts(edits).unwrap();
    let texts = texts.into_iter().map(|(path, text)| (path.to_owned(), text)).collect();
    (merges, texts)
}

/// Splits rules by their actions or roles, or repeats them for another role; each part stands behind its rule,
/// or sometimes at the end. Returns how many rules were added.
fn split_rules(document: &mut Json, rng: &mut Rng) -> usize {
    let Some(Json::Array(rules)) = document.pointer_mut("/resourcePolicy/rules") else { return 0 };
    let (mut split, mut last) = (Vec::new(), Vec::new());
    let mut added = 0;
    for mut rule in std::mem::take(rules) {
        let part = (rule.get("output").is_none() && rng.bool()).then(|| part(&mut rule, rng));
        split.push(rule);
        let Some(part) = part.flatten() else { continue };
        added += 1;
        if rng.u8(..5) == 0 { last.push(part) } else { split.push(part) }
    }
    split.extend(last);
    *rules = split;
    added
}

/// Takes a part of a rule out of it, as a rule without a name.
fn part(rule: &mut Json, rng: &mut Rng) -> Option<Json> {
    let mut part = rule.clone();
    part.as_object_mut()?.remove("name");
    let key = ["actions", "roles", "derivedRoles"][rng.usize(..3)];
    let own = rule.get_mut(key)?.as_array_mut()?;
    part[key] = match own.len() {
        0 => return None,
        1 if key == "derivedRoles" => return None,
        1 => json!([if key == "roles" { "visitor" } else { "archive" }]),
        many => own.split_off(rng.usize(1..many)).into(),
    };
    Some(part)
}

fn corpora() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpora")
}

/// Returns the policies below a folder.
fn policies_of(store: &std::path::Path) -> Vec<(String, Json)> {
    let mut policies = Vec::new();
    for path in files_below(store).unwrap() {
        let below = path.strip_prefix(store).unwrap().to_string_lossy().into_owned();
        let is_test = below.starts_with("tests/") || below.ends_with("_test.yaml");
        let is_policy = below.ends_with(".yaml") && !is_test && !below.starts_with('_');
        let text = fs::read_to_string(&path).unwrap_or_default();
        if is_policy && text.contains("apiVersion") {
            policies.push((below, serde_yaml_ng::from_str(&text).unwrap()));
        }
    }
    policies
}

fn schemas_of(store: &std::path::Path) -> Files {
    let paths = files_below(&store.join("_schemas")).unwrap().into_iter();
    paths
        .map(|path| {
            let below = path.strip_prefix(store).unwrap().to_string_lossy().into_owned();
            (below, fs::read(&path).unwrap())
        })
        .collect()
}

/// Returns the requests of the cases in a folder.
fn requests_of(folder: &std::path::Path) -> Vec<Request> {
    let mut requests = Vec::new();
    for path in files(folder, "yaml").unwrap() {
        let case: Json = serde_yaml_ng::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let inputs = case.get("inputs").and_then(Json::as_array).cloned().unwrap_or_default();
        requests
            .extend(inputs.iter().filter_map(|json| check::request(&check::normalised(json)).ok()));
    }
    requests
}
