//! Queries to rules of SPOCP in bundles: those of the cases, those of the draft, and generated
//! ones.

use std::fs;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value as Json, json};
use wardgate_bundle::{Label, pack_with_rules};
use wardgate_compiler::{Options, compile_files};
use wardgate_spocp::{RuleSet, file};

use super::{Entry, Put, Suite};
use crate::rules::{answer, load};
use crate::spocp::generate::{ALL, SIMPLE, tree};

pub(super) fn entries(root: &Path, seed: u8, put: &mut Put<'_>) -> Result<(), String> {
    for case in load(&root.join("tests/spocp"))? {
        let queries: Vec<_> = case.queries.into_iter().map(|(query, _)| query).collect();
        put(entry(case.name, &case.rules, &queries)?)?;
    }
    let examples = root.join("../shared/corpora/spocp/draft_examples.json");
    match examples.is_file() {
        true => put(draft(&examples)?)?,
        false => println!("    the examples of the draft are not there: {}", examples.display()),
    }
    for (number, (rules, queries)) in generated(seed)?.into_iter().enumerate() {
        put(entry(format!("generated {number}"), &rules, &queries)?)?;
    }
    Ok(())
}

fn entry(name: String, rules: &RuleSet, queries: &[Vec<u8>]) -> Result<Entry, String> {
    let bundle = bundle(rules)?;
    let texts: Vec<_> = queries.iter().map(|query| STANDARD.encode(query)).collect();
    let question = json!({ "bundle": STANDARD.encode(bundle), "queries": texts });
    let answers = queries.iter().map(|query| answer(rules, query)).collect();
    Ok(Entry { suite: Suite::Rules, name, question, answers })
}

/// Packs rules beside an empty set of policies.
fn bundle(rules: &RuleSet) -> Result<Vec<u8>, String> {
    let compiled =
        compile_files(&[], &Options::default()).map_err(|_| "nothing does not compile")?;
    pack_with_rules(&compiled.parts, rules, &Label::default()).map_err(|error| error.to_string())
}

/// Makes one set of all rules of the draft, and sends it all queries of the draft. Some rules and
/// queries are invalid on purpose: rules that cannot be read are left out, such queries are sent.
fn draft(path: &Path) -> Result<Entry, String> {
    let cannot = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(|error| cannot(&error))?;
    let json: Json = serde_json::from_str(&text).map_err(|error| cannot(&error))?;
    let texts = |section: &str, name: &str| -> Vec<Vec<u8>> {
        let tests = json.get(section).and_then(Json::as_array).into_iter().flatten();
        tests.filter_map(|test| Some(test.get(name)?.as_str()?.as_bytes().to_vec())).collect()
    };
    let mut rules = RuleSet::new();
    for text in [texts("less_or_equal", "rule"), texts("validity", "sexp")].concat() {
        if let Ok(rule) = file::rule(&text) {
            rules.insert(&rule).map_err(|error| error.to_string())?;
        }
    }
    let queries = [
        texts("less_or_equal", "query"),
        texts("validity", "sexp"),
        texts("canonical_vs_advanced", "canonical"),
        texts("canonical_vs_advanced", "advanced"),
    ];
    entry("draft".to_owned(), &rules, &queries.concat())
}

type Generated = (RuleSet, Vec<Vec<u8>>);

/// Returns generated rules and queries, the same ones for the same seed.
fn generated(seed: u8) -> Result<Vec<Generated>, String> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let rules = prop::collection::vec(tree(&ALL), 1..40);
    let queries = prop::collection::vec(prop_oneof![3 => tree(&SIMPLE), 1 => tree(&ALL)], QUERIES);
    let strategy = (rules, queries);
    (0..SETS)
        .map(|_| {
            let (rules, queries) =
                strategy.new_tree(&mut runner).map_err(|error| error.to_string())?.current();
            let mut set = RuleSet::new();
            for rule in rules {
                let rule = file::rule(rule.text().as_bytes()).map_err(|error| error.to_string())?;
                set.insert(&rule).map_err(|error| error.to_string())?;
            }
            Ok((set, queries.iter().map(|query| query.text().into_bytes()).collect()))
        })
        .collect()
}

/// Sets of generated rules, and queries to each.
const SETS: usize = 20;
const QUERIES: usize = 100;
