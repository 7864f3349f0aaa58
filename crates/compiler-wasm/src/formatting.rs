//! From a file to its layout, as the command has it.

use wardgate_tooling::format::{self, Outcome};

use crate::answer::{Answer, FormatAnswer};
use crate::options::File;

/// Lays out a file.
pub(crate) fn format((path, contents): File) -> FormatAnswer {
    match format::format(&path, &contents) {
        Ok(formatted) => FormatAnswer {
            text: Some(formatted.text),
            outcome: Some(name(formatted.outcome)),
            ..FormatAnswer::default()
        },
        Err(diagnostics) => FormatAnswer {
            diagnostics: Answer::refused(diagnostics).diagnostics,
            ..FormatAnswer::default()
        },
    }
}

const fn name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Whole => "whole",
        Outcome::WithoutExpressions => "without-expressions",
        Outcome::Json => "json",
        Outcome::Unchanged => "kept",
    }
}

#[cfg(test)]
mod tests {
    use serde_bytes::ByteBuf;

    use super::*;

    fn formatted(text: &str) -> FormatAnswer {
        format(("a.yaml".to_owned(), ByteBuf::from(text)))
    }

    #[test]
    fn a_layout_is_that_of_the_native_compiler() {
        for (text, outcome) in
            [("a:   [ 1,2 ]  # b\n", "whole"), ("{\"a\":1}", "json"), ("|2\n  a\n", "kept")]
        {
            let native = format::format("a.yaml", text.as_bytes()).unwrap();
            let formatted = formatted(text);
            assert_eq!(
                (formatted.text, formatted.outcome),
                (Some(native.text), Some(outcome)),
                "{text}"
            );
            assert!(formatted.diagnostics.is_empty());
        }
    }

    #[test]
    fn unreadable_files_give_a_diagnostic_and_no_text() {
        let formatted = formatted("a: [\n");
        assert!(
            formatted.text.is_none()
                && formatted.outcome.is_none()
                && formatted.diagnostics.len() == 1
        );
    }
}
