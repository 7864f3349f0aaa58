//! Results as JSON, in the form of the `TestResults` of Cerbos.
//!
//! Beyond those, a suite that is broken has its `diagnostics`, an action that failed the `line` and
//! `column` of the expectation and the `policy` that decided, and one that passes under some
//! options only these.

use wardgate_engine::decision::Output;
use wardgate_engine::wire::Json;

use super::{
    ActualOutput, CaseResult, Failure, Outcome, OutputFailure, Results, SuiteOutcome, SuiteResult,
    Summary, Verdict, effect_word,
};
use crate::json::{count, document, list, object};
use wardgate_compiler::diagnostics::Diagnostic;

impl Results {
    /// Returns the results as JSON.
    #[must_use]
    pub fn json(&self) -> String {
        document(|json| {
            list(json, "suites", &self.suites, suite);
            summary(json, &self.summary());
        })
    }
}

fn suite(json: &mut Json, result: &SuiteResult) {
    json.field("file", &result.file);
    json.field("name", result.name.as_deref().unwrap_or(UNKNOWN));
    if !result.description.is_empty() {
        json.field("description", &result.description);
    }
    summary(json, &result.summary());
    match &result.outcome {
        SuiteOutcome::Broken(_, errors) => {
            json.field("error", &joined(errors));
            list(json, "diagnostics", errors, diagnostic);
        }
        SuiteOutcome::Skipped(reason) => json.field("skipReason", reason),
        SuiteOutcome::Ran(cases) => {
            let tables = cases.chunk_by(|a, b| a.table == b.table);
            groups(json, "testCases", tables, |case| &case.table, principals);
        }
    }
}

fn principals(json: &mut Json, cases: &[CaseResult]) {
    let principals = cases.chunk_by(|a, b| a.principal == b.principal);
    groups(json, "principals", principals, |case| &case.principal, resources);
}

fn resources(json: &mut Json, cases: &[CaseResult]) {
    let resources = cases.chunk_by(|a, b| a.resource == b.resource);
    let inside = |json: &mut Json, cases: &[CaseResult]| list(json, "actions", cases, action);
    groups(json, "resources", resources, |case| &case.resource, inside);
}

/// Writes a list of objects, each with a name and the members that `inside` writes.
fn groups<'c>(
    json: &mut Json,
    key: &str,
    groups: impl Iterator<Item = &'c [CaseResult]>,
    name: impl Fn(&CaseResult) -> &String,
    inside: impl Fn(&mut Json, &'c [CaseResult]),
) {
    list(json, key, groups, |json, group| {
        json.field("name", group.first().map_or("", |case| name(case)));
        inside(json, group);
    });
}

fn action(json: &mut Json, case: &CaseResult) {
    json.field("name", &case.action);
    if matches!(case.outcome, Outcome::Failed(_) | Outcome::Errored(_)) {
        count(json, "line", case.location.position.line);
        count(json, "column", case.location.position.column);
    }
    object(json, "details", |json| details(json, &case.outcome));
    if let Some(only_with) = case.only_with {
        json.field("passesOnlyWith", only_with.options());
    }
}

fn details(json: &mut Json, outcome: &Outcome) {
    json.field("result", outcome.verdict().word());
    match outcome {
        Outcome::Skipped(skip) => json.field("skipReason", skip.reason()),
        Outcome::Errored(error) => json.field("error", error),
        Outcome::Failed(failure) => object(json, "failure", |json| failed(json, failure)),
        Outcome::Passed(effect, outputs) => object(json, "success", |json| {
            json.field("effect", effect_word(*effect));
            if !outputs.is_empty() {
                list(json, "outputs", outputs, output);
            }
        }),
    }
}

fn failed(json: &mut Json, failure: &Failure) {
    json.field("expected", effect_word(failure.expected));
    json.field("actual", effect_word(failure.actual));
    json.field("policy", &failure.policy);
    if !failure.outputs.is_empty() {
        list(json, "outputs", &failure.outputs, output_failure);
    }
}

fn output_failure(json: &mut Json, failure: &OutputFailure) {
    json.field("src", &failure.source);
    let word = match failure.found {
        ActualOutput::Value(_) => "mismatched",
        ActualOutput::Nothing => "missing",
        ActualOutput::Error(_) => "errored",
    };
    object(json, word, |json| {
        if let Some(value) = &failure.expected {
            json.key("expected");
            json.attr(value);
        }
        match &failure.found {
            ActualOutput::Value(value) => {
                json.key("actual");
                json.attr(value);
            }
            ActualOutput::Nothing => {}
            ActualOutput::Error(error) => json.field("error", error),
        }
    });
}

fn output(json: &mut Json, output: &Output) {
    json.field("src", &output.source);
    match &output.value {
        Ok(value) => {
            json.key("val");
            json.attr(value);
        }
        Err(error) => json.field("error", error),
    }
    json.field("action", &output.action);
}

fn summary(json: &mut Json, summary: &Summary) {
    object(json, "summary", |json| {
        if summary.overall != Verdict::Empty {
            json.field("overallResult", summary.overall.word());
        }
        if summary.tests > 0 {
            count(json, "testsCount", summary.tests);
            let counts = [
                (Verdict::Skipped, summary.skipped),
                (Verdict::Passed, summary.passed),
                (Verdict::Failed, summary.failed),
                (Verdict::Errored, summary.errored),
            ];
            let counts = counts.into_iter().filter(|(_, count)| *count > 0);
            list(json, "resultCounts", counts, |json, (verdict, times)| {
                json.field("result", verdict.word());
                count(json, "count", times);
            });
        }
    });
}

fn diagnostic(json: &mut Json, diagnostic: &Diagnostic) {
    json.field("code", diagnostic.code.name());
    json.field("message", &diagnostic.message);
    json.field("file", &diagnostic.file);
    if let Some(position) = diagnostic.position {
        count(json, "line", position.line);
        count(json, "column", position.column);
    }
    if !diagnostic.path.is_empty() {
        json.field("path", &diagnostic.path);
    }
    json.field("text", &diagnostic.to_string());
}

/// Returns diagnostics as one text.
pub(super) fn joined(errors: &[Diagnostic]) -> String {
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    texts.join("\n")
}

/// The name of a suite that could not be read.
pub(super) const UNKNOWN: &str = "Unknown";
