//! Literals: numbers, lists, maps and messages.

use super::super::ast::{CelError, Element, Entry, Expr, ExprKind, Field, Literal, Span};
use super::super::lexer::TokenKind;
use super::{Parsed, Parser, quoted};

impl Parser<'_> {
    pub(super) fn list(&mut self, start: Span) -> Parsed<Expr> {
        let mut elements = Vec::new();
        self.items("]", |parser| {
            let optional = parser.eat("?");
            elements.push(Element { value: parser.expr()?, optional });
            Ok(())
        })?;
        self.node(ExprKind::List(elements), start.to(self.previous()))
    }

    pub(super) fn map(&mut self, start: Span) -> Parsed<Expr> {
        let mut entries = Vec::new();
        self.items("}", |parser| {
            let optional = parser.eat("?");
            let key = parser.expr()?;
            parser.expect(":")?;
            entries.push(Entry { key, value: parser.expr()?, optional });
            Ok(())
        })?;
        self.node(ExprKind::Map(entries), start.to(self.previous()))
    }

    pub(super) fn message(&mut self, name: String, start: Span) -> Parsed<Expr> {
        self.at += 1;
        let mut fields = Vec::new();
        self.items("}", |parser| {
            let optional = parser.eat("?");
            let span = parser.span();
            let name = parser.field_name()?;
            parser.expect(":")?;
            fields.push(Field { name, value: parser.expr()?, optional, span });
            Ok(())
        })?;
        self.node(ExprKind::Message { name, fields }, start.to(self.previous()))
    }

    /// Parses items separated by commas, one comma may trail, up to and including `close`.
    fn items(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        if self.eat(",") {
            return self.expect(close);
        }
        while !self.eat(close) {
            item(self)?;
            if !self.eat(",") {
                return self.expect(close);
            }
        }
        Ok(())
    }

    pub(super) fn number(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let sign = if self.eat("-") { "-" } else { "" };
        let text = format!("{sign}{}", self.text());
        let (literal, name, range) = match self.peek() {
            TokenKind::Uint => (uint(&text), "uint", UINTS),
            TokenKind::Double => (double(&text), "double", DOUBLES),
            _ => (int(&text), "int", INTS),
        };
        let span = start.to(self.span());
        self.at += 1;
        let literal = literal.unwrap_or_else(|| {
            let error = CelError::new(format!("this is too large for `{name}`"), span);
            self.errors.push(error.found(quoted(&text)).expected(range));
            Literal::Null
        });
        self.node(ExprKind::Literal(literal), span)
    }

    pub(super) fn literal(&mut self, literal: Literal) -> Parsed<Expr> {
        let span = self.span();
        self.at += 1;
        self.node(ExprKind::Literal(literal), span)
    }
}

fn int(text: &str) -> Option<Literal> {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let value = match digits.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(&format!("{sign}{hex}"), 16),
        None => text.parse(),
    };
    value.ok().map(Literal::Int)
}

fn uint(text: &str) -> Option<Literal> {
    let digits = text.trim_end_matches(['u', 'U']);
    let value = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    value.ok().map(Literal::Uint)
}

fn double(text: &str) -> Option<Literal> {
    text.parse().ok().filter(|value: &f64| value.is_finite()).map(Literal::Double)
}

const INTS: &str = "-9223372036854775808 to 9223372036854775807";
const UINTS: &str = "0 to 18446744073709551615";
const DOUBLES: &str = "a number below 1.8e308";
