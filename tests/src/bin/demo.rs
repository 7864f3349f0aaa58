//! Compiles the policies of the demonstration, decides its requests natively and in Node, and shows
//! the answers side by side.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::time::Instant;

use serde_json::Value as Json;
use wardgate_bundle::pack;
use wardgate_compiler::compile_dir;
use wardgate_engine::decision::{ActionDecision, Reason};
use wardgate_engine::table::PolicyTable;
use wardgate_engine::wire::{decision_json, effect_name};
use wardgate_native::{Pdp, Trust};
use wardgate_tests::compiled::Compiled;
use wardgate_tests::demo::{self, Demo, Entry};
use wardgate_tests::node::{self, Job};
use wardgate_tests::program::{exit, root};

fn main() -> ExitCode {
    exit("demo", run())
}

fn run() -> Result<bool, String> {
    let root = root();
    let folder = root.join("tests/demo");
    let demo = demo::load(&folder)?;
    let compiled = compile_dir(&folder.join("policies"), &demo.options)
        .map_err(|errors| errors.iter().map(|error| format!("\n{error}")).collect::<String>())?;
    let Compiled { bundle, table } = Compiled::opened(pack(&compiled.parts))?;
    let pdp = Pdp::open(&bundle, Trust::Unsigned).map_err(|error| error.to_string())?;
    println!(
        "tests/demo/policies: {} policies in a bundle of {} bytes\n",
        compiled.policies,
        bundle.len()
    );

    let requests: Vec<Json> = demo.requests.iter().map(|entry| entry.json.clone()).collect();
    let job = Job { rounds: Some(ROUNDS), ..Job::new(bundle, demo.now, requests) };
    let answers = node::decide(&root, std::iter::once(job))?;
    let answer = answers.first().ok_or("node gave no answer")?;
    let right = show(&demo, &table, &answer.decisions);

    let native = time(&demo, &pdp);
    println!(
        "\n{right} of {} requests decided as expected, natively and in Node.",
        demo.requests.len()
    );
    println!("Time per decision, request object to boolean, median of {ROUNDS} passes:");
    println!("  native {native:.0} ns    Node {:.0} ns", answer.nanoseconds.unwrap_or(f64::NAN));
    Ok(right == demo.requests.len())
}

/// Prints a line for each request and returns how many are as expected on both hosts.
fn show(demo: &Demo, table: &PolicyTable, node: &[String]) -> usize {
    println!("{:<44} {:<28} {:<7} {:<7} decided by", "request", "who does what", "native", "Node");
    let mut right = 0;
    for (at, entry) in demo.requests.iter().enumerate() {
        let decision = table.check(&entry.request, demo.now);
        let Some(decided) = decision.actions.first() else { continue };
        let other = node.get(at).map_or("", String::as_str);
        let same = other == decision_json(&decision);
        let good =
            same && effect_name(decided.effect) == entry.expect && by_expected_rule(entry, decided);
        right += usize::from(good);
        let [who, what, which] = &entry.subject;
        println!(
            "{:<44} {:<28} {:<7} {:<7} {}{}",
            entry.name,
            format!("{who} {what} {which}"),
            effect_name(decided.effect),
            effect_in(other, what),
            because(decided),
            if good { "" } else { "   <- NOT AS EXPECTED" },
        );
    }
    right
}

fn by_expected_rule(entry: &Entry, decided: &ActionDecision) -> bool {
    match (&entry.rule, &decided.reason) {
        (Some(name), Reason::Rule(rule)) => rule.ends_with(&format!("#{name}")),
        (Some(name), _) => decided.policy == *name,
        (None, reason) => *reason == Reason::NoRuleApplied,
    }
}

fn because(decided: &ActionDecision) -> String {
    match &decided.reason {
        Reason::Rule(rule) => rule.clone(),
        Reason::NotInRolePolicy => format!("{}, which does not list it", decided.policy),
        Reason::NoRuleApplied => format!("{}: no rule allows it", decided.policy),
        other => format!("{other:?}"),
    }
}

fn effect_in(decision: &str, action: &str) -> String {
    let json: Json = serde_json::from_str(decision).unwrap_or(Json::Null);
    let effect = json.get("actions").and_then(|all| all.get(action)?.get("effect")?.as_str());
    effect.unwrap_or("-").to_owned()
}

/// Returns the median nanoseconds of one decision.
fn time(demo: &Demo, pdp: &Pdp) -> f64 {
    let count = u32::try_from(demo.requests.len()).unwrap_or(u32::MAX);
    let mut passes: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            for entry in &demo.requests {
                let [_, action, _] = &entry.subject;
                std::hint::black_box(pdp.is_allowed(&entry.request, action, demo.now));
            }
            start.elapsed().as_secs_f64() * 1e9 / f64::from(count)
        })
        .collect();
    passes.sort_by(f64::total_cmp);
    passes.get(passes.len() / 2).copied().unwrap_or(f64::NAN)
}

const ROUNDS: u32 = 2001;
