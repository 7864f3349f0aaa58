//! Answers that tell what decided, as Cerbos tells it: the context of each answer holds a response to
//! CheckResources about all questions of the same subject in the same circumstances.

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::decision::{Decision, Effect};
use wardgate_engine::request::{Request, Resource};
use wardgate_engine::wire::Json;
use wardgate_native::SystemClock;
use wardgate_native::authzen::{AuthzenError, Evaluation, Semantic, write_refusal};

use super::readable;
use crate::http::cerbos::{answer, bad, must_be_few};
use crate::http::policies;
use crate::http::reply::Problem;
use crate::limits::MAX_ANSWER_BYTES;
use crate::metrics::Tally;
use crate::shared::Shared;
use crate::state::State;

/// What is told about one subject.
pub(super) struct Told {
    request_id: String,
    results: Vec<(Resource, Decision)>,
}

/// Questions of one subject in the same circumstances.
struct Group<'i> {
    evaluation: &'i Evaluation,
    told: Told,
}

impl Told {
    pub(super) fn of(request: &Request, context: &AttrMap, decision: &Decision) -> Self {
        let results = vec![(request.resource.clone(), decision.clone())];
        Self { request_id: request_id(context), results }
    }

    /// Writes an answer with this context.
    pub(super) fn write(&self, json: &mut Json, decision: &Decision) -> bool {
        let mut effects = decision.actions.iter().map(|action| action.effect);
        let is_allowed = effects.next() == Some(Effect::Allow);
        json.open('{');
        json.key("decision");
        json.boolean(is_allowed);
        json.key("context");
        json.open('{');
        json.key("cerbos.response");
        json.open('{');
        if !self.request_id.is_empty() {
            json.field("requestId", &self.request_id);
        }
        json.key("results");
        json.open('[');
        for (resource, decision) in &self.results {
            answer::entry(json, resource, decision, true);
        }
        json.close(']');
        json.close('}');
        json.close('}');
        json.close('}');
        is_allowed
    }

    /// Adds a decision to what is told of its resource.
    fn add(&mut self, resource: &Resource, decision: &Decision) {
        let Some((_, known)) = self.results.iter_mut().find(|(known, _)| known == resource) else {
            self.results.push((resource.clone(), decision.clone()));
            return;
        };
        for action in &decision.actions {
            if !known.actions.iter().any(|other| other.action == action.action) {
                known.actions.push(action.clone());
            }
        }
        known.effective_derived_roles.extend_from_slice(&decision.effective_derived_roles);
        known.effective_derived_roles.sort();
        known.effective_derived_roles.dedup();
        let new: Vec<_> = decision
            .outputs
            .iter()
            .filter(|output| !known.outputs.contains(output))
            .cloned()
            .collect();
        known.outputs.extend(new);
    }
}

/// Answers several questions.
pub(super) fn many(
    semantic: Semantic,
    items: &[Result<Evaluation, AuthzenError>],
    state: &State,
    shared: &Shared,
) -> Result<String, Problem> {
    let policies = policies(state)?;
    let (mut groups, mut answers, mut tally) = (Vec::new(), Vec::new(), Tally::default());
    for item in items {
        answers.push(match readable(item, state, shared)? {
            Err(error) => Err(error),
            Ok((request, evaluation)) => {
                let decision = policies.check(&request, SystemClock);
                tally.add(&decision);
                let place = grouped(&mut groups, evaluation, (&request, &decision));
                Ok((place, decision))
            }
        });
    }
    for group in &groups {
        must_be_few(group.told.results.len(), &shared.config().http)?;
    }
    shared.decided(tally);
    written(semantic, &answers, &groups)
}

/// Adds a decision to its group, and returns the place of the group.
fn grouped<'i>(
    groups: &mut Vec<Group<'i>>,
    evaluation: &'i Evaluation,
    (request, decision): (&Request, &Decision),
) -> usize {
    let is_same = |group: &Group<'_>| {
        let other = group.evaluation;
        other.subject == evaluation.subject && other.context == evaluation.context
    };
    if let Some(place) = groups.iter().position(is_same) {
        if let Some(group) = groups.get_mut(place) {
            group.told.add(&request.resource, decision);
        }
        return place;
    }
    let told = Told::of(request, &evaluation.context, decision);
    groups.push(Group { evaluation, told });
    groups.len() - 1
}

fn written(
    semantic: Semantic,
    answers: &[Result<(usize, Decision), AuthzenError>],
    groups: &[Group<'_>],
) -> Result<String, Problem> {
    let mut parts: Vec<String> = Vec::new();
    let mut length = 0_usize;
    for answer in answers {
        let mut json = Json::default();
        let is_allowed = match answer {
            Err(error) => {
                write_refusal(&mut json, error);
                false
            }
            Ok((place, decision)) => {
                groups.get(*place).is_some_and(|group| group.told.write(&mut json, decision))
            }
        };
        let part = json.finish();
        length = length.saturating_add(part.len());
        if length > MAX_ANSWER_BYTES {
            return Err(bad("the answer would be too long: ask for less at once".to_owned()));
        }
        parts.push(part);
        if semantic.ends(is_allowed) {
            break;
        }
    }
    Ok(format!("{{\"evaluations\":[{}]}}", parts.join(",")))
}

fn request_id(context: &AttrMap) -> String {
    match context.get("cerbos.requestId") {
        Some(Attr::String(id)) => id.to_string(),
        _ => String::new(),
    }
}
