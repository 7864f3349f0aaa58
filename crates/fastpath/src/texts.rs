//! Words for the texts of one request that are no constants of its fast path.
//!
//! Such a text is compared with other texts of the request only. So its word needs to be the same
//! for equal texts and to differ between unequal ones.

use crate::frame::word;

/// The texts of one request that are no constants, at most `N` of them.
#[derive(Clone, Debug)]
pub struct Texts<'a, const N: usize> {
    known: [&'a str; N],
    next: u32,
}

impl<'a, const N: usize> Texts<'a, N> {
    /// Returns an empty set of texts.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { known: [""; N], next: 0 }
    }

    /// Returns the word of a text: the same for equal texts, another for others. Returns `None` if
    /// there are more than `N`.
    #[inline]
    pub fn word(&mut self, text: &'a str) -> Option<u32> {
        let known = self.known.iter().zip(0..self.next).find(|(known, _)| **known == text);
        let number = match known {
            Some((_, number)) => number,
            None => {
                *self.known.get_mut(usize::try_from(self.next).ok()?)? = text;
                self.next += 1;
                self.next - 1
            }
        };
        Some(word::FIRST_TEMPORARY + number)
    }
}

impl<const N: usize> Default for Texts<'_, N> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::Texts;
    use crate::word::FIRST_TEMPORARY;

    #[test]
    fn equal_texts_have_equal_words() {
        let mut texts = Texts::<3>::new();
        let words = ["", "a", "", "b", "a", "b"].map(|text| texts.word(text).unwrap());
        assert_eq!(words.map(|word| word - FIRST_TEMPORARY), [0, 1, 0, 2, 1, 2]);
        assert_eq!(texts.word("c"), None);
        assert_eq!(texts.word("a"), Some(FIRST_TEMPORARY + 1));
        assert_eq!(Texts::<0>::default().word(""), None);
    }
}
