//! JSON into the same tree, strictly by RFC 8259.
//!
//! YAML contains nearly all of JSON; the exceptions, such as characters written as two `\u`
//! escapes, are why it has a reader of its own.

use std::sync::Arc;

use super::{Entry, Fault, Kind, Node};
use crate::diagnostics::{Code, Diagnostic};
use crate::expression::Style;
use crate::limits::{MAX_NODE_DEPTH, MAX_NODES};
use crate::source::{Location, Position, SourceFile};

pub(super) fn read(file: &Arc<SourceFile>) -> Result<Node, Fault> {
    let mut reader = Reader { file, rest: &file.text, at: Position::START, nodes: 0 };
    reader.blank();
    let node = reader.value(0)?;
    reader.blank();
    match reader.peek() {
        None => Ok(node),
        Some(_) => Err(reader.error("found text after the end of the value")),
    }
}

struct Reader<'a> {
    file: &'a Arc<SourceFile>,
    rest: &'a str,
    at: Position,
    nodes: usize,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Result<Node, Fault> {
        self.nodes = self.nodes.saturating_add(1);
        if depth >= MAX_NODE_DEPTH {
            return Err(self.limit("values nest too deeply", MAX_NODE_DEPTH));
        }
        if self.nodes > MAX_NODES {
            return Err(self.limit("the file holds too many values", MAX_NODES));
        }
        let (position, offset) = (self.at, self.offset());
        let kind = match self.peek() {
            Some('{') => self.object(depth)?,
            Some('[') => self.array(depth)?,
            Some('"') => Kind::String(self.string()?.into(), Style::DoubleQuoted),
            Some('-' | '0'..='9') => self.number()?,
            Some('a'..='z') => self.word()?,
            Some(_) => return Err(self.error("found no value where one is needed")),
            None => return Err(self.error("the file ends where a value is needed")),
        };
        Ok(Node { position, offset, kind })
    }

    fn object(&mut self, depth: usize) -> Result<Kind, Fault> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut keys = std::collections::HashSet::new();
        self.bump();
        self.blank();
        while self.peek() != Some('}') {
            if !entries.is_empty() {
                self.expect(',', "a `,` or `}`")?;
                self.blank();
            }
            let key = self.key()?;
            if let Kind::String(text, _) = &key.kind
                && !keys.insert(Arc::clone(text))
            {
                return Err(self.error_at(key.position, format!("duplicate key `{text}`")));
            }
            self.blank();
            self.expect(':', "a `:`")?;
            self.blank();
            let value = self.value(depth.saturating_add(1))?;
            entries.push(Entry { key, value });
            self.blank();
        }
        self.bump();
        Ok(Kind::Map(entries))
    }

    fn key(&mut self) -> Result<Node, Fault> {
        let (position, offset) = (self.at, self.offset());
        if self.peek() != Some('"') {
            return Err(self.error("found no key in quotes where one is needed"));
        }
        let kind = Kind::String(self.string()?.into(), Style::DoubleQuoted);
        Ok(Node { position, offset, kind })
    }

    fn array(&mut self, depth: usize) -> Result<Kind, Fault> {
        let mut items = Vec::new();
        self.bump();
        self.blank();
        while self.peek() != Some(']') {
            if !items.is_empty() {
                self.expect(',', "a `,` or `]`")?;
                self.blank();
            }
            items.push(self.value(depth.saturating_add(1))?);
            self.blank();
        }
        self.bump();
        Ok(Kind::Seq(items))
    }

    fn string(&mut self) -> Result<String, Fault> {
        let start = self.at;
        let mut text = String::new();
        self.bump();
        loop {
            match self.bump() {
                Some('"') => return Ok(text),
                Some('\\') => text.push(self.escape()?),
                Some(c) if c >= ' ' => text.push(c),
                Some(_) => {
                    return Err(self.error_at(start, "the text contains a control character"));
                }
                None => return Err(self.error_at(start, "quoted text has no closing quote")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        Ok(match self.bump() {
            Some(c @ ('"' | '\\' | '/')) => c,
            Some('b') => '\x08',
            Some('f') => '\x0c',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => return self.unicode(),
            _ => return Err(self.error("found an escape that JSON does not know")),
        })
    }

    fn unicode(&mut self) -> Result<char, Fault> {
        let first = self.hex()?;
        let mut code = first;
        if (0xD800..0xDC00).contains(&first) {
            let second = match self.rest.starts_with("\\u") {
                true => {
                    self.bump();
                    self.bump();
                    self.hex()?
                }
                false => 0,
            };
            if !(0xDC00..0xE000).contains(&second) {
                return Err(self.error("found half of a surrogate pair"));
            }
            let high = (first & 0x3FF) << 10;
            code = 0x1_0000_u32.saturating_add(high | (second & 0x3FF));
        }
        char::from_u32(code).ok_or_else(|| self.error("found half of a surrogate pair"))
    }

    fn hex(&mut self) -> Result<u32, Fault> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(digit) = self.bump().and_then(|c| c.to_digit(16)) else {
                return Err(self.error("`\\u` needs four hexadecimal digits"));
            };
            code = code << 4 | digit;
        }
        Ok(code)
    }

    fn number(&mut self) -> Result<Kind, Fault> {
        let start = self.at;
        let numeric = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
        let text = self.take_while(numeric).to_owned();
        let integer = text.parse().ok().filter(in_64_bits).map(Kind::Integer);
        let number = integer
            .or_else(|| text.parse().ok().filter(|value: &f64| value.is_finite()).map(Kind::Float));
        number
            .filter(|_| is_json_number(&text))
            .ok_or_else(|| self.error_at(start, format!("`{text}` is not a number")))
    }

    fn word(&mut self) -> Result<Kind, Fault> {
        let start = self.at;
        match self.take_while(|c| c.is_ascii_alphanumeric()).to_owned().as_str() {
            "null" => Ok(Kind::Null),
            "true" => Ok(Kind::Bool(true)),
            "false" => Ok(Kind::Bool(false)),
            other => {
                Err(self.error_at(start, format!("`{other}` is not a value: text needs quotes")))
            }
        }
    }

    fn expect(&mut self, c: char, what: &str) -> Result<(), Fault> {
        if self.peek() == Some(c) {
            self.bump();
            return Ok(());
        }
        let found = self.peek().map_or("the end of the file".to_owned(), |c| format!("`{c}`"));
        Err(self.error(format!("the text is not JSON: expected {what}, found {found}")))
    }

    fn blank(&mut self) {
        while let Some(' ' | '\t' | '\n' | '\r') = self.peek() {
            self.bump();
        }
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &str {
        let all = self.rest;
        while self.peek().is_some_and(&wanted) {
            self.bump();
        }
        all.get(..all.len().saturating_sub(self.rest.len())).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = self.rest.get(c.len_utf8()..).unwrap_or_default();
        self.at = self.at.after(c);
        Some(c)
    }

    fn offset(&self) -> usize {
        self.file.text.len().saturating_sub(self.rest.len())
    }

    fn error(&self, message: impl Into<String>) -> Fault {
        self.error_at(self.at, message)
    }

    fn error_at(&self, at: Position, message: impl Into<String>) -> Fault {
        let location = Location { file: Arc::clone(self.file), position: at, path: Arc::from("") };
        Box::new(Diagnostic::error(Code::Syntax, &location, message))
    }

    fn limit(&self, message: &str, bound: usize) -> Fault {
        let mut error = self.error(message);
        error.code = Code::Limit;
        error.expected = Some(format!("at most {bound}"));
        error
    }
}

fn in_64_bits(value: &i128) -> bool {
    *value >= i128::from(i64::MIN) && *value <= i128::from(u64::MAX)
}

/// Returns true if a text is a number of JSON. Rust reads a little more: `01`, `1.`, `.5`.
fn is_json_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let whole = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let rest = digits.get(whole..).unwrap_or_default();
    let fraction_is_there =
        rest.strip_prefix('.').is_none_or(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let no_leading_zero = whole == 1 || !digits.starts_with('0');
    whole > 0 && fraction_is_there && no_leading_zero
}
