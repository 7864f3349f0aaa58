//! Decides the cases from four threads while their bundle is reloaded: `cases CODE QUESTIONS`.
//!
//! `CODE` is the module or the component, `QUESTIONS` the output of the program `hosts` of the
//! tests. The hosts in other languages do the same.
#![forbid(unsafe_code)]

use std::error::Error;
use std::fs;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::Value;
use wardgate_wasmtime_host::{Code, HostError, Limits, Moment, Pdp, Terms, Timestamp};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [code, questions] => match run(code, questions) {
            Ok(0) => ExitCode::SUCCESS,
            Ok(_) => ExitCode::FAILURE,
            Err(error) => {
                eprintln!("rust: {error}");
                ExitCode::from(2)
            }
        },
        _ => {
            eprintln!("expected the code and the file of questions");
            ExitCode::from(2)
        }
    }
}

/// Returns the number of wrong answers.
fn run(code: &str, questions: &str) -> Result<usize, Box<dyn Error>> {
    let limits = Limits { time: PATIENCE, ..Limits::default() };
    let code = Code::compile(&fs::read(code)?, limits)?;
    let text = fs::read_to_string(questions)?;
    let mut lines = text.lines().map(serde_json::from_str);
    let first: Value = lines.next().ok_or("the file of questions is empty")??;
    let [trusted, wrong] = [public_key(&first, "key")?, public_key(&first, "wrong")?]
        .map(|key| Terms::signed_by(&key));
    let (mut question, mut failed) = (0, 0);
    for case in lines {
        let case: Value = case?;
        let bundle = bytes(&case, "bundle")?;
        let refused = Pdp::open(&code, &bundle, &wrong, Moment::default()).err();
        failed += usize::from(!refused.is_some_and(|error| error.to_string().contains("trusted")));
        let pdp = Pdp::open(&code, &bundle, &trusted, Moment::default())?;
        let wrong = from_threads(&pdp, &case, &bundle)?;
        question += case.get("questions").and_then(Value::as_array).map_or(0, Vec::len);
        failed += wrong;
        if wrong > 0 {
            println!("  {}: answered otherwise than natively", case.get("name").unwrap_or(&case));
        }
    }
    println!("rust: {} passed, {failed} failed", question - failed.min(question));
    Ok(failed + usize::from(question == 0))
}

/// Decides from several threads, and returns the number of wrong answers that one of them saw.
fn from_threads(pdp: &Pdp, case: &Value, bundle: &[u8]) -> Result<usize, HostError> {
    thread::scope(|scope| {
        let threads: Vec<_> =
            (0..THREADS).map(|_| scope.spawn(|| wrong_answers(pdp, case))).collect();
        pdp.reload(bundle, Moment::default())?;
        let counts = threads.into_iter().map(|thread| thread.join().unwrap_or(usize::MAX));
        Ok(counts.max().unwrap_or_default())
    })
}

fn wrong_answers(pdp: &Pdp, case: &Value) -> usize {
    let number = |name| case.get(name).and_then(Value::as_i64).unwrap_or_default();
    let nanos = u32::try_from(number("nanos")).unwrap_or_default();
    let now = Timestamp::new(number("seconds"), nanos).unwrap_or_default();
    let mut session = pdp.session();
    let questions = case.get("questions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    questions
        .iter()
        .filter(|question| {
            let text =
                |name| question.get(name).and_then(Value::as_str).unwrap_or_default().as_bytes();
            let decision = session.decision_bytes(text("request"), &now);
            let mut actions =
                question.get("actions").and_then(Value::as_array).into_iter().flatten();
            let are_right = actions.all(|action| {
                let request = action.get(0).and_then(Value::as_str).unwrap_or_default();
                let allowed = session.is_allowed(request.as_bytes(), &now);
                allowed.ok() == action.get(1).and_then(Value::as_bool)
            });
            decision.as_deref() != Ok(text("decision")) || !are_right
        })
        .count()
}

/// Reads the key of a JWK. The keys of the questions have their default ids.
fn public_key(value: &Value, name: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let text = value.get(name).and_then(|jwk| jwk.get("pub")).and_then(Value::as_str);
    Ok(URL_SAFE_NO_PAD.decode(text.ok_or_else(|| format!("no `{name}`"))?)?)
}

fn bytes(value: &Value, name: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let text = value.get(name).and_then(Value::as_str).ok_or_else(|| format!("no `{name}`"))?;
    Ok(STANDARD.decode(text)?)
}

const THREADS: usize = 4;

/// The time limit of a call. Answers are compared here, not times: a busy machine must not end a
/// call.
const PATIENCE: Duration = Duration::from_secs(60);
