//! Decisions over HTTP: CheckResources, and AuthZEN, beside Cerbos.
//!
//! A closed loop: each connection sends its next call when the answer to the last one is there. Before
//! anything is timed, a server has given the answers of the oracle to all calls; while it is timed, each answer
//! must have the length of the one that was checked.

mod client;
mod server;

use std::path::Path;
use std::time::Duration;

use serde_json::{Value as Json, json};
use wardgate_bundle::pack;
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::Request;

use crate::arguments::Arguments;
use crate::measure::{Figure, Side};
use crate::report::{NATIVE, Section};
use crate::results::digest;
use crate::workload::{Workload, lines};
use client::{Call, closed_loop};
use server::Server;

/// The name of the sections in `--only`.
pub(crate) const NAME: &str = "rest";

/// Calls of one shape, and the decisions that they ask for.
struct Calls {
    cerbos: Vec<Json>,
    authzen: Vec<Json>,
    /// The decisions of each call, in the order of its resources and actions.
    expected: Vec<Vec<bool>>,
}

/// Measures calls of each shape; returns no section without a server.
pub(crate) fn sections(root: &Path, arguments: &Arguments) -> Result<Vec<Section>, String> {
    let Some(program) = &arguments.server else {
        eprintln!("`{NAME}` is left out: there is no `wardgate` program to start");
        return Ok(Vec::new());
    };
    let workload = Workload::generate(POLICIES)?;
    let compiled = compile_files(&workload.policies, &Options::default());
    let bundle = pack(&compiled.map_err(|errors| lines(&errors))?.parts);
    let folder = root.join("target/bench/rest");
    crate::files::write(&folder.join("policies"), &workload.policies)?;
    let ours = Server::wardgate(program, &folder, &bundle)?;
    let cerbos = arguments.cerbos.as_ref();
    let cerbos = cerbos.map(|program| Server::cerbos(program, &folder)).transpose()?;
    if cerbos.is_none() {
        eprintln!("cerbos is left out: there is no `cerbos` program to start");
    }
    let shapes = SHAPES.iter();
    shapes
        .map(|shape| section(&workload, *shape, &ours, cerbos.as_ref(), arguments.quick))
        .collect()
}

fn section(
    workload: &Workload,
    (resources, actions): (usize, usize),
    ours: &Server,
    cerbos: Option<&Server>,
    quick: bool,
) -> Result<Section, String> {
    let calls = calls(workload, resources, actions)?;
    let check = |call: &Json| Call::post("/api/check/resources", call);
    let mut targets = vec![(
        "Wardgate CheckResources",
        Side::Ours,
        ours,
        calls.cerbos.iter().map(check).collect(),
    )];
    if resources * actions == 1 {
        let evaluate = |call: &Json| Call::post("/access/v1/evaluation", call);
        let evaluations: Vec<Call> = calls.authzen.iter().map(evaluate).collect();
        targets.push(("Wardgate AuthZEN", Side::Ours, ours, evaluations));
    }
    if let Some(cerbos) = cerbos {
        let checks = calls.cerbos.iter().map(check).collect();
        targets.push(("Cerbos CheckResources", Side::Rival, cerbos, checks));
    }
    let (mut figures, mut details) = (Vec::new(), String::from(DETAILS));
    for (name, side, server, mut calls_of) in targets {
        for (call, expected) in calls_of.iter_mut().zip(&calls.expected) {
            call.learn(server.address(), expected)
                .map_err(|message| format!("{name}: {message}"))?;
        }
        for connections in CONNECTIONS {
            let time = Duration::from_millis(if quick { 500 } else { 3000 });
            let mut runs = Vec::new();
            let mut rate = 0.0_f64;
            for _ in 0..if quick { 1 } else { 3 } {
                let (samples, each_second) =
                    closed_loop(server.address(), &calls_of, *connections, time)
                        .map_err(|message| format!("{name}: {message}"))?;
                rate = rate.max(each_second);
                runs.push(samples);
            }
            let name = format!("{name}, {connections} connections");
            details += &format!("| {name} | {rate:.0} |\n");
            figures.push(Figure::of_runs(name, side, runs));
        }
    }
    let title = format!("Over HTTP: {resources} x {actions} resources and actions in a call");
    let mut section = Section::new(format!("{NAME}-{resources}x{actions}"), title, NOTE);
    section.decisions = Some(digest(&calls.expected.concat()));
    section.parameters = json!({ "resources": resources, "actions": actions, "calls": CALLS });
    section.details = details;
    Ok(section.with(NATIVE, figures))
}

/// Returns the digests of all decisions: name and parameters of each section.
#[cfg(test)]
pub(crate) fn all_decisions() -> impl Iterator<Item = (String, Json, String)> {
    SHAPES.iter().map(|(resources, actions)| {
        let workload = Workload::generate(POLICIES).expect("the workload is sound");
        let calls = calls(&workload, *resources, *actions).expect("the calls are sound");
        let parameters = json!({ "resources": resources, "actions": actions, "calls": CALLS });
        (format!("{NAME}-{resources}x{actions}"), parameters, digest(&calls.expected.concat()))
    })
}

/// Returns calls about resources of the workload, with the decisions of its oracle.
fn calls(workload: &Workload, resources: usize, actions: usize) -> Result<Calls, String> {
    let oracle = wardgate_tests::oracle::Oracle::new(&workload.policies, &Options::default());
    let oracle = oracle.map_err(|errors| lines(&errors))?;
    let decided = |request: &Request| -> Vec<bool> {
        let report = oracle.check(request, Timestamp::default());
        let allowed = |action: &String| {
            let decided = report.actions.get(action.as_str());
            decided.is_some_and(|one| one.effect == wardgate_engine::decision::Effect::Allow)
        };
        request.actions.iter().map(allowed).collect()
    };
    let mut calls = Calls { cerbos: Vec::new(), authzen: Vec::new(), expected: Vec::new() };
    for at in 0..CALLS {
        let part = |number: usize| {
            workload.requests.get((at * resources + number) % workload.requests.len())
        };
        let of_call: Vec<&Json> = (0..resources).filter_map(part).collect();
        let first = *of_call.first().ok_or("no requests")?;
        let principal = first.get("principal").ok_or("no principal")?;
        let asked: Vec<&str> = if actions == 1 {
            vec![first.get("action").and_then(Json::as_str).ok_or("no action")?]
        } else {
            ACTIONS.iter().take(actions).copied().collect()
        };
        let (mut entries, mut expected) = (Vec::new(), Vec::new());
        for one in of_call {
            let resource = one.get("resource").ok_or("no resource")?;
            let request = json!({ "principal": principal, "resource": resource, "actions": asked });
            expected.extend(decided(&wardgate_tests::check::request(&request)?));
            entries.push(json!({ "actions": asked, "resource": resource }));
        }
        calls
            .cerbos
            .push(json!({ "requestId": "r1", "principal": principal, "resources": entries }));
        calls.authzen.push(evaluation(
            principal,
            first.get("resource").ok_or("no resource")?,
            &asked,
        ));
        calls.expected.push(expected);
    }
    Ok(calls)
}

/// Returns the first question of a call as AuthZEN has it.
fn evaluation(principal: &Json, resource: &Json, actions: &[&str]) -> Json {
    let member = |of: &Json, name: &str| of.get(name).cloned().unwrap_or_default();
    let mut properties = member(principal, "attr");
    if let Some(members) = properties.as_object_mut() {
        members.insert("roles".to_owned(), member(principal, "roles"));
    }
    json!({
        "subject": { "type": "user", "id": member(principal, "id"), "properties": properties },
        "action": { "name": actions.first() },
        "resource": {
            "type": member(resource, "kind"),
            "id": member(resource, "id"),
            "properties": member(resource, "attr"),
        },
    })
}

/// The workload whose policies the servers have.
const POLICIES: &str = "five-rules-20";
const CALLS: usize = 100;
const ACTIONS: &[&str] = &["view", "edit", "delete", "share"];
/// Resources, and actions of each, of a call.
const SHAPES: &[(usize, usize)] = &[(1, 1), (1, 4), (50, 4)];
const CONNECTIONS: &[usize] = &[1, 16, 64];

const NOTE: &str = "A closed loop with keep-alive; the time of a call from its first byte to its last. Client and server share the \
    cores of the machine. Cerbos has its log of requests off, as ours has.";
const DETAILS: &str = "\nThe most calls each second of a run:\n\n| | calls/s |\n|---|--:|\n";
