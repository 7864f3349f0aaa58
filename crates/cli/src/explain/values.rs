//! Values as they are shown: as JSON, and cut where they are long.

use wardgate_engine::decide::observe::{Read, Sight};
use wardgate_engine::wire;

/// Returns the value of an expression in one short line.
pub(crate) fn sight(read: &Read) -> String {
    let name = &read.name;
    match &read.sight {
        Sight::Value(value) => format!("{name} = {}", cut(&wire::attr_json(value), MOST_SHOWN)),
        Sight::Other(kind) => format!("{name} = (a {kind}, too long or without a text)"),
        Sight::Missing => format!("{name} is missing"),
        Sight::Failed(error) => format!("{name} failed: {}", cut(error, MOST_SHOWN)),
    }
}

/// Returns `text` with at most `most` characters, and marks the cut.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((at, _)) => {
            let rest = text.chars().count().saturating_sub(most);
            format!("{}... ({rest} more)", text.get(..at).unwrap_or(text))
        }
    }
}

/// Characters of the longest value in a text.
const MOST_SHOWN: usize = 100;

/// Characters of the longest value in JSON.
pub(crate) const MOST_JSON: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut_between_characters() {
        let check = |text: &str, expected: &str| assert_eq!(cut(text, 3), expected);
        check("", "");
        check("abc", "abc");
        check("abcd", "abc... (1 more)");
        check("äöüßé", "äöü... (2 more)");
    }
}
