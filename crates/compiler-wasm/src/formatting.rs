//! From a file to its layout, as the command has it.

use wardgate_tooling::format::{self, Outcome};

use crate::answer::{Answer, Formatted};
use crate::asked::File;

/// Lays out a file.
pub(crate) fn format((path, contents): File) -> Formatted {
    match format::format(&path, &contents) {
        Ok(formatted) => Formatted {
            text: Some(formatted.text),
            outcome: Some(name(formatted.outcome)),
            ..Formatted::default()
        },
        Err(diagnostics) => Formatted {
            diagnostics: Answer::refused(diagnostics).diagnostics,
            ..Formatted::default()
        },
    }
}

const fn name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Whole => "whole",
        Outcome::WithoutExpressions => "without-expressions",
        Outcome::Json => "json",
        Outcome::Kept => "kept",
    }
}

#[cfg(test)]
mod tests {
    use serde_bytes::ByteBuf;

    use super::*;

    fn formatted(text: &str) -> Formatted {
        format(("a.yaml".to_owned(), ByteBuf::from(text)))
    }

    #[test]
    fn a_layout_is_that_of_the_native_compiler() {
        for (text, outcome) in
            [("a:   [ 1,2 ]  # b\n", "whole"), ("{\"a\":1}", "json"), ("|2\n  a\n", "kept")]
        {
            let native = format::format("a.yaml", text.as_bytes()).unwrap();
            let told = formatted(text);
            assert_eq!((told.text, told.outcome), (Some(native.text), Some(outcome)), "{text}");
            assert!(told.diagnostics.is_empty());
        }
    }

    #[test]
    fn what_cannot_be_read_is_a_diagnostic_and_no_text() {
        let told = formatted("a: [\n");
        assert!(told.text.is_none() && told.outcome.is_none() && told.diagnostics.len() == 1);
    }
}
