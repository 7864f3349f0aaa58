//! Calls of one shape in the words of each protocol, with the decisions that they ask for.

use serde_json::{Value as Json, json};
use wardgate_compiler::Options;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::Effect;
use wardgate_engine::request::Request;
use wardgate_tests::oracle::Oracle;

use crate::workload::{Workload, lines};

/// Calls about the same resources and actions.
pub(super) struct Calls {
    pub(super) cerbos: Vec<Json>,
    pub(super) authzen: Vec<Json>,
    pub(super) opa: Vec<Json>,
    /// The names of the actions of each call.
    pub(super) actions: Vec<Vec<String>>,
    /// The decisions of each call, in the order of its resources and actions.
    pub(super) expected: Vec<Vec<bool>>,
    /// True if a call asks for one decision.
    pub(super) is_single: bool,
}

impl Calls {
    /// Returns calls about resources of the workload, with the decisions of its oracle.
    pub(super) fn new(
        workload: &Workload,
        resources: usize,
        actions: usize,
    ) -> Result<Self, String> {
        let oracle = Oracle::new(&workload.policies, &Options::default());
        let oracle = oracle.map_err(|errors| lines(&errors))?;
        let mut calls = Self {
            cerbos: Vec::new(),
            authzen: Vec::new(),
            opa: Vec::new(),
            actions: Vec::new(),
            expected: Vec::new(),
            is_single: resources * actions == 1,
        };
        for at in 0..CALLS {
            let part = |number: usize| {
                workload.requests.get((at * resources + number) % workload.requests.len())
            };
            let of_call: Vec<&Json> = (0..resources).filter_map(part).collect();
            let first = *of_call.first().ok_or("no requests")?;
            let asked: Vec<&str> = if actions == 1 {
                vec![first.get("action").and_then(Json::as_str).ok_or("no action")?]
            } else {
                ACTIONS.iter().take(actions).copied().collect()
            };
            let principal = first.get("principal").ok_or("no principal")?;
            let of_call = of_call.iter().map(|one| one.get("resource").ok_or("no resource"));
            let of_call = of_call.collect::<Result<Vec<_>, _>>()?;
            calls.add(&oracle, principal, &of_call, &asked)?;
        }
        Ok(calls)
    }

    fn add(
        &mut self,
        oracle: &Oracle,
        principal: &Json,
        resources: &[&Json],
        actions: &[&str],
    ) -> Result<(), String> {
        let mut expected = Vec::new();
        for resource in resources {
            let request =
                json!({ "principal": principal, "resource": resource, "actions": actions });
            expected.extend(decided(oracle, &wardgate_tests::check::request(&request)?));
        }
        let entries = resources.iter().map(|one| json!({ "actions": actions, "resource": one }));
        let entries: Vec<Json> = entries.collect();
        self.cerbos
            .push(json!({ "requestId": "r1", "principal": principal, "resources": entries }));
        self.authzen.push(self.evaluation(principal, resources, actions));
        self.opa.push(self.input(principal, resources, actions));
        self.actions.push(actions.iter().map(ToString::to_string).collect());
        self.expected.push(expected);
        Ok(())
    }

    /// Returns a call as AuthZEN has it: one evaluation, or a list of them with one subject.
    fn evaluation(&self, principal: &Json, resources: &[&Json], actions: &[&str]) -> Json {
        let mut properties = member(principal, "attr");
        if let Some(members) = properties.as_object_mut() {
            members.insert("roles".to_owned(), member(principal, "roles"));
        }
        let subject =
            json!({ "type": "user", "id": member(principal, "id"), "properties": properties });
        let all = resources.iter().flat_map(|resource| {
            let resource = json!({
                "type": member(resource, "kind"),
                "id": member(resource, "id"),
                "properties": member(resource, "attr"),
            });
            let of_action =
                move |action: &&str| json!({ "action": { "name": action }, "resource": resource });
            actions.iter().map(of_action)
        });
        let all: Vec<Json> = all.collect();
        let mut call = if self.is_single {
            all.into_iter().next().unwrap_or_default()
        } else {
            json!({ "evaluations": all })
        };
        if let Some(members) = call.as_object_mut() {
            members.insert("subject".to_owned(), subject);
        }
        call
    }

    /// Returns a call as the rules in Rego read it.
    fn input(&self, principal: &Json, resources: &[&Json], actions: &[&str]) -> Json {
        let input = if self.is_single {
            json!({ "principal": principal, "action": actions.first(), "resource": resources.first() })
        } else {
            json!({ "principal": principal, "actions": actions, "resources": resources })
        };
        json!({ "input": input })
    }
}

fn decided(oracle: &Oracle, request: &Request) -> Vec<bool> {
    let report = oracle.check(request, Timestamp::default());
    let allowed = |action: &String| {
        let decided = report.actions.get(action.as_str());
        decided.is_some_and(|one| one.effect == Effect::Allow)
    };
    request.actions.iter().map(allowed).collect()
}

fn member(of: &Json, name: &str) -> Json {
    of.get(name).cloned().unwrap_or_default()
}

pub(super) const CALLS: usize = 100;
const ACTIONS: &[&str] = &["view", "edit", "delete", "share"];
