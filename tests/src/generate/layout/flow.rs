//! Collections between brackets.

use super::Writer;
use super::data::Datum;
use super::scalar::Context;

impl Writer<'_> {
    /// Writes a value between brackets or as a key; lines begin after at least `least` spaces.
    pub(super) fn flow(&mut self, datum: &Datum, least: usize) {
        let (properties, inner) = self.properties(datum);
        if !properties.is_empty() {
            self.out.push_str(&properties);
            self.out.push(' ');
        }
        self.bare_flow(inner, least);
    }

    /// Writes a value without its properties.
    pub(super) fn bare_flow(&mut self, datum: &Datum, least: usize) {
        match datum {
            Datum::Null => self.out.push_str(self.choices.pick("null", &["~"])),
            Datum::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Datum::Integer(value) => self.out.push_str(&value.to_string()),
            Datum::Float(value) => self.out.push_str(&value.to_string()),
            Datum::Text(text) | Datum::Expression(text) => {
                self.scalar(text, Context { least, parent: None });
            }
            Datum::List(items) => self.brackets(items, least),
            Datum::Map(entries) => self.braces(entries, least),
            Datum::Anchored(_, inner) => self.bare_flow(inner, least),
            Datum::Alias(number, _) => self.out.push_str(&format!("*x{number}")),
        }
    }

    fn brackets(&mut self, items: &[Datum], least: usize) {
        self.out.push('[');
        for (item, number) in items.iter().zip(1..) {
            self.gap(least);
            match item {
                Datum::Map(entries) if entries.len() == 1 && self.choices.chance(3) => {
                    entries.iter().for_each(|(key, value)| self.pair(key, value, least));
                }
                item => self.flow(item, least),
            }
            self.comma(number == items.len(), item, least);
        }
        self.closing(least);
        self.out.push(']');
    }

    fn braces(&mut self, entries: &[(Datum, Datum)], least: usize) {
        self.out.push('{');
        for ((key, value), number) in entries.iter().zip(1..) {
            self.gap(least);
            if *value == Datum::Null && self.choices.chance(4) {
                self.flow(key, least);
                self.comma(number == entries.len(), key, least);
            } else {
                self.pair(key, value, least);
                self.comma(number == entries.len(), value, least);
            }
        }
        self.closing(least);
        self.out.push('}');
    }

    fn pair(&mut self, key: &Datum, value: &Datum, least: usize) {
        if self.one_line == 0 && self.choices.chance(1) {
            self.out.push('?');
            self.out.push(' ');
            self.flow(key, least);
            self.out.push(' ');
        } else {
            self.one_line += 1;
            let start = self.out.len();
            self.flow(key, least);
            self.one_line -= 1;
            let is_plain = !self.out.ends_with(['"', '\'', ']', '}'])
                || self.out.get(start..).is_some_and(|key| !key.starts_with(['"', '\'', '[', '{']));
            if !is_plain && self.choices.chance(3) && !matches!(value, Datum::Alias(..)) {
                self.out.push(':');
                return self.flow(value, least);
            }
            if matches!(key, Datum::Alias(..)) {
                self.out.push(' ');
            }
        }
        self.out.push_str(": ");
        self.gap(least);
        self.flow(value, least);
    }

    fn comma(&mut self, is_last: bool, before: &Datum, least: usize) {
        if is_last && !self.choices.chance(2) {
            return;
        }
        if self.choices.chance(1) || matches!(before, Datum::Alias(..)) {
            self.gap(least);
        }
        self.out.push(',');
    }

    /// Writes white space, and perhaps the end of a line.
    fn gap(&mut self, least: usize) {
        match self.choices.below(6) {
            0 => self.out.push(' '),
            1 => {}
            2 => self.out.push_str("  "),
            _ if self.one_line > 0 => {}
            3 | 4 => {
                self.line_end();
                self.fill();
                let indent = least + self.choices.below(6);
                self.indent(indent);
            }
            _ => self.out.push('\t'),
        }
    }

    /// Writes the gap before a closing bracket, which may be indented less than YAML wants it.
    fn closing(&mut self, least: usize) {
        self.gap(least);
        let is_first = self.out.rsplit('\n').next().is_some_and(|line| line.trim().is_empty());
        if is_first && self.one_line == 0 && self.choices.chance(4) && self.out.contains('\n') {
            self.out.truncate(self.out.trim_end_matches([' ', '\t']).len());
            let indent = self.choices.below(least);
            self.indent(indent);
        }
    }
}
