//! Known texts, each with a word.

use std::collections::HashMap;

/// Known texts, each with a word.
#[derive(Debug)]
pub(crate) enum Names {
    /// So few that looking at each is quickest.
    Few(Box<[(Box<str>, u32)]>),
    Many(HashMap<Box<str>, u32>),
}

impl Names {
    /// Returns the word of `text`, if it is known.
    #[inline]
    pub(crate) fn get(&self, text: &str) -> Option<u32> {
        match self {
            Self::Few(names) => {
                names.iter().find(|(name, _)| **name == *text).map(|(_, word)| *word)
            }
            Self::Many(names) => names.get(text).copied(),
        }
    }
}

impl FromIterator<(Box<str>, u32)> for Names {
    fn from_iter<I: IntoIterator<Item = (Box<str>, u32)>>(names: I) -> Self {
        let names: Box<[_]> = names.into_iter().collect();
        if names.len() <= FEW { Self::Few(names) } else { Self::Many(names.into_iter().collect()) }
    }
}

const FEW: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_known_text_is_found_and_no_other() {
        for count in [0, 1, FEW, FEW + 1, 100] {
            let names: Names =
                (0..).take(count).map(|word: u32| (word.to_string().into(), word)).collect();
            for word in (0..).take(count) {
                assert_eq!(names.get(&word.to_string()), Some(word));
            }
            assert_eq!((names.get(""), names.get("a")), (None, None));
        }
    }
}
