//! Constants as an author would write them.

use std::fmt::Write as _;
use std::rc::Rc;

use wardgate_compiler::cel::ast::Literal;
use wardgate_engine::attr::Attr;

/// A value, by the text that spells it in CEL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Constant {
    text: Rc<str>,
    /// The elements, if it is a list.
    elements: Option<Rc<[Self]>>,
}

impl Constant {
    pub(super) fn truth_value(value: bool) -> Self {
        Self::plain(if value { "true" } else { "false" })
    }

    pub(super) fn literal(literal: &Literal) -> Self {
        match literal {
            Literal::Null => Self::plain("null"),
            Literal::Bool(value) => Self::truth_value(*value),
            Literal::Int(value) => Self::plain(&value.to_string()),
            Literal::Uint(value) => Self::plain(&format!("{value}u")),
            Literal::Double(value) => Self::plain(&format!("{value:?}")),
            Literal::String(text) => Self::plain(&quoted(text)),
            Literal::Bytes(bytes) => {
                let escaped: String = bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect();
                Self::plain(&format!("b\"{escaped}\""))
            }
        }
    }

    pub(super) fn attr(attr: &Attr) -> Self {
        match attr {
            Attr::Null => Self::plain("null"),
            Attr::Bool(value) => Self::truth_value(*value),
            Attr::Number(value) => Self::plain(&format!("{value:?}")),
            Attr::String(text) => Self::plain(&quoted(text)),
            Attr::List(items) => Self::list(items.iter().map(Self::attr).collect()),
            Attr::Map(map) => {
                let entry = |(key, value): &(Box<str>, Attr)| {
                    format!("{}: {}", quoted(key), Self::attr(value).text)
                };
                let entries: Vec<String> = map.entries().iter().map(entry).collect();
                Self::plain(&format!("{{{}}}", entries.join(", ")))
            }
        }
    }

    pub(super) fn list(elements: Vec<Self>) -> Self {
        let texts: Vec<&str> = elements.iter().map(Self::text).collect();
        Self { text: format!("[{}]", texts.join(", ")).into(), elements: Some(elements.into()) }
    }

    fn plain(text: &str) -> Self {
        Self { text: text.into(), elements: None }
    }

    /// Returns the value as text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn elements(&self) -> Option<&[Self]> {
        self.elements.as_deref()
    }

    pub(super) fn truth(&self) -> Option<bool> {
        match &*self.text {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// Returns the number with the other sign, if it is a positive one.
    pub(super) fn negative(&self) -> Option<Self> {
        let is_signed = self.text.starts_with(|c: char| c.is_ascii_digit());
        (is_signed && !self.text.ends_with('u')).then(|| Self::plain(&format!("-{}", self.text)))
    }

    /// Returns the spelling of the value in comparisons, where `1`, `1u` and `1.0` are equal.
    pub(super) fn compared(&self) -> Self {
        let digits = self.text.strip_suffix('u').or(self.text.strip_suffix(".0"));
        match digits {
            Some(digits) if is_small_integer(digits) => {
                Self::plain(if digits == "-0" { "0" } else { digits })
            }
            _ => self.clone(),
        }
    }
}

/// Returns true if a double holds the number exactly. A text in quotes is none.
fn is_small_integer(digits: &str) -> bool {
    digits.parse::<i64>().is_ok_and(|value| value.unsigned_abs() <= 1 << 53)
}

/// Returns a string literal of CEL.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len().saturating_add(2));
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
