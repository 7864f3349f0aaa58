//! The path of a value in a request, for error messages.
//!
//! A path is a chain of references on the stack: only an error that formats it allocates.

use core::fmt;

use wardgate_engine::attr::Attr;
use wardgate_engine::wire;

/// The path of one value in a request.
pub(crate) struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    segment: Segment<'a>,
}

enum Segment<'a> {
    Root,
    Key(&'a str),
    Index(u32),
}

impl<'a> Path<'a> {
    /// The path of the request itself.
    pub(crate) const ROOT: Path<'static> = Path { parent: None, segment: Segment::Root };

    /// Returns the path of the member `name`.
    pub(crate) fn key(&'a self, name: &'a str) -> Path<'a> {
        Path { parent: Some(self), segment: Segment::Key(name) }
    }

    /// Returns the path of the element `index`.
    pub(crate) fn index(&'a self, index: u32) -> Path<'a> {
        Path { parent: Some(self), segment: Segment::Index(index) }
    }

    fn is_root(&self) -> bool {
        matches!(self.segment, Segment::Root)
    }
}

impl fmt::Display for Path<'_> {
    /// Writes the path as JavaScript would: `principal.attr["two words"][3]`. The chain is as short
    /// as the depth limit of a request, so this may recurse.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(parent) = self.parent else { return out.write_str("request") };
        if !parent.is_root() {
            write!(out, "{parent}")?;
        }
        match self.segment {
            Segment::Root => Ok(()),
            Segment::Index(index) => write!(out, "[{index}]"),
            // As JSON, and not with `{:?}`: that would bring the table of printable characters.
            Segment::Key(name) if !is_identifier(name) => {
                write!(out, "[{}]", wire::attr_json(&Attr::String(name.into())))
            }
            Segment::Key(name) if parent.is_root() => out.write_str(name),
            Segment::Key(name) => write!(out, ".{name}"),
        }
    }
}

fn is_identifier(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    !name.is_empty() && name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::Path;

    #[test]
    fn paths_read_like_javascript() {
        let root = Path::ROOT;
        assert_eq!(root.to_string(), "request");
        let attr = root.key("principal");
        let attr = attr.key("attr");
        let words = attr.key("two words");
        assert_eq!(words.index(3).to_string(), "principal.attr[\"two words\"][3]");
    }

    #[test]
    fn a_name_at_the_top_that_is_no_identifier_is_quoted() {
        assert_eq!(Path::ROOT.key("1st").to_string(), "[\"1st\"]");
    }
}
