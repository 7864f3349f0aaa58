//! Text after a closing quote, blanked out so that the next mistake of the same kind can be found.
//!
//! `expr: "a" == b` is the commonest mistake of all in policies, and seldom made once. The scanner
//! stops at the first; with the wrong text replaced by as many spaces, every other position stays
//! as it is.

use std::borrow::Cow;

use crate::limits::{MAX_BYTES_READ_AGAIN, MAX_MASKED};

/// The character ranges that are blanked out, each to the end of its line.
#[derive(Debug, Default)]
pub(super) struct Mask {
    starts: Vec<usize>,
    read_again: usize,
}

impl Mask {
    /// Blanks the line out from the character at `index`. Returns true if that is within bounds.
    pub(super) fn add(&mut self, index: usize, text: &str) -> bool {
        self.read_again = self.read_again.saturating_add(text.len());
        let fits = self.starts.len() < MAX_MASKED && self.read_again <= MAX_BYTES_READ_AGAIN;
        let is_new = !self.starts.contains(&index);
        if fits && is_new {
            self.starts.push(index);
        }
        fits && is_new
    }

    pub(super) fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.starts.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut blank = false;
        let mask = text.chars().enumerate().map(|(index, c)| {
            blank = (blank || self.starts.contains(&index)) && !matches!(c, '\n' | '\r');
            if blank { ' ' } else { c }
        });
        Cow::Owned(mask.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_line_is_blanked_out_and_nothing_moves() {
        let text = "ä: \"b\" == c\r\nd: \"e\" f";
        let mut mask = Mask::default();
        assert_eq!(mask.apply(text), text);
        assert!(mask.add(7, text));
        assert!(!mask.add(7, text));
        assert_eq!(mask.apply(text), "ä: \"b\"     \r\nd: \"e\" f");
    }
}
