//! Tenants over HTTP: beside Cerbos with scopes and OPA with packages, and with one tenant that asks ten times as often.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::{Files, KINDS, compiled, needed, overrides, questions, scopes};
use crate::arguments::Arguments;
use crate::asked::Questions;
use crate::files;
use crate::http::{Call, Server, closed_loop, open_loop};
use crate::measure::{Figure, Side, float, median};
use crate::report::{NATIVE, Section};

/// Measures the tenants of one bundle behind servers; returns no section without ours.
pub(super) fn section(root: &Path, arguments: &Arguments) -> Result<Option<Section>, String> {
    let Some(program) = &arguments.server else {
        eprintln!("tenants over HTTP are left out: there is no `wardgate` program to start");
        return Ok(None);
    };
    let folder = root.join("target/bench/tenants");
    files::write(&folder, &[])?;
    let policies = scopes(TENANTS);
    files::write(&folder.join("policies"), &policies)?;
    let ours = Server::wardgate(program, &folder, &compiled(&policies)?)?;
    let (questions, of_tenants) = questions(TENANTS, true)?;
    let mut figures = Vec::new();
    let mut details = TABLE.to_owned();
    let time = Duration::from_millis(if arguments.quick { 300 } else { 1000 });
    let mut rate = 0.0;
    let cerbos = arguments.cerbos.as_ref();
    let cerbos = cerbos.map(|program| Server::cerbos(program, &folder)).transpose()?;
    let opa = arguments.opa.as_ref();
    let opa = opa.map(|program| opa_server(program, &folder)).transpose()?;
    let all = [
        ("Wardgate, scopes", Side::Ours, Some(&ours), Form::Check),
        ("Cerbos, scopes", Side::Rival, cerbos.as_ref(), Form::Check),
        ("OPA, packages", Side::Rival, opa.as_ref(), Form::Rule),
    ];
    let mut calls_of_ours = Vec::new();
    for (name, side, server, form) in all {
        let Some(server) = server else { continue };
        let calls = calls(server, &questions, form).map_err(|why| format!("{name}: {why}"))?;
        let mut runs = Vec::new();
        let mut best = 0.0_f64;
        for _ in 0..RUNS {
            let load = closed_loop(server.address(), &calls, CONNECTIONS, time)?;
            best = best.max(load.rate);
            runs.push(load.samples);
        }
        let name = format!("{name}, {CONNECTIONS} connections");
        details += &format!("| {name} | {best:.0} |\n");
        figures.push(Figure::of_runs(name, side, runs));
        if side == Side::Ours {
            (rate, calls_of_ours) = (best, calls);
        }
    }
    let (noisy, text) = noisy(&ours, calls_of_ours, &of_tenants, rate * SHARE, time)?;
    figures.extend(noisy);
    let title = format!("{TENANTS} tenants over HTTP");
    let mut section = Section::new("tenants-http", title, NOTE);
    section.details = details + text.as_str();
    section.parameters = json!({ "tenants": TENANTS });
    Ok(Some(section.with(NATIVE, figures)))
}

/// Measures the calls of the others while the first tenant asks as often as it does, and ten times as often, in turn.
fn noisy(
    server: &Server,
    calls: Vec<Call>,
    of_tenants: &[usize],
    rate: f64,
    time: Duration,
) -> Result<(Vec<Figure>, String), String> {
    let all = float(calls.len());
    let pairs = calls.into_iter().zip(of_tenants);
    let (own, others): (Vec<_>, Vec<_>) = pairs.partition(|(_, tenant)| **tenant == 0);
    let [own, others] =
        [own, others].map(|part| part.into_iter().map(|(call, _)| call).collect::<Vec<_>>());
    let [own_rate, others_rate] = [&own, &others].map(|part| rate * float(part.len()) / all);
    let measured = |times: f64| -> Result<Figure, String> {
        let noise = || open_loop(server.address(), &own, CONNECTIONS, own_rate * times, time);
        let loads = std::thread::scope(|scope| {
            let noise = scope.spawn(noise);
            let load = open_loop(server.address(), &others, CONNECTIONS, others_rate, time);
            noise.join().map_err(|_| "a thread has panicked".to_owned())??;
            load
        });
        let name = format!("Wardgate, the others, the first at {times} times its rate");
        Ok(Figure::of_runs(name, Side::Ours, vec![loads?.samples]))
    };
    let (mut usual, mut loud) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let order = if round % 2 == 0 { [1.0, NOISE] } else { [NOISE, 1.0] };
        for times in order {
            if times > 1.0 { &mut loud } else { &mut usual }.push(measured(times)?);
        }
    }
    let p99 = |figure: &Figure| figure.p99().unwrap_or(f64::NAN);
    let ratios = loud.iter().zip(&usual).map(|(loud, usual)| p99(loud) / p99(usual));
    let text = format!(
        "\nOne tenant at {NOISE} times its rate moves the 99th percentile of the others to {:.2} of what it is (median of {ROUNDS} rounds). \
         All tenants together ask {rate:.0} times a second before, and {:.0} times then.\n",
        median(ratios.collect()),
        rate + own_rate * (NOISE - 1.0),
    );
    let joined = |figures: Vec<Figure>| {
        let name = figures.first().map_or_else(String::new, |figure| figure.name.clone());
        let runs = figures.into_iter().flat_map(|figure| figure.runs).collect();
        Figure::of_runs(name, Side::Ours, runs)
    };
    Ok((vec![joined(usual), joined(loud)], text))
}

/// The words of a call.
#[derive(Clone, Copy)]
enum Form {
    /// CheckResources.
    Check,
    /// The rule of OPA.
    Rule,
}

/// Makes every call once, and compares its decision with the expected one.
fn calls(server: &Server, questions: &Questions, form: Form) -> Result<Vec<Call>, String> {
    let of_one = |(question, expected): (Json, &bool)| {
        let mut call = match form {
            Form::Check => Call::post("/api/check/resources", &check(&question)),
            Form::Rule => Call::post("/v1/data/authz/allow", &json!({ "input": question })),
        };
        let answer = call.learn(server.address())?;
        let answer: Json = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
        let effect = answer.pointer("/results/0/actions");
        let effect = effect.and_then(Json::as_object).and_then(|actions| actions.values().next());
        let allowed = effect.map_or_else(
            || answer.get("result") == Some(&Json::Bool(true)),
            |effect| effect == "EFFECT_ALLOW",
        );
        if allowed == *expected { Ok(call) } else { Err(format!("not {expected}: {question}")) }
    };
    questions.all().zip(&questions.expected).map(of_one).collect()
}

fn check(question: &Json) -> Json {
    let member = |name: &str| question.get(name).cloned().unwrap_or_default();
    json!({
        "requestId": "r1",
        "principal": member("principal"),
        "resources": [{ "actions": [member("action")], "resource": member("resource") }],
    })
}

/// Starts OPA with a package for each kind, and one for each kind that a tenant has its own way.
fn opa_server(program: &Path, folder: &Path) -> Result<Server, String> {
    let mut modules: Files = vec![("authz.rego".to_owned(), REGO.as_bytes().to_vec())];
    for kind in 0..KINDS {
        let text = REGO_KIND.replace("KIND", &kind.to_string());
        modules.push((format!("kind_{kind}.rego"), text.into_bytes()));
    }
    for tenant in 0..TENANTS {
        for kind in overrides(tenant) {
            let text = REGO_OWN
                .replace("KIND", &kind.to_string())
                .replace("TENANT", &tenant.to_string())
                .replace("LEVEL", &needed(tenant).to_string());
            modules.push((format!("t{tenant}_{kind}.rego"), text.into_bytes()));
        }
    }
    let folder = folder.join("rego");
    files::write(&folder, &modules)?;
    Server::opa(program, &folder)
}

const TENANTS: usize = 1_000;
const CONNECTIONS: usize = 16;
const RUNS: usize = 3;
/// The part of the rate of a closed loop at which all tenants ask.
const SHARE: f64 = 0.25;
const NOISE: f64 = 10.0;
const ROUNDS: usize = 9;

const REGO: &str = "package authz

default allow := false

allow if {
	data.kinds[input.resource.kind].granted
	not data.tenants[input.resource.scope][input.resource.kind].forbidden
}
";
const REGO_KIND: &str = "package kinds.kind_KIND

granted if input.action == \"view\"

granted if {
	input.action == \"edit\"
	input.resource.attr.owner == input.principal.id
}
";
const REGO_OWN: &str = "package tenants.tTENANT.kind_KIND

forbidden if {
	input.action == \"view\"
	input.principal.attr.level < LEVEL
}
";

const NOTE: &str = "CheckResources and one rule of OPA, one resource and one action a call. The last two rows are open loops: the calls of all \
    tenants but the first at a constant rate, timed from the moment at which each is due.";
const TABLE: &str = "\nThe most calls each second of a run:\n\n| | calls/s |\n|---|--:|\n";
