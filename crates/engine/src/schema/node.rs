//! A schema, read from its words.

use super::keyword::Keyword;
use crate::limits::MAX_SCHEMA_KEYWORDS;

/// One schema: the words of its keywords.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    words: &'a [u32],
    count: usize,
}

impl<'a> Node<'a> {
    /// Returns the node with this id; `None` if there is none.
    #[must_use]
    pub fn at(words: &'a [u32], id: u32) -> Option<Self> {
        let start = *words.get(usize::try_from(id).ok()?)?;
        let (count, words) = words.get(usize::try_from(start).ok()?..)?.split_first()?;
        let count = usize::try_from(*count).ok().filter(|count| *count <= MAX_SCHEMA_KEYWORDS)?;
        Some(Self { words, count })
    }

    /// Returns the keywords in the order in which they are checked; the last one is `None` if the
    /// words end too early.
    pub fn keywords(self) -> impl Iterator<Item = (Option<Keyword>, &'a [u32])> {
        let mut rest = self.words;
        (0..self.count).map(move |_| {
            let Some(([code, length], after)) = rest.split_first_chunk() else {
                return (None, &[][..]);
            };
            let length = usize::try_from(*length).unwrap_or(usize::MAX);
            let Some((words, after)) = after.split_at_checked(length) else {
                return (None, &[][..]);
            };
            rest = after;
            (Keyword::from_code(*code), words)
        })
    }
}

/// Returns the pairs of a keyword that has such words.
pub fn pairs(words: &[u32]) -> impl Iterator<Item = (u32, u32)> + use<'_> {
    words.as_chunks::<2>().0.iter().map(|[a, b]| (*a, *b))
}
