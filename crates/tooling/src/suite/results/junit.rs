//! Results as JUnit XML, in the form that Cerbos writes.
//!
//! A suite that is broken, or that has a test without a decision, is one error and has no cases, as
//! in Cerbos: the errors are its text.

use std::fmt::Write;

use wardgate_engine::attr::Attr;
use wardgate_engine::decision::Output;
use wardgate_engine::wire::attr_json;

use super::json::{UNKNOWN, joined};
use super::{
    ActualOutput, CaseResult, Failure, Outcome, OutputFailure, Results, SuiteOutcome, SuiteResult,
    Summary, Verdict, effect_word,
};

impl Results {
    /// Returns the results as JUnit XML.
    #[must_use]
    pub fn junit(&self) -> String {
        let sums = self.summary();
        let overall =
            |verdict| self.suites.iter().filter(|s| s.summary().overall == verdict).count();
        let mut xml = Xml::default();
        let attributes = [
            ("errors", (sums.errored + overall(Verdict::Errored)).to_string()),
            ("failures", sums.failed.to_string()),
            ("skipped", (sums.skipped + overall(Verdict::Skipped)).to_string()),
            ("tests", sums.tests.to_string()),
        ];
        xml.open("testsuites", &attributes);
        self.suites.iter().for_each(|result| suite(&mut xml, result));
        xml.close("testsuites");
        xml.text
    }
}

fn suite(xml: &mut Xml, result: &SuiteResult) {
    let sums = result.summary();
    let is_run = matches!(sums.overall, Verdict::Passed | Verdict::Failed);
    let [errors, failures, skipped] = match sums.overall {
        Verdict::Errored => [1, 0, 0],
        Verdict::Skipped => [0, 0, 1],
        _ => [sums.errored, sums.failed, skipped_cases(result)],
    };
    let mut attributes = Vec::new();
    if !result.description.is_empty() {
        attributes.push(("description", result.description.clone()));
    }
    attributes.extend([
        ("name", result.name.clone().unwrap_or_else(|| UNKNOWN.to_owned())),
        ("file", result.file.clone()),
        ("errors", errors.to_string()),
        ("failures", failures.to_string()),
        ("skipped", skipped.to_string()),
        ("tests", sums.tests.to_string()),
    ]);
    xml.open("testsuite", &attributes);
    match sums.overall {
        Verdict::Errored => {
            xml.leaf(
                "error",
                &[("type", sums.overall.word().to_owned())],
                &errors_of(result, &sums),
            );
        }
        Verdict::Skipped => xml.leaf("skipped", &[("message", SKIPPED_SUITE.to_owned())], ""),
        _ => {}
    }
    xml.leaf("properties", &[], "");
    if let (SuiteOutcome::Ran(cases), true) = (&result.outcome, is_run) {
        cases.iter().for_each(|one| case(xml, &result.file, one));
    }
    xml.close("testsuite");
}

/// Returns the number of skipped cases. Cerbos counts those that a filter left out here, though not
/// among the tests.
fn skipped_cases(result: &SuiteResult) -> usize {
    let SuiteOutcome::Ran(cases) = &result.outcome else { return 0 };
    cases.iter().filter(|case| case.outcome.verdict() == Verdict::Skipped).count()
}

/// Returns the errors of a suite; of tests without a decision, each reason once.
fn errors_of(result: &SuiteResult, _: &Summary) -> String {
    match &result.outcome {
        SuiteOutcome::Broken(_, errors) => joined(errors),
        SuiteOutcome::Skipped(_) => String::new(),
        SuiteOutcome::Ran(cases) => {
            let mut reasons: Vec<&str> = Vec::new();
            for case in cases {
                if let Outcome::Errored(reason) = &case.outcome
                    && !reasons.contains(&reason.as_str())
                {
                    reasons.push(reason);
                }
            }
            reasons.join("\n")
        }
    }
}

fn case(xml: &mut Xml, file: &str, case: &CaseResult) {
    let CaseResult { table, principal, resource, action, .. } = case;
    let attributes = [
        ("file", file.to_owned()),
        ("classname", format!("{principal}.{resource}.{action}")),
        ("name", table.clone()),
    ];
    xml.open("testcase", &attributes);
    let word = || ("type", case.outcome.verdict().word().to_owned());
    match &case.outcome {
        Outcome::Skipped(_) => xml.leaf("skipped", &[("message", SKIPPED_CASE.to_owned())], ""),
        Outcome::Errored(error) => xml.leaf("error", &[word()], error),
        Outcome::Failed(failure) => {
            let message = match failure.outputs.is_empty() {
                true => "Effect expectation unsatisfied",
                false => "Output expectation unsatisfied",
            };
            xml.open("failure", &[word(), ("message", message.to_owned())]);
            failed(xml, failure);
            xml.close("failure");
        }
        Outcome::Passed(effect, outputs) => {
            xml.open("success", &[word()]);
            passed(xml, outputs);
            xml.leaf("actual", &[], effect_word(*effect));
            xml.leaf("expected", &[], effect_word(*effect));
            xml.close("success");
        }
    }
    xml.open("properties", &[]);
    for (name, value) in [("principal", principal), ("resource", resource), ("action", action)] {
        xml.leaf("property", &[("name", name.to_owned())], value);
    }
    xml.close("properties");
    xml.close("testcase");
}

fn failed(xml: &mut Xml, failure: &Failure) {
    if !failure.outputs.is_empty() {
        xml.open("outputs", &[]);
        for OutputFailure { source, expected, found, .. } in &failure.outputs {
            let actual = match found {
                ActualOutput::Value(value) => attr_json(value),
                ActualOutput::Nothing => String::new(),
                ActualOutput::Error(error) => format!("{FAILED_OUTPUT}{error}"),
            };
            output(xml, source, &value_json(expected.as_ref()), &actual);
        }
        xml.close("outputs");
    }
    xml.leaf("actual", &[], effect_word(failure.actual));
    xml.leaf("expected", &[], effect_word(failure.expected));
}

fn passed(xml: &mut Xml, outputs: &[Output]) {
    if outputs.is_empty() {
        return;
    }
    xml.open("outputs", &[]);
    for Output { source, value, .. } in outputs {
        let expected = value_json(value.as_ref().ok());
        let actual = value
            .as_ref()
            .map_or_else(|error| format!("{FAILED_OUTPUT}{error}"), |_| expected.clone());
        output(xml, source, &expected, &actual);
    }
    xml.close("outputs");
}

fn output(xml: &mut Xml, source: &str, expected: &str, actual: &str) {
    xml.open("output", &[("src", source.to_owned())]);
    xml.data("expected", expected);
    xml.data("actual", actual);
    xml.close("output");
}

fn value_json(value: Option<&Attr>) -> String {
    value.map_or_else(|| "null".to_owned(), attr_json)
}

/// XML under construction, two spaces deeper for each element.
#[derive(Default)]
struct Xml {
    text: String,
    depth: usize,
}

type Attributes<'a> = [(&'a str, String)];

impl Xml {
    fn open(&mut self, name: &str, attributes: &Attributes<'_>) {
        self.start(name, attributes);
        self.depth += 1;
    }

    fn close(&mut self, name: &str) {
        self.depth = self.depth.saturating_sub(1);
        self.line();
        self.add(format_args!("</{name}>"));
    }

    fn leaf(&mut self, name: &str, attributes: &Attributes<'_>, content: &str) {
        self.start(name, attributes);
        self.add(format_args!("{}</{name}>", escaped(content)));
    }

    /// Writes an element whose content is taken as it is.
    fn data(&mut self, name: &str, content: &str) {
        self.start(name, &[]);
        if !content.is_empty() {
            let content: String = content.chars().map(allowed).collect();
            let content = content.replace("]]>", "]]]]><![CDATA[>");
            self.add(format_args!("<![CDATA[{content}]]>"));
        }
        self.add(format_args!("</{name}>"));
    }

    fn start(&mut self, name: &str, attributes: &Attributes<'_>) {
        self.line();
        self.add(format_args!("<{name}"));
        for (name, value) in attributes {
            self.add(format_args!(" {name}=\"{}\"", escaped(value)));
        }
        self.add(format_args!(">"));
    }

    fn line(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.extend(std::iter::repeat_n("  ", self.depth));
    }

    fn add(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = self.text.write_fmt(text);
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match allowed(c) {
            '"' => escaped.push_str("&#34;"),
            '\'' => escaped.push_str("&#39;"),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\t' => escaped.push_str("&#x9;"),
            '\n' => escaped.push_str("&#xA;"),
            '\r' => escaped.push_str("&#xD;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Returns the character, or a replacement for one that XML cannot hold.
const fn allowed(c: char) -> char {
    match c {
        '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'.. => c,
        _ => '\u{fffd}',
    }
}

const SKIPPED_CASE: &str = "This test was skipped";
const SKIPPED_SUITE: &str = "This test suite was skipped";
const FAILED_OUTPUT: &str = "Failed to evaluate output expression: ";
