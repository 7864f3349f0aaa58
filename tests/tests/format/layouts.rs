//! The laws of the formatter, over texts written in every layout.

use proptest::prelude::*;
use wardgate_compiler::source::SourceFile;
use wardgate_compiler::yaml;
use wardgate_tests::generate::layout::{Written, written};
use wardgate_tests::property;
use wardgate_tooling::format::{Outcome, format};

#[test]
fn no_layout_loses_content() {
    property::run([1_000, 100_000], &written(CHOICES), |written| {
        laws(&written).map_err(TestCaseError::fail)
    });
}

/// Checks the laws.
///
/// # Errors
/// If a law is broken; the text names it.
fn laws(written: &Written) -> Result<(), String> {
    reads_as_meant(written, &written.text).map_err(|why| format!("as it is written: {why}"))?;
    let formatted = laid_out(&written.text)?;
    if !matches!(formatted.1, Outcome::Whole | Outcome::Json) {
        return Err(format!("outcome: {:?}", formatted.1));
    }
    let text = formatted.0.as_str();
    let law = |holds: bool, law: &str| match holds {
        true => Ok(()),
        false => Err(format!("{law}:\n{text}")),
    };
    reads_as_meant(written, text).map_err(|why| format!("{why}:\n{text}"))?;
    law(has_comments(text, &written.comments), "comments are missing or moved")?;
    law(laid_out(text)?.0 == text, "another layout a second time")?;
    if formatted.1 == Outcome::Json {
        return law(text == written.text, "JSON is changed");
    }
    let is_same = written.has_expressions() || lines(&written.text) == lines(text);
    law(is_same, "lines are split or joined")?;
    law(!text.contains('\r'), "a line end of another kind")?;
    let elsewhere = format!("\u{feff}{}", written.text.replace('\n', "\r\n"));
    law(laid_out(&elsewhere)?.0 == text, "another layout with a mark and other line ends")
}

fn laid_out(text: &str) -> Result<(String, Outcome), String> {
    match format("any.yaml", text.as_bytes()) {
        Ok(formatted) => Ok((formatted.text, formatted.outcome)),
        Err(errors) => Err(format!("{}:\n{text}", errors.first().map_or("", |it| &it.message))),
    }
}

fn reads_as_meant(written: &Written, text: &str) -> Result<(), String> {
    let source =
        SourceFile::new("any.yaml", text.as_bytes()).map_err(|error| format!("{error:?}"))?;
    let read = yaml::read(&source);
    if let Some(error) = read.errors.first() {
        return Err(error.message.clone());
    }
    let agrees = read.documents.len() == written.documents.len()
        && written.documents.iter().zip(&read.documents).all(|(datum, node)| datum.agrees(node));
    match agrees {
        true => Ok(()),
        false => Err(format!("meant {:?}\nread {:?}", written.documents, read.documents)),
    }
}

/// Returns true if the text has every comment once and in order, and each begins a line or follows
/// white space.
fn has_comments(text: &str, comments: &[String]) -> bool {
    let mut at = 0;
    comments.iter().all(|comment| {
        let Some(start) = text.find(comment).filter(|start| *start >= at) else { return false };
        at = start + comment.len();
        let stands_alone = text[..start].chars().next_back().is_none_or(char::is_whitespace);
        stands_alone && text.matches(comment).count() == 1
    })
}

/// Returns the content of the lines that are not empty, but for the indentation that a block names.
fn lines(text: &str) -> Vec<String> {
    let bare = |line: &str| -> String {
        let header = line.contains(['|', '>']);
        let goes = |c: char| c.is_whitespace() || header && c.is_ascii_digit();
        line.chars().filter(|c| !goes(*c)).collect()
    };
    text.lines().map(bare).filter(|line| !line.is_empty()).collect()
}

const CHOICES: usize = 400;
