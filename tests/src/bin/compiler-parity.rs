//! Compares the native compiler with the one of the npm package: both must give the same bytes and
//! the same diagnostics.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::ExitCode;
use std::sync::mpsc::channel;

use serde_json::Value as Json;
use wardgate_tests::generate::worlds;
use wardgate_tests::program::{exit, root};
use wardgate_tests::sources::{Sources, hostile, wrong};
use wardgate_tests::{cases, node};
use wardgate_tooling::lint::Lint;

fn main() -> ExitCode {
    exit("compiler-parity", run())
}

fn run() -> Result<bool, String> {
    let cases: Vec<Sources> = cases::all()?.into_iter().map(Sources::of_case).collect();
    let generated = worlds(SEED, 1).take(WORLDS).map(|world| Sources::of_world(&world));
    let generated = generated.collect::<Result<Vec<_>, _>>()?;
    let broken =
        || cases.iter().chain(generated.iter().take(BROKEN_WORLDS)).flat_map(Sources::broken);
    let mut seen = BTreeSet::new();
    let mut same = compare("cases", cases.iter().cloned(), &mut seen)?;
    same &= compare("generated", generated.iter().cloned(), &mut seen)?;
    same &= compare("broken", broken(), &mut seen)?;
    same &= compare("wrong", wrong().into_iter(), &mut seen)?;
    same &= compare("hostile", hostile().into_iter(), &mut seen)?;
    // The findings of the linter have their own cases.
    seen.extend(Lint::ALL.iter().map(|lint| lint.name().to_owned()));
    Ok(same & is_declared(&seen)?)
}

/// Returns true if the package declares the codes that were seen, and no others.
fn is_declared(seen: &BTreeSet<String>) -> Result<bool, String> {
    let path = root().join("npm/src/compiler/diagnostic.ts");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let name = |line: &str| Some(line.trim().strip_prefix("| \"")?.split('"').next()?.to_owned());
    let declared: BTreeSet<String> = text.lines().filter_map(name).collect();
    let odd: Vec<&String> = declared.symmetric_difference(seen).collect();
    println!("compiler-parity: {} codes seen, {} declared", seen.len(), declared.len());
    odd.iter().for_each(|code| println!("  `{code}` is only one of both"));
    Ok(odd.is_empty())
}

/// The counts of one suite.
#[derive(Default)]
struct Tally {
    compiled: usize,
    refused: usize,
    failed: usize,
    codes: BTreeMap<String, usize>,
}

impl Tally {
    fn count(&mut self, name: &str, expected: &Json, found: &Json) {
        if expected != found {
            self.failed += 1;
            if self.failed <= MOST_SHOWN {
                println!("  {name}:\n    native {}\n    node   {}", cut(expected), cut(found));
            }
            return;
        }
        match expected.get("bundle") {
            Some(_) => self.compiled += 1,
            None => self.refused += 1,
        }
        let lists = ["diagnostics", "lint"].map(|name| expected.get(name).and_then(Json::as_array));
        for one in lists.into_iter().flatten().flatten() {
            let code = one.get("code").and_then(Json::as_str).unwrap_or_default();
            *self.codes.entry(code.to_owned()).or_default() += 1;
        }
    }
}

/// Sends sources to Node while the native compiler works on the next ones.
fn compare(
    suite: &str,
    all: impl Iterator<Item = Sources>,
    seen: &mut BTreeSet<String>,
) -> Result<bool, String> {
    let (sender, receiver) = channel();
    let (sent, failed) = (Cell::new(0), Cell::new(None));
    let questions = all.map_while(|sources| match sources.answer() {
        Ok(answer) => {
            sent.set(sent.get() + 1);
            let question = sources.question();
            sender.send((sources.name, answer)).ok().map(|()| question)
        }
        Err(error) => {
            failed.set(Some(error));
            None
        }
    });
    let mut tally = Tally::default();
    let counted = &mut tally;
    node::talk(&root().join("tests/node/compile.mjs"), questions, move |line| {
        let found = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let (name, expected) = receiver.recv().map_err(|_| "node answered more than was asked")?;
        counted.count(&name, &expected, &found);
        Ok(())
    })?;
    if let Some(error) = failed.take() {
        return Err(error);
    }
    let Tally { compiled, refused, failed, codes } = tally;
    let diagnostics: usize = codes.values().sum();
    println!(
        "compiler-parity-{suite}: {compiled} bundles and {refused} refusals equal, {failed} not; \
         {diagnostics} diagnostics of {} kinds",
        codes.len()
    );
    seen.extend(codes.into_keys());
    if compiled + refused + failed != sent.get() {
        return Err("node did not answer everything".to_owned());
    }
    Ok(failed == 0)
}

fn cut(json: &Json) -> String {
    json.to_string().chars().take(600).collect()
}

/// Any seed is good enough; this one never changes.
const SEED: u8 = 3;
const WORLDS: usize = 100;
/// All worlds are made of the same few words: a fault that shows in some shows in all.
const BROKEN_WORLDS: usize = 5;
const MOST_SHOWN: usize = 5;
