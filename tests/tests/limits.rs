//! A request of any size is decided in bounded time, and an undecided action is not allowed.
#![forbid(unsafe_code)]

use wardgate_bundle::{Conditions, OpenError, Trust, open, pack};
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::budget::Budget;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::{Effect, Reason};
use wardgate_engine::limits::{MAX_EXPLANATION_BYTES, MAX_REQUEST_STEPS};
use wardgate_engine::request::Request;
use wardgate_engine::table::layout::{EFFECT_DENY, Header, INDEX_WORDS, Key, block, head, rule};
use wardgate_engine::table::{Flaw, PolicyTable, Section};
use wardgate_tests::compiled::Compiled;

fn table(lenient_scope_search: bool) -> Result<PolicyTable, String> {
    let files = [("doc.yaml".to_owned(), POLICY.as_bytes().to_vec())];
    let options = Options { lenient_scope_search, ..Options::default() };
    Compiled::new(&files, &options).map(|compiled| compiled.table)
}

fn request(roles: Vec<String>, actions: Vec<String>) -> Request {
    let mut request = Request::default();
    request.principal.id = "sam".to_owned();
    request.principal.roles = roles;
    request.resource.kind = "doc".to_owned();
    request.actions = actions;
    request
}

#[test]
fn actions_beyond_the_budget_of_the_request_are_denied() {
    let table = table(false).unwrap();
    let mut roles: Vec<String> = (0..500).map(|n| format!("{n}").repeat(4096)).collect();
    roles.push("member".to_owned());
    let actions: Vec<String> = (0..500).map(|n| format!("view:{n}")).collect();
    let request = request(roles, actions);
    let decision = table.check(&request, Timestamp::default());
    let (first, last) = (decision.actions.first().unwrap(), decision.actions.last().unwrap());
    assert_eq!(first.effect, Effect::Allow);
    assert_eq!((last.effect, &last.reason), (Effect::Deny, &Reason::RequestLimitReached));
    assert!(table.is_allowed(&request, "view:499", Timestamp::default()));
    let explained = table.explain(&request, Timestamp::default());
    assert_eq!(explained.decision, decision);
}

#[test]
fn decisions_of_one_call_end_where_their_budget_does() {
    let table = table(false).unwrap();
    let actions = (0..100).map(|n| format!("view:{n}")).collect();
    let request = request(vec!["member".to_owned()], actions);
    let now = Timestamp::default();
    let whole = table.check(&request, now);
    let budget = Budget::default();
    assert_eq!(table.check_within(&request, now, &budget), whole);
    let taken = MAX_REQUEST_STEPS - budget.left();
    let budget = Budget::new(taken + taken / 2);
    assert_eq!(table.check_within(&request, now, &budget), whole);
    let second = table.check_within(&request, now, &budget);
    let allowed = second.actions.iter().filter(|action| action.effect == Effect::Allow).count();
    assert!((1..100).contains(&allowed), "{allowed}");
    assert_eq!(second.actions.last().unwrap().reason, Reason::RequestLimitReached);
    assert_eq!(budget.left(), 0);
    assert!(!table.is_allowed_within(&request, "view:1", now, &budget));
    let explained = table.explain_within(&request, now, &Budget::new(0));
    assert!(explained.decision.actions.iter().all(|action| action.effect == Effect::Deny));
}

#[test]
fn an_explanation_ends_where_it_would_be_too_long() {
    let roles = vec!["r".repeat(1 << 20); 40];
    let request = request(roles, vec!["view:1".to_owned()]);
    let explained = table(false).unwrap().explain(&request, Timestamp::default());
    let bytes: usize = explained.steps.iter().map(|step| step.role.len()).sum();
    assert!(bytes > MAX_EXPLANATION_BYTES / 2 && bytes <= MAX_EXPLANATION_BYTES, "{bytes}");
}

#[test]
fn a_hundred_thousand_actions_are_distinguished_in_time() {
    let actions = (0..100_000).map(|n| format!("view:{}", n % 99_000)).collect();
    let decision = table(false)
        .unwrap()
        .check(&request(vec!["member".to_owned()], actions), Timestamp::default());
    assert_eq!(decision.actions.len(), 99_000);
    assert!(decision.actions.iter().all(|action| action.effect == Effect::Allow));
}

#[test]
fn a_scope_of_a_million_dots_is_read_once() {
    let table = table(true).unwrap();
    let mut request = request(vec!["member".to_owned()], Vec::new());
    request.resource.scope = "a.".repeat(1 << 20);
    assert!(table.is_allowed(&request, "view:1", Timestamp::default()));
    request.resource.scope = ".".repeat(1 << 20);
    assert!(table.is_allowed(&request, "view:1", Timestamp::default()));
}

#[test]
fn blocks_are_shared_as_a_whole_or_refused() {
    let small = POLICY.replace("resource: doc", "resource: small");
    let actions: Vec<String> = (0..40).map(|n| format!("a{n}")).collect();
    let large = POLICY.replace("delete", &actions.join(", "));
    let files = [("doc.yaml", large), ("small.yaml", small)];
    let files = files.map(|(path, text)| (path.to_owned(), text.into_bytes()));
    let parts = compile_files(&files, &Options::default()).unwrap().parts;
    let header = Header::read(&parts.words).unwrap();
    let (start, length) = header.bounds(Section::Index);
    let entries = parts.words[start..start + length].chunks_exact(INDEX_WORDS);
    let heads: Vec<u32> = entries
        .filter(|entry| entry[0] == Key::Resource.code())
        .map(|entry| entry[INDEX_WORDS - 1])
        .collect();
    let (blocks, length) = header.bounds(Section::Blocks);
    let field =
        |policy: usize, field: usize| blocks + usize::try_from(heads[policy]).unwrap() + field;
    let opened = |block: u32| {
        let mut parts = parts.clone();
        parts.words[field(1, head::BLOCK)] = block;
        open(&pack(&parts), Trust::Unsigned, &Conditions::default()).map(drop)
    };
    let [first, second] = [0, 1].map(|policy| parts.words[field(policy, head::BLOCK)]);
    assert_ne!(first, second);
    assert_eq!(opened(first), Ok(()));
    // Blocks that overlap would cost a walk for each of them.
    for block in (0..u32::try_from(length).unwrap()).filter(|at| ![first, second].contains(at)) {
        assert_eq!(opened(block), Err(OpenError::Malformed(Flaw::Blocks)), "{block}");
    }
}

#[test]
fn unknown_flags_and_effects_are_refused() {
    let files = [("doc.yaml".to_owned(), POLICY.as_bytes().to_vec())];
    let sound = compile_files(&files, &Options::default()).unwrap().parts;
    let (blocks, _) = Header::read(&sound.words).unwrap().bounds(Section::Blocks);
    let at = |word: u32| usize::try_from(word).unwrap();
    let lines = blocks;
    let record = lines + 1 + at(sound.words[lines]);
    let record = record + at(sound.words[record + block::RULE_RECORDS]);
    let check = |place: usize, word: u32, flaw: Flaw| {
        let mut parts = sound.clone();
        parts.words[place] = word;
        let error = open(&pack(&parts), Trust::Unsigned, &Conditions::default()).unwrap_err();
        assert_eq!(error, OpenError::Malformed(flaw), "{word} at {place}");
    };
    check(2, 1 << 4, Flaw::HasLimits);
    check(2, 1 << 5, Flaw::Header);
    check(record + rule::EFFECT, EFFECT_DENY + 1, Flaw::Blocks);
    check(record + rule::FLAGS, 1 << 2, Flaw::Blocks);
}

const POLICY: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: doc
  rules:
    - { actions: ["view:*"], effect: EFFECT_ALLOW, roles: [member] }
    - { actions: [delete], effect: EFFECT_DENY, roles: ["*"] }
"#;
