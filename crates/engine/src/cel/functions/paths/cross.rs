//! Paths of either system in one notation.
//!
//! A path is converted to the `/` notation and cleaned: `\\host\share\dir` becomes
//! `/host/share/dir`, `C:\dir` becomes `/C:/dir`. The result is written in the notation of the
//! argument.

use alloc::format;
use alloc::string::String;

use super::slash;

/// A path in the `/` notation, with its original notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CrossPath {
    // INVARIANT: clean in the sense of `slash::clean`.
    value: String,
    kind: Kind,
    /// True if it was written with backslashes.
    windows: bool,
    /// True if it is only a drive or a share.
    root: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Drive,
    /// `\\host\share`.
    Share,
}

/// A path relative to the current directory of a drive (`D:foo`), which is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unsupported;

impl CrossPath {
    pub(super) fn parse(path: &str) -> Result<Self, Unsupported> {
        let windows = crate::text::has(path, '\\');
        let (kind, root, value) = if let Some(share) = path.strip_prefix(r"\\") {
            (Kind::Share, share.matches('\\').count() == 1, to_slashes(path))
        } else if starts_with_drive(path) {
            if !windows && path.len() > 2 {
                return Err(Unsupported);
            }
            (Kind::Drive, path.len() <= 3, format!("/{}", to_slashes(path)))
        } else {
            (Kind::Plain, path == "/", to_slashes(path))
        };
        Ok(Self { value: slash::clean(&value), kind, windows, root })
    }

    /// Writes a path in the notation of this one.
    fn restore(&self, value: &str) -> String {
        match self.kind {
            Kind::Share => format!(r"\{}", to_backslashes(value)),
            Kind::Drive => {
                let value = to_backslashes(value);
                value.strip_prefix('\\').map(String::from).unwrap_or(value)
            }
            Kind::Plain if self.windows => to_backslashes(value),
            Kind::Plain => String::from(value),
        }
    }

    /// Returns the last element.
    pub(super) fn base(&self) -> &str {
        slash::base(&self.value)
    }

    /// Returns the last element from its last dot on.
    pub(super) fn ext(&self) -> &str {
        slash::ext(&self.value)
    }

    /// Returns all but the last element; `None` for a Windows path of one element.
    pub(super) fn dir(&self) -> Option<String> {
        match (self.kind, self.root) {
            (Kind::Share, true) => return Some(self.restore(&self.value)),
            (Kind::Drive, true) => return Some(self.restore(&self.value) + "\\"),
            (Kind::Plain, _) if !self.windows => return Some(slash::dir(&self.value).into()),
            _ => {}
        }
        crate::text::cut_last(&self.value, b'/').map(|(head, _)| self.restore(head))
    }

    /// Appends `other` to the path.
    pub(super) fn push(&mut self, other: &Self) {
        self.value = slash::clean(&format!("{}/{}", self.value, other.value));
    }

    /// Returns the path in its own notation.
    pub(super) fn text(&self) -> String {
        self.restore(&self.value)
    }

    /// Returns the path in the `/` notation.
    pub(super) fn value(&self) -> &str {
        &self.value
    }

    /// Returns the relative path from this path to `target`, in the notation of `target`.
    pub(super) fn relate(&self, target: &Self) -> Option<String> {
        let way = slash::relate(&self.value, &target.value)?;
        Some(match (way.as_str(), target.kind) {
            ("." | "..", _) => way,
            (_, Kind::Share) => to_backslashes(&way),
            _ => target.restore(&way),
        })
    }
}

/// Returns the drive or the share at the front of a Windows path.
pub(super) fn volume(path: &str) -> &str {
    let length = if let Some(share) = path.strip_prefix(r"\\") {
        let mut names = share.split('\\');
        match (names.next(), names.next()) {
            (Some(host), Some(share)) if !host.is_empty() && !share.is_empty() => {
                3 + host.len() + share.len()
            }
            _ => 0,
        }
    } else if starts_with_drive(path) {
        2
    } else {
        0
    };
    path.get(..length).unwrap_or_default()
}

fn starts_with_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

fn to_slashes(path: &str) -> String {
    path.replace('\\', "/")
}

fn to_backslashes(path: &str) -> String {
    path.replace('/', "\\")
}

#[cfg(test)]
mod tests {
    use super::{CrossPath, volume};

    fn path(text: &str) -> CrossPath {
        CrossPath::parse(text).unwrap()
    }

    #[test]
    fn results_have_the_notation_of_their_argument() {
        for text in ["/", "/a/b", "a", r"\\h\s", r"\\h\s\d\e", "C:", r"C:\a\b.c", r"..\a\b", r"\a"]
        {
            assert_eq!(path(text).text(), text);
        }
        assert_eq!(path(r"C:\a\..\b\").text(), r"C:\b");
    }

    #[test]
    fn directories_end_at_the_root() {
        let cases = [
            (r"\\h\s", r"\\h\s"),
            (r"\\h\s\d", r"\\h\s"),
            ("C:", r"C:\"),
            (r"C:\a", "C:"),
            (r"C:\a\b", r"C:\a"),
            (r"a\b", "a"),
            ("/a/b", "/a"),
            ("/", "/"),
            ("a", "."),
        ];
        for (text, expected) in cases {
            assert_eq!(path(text).dir().as_deref(), Some(expected), "`{text}`");
        }
        assert_eq!(path(r"a\").dir(), None);
    }

    #[test]
    fn the_current_directory_of_a_drive_is_unknown() {
        for text in ["D:.", "D:foo", "D:/"] {
            assert!(CrossPath::parse(text).is_err(), "`{text}`");
        }
    }

    #[test]
    fn relations_and_joins_cross_notations() {
        assert_eq!(path("/a/b").relate(&path("/a/c")).as_deref(), Some("../c"));
        assert_eq!(path(r"C:\a").relate(&path(r"C:\a\b\c")).as_deref(), Some(r"b\c"));
        assert_eq!(path(r"\\h\s\a").relate(&path(r"\\h\s\b\c")).as_deref(), Some(r"..\b\c"));
        let mut joined = path(r"C:\a");
        joined.push(&path("b/c"));
        assert_eq!(joined.text(), r"C:\a\b\c");
    }

    #[test]
    fn volumes_are_drives_and_shares() {
        let cases = [
            ("/a", ""),
            (r"\\h\s\x", r"\\h\s"),
            (r"\\h", ""),
            (r"\\\s", ""),
            (r"C:\x", "C:"),
            ("C:", "C:"),
            ("é:", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(volume(text), expected, "`{text}`");
        }
    }
}
