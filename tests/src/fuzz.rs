//! The entries of fuzzers: every reader of untrusted input.
//!
//! An entry returns for every input; a panic is the finding. The same entries run under a
//! coverage-led fuzzer (`tests/fuzz`) and, with the mutations below, in any process.

mod bodies;
mod decision_log;
mod expressions;
mod limits;
mod lists;
mod mqtt_gate;
#[path = "../../crates/mqtt/tests/gate/notation.rs"]
#[expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "seeds that are no packets are a fault of this crate"
)]
mod mqtt_notation;
mod mqtt_packet;
mod sealed_texts;
mod signatures;
mod spocp_tcp;
mod travel;

use std::cell::Cell;
use std::sync::OnceLock;

use fastrand::Rng;
use wardgate_bundle::{Conditions, Trust, open, pack};
use wardgate_compiler::cel::{Env, Standalone, check as check_types, parse};
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::cel::{Timestamp, Value};
use wardgate_engine::regex::{Ascii, compile};
use wardgate_engine::request::{Principal, Request, Resource};
use wardgate_engine::table::{Parts, PolicyTable};

pub use bodies::bodies;
pub use decision_log::decision_log;
pub use expressions::spocp;
pub use limits::limits;
pub use lists::lists;
pub use mqtt_gate::mqtt_gate;
pub use mqtt_packet::mqtt_packet;
pub use sealed_texts::sealed_text;
pub use signatures::signature;
pub use spocp_tcp::spocp_tcp;
pub use travel::{delta, envelope, seals};

/// One thing to fuzz.
#[derive(Clone, Copy)]
pub struct Target {
    /// The name of the target in `tests/fuzz`.
    pub name: &'static str,
    /// The entry, which takes any input.
    pub entry: fn(&[u8]),
    /// The valid inputs to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// Every target.
pub const TARGETS: [Target; 17] = [
    Target { name: "yaml", entry: yaml, seeds: || texts(&[POLICY, DERIVED_ROLES, POLICY_JSON]) },
    Target { name: "cel", entry: cel, seeds: || texts(EXPRESSIONS) },
    Target { name: "bundle", entry: bundle, seeds: || vec![packed().to_vec(), vec![1; 24]] },
    Target { name: "regex", entry: regex, seeds: || texts(PATTERNS) },
    Target { name: "envelope", entry: envelope, seeds: travel::envelopes },
    Target { name: "delta", entry: delta, seeds: travel::deltas },
    Target { name: "seal", entry: seals, seeds: travel::sealed },
    Target { name: "signature", entry: signature, seeds: signatures::seeds },
    Target { name: "aead", entry: sealed_text, seeds: sealed_texts::seeds },
    Target { name: "spocp", entry: spocp, seeds: expressions::seeds },
    Target { name: "limits", entry: limits, seeds: limits::seeds },
    Target { name: "lists", entry: lists, seeds: lists::seeds },
    Target { name: "bodies", entry: bodies, seeds: bodies::seeds },
    Target { name: "decision_log", entry: decision_log, seeds: decision_log::seeds },
    Target { name: "mqtt_packet", entry: mqtt_packet, seeds: mqtt_packet::seeds },
    Target { name: "mqtt_gate", entry: mqtt_gate, seeds: mqtt_gate::seeds },
    Target { name: "spocp_tcp", entry: spocp_tcp, seeds: spocp_tcp::seeds },
];

/// Compiles a policy file.
pub fn yaml(input: &[u8]) {
    let file = |name: &str| vec![(name.to_owned(), input.to_vec())];
    let options = Options::default();
    let _ = compile_files(&file("policy.yaml"), &options);
    let _ = compile_files(&file("policy.json"), &options);
}

/// Compiles an expression and evaluates it.
pub fn cel(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    if let Ok(tree) = parse(&text) {
        let _ = check_types(&tree, &Env::cerbos());
    }
    let variable = ("x".to_owned(), Value::Int(1));
    let env = Env::custom("", [("x".to_owned(), wardgate_compiler::cel::Type::Dyn)]);
    if let Ok(compiled) = Standalone::compile(&text, &env) {
        compiled.eval(&[variable], Timestamp::default(), |value| drop(format!("{value:?}")));
    }
}

/// Opens a bundle, and decides with it if it opens. Input that starts with an odd byte changes
/// words of a good table instead, so that the digest does not shield the rest of the reader.
///
/// # Panics
/// If a bundle opens that is not, byte for byte, what its table packs to.
pub fn bundle(input: &[u8]) {
    match input.split_first() {
        Some((first, changes)) if first % 2 == 1 => {
            if let Ok(table) = PolicyTable::from_parts(changed(changes)) {
                decide(&table);
            }
        }
        _ => {
            if let Ok(opened) = open(input, Trust::Unsigned, &Conditions::default()) {
                let same = pack(opened.table.parts()) == input;
                assert!(same, "a table that is not all of its bundle");
                decide(&opened.table);
            }
        }
    }
}

/// Compiles a pattern and searches a text: the parts before and after the first line break.
pub fn regex(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let (pattern, text) = text.split_once('\n').unwrap_or((&text, "aab\u{e9}"));
    let regexes = [compile(pattern, &Ascii), wardgate_compiler::regex::compile(pattern)];
    for regex in regexes.iter().flatten() {
        let _ = regex.program().is_match(text, &mut STEPS.clone());
    }
}

/// Feeds `target` mutations of its seeds while `goes_on` returns true, and returns their number.
/// The same `seed` gives the same inputs.
pub fn smoke(target: Target, seed: u64, goes_on: impl Fn(usize) -> bool) -> usize {
    let seeds = (target.seeds)();
    let mut random = Rng::with_seed(seed);
    let mut count = 0;
    while goes_on(count) {
        let mut input = random.choice(&seeds).cloned().unwrap_or_default();
        for _ in 0..=random.usize(..MUTATIONS) {
            mutate(&mut random, &mut input, &seeds);
        }
        (target.entry)(&input);
        count += 1;
    }
    count
}

fn mutate(random: &mut Rng, input: &mut Vec<u8>, seeds: &[Vec<u8>]) {
    let at = random.usize(..input.len() + 1);
    match random.usize(..6) {
        0 => input.truncate(at),
        1 => input.insert(at, random.u8(..)),
        2 => {
            let bit = 1 << random.u8(..8);
            input.get_mut(at).into_iter().for_each(|byte| *byte ^= bit);
        }
        3 => input.extend_from_within(at..),
        4 if at < input.len() => drop(input.remove(at)),
        _ => {
            let other = random.choice(seeds).cloned().unwrap_or_default();
            let start = random.usize(..other.len().max(1));
            let piece = other.get(start..(start + 1 + random.usize(..16)).min(other.len()));
            input.splice(at..at, piece.unwrap_or_default().iter().copied());
        }
    }
    input.truncate(LONGEST_INPUT);
}

/// Returns a good bundle.
fn packed() -> &'static [u8] {
    static PACKED: OnceLock<Vec<u8>> = OnceLock::new();
    PACKED.get_or_init(|| {
        let file = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
        let files = [file("policy.yaml", POLICY), file("roles.yaml", DERIVED_ROLES)];
        compile_files(&files, &Options::default())
            .map(|compiled| pack(&compiled.parts))
            .unwrap_or_default()
    })
}

/// Returns the parts of a good table with words changed: two bytes select the word, four are its
/// new value.
fn changed(changes: &[u8]) -> Parts {
    let opened = open(packed(), Trust::Unsigned, &Conditions::default());
    let mut parts = opened.map(|opened| opened.table.parts().clone()).unwrap_or_default();
    for change in changes.chunks_exact(6) {
        let [a, b, value @ ..] = change else { continue };
        let at = usize::from(u16::from_le_bytes([*a, *b]));
        let value = value.try_into().map_or(0, u32::from_le_bytes);
        parts.words.get_mut(at).into_iter().for_each(|word| *word = value);
    }
    parts
}

fn decide(table: &PolicyTable) {
    let request = request();
    let explanation = table.explain(&request, Timestamp::default());
    let checked = Cell::new(table.check(&request, Timestamp::default()));
    assert!(explanation.decision == checked.into_inner(), "explain and check differ");
}

/// Returns a request about which the good bundle has rules.
fn request() -> Request {
    Request {
        principal: Principal {
            id: "ada".to_owned(),
            roles: vec!["user".to_owned()],
            ..Principal::default()
        },
        resource: Resource { kind: "album".to_owned(), id: "1".to_owned(), ..Resource::default() },
        actions: vec!["view".to_owned(), "edit".to_owned()],
        ..Request::default()
    }
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

const LONGEST_INPUT: usize = 1 << 14;
const MUTATIONS: usize = 6;
const STEPS: u32 = 100_000;

const POLICY: &str = "\
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: album
  version: default
  importDerivedRoles: [owners]
  constants: { local: { limit: 3 } }
  variables: { local: { near: R.attr.distance < C.limit } }
  rules:
    - actions: ['view:*', edit]
      effect: EFFECT_ALLOW
      derivedRoles: [owner]
    - actions: ['*']
      effect: EFFECT_DENY
      roles: [user]
      name: far
      condition: { match: { none: { of: [{ expr: V.near }, { expr: 'P.id in R.attr.friends' }] } } }
      output: { when: { ruleActivated: '\"far from \" + P.id' } }
";

const DERIVED_ROLES: &str = "\
apiVersion: api.cerbos.dev/v1
derivedRoles:
  name: owners
  definitions:
    - name: owner
      parentRoles: [user]
      condition: { match: { expr: R.attr.owner == P.id } }
";

const POLICY_JSON: &str = r#"{"apiVersion": "api.cerbos.dev/v1", "principalPolicy": {"principal": "ada", "version": "default",
    "rules": [{"resource": "album", "actions": [{"action": "view", "effect": "EFFECT_ALLOW"}]}]}}"#;

const EXPRESSIONS: &[&str] = &[
    "1 + 2 * 3 == 7 && 'a'.startsWith(\"a\") || x > 1.5",
    "[1, 2u, 3.0].map(i, i > 1, [i]).exists(l, l[0] == 2)",
    "{'a': 1, 'b': [2]}.b[?0].orValue(dyn(-1)) in [2]",
    "R.attr.tags.all(t, t.matches('^[a-z]+$')) ? P.id : R.id",
    "timestamp('2024-01-01T00:00:00Z') + duration('1h') > now()",
    "cel.bind(a, b'\\x00' + bytes('z'), size(a))",
    "'%s %d'.format(['x', 1]).split(' ').join('-')",
    "{'k': 1}.transformMap(k, v, v + 1)",
];

const PATTERNS: &[&str] = &[
    "^(a|b)*c{2,3}?$\nababcc",
    "(?i:[^a-z\\d]+)\\p{Greek}\nABC",
    "(?P<n>x*?)(?m:^y$)|\\bz\\B\nz\ny",
    "\\Q.*\\E[[:alpha:]]\\x{10FFFF}\n.*a",
];

#[cfg(test)]
mod tests {
    use super::{TARGETS, bodies, packed, smoke};

    #[test]
    fn random_input_breaks_nothing() {
        assert!(!packed().is_empty() && bodies::server().is_some());
        for target in TARGETS {
            (target.seeds)().iter().for_each(|seed| (target.entry)(seed));
            assert_eq!(smoke(target, 7, |count| count < 500), 500, "{}", target.name);
        }
    }
}
