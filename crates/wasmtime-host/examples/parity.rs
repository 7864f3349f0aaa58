//! A host with wasmtime, compared with the native build: `cargo xtask parity` runs this.
//!
//! `parity CODE RULES QUESTIONS REPORT`, where RULES is the module with which the package evaluates
//! rules of SPOCP. The code has no calls for unsealing and deltas, so this program does both first,
//! as a host must.
#![forbid(unsafe_code)]

#[path = "parity/rules.rs"]
mod rules;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::Value as Json;
use wardgate_bundle::delta::apply;
use wardgate_bundle::sealed::unseal;
use wardgate_bundle::{Conditions, Kind, OpenError};
use wardgate_engine::request::{AuxData, Request, Resource};
use wardgate_tests::check;
use wardgate_tests::generate::with;
use wardgate_tests::runtimes::{ActionRequest, Crypto, Host, Opening, Recorded, Trusted, replay};
use wardgate_wasmtime_host::{
    Code, HostError, Key, Limits, Moment, Pdp, Target, Terms, Timestamp, Trust, TrustSet,
};

use rules::Rules;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.as_slice() {
        [code, rules, questions, report] => {
            let [code, rules, questions, report] = [code, rules, questions, report].map(Path::new);
            run(code, rules, questions, report)
        }
        _ => Err("expected `parity CODE RULES QUESTIONS REPORT`".to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("parity: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(code: &Path, rules: &Path, questions: &Path, path: &Path) -> Result<(), String> {
    let read =
        |path: &Path| std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    let bytes = read(code)?;
    // Answers are compared here, not times: a busy machine must not end a call.
    let limits = Limits { time: Duration::from_secs(60), ..Limits::default() };
    let code = Code::compile(&bytes, limits).map_err(|error| error.to_string())?;
    let rules = Rules::compile(&read(rules)?).map_err(|error| error.to_string())?;
    let report = replay(questions, &Wasmtime { code, rules })?;
    std::fs::write(path, report.json("wasmtime").to_string())
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// The runtime that decides in wasmtime.
struct Wasmtime {
    code: Code,
    rules: Rules,
}

impl Host for Wasmtime {
    type Pdp = Pdp;

    fn open(&self, opening: &Opening) -> Result<Pdp, String> {
        let given = Given::of(opening).map_err(|error| error.code().to_owned())?;
        let moment = Moment {
            now: u64::try_from(opening.now.seconds()).ok(),
            min_revision: opening.min_revision,
        };
        let terms = terms(opening.trust.as_ref());
        let pdp = Pdp::open(&self.code, &given.first, &terms, moment).map_err(message)?;
        if let Some(next) = given.next {
            pdp.reload(&next, moment).map_err(message)?;
        }
        Ok(pdp)
    }

    fn decide(&self, pdp: &Pdp, request: &Json, now: Timestamp) -> Result<Vec<u8>, String> {
        pdp.decision_bytes(request.to_string().as_bytes(), &now).map_err(message)
    }

    fn ways(
        &self,
        pdp: &Pdp,
        one_action: &ActionRequest<'_>,
        take: &mut dyn FnMut(&str, Result<bool, String>),
    ) {
        let one = without(&with(one_action.request, "action", one_action.action.into()), "actions");
        let allowed = pdp.is_allowed(one.to_string().as_bytes(), &one_action.now);
        take("is_allowed", allowed.map_err(message));
        let resources = vec![one.get("resource").cloned().unwrap_or_default(); 3];
        let many = without(&with(&one, "resources", resources.into()), "resource");
        let filtered = pdp.filter(many.to_string().as_bytes(), &one_action.now);
        take(
            "filter",
            filtered.map_err(message).and_then(|filtered| match filtered.as_slice() {
                [] => Ok(false),
                [0, 1, 2] => Ok(true),
                some => Err(format!("{some:?} of three that are the same")),
            }),
        );
        match check::request(one_action.request) {
            // A question by fields cannot carry `auxData`.
            Ok(request) if request.aux_data != AuxData::default() => {}
            Ok(request) => take("fields", by_fields(pdp, &request, one_action).map_err(message)),
            Err(error) => take("fields", Err(error)),
        }
    }

    fn crypto(&self, _: &Crypto) -> Option<Vec<Vec<u8>>> {
        None
    }

    fn replay(&self, pdp: &Pdp, recorded: &Recorded<'_>) -> Result<Option<bool>, String> {
        let Recorded { targets, evidence, micros, .. } = *recorded;
        let again = pdp.replay(targets, evidence, micros).map_err(message)?;
        Ok(again.first().copied().flatten())
    }

    fn rules(&self, bundle: &[u8], queries: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, String> {
        let unsigned = wardgate_bundle::Trust::Unsigned;
        let opened = wardgate_bundle::open(bundle, unsigned, &Conditions::default())
            .map_err(|error| error.code().to_owned())?;
        let packed = bundle.get(opened.rules..).unwrap_or_default();
        self.rules.answers(packed, queries).map_err(|error| error.to_string())
    }
}

/// Decides by fields, as a host does with data of its own.
fn by_fields(
    pdp: &Pdp,
    request: &Request,
    one_action: &ActionRequest<'_>,
) -> Result<bool, HostError> {
    let question = check::question(request, one_action.action);
    let Resource { kind, policy_version, scope, .. } = &request.resource;
    let mut session = pdp.session();
    let target = Target { kind, action: one_action.action, policy_version, scope };
    let mut prepared = session.prepare(target)?;
    session.is_allowed_fields(&mut prepared, &question, &one_action.now)
}

/// The bundles that the code opens: neither sealed nor deltas.
struct Given {
    first: Vec<u8>,
    next: Option<Vec<u8>>,
}

impl Given {
    fn of(opening: &Opening) -> Result<Self, OpenError> {
        let now = u64::try_from(opening.now.seconds()).ok();
        let min_revision = opening.min_revision;
        let conditions = Conditions { now, min_revision, ..Conditions::default() };
        let inside = |bytes: &[u8]| match &opening.unseal_key {
            Some(key) => unseal(bytes, key, &conditions),
            None => Ok(bytes.to_vec()),
        };
        let Some(base) = &opening.base else {
            return Ok(Self { first: inside(&opening.bundle)?, next: None });
        };
        let (first, next) = (inside(base)?, inside(&opening.bundle)?);
        let trust = opening.trust.as_ref();
        let trust = trust.map_or(wardgate_bundle::Trust::Unsigned, |trusted| {
            wardgate_bundle::Trust::Signed(&trusted.set)
        });
        let next = match Kind::of(&next) {
            Ok(Kind::Delta) => apply(&first, &next, trust, &conditions)?,
            _ => next,
        };
        Ok(Self { first, next: Some(next) })
    }
}

fn terms(trusted: Option<&Trusted>) -> Terms {
    let Some(Trusted { keys, at_least, .. }) = trusted else { return Terms::unsigned() };
    let keys = keys.iter().map(|(id, level, public_key)| Key {
        id: Some(id.clone()),
        level: *level,
        public_key: public_key.clone(),
    });
    let set = TrustSet { keys: keys.collect(), at_least: *at_least, required: Vec::new() };
    Terms { trust: Trust::Signed(set), ..Terms::unsigned() }
}

/// Returns the code of a refusal, which every host reports alike.
fn message(error: HostError) -> String {
    match error {
        HostError::Refused { code, .. } => code,
        other => other.to_string(),
    }
}

fn without(object: &Json, name: &str) -> Json {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove(name);
    }
    object
}
