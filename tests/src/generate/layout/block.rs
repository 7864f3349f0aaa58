//! Collections by indentation.

use super::Writer;
use super::data::Datum;
use super::scalar::Context;

/// The token in front of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Key,
    Dash,
    Question,
}

impl Writer<'_> {
    /// Writes a document. The cursor is at the beginning of a line.
    pub(super) fn root(&mut self, datum: &Datum) {
        let indent = self.choices.below(8).saturating_sub(5);
        match datum {
            Datum::Map(entries) if !entries.is_empty() && !self.choices.chance(1) => {
                self.map(entries, indent, false);
            }
            Datum::List(items) if !items.is_empty() && !self.choices.chance(1) => {
                self.list(items, indent, false);
            }
            datum => {
                self.tail = None;
                self.indent(indent);
                self.flow(datum, 1);
                self.line_end();
            }
        }
    }

    fn map(&mut self, entries: &[(Datum, Datum)], indent: usize, mut on_line: bool) {
        for (key, value) in entries {
            self.begin(indent, &mut on_line);
            self.entry(key, value, indent);
        }
    }

    fn list(&mut self, items: &[Datum], indent: usize, mut on_line: bool) {
        for item in items {
            self.begin(indent, &mut on_line);
            self.out.push('-');
            self.value(item, indent, After::Dash);
        }
    }

    /// Goes to the beginning of an entry, unless the cursor is there for the first one.
    fn begin(&mut self, indent: usize, on_line: &mut bool) {
        if !std::mem::take(on_line) {
            self.fill();
            self.indent(indent);
        }
        self.tail = None;
    }

    fn entry(&mut self, key: &Datum, value: &Datum, indent: usize) {
        if self.choices.chance(1) {
            self.out.push('?');
            self.value(key, indent, After::Question);
            if *value == Datum::Null && self.choices.chance(4) {
                return;
            }
            self.fill();
            self.indent(indent);
            self.tail = None;
        } else {
            self.one_line += 1;
            self.flow(key, 0);
            self.one_line -= 1;
            if self.choices.chance(1) || matches!(key, Datum::Alias(..)) {
                self.blank();
            }
        }
        self.out.push(':');
        self.value(value, indent, After::Key);
    }

    /// Writes the value behind a key, a `-` or a `?` of a collection at `indent`, and ends its
    /// line.
    fn value(&mut self, datum: &Datum, indent: usize, after: After) {
        let (properties, inner) = self.properties(datum);
        let is_block = match inner {
            Datum::Map(entries) => !entries.is_empty(),
            Datum::List(items) => !items.is_empty(),
            _ => false,
        };
        match is_block && !self.choices.chance(2) {
            true => self.collection(&properties, inner, indent, after),
            false => self.leaf(&properties, inner, indent),
        }
    }

    fn collection(&mut self, properties: &str, datum: &Datum, indent: usize, after: After) {
        let is_list = matches!(datum, Datum::List(_));
        if properties.is_empty() && after != After::Key && self.choices.chance(6) {
            // The collection begins on this line.
            let spaces = 1 + self.choices.below(4);
            self.indent(spaces);
            return self.block(datum, indent + 1 + spaces, true);
        }
        if !properties.is_empty() {
            self.out.push(' ');
            self.out.push_str(properties);
        }
        self.line_end();
        let least = usize::from(!is_list || after != After::Key);
        let deeper = least + self.choices.pick(2 - least, &[0, 1, 3, 5]);
        self.block(datum, indent + deeper, false);
    }

    fn block(&mut self, datum: &Datum, indent: usize, on_line: bool) {
        match datum {
            Datum::Map(entries) => self.map(entries, indent, on_line),
            Datum::List(items) => self.list(items, indent, on_line),
            _ => {}
        }
    }

    /// Writes a scalar, an alias, or a collection in brackets.
    fn leaf(&mut self, properties: &str, datum: &Datum, indent: usize) {
        if !properties.is_empty() {
            self.out.push(' ');
            self.out.push_str(properties);
        }
        if *datum == Datum::Null && self.choices.chance(5) {
            return self.line_end();
        }
        if self.choices.chance(1) {
            self.line_end();
            self.fill();
            let deeper = 1 + self.choices.below(4);
            self.indent(indent + deeper);
        } else {
            // A tab directly behind it is refused, with advice.
            let spaces = 1 + self.choices.below(3);
            self.indent(spaces);
        }
        let context = Context { least: indent + 1, parent: Some(indent) };
        let has_ended = match datum {
            Datum::Text(text) | Datum::Expression(text) => self.scalar(text, context),
            datum => {
                self.bare_flow(datum, indent + 1);
                false
            }
        };
        if !has_ended {
            self.line_end();
        }
    }

    /// Returns the anchor and the tag of a value, and the value.
    pub(super) fn properties<'d>(&mut self, datum: &'d Datum) -> (String, &'d Datum) {
        let (anchor, inner) = match datum {
            Datum::Anchored(number, inner) => (format!("&x{number}"), &**inner),
            datum => (String::new(), datum),
        };
        let tag = match inner {
            Datum::Text(_) | Datum::Expression(_) => "!!str",
            Datum::List(_) => "!!seq",
            Datum::Map(_) => "!!map",
            _ => return (anchor, inner),
        };
        match (self.choices.below(16), anchor.as_str()) {
            (15, "") => (tag.to_owned(), inner),
            (15, anchor) => (format!("{anchor} {tag}"), inner),
            (14, anchor) if !anchor.is_empty() => (format!("{tag}  {anchor}"), inner),
            _ => (anchor, inner),
        }
    }
}
