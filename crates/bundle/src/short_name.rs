//! The name of a bundle as messages show it: refusals are copied, so they hold no text of their own.

use core::fmt;

/// The beginning of a name, as far as a message shows it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ShortName {
    bytes: [u8; MOST],
    // INVARIANT: at most MOST, and the bytes before it are UTF-8.
    length: u8,
    is_cut: bool,
}

impl ShortName {
    /// Returns the name, cut after 56 bytes.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let length = name.floor_char_boundary(MOST);
        let mut bytes = [0; MOST];
        for (to, from) in bytes.iter_mut().zip(name.bytes().take(length)) {
            *to = from;
        }
        let is_cut = length < name.len();
        Self { bytes, length: u8::try_from(length).unwrap_or(0), is_cut }
    }

    /// Returns true for the name of a bundle without one.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    fn text(&self) -> &str {
        let bytes = self.bytes.get(..usize::from(self.length)).unwrap_or_default();
        str::from_utf8(bytes).unwrap_or_default()
    }
}

impl fmt::Display for ShortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())?;
        f.write_str(if self.is_cut { "..." } else { "" })
    }
}

impl fmt::Debug for ShortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ShortName").field(&self.text()).finish()
    }
}

/// Two of them are in an error, which each function that can fail returns: it has to stay below 128 bytes.
const MOST: usize = 56;

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn long_names_are_cut_between_characters() {
        let check = |name: &str, expected: &str| {
            assert_eq!(ShortName::new(name).to_string(), expected);
        };
        check("", "");
        check("photos", "photos");
        check(&"x".repeat(56), &"x".repeat(56));
        check(&"x".repeat(57), &("x".repeat(56) + "..."));
        check(&("x".repeat(55) + "é"), &("x".repeat(55) + "..."));
    }
}
