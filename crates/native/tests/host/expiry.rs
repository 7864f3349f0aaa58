//! A bundle that was open when it expired allows no action any more.

use serde_json::json;
use wardgate_bundle::{Label, pack_as};
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::decision::Reason;
use wardgate_native::{
    AfterExpiry, CallLimits, Conditions, Effect, Pdp, PrincipalRef, Question, Request, ResourceRef,
    Timestamp, Trust,
};

use crate::policies::{ACTIONS, DOCUMENTS, Document, Person, owned_by, person};

const EXPIRES: u64 = 1_800_000_000;

#[test]
fn everything_is_denied_from_the_second_of_expiry_on() {
    let pdp = opened(AfterExpiry::Deny, 0);
    assert!(allowed(&pdp, at(-1)) > 10);
    assert_eq!(allowed(&pdp, at(0)), 0);
    assert_eq!(allowed(&pdp, at(1_000_000_000)), 0);
}

#[test]
fn cached_answers_expire_too() {
    let pdp = opened(AfterExpiry::Deny, 64);
    assert_eq!(allowed(&pdp, at(-1)), allowed(&pdp, at(-1)));
    assert_eq!(allowed(&pdp, at(0)), 0);
}

#[test]
fn a_host_may_continue_after_expiry() {
    let pdp = opened(AfterExpiry::Decide, 0);
    assert_eq!(allowed(&pdp, at(0)), allowed(&pdp, at(-1)));
}

#[test]
fn a_decision_says_that_the_policies_have_expired() {
    let pdp = opened(AfterExpiry::Deny, 0);
    let request = Request { actions: vec!["list".to_owned()], ..request() };
    let reason = |now| pdp.snapshot().check(&request, now).actions[0].reason.clone();
    assert!(matches!(reason(at(-1)), Reason::Rule(_)));
    assert_eq!(reason(at(0)), Reason::Expired);
    let explained = pdp.snapshot().explain(&request, at(0));
    assert_eq!(explained.decision.actions[0].effect, Effect::Deny);
    assert!(explained.steps.is_empty());
}

#[test]
fn calls_are_not_answered_from_their_text_after_expiry() {
    let pdp = opened(AfterExpiry::Deny, 0);
    let principal = json!({ "id": "ada", "roles": ["viewer"] });
    let resource = json!({ "kind": "document", "id": "d1" });
    let call = json!({
        "principal": principal,
        "resources": [{ "resource": resource, "actions": ["list"] }],
    });
    let limits = CallLimits { resources: 1, actions: 1, steps: u32::MAX };
    let answer = |now| pdp.snapshot().answer_call(call.to_string().as_bytes(), limits, now);
    assert_eq!(answer(at(-1)).map(|answer| answer.allowed), Some(1));
    assert_eq!(answer(at(0)), None);
}

#[test]
fn an_expired_bundle_cannot_be_opened() {
    for after_expiry in [AfterExpiry::Deny, AfterExpiry::Decide] {
        let conditions = Conditions { now: Some(EXPIRES), after_expiry, ..Conditions::default() };
        let refused = Pdp::open_under(&bundle(), Trust::Unsigned, &conditions, 0).unwrap_err();
        assert_eq!(refused.code(), "expired");
    }
}

fn bundle() -> Vec<u8> {
    let files = [("policy.yaml".to_owned(), DOCUMENTS.as_bytes().to_vec())];
    let label = Label { expires: Some(EXPIRES), ..Label::default() };
    pack_as(&compile_files(&files, &Options::default()).unwrap().parts, &label).unwrap()
}

fn opened(after_expiry: AfterExpiry, entries: usize) -> Pdp {
    let conditions = Conditions { now: Some(0), after_expiry, ..Conditions::default() };
    Pdp::open_under(&bundle(), Trust::Unsigned, &conditions, entries).unwrap()
}

/// Returns the time so many seconds after expiry.
fn at(seconds: i64) -> Timestamp {
    Timestamp::new(i64::try_from(EXPIRES).unwrap() + seconds, 0).unwrap()
}

fn request() -> Request {
    let mut request = Request::default();
    request.principal.id = "ada".to_owned();
    request.principal.roles = vec!["viewer".to_owned()];
    request.resource.kind = "document".to_owned();
    request.resource.id = "d1".to_owned();
    request
}

/// Counts the allowed answers about all actions, in every form of a question.
fn allowed(pdp: &Pdp, now: Timestamp) -> usize {
    let (ada, document) = (person("ada", &["viewer", "editor"]), owned_by("ada"));
    ACTIONS.iter().map(|action| of_action(pdp, (&ada, action, &document), now)).sum()
}

fn of_action(pdp: &Pdp, parts: (&Person, &str, &Document), now: Timestamp) -> usize {
    let (person, action, document) = parts;
    let question = Question {
        principal: PrincipalRef::new(&person.id, &person.roles, person),
        action,
        resource: ResourceRef::new("document", &document.id, document),
    };
    let prepared = pdp.prepare::<Person, Document>("document", action);
    let text = json!({
        "principal": { "id": "ada", "roles": ["viewer"] },
        "action": action,
        "resource": { "kind": "document", "id": "d1", "attr": { "owner": "ada" } },
    });
    let answers = [
        pdp.is_allowed(&request(), action, now),
        pdp.is_allowed_fields(&question, now),
        pdp.is_allowed_value(&text, now).unwrap(),
        pdp.is_allowed_json(text.to_string().as_bytes(), now).unwrap(),
        prepared.is_allowed(person, document, now),
        prepared.principal(person).is_allowed(document, now),
    ];
    answers.into_iter().filter(|is_allowed| *is_allowed).count()
}
