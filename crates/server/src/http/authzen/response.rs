//! Answers with the metadata of Cerbos: the context of each answer holds a response to
//! CheckResources about all evaluations of the same subject in the same context.

use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::sync::Arc;

use wardgate_crypto::blake3;
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::decision::{Decision, Effect};
use wardgate_engine::request::Resource;
use wardgate_engine::wire::Json;
use wardgate_native::protocol::authzen::{AuthzenError, Evaluation, Requests, write_refusal};
use wardgate_native::protocol::cerbos::answer::{self, ResultEntry, optional};
use wardgate_native::protocol::json::{document, list, member};

use super::tokens::Verifier;
use super::{Questions, decided, must_be_left};
use crate::decision_log::noted;
use crate::http::cerbos::{must_be_few, must_be_short, named};
use crate::http::context::Context;
use crate::http::reply::Result;
use crate::http::steps::Steps;
use crate::limits::MAX_ANSWER_BYTES;
use crate::telemetry::metrics::Tally;

/// The response about one subject in one context.
pub(super) struct SubjectResponse {
    request_id: String,
    results: Vec<Entry>,
    /// Which of the results is about which resource.
    positions: HashMap<Digest, usize>,
}

/// Holds the decisions on one resource, as a response to CheckResources lists them.
struct Entry {
    /// Names the resource; its attributes are left out.
    resource: Resource,
    /// Joins the decisions on all actions; their outputs are left out, for they take less memory as
    /// text.
    decision: Decision,
    /// Holds each output as JSON.
    outputs: Vec<String>,
    /// Holds the BLAKE3 digests of the outputs, so that none is listed twice.
    known: HashSet<Digest>,
}

/// The responses about all subjects.
#[derive(Default)]
struct Groups {
    groups: Vec<SubjectResponse>,
    positions: HashMap<[Digest; 2], usize>,
    /// A lower bound of the length of the answer.
    length: usize,
}

/// The digests of parts of questions, each computed once however many questions share it.
struct Digests<T>(HashMap<*const T, Digest>);

type Digest = [u8; 32];

impl SubjectResponse {
    pub(super) fn of(resource: &Resource, context: &AttrMap, decision: Decision) -> Self {
        let results = vec![Entry::new(resource, decision)];
        Self { request_id: request_id(context).to_owned(), results, positions: HashMap::new() }
    }

    /// Returns the context of the answers, unless it is longer than an answer may be.
    fn context(&self) -> Result<String> {
        let text = document(|json| {
            member(json, "cerbos.response", |json| {
                optional(json, "requestId", &self.request_id);
                list(json, "results", &self.results, |json, entry| entry.write(json));
            });
        });
        must_be_short(text.len(), MAX_ANSWER_BYTES)?;
        Ok(text)
    }

    /// Returns the answer to the only question.
    pub(super) fn answer(&self, is_allowed: bool) -> Result<String> {
        Ok(response(is_allowed, &self.context()?))
    }

    /// Adds a decision to the results on its resource.
    fn add(&mut self, digest: Digest, entry: Entry) {
        let end = self.results.len();
        let position = *self.positions.entry(digest).or_insert(end);
        match self.results.get_mut(position) {
            Some(known) => known.add(entry),
            None => self.results.push(entry),
        }
    }
}

impl Entry {
    fn new(resource: &Resource, mut decision: Decision) -> Self {
        let outputs = answer::outputs(&decision, MAX_ANSWER_BYTES);
        decision.outputs = Vec::new();
        let known = outputs.iter().map(|output| blake3::hash(output.as_bytes())).collect();
        Self { resource: named(resource), decision, outputs, known }
    }

    fn write(&self, json: &mut Json) {
        self.result(&self.outputs).write(json);
    }

    fn result<'a>(&'a self, outputs: &'a [String]) -> ResultEntry<'a> {
        ResultEntry { resource: &self.resource, decision: &self.decision, outputs, with_meta: true }
    }

    /// Returns how many bytes it is written with.
    fn length(&self) -> usize {
        let mut json = Json::default();
        self.result(&[]).write(&mut json);
        self.outputs
            .iter()
            .fold(json.length(), |length, output| length.saturating_add(output.len()))
    }

    /// Adds a decision on the same resource. The same action may come with other properties.
    fn add(&mut self, Self { decision, outputs, .. }: Self) {
        for action in decision.actions {
            if !self.decision.actions.iter().any(|known| known.action == action.action) {
                self.decision.actions.push(action);
            }
        }
        let roles = &mut self.decision.effective_derived_roles;
        roles.extend(decision.effective_derived_roles);
        roles.sort();
        roles.dedup();
        for output in outputs {
            if self.known.insert(blake3::hash(output.as_bytes())) {
                self.outputs.push(output);
            }
        }
    }
}

/// Answers several evaluations. As in Cerbos, the metadata covers all of them, also those after the
/// end of the semantic: the tests of Cerbos have it so.
pub(super) fn many(questions: &Questions<'_>, context: Context<'_>) -> Result<String> {
    let (policies, shared, now) = (context.policies()?, context.shared, context.now());
    let verifier = Verifier::new(shared);
    let verify = |tokens: &Attr| verifier.read(tokens);
    let mut requests = Requests::new(questions.defaults, context.state.directory(), &verify);
    let budget = Steps::of(shared);
    let (mut entities, mut contexts) = (Digests::new(), Digests::new());
    let (mut groups, mut answers, mut tally) = (Groups::default(), Vec::new(), Tally::default());
    let mut end = None;
    for item in questions.items {
        let answered = item.as_ref().map_err(Clone::clone).and_then(|question| {
            let key = [entities.of(&question.subject), contexts.of(&question.context)];
            let resource = entities.of(&question.resource);
            must_be_left(&budget)?;
            requests.with(question, |request| {
                let decision = policies.check_within(request, now, &budget);
                let decision = decided(decision, &budget)?;
                tally.add(&decision);
                noted::note(request, &decision, now);
                let is_allowed = is_allowed(&decision);
                let entry = Entry::new(&request.resource, decision);
                Ok((groups.add(key, question, resource, entry), is_allowed))
            })?
        });
        // Once the outputs are too long for an answer, no further question is decided.
        must_be_short(groups.length, MAX_ANSWER_BYTES)?;
        let is_allowed = matches!(answered, Ok((_, true)));
        answers.push(answered);
        if end.is_none() && questions.semantic.ends(is_allowed) {
            end = Some(answers.len());
        }
    }
    answers.truncate(end.unwrap_or(answers.len()));
    for group in &groups.groups {
        must_be_few(group.results.len(), &shared.config().http)?;
    }
    shared.decided(tally);
    written(&answers, &groups.groups)
}

impl Groups {
    /// Adds a decision to its group, and returns the place of the group.
    fn add(
        &mut self,
        key: [Digest; 2],
        question: &Evaluation,
        digest: Digest,
        entry: Entry,
    ) -> usize {
        let id = request_id(&question.context);
        self.length = self.length.saturating_add(id.len()).saturating_add(entry.length());
        let end = self.groups.len();
        let position = *self.positions.entry(key).or_insert(end);
        if position == end {
            let request_id = id.to_owned();
            self.groups.push(SubjectResponse {
                request_id,
                results: Vec::new(),
                positions: HashMap::new(),
            });
        }
        if let Some(group) = self.groups.get_mut(position) {
            group.add(digest, entry);
        }
        position
    }
}

impl<T: Debug> Digests<T> {
    fn new() -> Self {
        Self(HashMap::new())
    }

    /// Returns the digest of a part that stays where it is as long as these are used.
    fn of(&mut self, part: &Arc<T>) -> Digest {
        let digest = || blake3::hash(format!("{part:?}").as_bytes());
        *self.0.entry(Arc::as_ptr(part)).or_insert_with(digest)
    }
}

fn written(
    answers: &[Result<(usize, bool), AuthzenError>],
    groups: &[SubjectResponse],
) -> Result<String> {
    let contexts = groups.iter().map(SubjectResponse::context).collect::<Result<Vec<_>, _>>()?;
    let mut text = String::from("{\"evaluations\":[");
    for (index, answer) in answers.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        match answer {
            Err(error) => {
                let mut json = Json::default();
                write_refusal(&mut json, error);
                text.push_str(&json.finish());
            }
            Ok((position, is_allowed)) => {
                if let Some(context) = contexts.get(*position) {
                    must_be_short(text.len().saturating_add(context.len()), MAX_ANSWER_BYTES)?;
                    text.push_str(&response(*is_allowed, context));
                }
            }
        }
        must_be_short(text.len(), MAX_ANSWER_BYTES)?;
    }
    Ok(text + "]}")
}

/// Returns an answer with a context that was written before.
fn response(is_allowed: bool, context: &str) -> String {
    format!("{{\"decision\":{is_allowed},\"context\":{context}}}")
}

pub(super) fn is_allowed(decision: &Decision) -> bool {
    decision.actions.first().is_some_and(|action| action.effect == Effect::Allow)
}

fn request_id(context: &AttrMap) -> &str {
    match context.get("cerbos.requestId") {
        Some(Attr::String(id)) => id,
        _ => "",
    }
}
