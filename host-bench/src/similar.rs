//! The rules that are most like a rule, and the index that finds them.
//!
//! Before anything is timed, the answers about some rules are those of a comparison with every class. Node asks the
//! module of analysis about the same policies, and has the same answers.

use std::cell::Cell;
use std::path::Path;

use serde_json::{Map, Value as Json, json};

use wardgate_analysis::index::{Index, RuleId};
use wardgate_analysis::report;
use wardgate_compiler::Options;
use wardgate_compiler::compile::FilesByPath;
use wardgate_compiler::resolve::resolve;
use wardgate_tooling::lint_files;

use crate::arguments::Arguments;
use crate::measure::{self, Bounds, Figure, Side};
use crate::node;
use crate::report::Section;
use crate::workload::Random;

/// The name of the sections in `--only`.
pub(crate) const NAME: &str = "similar";

type Files = Vec<(String, Vec<u8>)>;

/// Measures policies of each number.
pub(crate) fn sections(root: &Path, arguments: &Arguments) -> Result<Vec<Section>, String> {
    let sizes = COUNTS.iter().filter(|count| !arguments.quick || **count < LARGE);
    sizes.map(|count| section(root, *count, arguments)).collect()
}

fn section(root: &Path, count: usize, arguments: &Arguments) -> Result<Section, String> {
    let files = policies(count);
    let index = indexed(&files);
    let rules: Vec<RuleId> = index.all().map(|(rule, _)| rule).collect();
    confirm(&index, &rules)?;
    let title = format!("{count} policies of five rules: the {TOP} rules most like one");
    Section::new(format!("{NAME}-{count}"), title, NOTE)
        .native(arguments, || figures(&files, &index, &rules, arguments.bounds()))?
        .node(arguments, || {
            let job = job(&files, &index, &rules, arguments.quick)?;
            node::figures(&node::ask(root, "similar.mjs", &[], &job)?, "rows")
        })
}

fn figures(
    files: &Files,
    index: &Index,
    rules: &[RuleId],
    bounds: Bounds,
) -> Result<Vec<Figure>, String> {
    let turn = Cell::new(0);
    let search = || {
        for _ in 0..SEARCHES {
            turn.set((turn.get() + STEP) % rules.len());
            let query = rules.get(turn.get()).and_then(|rule| index.query(*rule));
            let query = query.ok_or("a rule is not in the index")?;
            if index.similar(&query, TOP).is_empty() {
                return Err("nothing is like a rule".to_owned());
            }
        }
        Ok(())
    };
    let name = format!("Wardgate, {TOP} most alike of {} rules", rules.len());
    let searched = measure::action(&name, Side::Ours, bounds, search)?;
    let searched = Figure::of_runs(name, Side::Ours, each(searched.runs));
    let made = measure::action("Wardgate, read and index", Side::Ours, bounds, || {
        if indexed(files).rules() == rules.len() { Ok(()) } else { Err("rules are missing".into()) }
    })?;
    let linted = measure::action("Wardgate, lint", Side::Ours, bounds, || {
        drop(lint_files(files, &Options::default()));
        Ok(())
    })?;
    let resolved = resolve(&FilesByPath::of(files).repository()).0;
    let alone = measure::action("Wardgate, index of what is read", Side::Ours, bounds, || {
        drop(Index::new(&resolved));
        Ok(())
    })?;
    Ok(vec![searched, alone, made, linted])
}

/// Returns the input of Node: policies, questions about rules, and the answers.
fn job(files: &Files, index: &Index, rules: &[RuleId], quick: bool) -> Result<Json, String> {
    let texts =
        files.iter().map(|(path, text)| (path.clone(), json!(String::from_utf8_lossy(text))));
    let mut questions = Vec::new();
    let mut expected = Vec::new();
    for at in (0..SEARCHES).map(|turn| turn * STEP % rules.len()) {
        let query = rules.get(at).and_then(|rule| index.query(*rule));
        let query = query.ok_or("a rule is not in the index")?;
        let found = index.similar(&query, TOP);
        questions.push(format!("{}#{}", query.place().policy, query.place().rule));
        expected.push(report::similar(index, &[], &[(&query, found)], &str::to_owned));
    }
    Ok(json!({
        "files": texts.collect::<Map<_, _>>(),
        "top": TOP,
        "questions": questions,
        "expected": expected,
        "quick": quick,
    }))
}

/// Divides the times of several searches by their number.
fn each(runs: Vec<Vec<f32>>) -> Vec<Vec<f32>> {
    let share = |time: f32| time / measure::single(measure::float(SEARCHES));
    runs.into_iter().map(|run| run.into_iter().map(share).collect()).collect()
}

fn indexed(files: &Files) -> Index {
    Index::new(&resolve(&FilesByPath::of(files).repository()).0)
}

/// Compares the scores about some rules with those of the oracle.
fn confirm(index: &Index, rules: &[RuleId]) -> Result<(), String> {
    for rule in rules.iter().step_by(rules.len().div_ceil(CONFIRMED).max(1)) {
        let query = index.query(*rule).ok_or("a rule is not in the index")?;
        let found = index.similar(&query, TOP).into_iter().map(|found| found.score);
        let expected =
            index.similar_by_brute_force(&query, TOP).into_iter().map(|(_, score)| score);
        if !found.eq(expected) {
            return Err(format!("{:?}: other rules are most alike", query.place()));
        }
    }
    Ok(())
}

/// Returns policies of one kind each, with rules about attributes, roles and constants at random.
fn policies(count: usize) -> Files {
    let mut random = Random::of_part(1);
    let mut policy = |number: usize| {
        let mut text = format!(
            "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  version: default\n  resource: kind_{number:05}\n  rules:\n"
        );
        for _ in 0..RULES {
            let (action, role) = (random.below(ACTIONS), random.below(ROLES));
            let (one, other) = (random.below(ATTRIBUTES), random.below(ATTRIBUTES));
            let (level, effect) = (random.below(LEVELS), random.pick(EFFECTS));
            text += &format!(
                "    - {{ actions: [action_{action}], roles: [role_{role}], effect: {effect}, condition: {{ match: {{ \
                 expr: R.attr.a{one} == P.attr.a{other} && P.attr.level >= {level} }} }} }}\n"
            );
        }
        (format!("kind_{number:05}.yaml"), text.into_bytes())
    };
    (0..count).map(&mut policy).collect()
}

const NOTE: &str = "Policies are in memory. An index is made of policies that are read; linting reads, checks and compiles them. \
                    In Node an answer has the proved relations and the differences too.";

const COUNTS: &[usize] = &[100, 1_000, LARGE];
const LARGE: usize = 10_000;
const RULES: usize = 5;
const TOP: usize = 10;
/// Searches of one sample, about rules that lie far from each other.
const SEARCHES: usize = 50;
const STEP: usize = 7919;
/// Rules whose answers are compared with the oracle.
const CONFIRMED: usize = 20;

const ACTIONS: usize = 40;
const ROLES: usize = 20;
const ATTRIBUTES: usize = 60;
const LEVELS: usize = 10;
const EFFECTS: &[&str] = &["EFFECT_ALLOW", "EFFECT_ALLOW", "EFFECT_ALLOW", "EFFECT_DENY"];
