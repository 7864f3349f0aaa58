//! Decides in WebAssembly: a script within this program calls the npm package in Node.
//!
//! One process serves all suites: questions and decisions are lines of JSON, and a bundle crosses
//! once. The dependence of a condition on the time does not differ by runtime: the native host
//! reports it.

use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::thread::{self, JoinHandle};

use base64ct::{Base64, Encoding};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use wardgate_compiler::{Options, reading};
use wardgate_engine::decision::{ActionDecision, Decision, Effect, Output, Reason};
use wardgate_engine::wire;
use wardgate_tooling::suite::{Answer, Decider, Native, Question, Sources};

use crate::failure::{self, Result};
use crate::json::Document;
use crate::node::{Script, last_words, milliseconds, question};

/// The npm package in a Node of its own.
pub(super) struct Node<'s> {
    sources: &'s Sources,
    base: Options,
    native: Native<'s>,
    child: Child,
    input: Option<BufWriter<ChildStdin>>,
    output: BufReader<ChildStdout>,
    /// Collects the errors of Node: a pipe without a reader would block it.
    complaints: Option<JoinHandle<String>>,
    /// The options of the bundles that Node has, by their numbers; or why there is no bundle.
    known: Vec<(Options, Result<(), String>)>,
}

impl<'s> Node<'s> {
    /// Starts Node.
    pub(super) fn start(
        sources: &'s Sources,
        base: Options,
        native: Native<'s>,
        package: Option<&Path>,
    ) -> Result<Self> {
        let mut child = SCRIPT.start(package)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(complaints)) = pipes else {
            return Err(SCRIPT.failure("its standard input and output are not pipes"));
        };
        let (input, output) = (Some(BufWriter::new(input)), BufReader::new(output));
        let complaints = Some(thread::spawn(|| collected(complaints)));
        let known = Vec::new();
        let mut node = Self { sources, base, native, child, input, output, complaints, known };
        let hello = json!({ "folder": package.is_some() }).to_string();
        let answer = node.send(&hello).map_err(|why| SCRIPT.failure(&why))?;
        match answer.get("ready") {
            Some(_) => Ok(node),
            None => Err(SCRIPT.failure("it does not answer")),
        }
    }

    /// Sends a line and reads one. The error is why that cannot be.
    fn send(&mut self, line: &str) -> Result<Json, String> {
        let sent =
            self.input.as_mut().map(|input| writeln!(input, "{line}").and_then(|()| input.flush()));
        let mut answer = String::new();
        // If Node has ended, its error is worth more than the failed write.
        let read = self.output.read_line(&mut answer);
        if answer.is_empty() {
            let why = match (sent, read) {
                (Some(Err(error)), _) | (_, Err(error)) => failure::reason(&error),
                _ => "it ended without an answer".to_owned(),
            };
            return Err(self.last_words().unwrap_or(why));
        }
        let answer: Json = serde_json::from_str(&answer)
            .map_err(|error| format!("it did not answer in JSON: {error}"))?;
        match answer.get("error").and_then(Json::as_str) {
            Some(error) => Err(error.lines().next().unwrap_or_default().to_owned()),
            None => Ok(answer),
        }
    }

    /// Returns the last error of Node, once it has ended.
    fn last_words(&mut self) -> Option<String> {
        drop(self.input.take());
        let text = self.complaints.take()?.join().ok()?;
        last_words(&text).map(str::to_owned)
    }

    /// Returns the number of the bundle for a question, after Node has it.
    fn bundle(&mut self, question: &Question<'_>) -> Result<Result<usize, String>, String> {
        let options = question.settings.over(&self.base);
        if let Some(at) = self.known.iter().position(|(of, _)| *of == options) {
            return Ok(self.known.get(at).map_or(Ok(at), |(_, made)| made.clone().map(|()| at)));
        }
        let made = self.native.table(question.settings).and_then(|_| {
            let parts = self.sources.parts(&options).map_err(|_| "the policies do not compile")?;
            Ok(wardgate_bundle::pack(&parts))
        });
        let number = self.known.len();
        if let Ok(bundle) = &made {
            let bundle = Base64::encode_string(bundle);
            self.send(&json!({ "number": number, "bundle": bundle }).to_string())?;
        }
        let made = made.map(drop);
        self.known.push((options, made.clone()));
        Ok(made.map(|()| number))
    }

    fn answer(&mut self, input: &Question<'_>) -> Result<Result<Answer, String>, String> {
        let native = match self.native.decide(std::slice::from_ref(input))?.pop() {
            Some(Ok(native)) => native,
            Some(Err(error)) => return Ok(Err(error)),
            None => return Ok(Err("there is no answer".to_owned())),
        };
        let number = match self.bundle(input)? {
            Ok(number) => number,
            Err(error) => return Ok(Err(error)),
        };
        // Without a time any will do: a test whose condition reads it has failed already.
        let now = input.settings.now.map_or(0, milliseconds);
        if now < 0 {
            return Ok(Err("in JavaScript `now` cannot be before 1970".to_owned()));
        }
        let request = wire::attr_json(&question(&input.request));
        let answer =
            self.send(&format!(r#"{{"number":{number},"now":{now},"request":{request}}}"#))?;
        let mut decision = decision(answer.get("decision").unwrap_or(&Json::Null))?;
        decision.evaluation_errors = native.decision.evaluation_errors;
        Ok(Ok(Answer { decision, depends_on_time: native.depends_on_time }))
    }
}

impl Decider for Node<'_> {
    fn base(&self) -> &Options {
        &self.base
    }

    /// Compares natively: decisions are the same.
    fn compare(&mut self, question: &Question<'_>, base: &Options) -> Option<Answer> {
        self.native.compare(question, base)
    }

    fn decide(
        &mut self,
        questions: &[Question<'_>],
    ) -> Result<Vec<Result<Answer, String>>, String> {
        let answers = questions.iter().map(|question| self.answer(question));
        answers.collect::<Result<_, _>>().map_err(|why| SCRIPT.unable(&why))
    }
}

impl Drop for Node<'_> {
    fn drop(&mut self) {
        // Without input the script ends; the drop does not wait for it.
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// Reads until Node ends, and keeps the beginning.
fn collected(mut complaints: ChildStderr) -> String {
    let text = reading::bounded(&mut complaints, MAX_COMPLAINTS).unwrap_or_default();
    // A failure to read the rest is ignored.
    let _ = io::copy(&mut complaints, &mut io::sink());
    String::from_utf8_lossy(&text).into_owned()
}

/// Reads the parts of a decision that tests compare.
fn decision(answer: &Json) -> Result<Decision, String> {
    let actions = answer.get("actions").and_then(Json::as_object);
    let actions = actions.and_then(|actions| actions.iter().map(action).collect());
    let outputs = answer.get("outputs").and_then(Json::as_array);
    Ok(Decision {
        request_id: text(answer, "requestId"),
        resource_id: text(answer, "resourceId"),
        actions: actions.ok_or("it gives no decision")?,
        outputs: outputs.into_iter().flatten().map(output).collect::<Result<_, _>>()?,
        ..Decision::default()
    })
}

fn action((name, answer): (&String, &Json)) -> Option<ActionDecision> {
    let effect = match answer.get("effect")?.as_str()? {
        "allow" => Effect::Allow,
        "deny" => Effect::Deny,
        _ => return None,
    };
    Some(ActionDecision {
        action: name.clone(),
        effect,
        policy: text(answer, "policy"),
        scope: text(answer, "scope"),
        // Tests do not look at it.
        reason: Reason::NoRuleApplied,
    })
}

fn output(answer: &Json) -> Result<Output, String> {
    let value = match (answer.get("error").and_then(Json::as_str), answer.get("val")) {
        (Some(error), _) => Err(error.to_owned()),
        (None, Some(value)) => match Document::deserialize(value) {
            Ok(document) => Ok(document.0),
            Err(error) => return Err(format!("an output cannot be used: {error}")),
        },
        (None, None) => return Err("it gives an output without a value".to_owned()),
    };
    Ok(Output { source: text(answer, "src"), action: text(answer, "action"), value })
}

fn text(answer: &Json, name: &str) -> String {
    answer.get(name).and_then(Json::as_str).unwrap_or_default().to_owned()
}

const SCRIPT: Script = Script {
    text: include_str!("node.mjs"),
    does: "decide",
    instead: "decide with `--host native`",
};

/// Bytes of Node's errors that are stored.
const MAX_COMPLAINTS: usize = 1 << 16;
