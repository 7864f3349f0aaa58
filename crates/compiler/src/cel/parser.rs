//! Tokens in, tree out: the grammar of the CEL specification by precedence climbing.
//!
//! A wrong token ends the parse, because what follows it can only be guessed; everything else
//! (literals out of range, reserved words, macros used wrongly) is reported and parsing goes on. A
//! nesting deeper than [`MAX_EXPRESSION_DEPTH`] is an error before it can exhaust the stack.

mod literals;
#[cfg(test)]
mod tests;

use super::ast::{BinaryOp, CelError, Expr, ExprKind, Literal, Span, UnaryOp, qualified_name};
use super::lexer::{self, Token, TokenKind};
use super::macros;
use crate::limits::{MAX_EXPRESSION_CODE_POINTS, MAX_EXPRESSION_DEPTH, MAX_EXPRESSION_ERRORS};

/// Parses one expression and expands its macros.
///
/// # Errors
///
/// Everything that is wrong with the text, in source order; never an empty list.
pub fn parse(source: &str) -> Result<Expr, Vec<CelError>> {
    let size = source.chars().count();
    if size > MAX_EXPRESSION_CODE_POINTS {
        let error = CelError::new("the expression is too long", Span::default())
            .found(format!("{size} characters"))
            .expected(format!("at most {MAX_EXPRESSION_CODE_POINTS}"));
        return Err(vec![error]);
    }
    let mut errors = Vec::new();
    let tokens = lexer::tokens(source, &mut errors);
    // Unreadable characters are left out, so an error in the rest may only follow from that.
    let is_readable = errors.is_empty();
    let mut parser = Parser { source, tokens, at: 0, depth: 0, errors };
    let parsed = parser.whole();
    let mut errors = parser.errors;
    let parsed = parsed.map_err(|Stop(error)| {
        if is_readable {
            errors.push(error);
        }
    });
    wardgate_engine::order::sort_by(&mut errors, |a, b| a.span.start.cmp(&b.span.start));
    errors.truncate(MAX_EXPRESSION_ERRORS);
    match parsed {
        Ok(expr) if errors.is_empty() => Ok(expr),
        _ => Err(errors),
    }
}

/// Parsing cannot go on, and why.
pub(super) struct Stop(CelError);

/// The result of parsing a piece of the grammar.
type Parsed<T> = Result<T, Stop>;

pub(super) struct Parser<'a> {
    source: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    errors: Vec<CelError>,
}

impl Parser<'_> {
    fn whole(&mut self) -> Parsed<Expr> {
        let expr = self.expr()?;
        if self.peek() == &TokenKind::End {
            return Ok(expr);
        }
        let word = WORDS.iter().find(|(word, _)| self.text().eq_ignore_ascii_case(word));
        self.unexpected(
            word.map_or("an operator or the end of the expression", |(_, intended)| intended),
        )
    }

    fn expr(&mut self) -> Parsed<Expr> {
        self.depth += 1;
        if self.depth > MAX_EXPRESSION_DEPTH {
            return self.too_deep(self.span());
        }
        let condition = self.binary(BinaryOp::Or.precedence())?;
        let expr = if self.eat("?") { self.conditional(condition)? } else { condition };
        self.depth -= 1;
        Ok(expr)
    }

    fn conditional(&mut self, condition: Expr) -> Parsed<Expr> {
        let then = self.binary(BinaryOp::Or.precedence())?;
        self.expect(":")?;
        let otherwise = self.expr()?;
        let span = condition.span.to(otherwise.span);
        let kind = ExprKind::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise));
        self.node(kind, span)
    }

    /// Parses operators that bind at least as tightly as `least`.
    fn binary(&mut self, least: u8) -> Parsed<Expr> {
        let mut left = self.unary()?;
        while let Some(op) = self.peek_binary().filter(|op| op.precedence() >= least) {
            left = match op {
                BinaryOp::And | BinaryOp::Or => self.logical(op, left)?,
                _ => {
                    self.at += 1;
                    let right = self.binary(op.precedence() + 1)?;
                    self.join(op, left, right)?
                }
            };
        }
        Ok(left)
    }

    /// Parses a chain of one logical operator into a balanced tree, so that its length is no depth.
    fn logical(&mut self, op: BinaryOp, first: Expr) -> Parsed<Expr> {
        let mut terms = vec![first];
        while self.eat(op.text()) {
            terms.push(self.binary(op.precedence() + 1)?);
        }
        while terms.len() > 1 {
            let mut halved = Vec::with_capacity(terms.len().div_ceil(2));
            let mut pending = terms.into_iter();
            while let Some(left) = pending.next() {
                halved.push(match pending.next() {
                    Some(right) => self.join(op, left, right)?,
                    None => left,
                });
            }
            terms = halved;
        }
        terms.pop().map_or_else(|| self.unexpected(OPERAND), Ok)
    }

    fn join(&mut self, op: BinaryOp, left: Expr, right: Expr) -> Parsed<Expr> {
        let span = left.span.to(right.span);
        self.node(ExprKind::Binary(op, Box::new(left), Box::new(right)), span)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let (op, text) = match self.peek() {
            TokenKind::Symbol("!") => (UnaryOp::Not, "!"),
            TokenKind::Symbol("-") if !self.at_signed_number() => (UnaryOp::Neg, "-"),
            _ => return self.member(),
        };
        let mut is_applied = false;
        while self.peek() == &TokenKind::Symbol(text) && !self.at_signed_number() {
            self.at += 1;
            is_applied = !is_applied;
        }
        let operand = self.member()?;
        if !is_applied {
            return Ok(operand);
        }
        let span = start.to(operand.span);
        self.node(ExprKind::Unary(op, Box::new(operand)), span)
    }

    fn at_signed_number(&self) -> bool {
        self.peek() == &TokenKind::Symbol("-")
            && matches!(self.kind_at(self.at + 1), TokenKind::Int | TokenKind::Double)
    }

    fn member(&mut self) -> Parsed<Expr> {
        let mut may_name_message = matches!(self.peek(), TokenKind::Ident | TokenKind::Symbol("."));
        let mut expr = self.primary()?;
        loop {
            if self.eat(".") {
                may_name_message &= self.peek() == &TokenKind::Ident;
                expr = self.select(expr)?;
            } else if self.eat("[") {
                may_name_message = false;
                expr = self.index(expr)?;
            } else if may_name_message && self.peek() == &TokenKind::Symbol("{") {
                let Some(name) = qualified_name(&expr) else { return Ok(expr) };
                may_name_message = false;
                expr = self.message(name, expr.span)?;
            } else {
                return Ok(expr);
            }
        }
    }

    fn select(&mut self, operand: Expr) -> Parsed<Expr> {
        let optional = self.eat("?");
        let callable = !optional && self.peek() == &TokenKind::Ident;
        let end = self.span();
        let field = self.field_name()?;
        if callable && self.eat("(") {
            let args = self.args()?;
            let span = operand.span.to(self.previous());
            return self.call(Some(operand), field, args, span);
        }
        let span = operand.span.to(end);
        self.node(ExprKind::Select { operand: Box::new(operand), field, optional }, span)
    }

    fn index(&mut self, operand: Expr) -> Parsed<Expr> {
        let optional = self.eat("?");
        let index = self.expr()?;
        self.expect("]")?;
        let span = operand.span.to(self.previous());
        let kind = ExprKind::Index { operand: Box::new(operand), index: Box::new(index), optional };
        self.node(kind, span)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        match self.peek().clone() {
            TokenKind::Ident => self.ident(""),
            TokenKind::Int | TokenKind::Uint | TokenKind::Double => self.number(),
            TokenKind::String(text) => self.literal(Literal::String(text)),
            TokenKind::Bytes(bytes) => self.literal(Literal::Bytes(bytes)),
            TokenKind::Symbol("null") => self.literal(Literal::Null),
            TokenKind::Symbol("true") => self.literal(Literal::Bool(true)),
            TokenKind::Symbol("false") => self.literal(Literal::Bool(false)),
            TokenKind::Symbol("-") if self.at_signed_number() => self.number(),
            TokenKind::Symbol(symbol) => {
                self.at += 1;
                match symbol {
                    "." if self.peek() == &TokenKind::Ident => self.ident("."),
                    "(" => self.nested(),
                    "[" => self.list(start),
                    "{" => self.map(start),
                    _ => {
                        self.at -= 1;
                        self.unexpected(OPERAND)
                    }
                }
            }
            TokenKind::Quoted | TokenKind::End => self.unexpected(OPERAND),
        }
    }

    fn nested(&mut self) -> Parsed<Expr> {
        let expr = self.expr()?;
        self.expect(")")?;
        Ok(expr)
    }

    fn ident(&mut self, dot: &str) -> Parsed<Expr> {
        let span = self.span();
        let name = self.text().to_owned();
        self.at += 1;
        if RESERVED.contains(&name.as_str()) {
            self.errors.push(CelError::new(format!("`{name}` is a reserved word"), span));
        }
        let name = format!("{dot}{name}");
        if self.eat("(") {
            let args = self.args()?;
            return self.call(None, name, args, span.to(self.previous()));
        }
        self.node(ExprKind::Ident(name), span)
    }

    fn call(
        &mut self,
        target: Option<Expr>,
        name: String,
        args: Vec<Expr>,
        span: Span,
    ) -> Parsed<Expr> {
        match macros::expand(target, name, args) {
            Ok(kind) => self.node(kind, span),
            Err(error) => {
                self.errors.push(error);
                self.node(ExprKind::Literal(Literal::Null), span)
            }
        }
    }

    /// Parses arguments up to and including the closing parenthesis.
    fn args(&mut self) -> Parsed<Vec<Expr>> {
        let mut args = Vec::new();
        if self.eat(")") {
            return Ok(args);
        }
        loop {
            args.push(self.expr()?);
            if !self.eat(",") {
                self.expect(")")?;
                return Ok(args);
            }
        }
    }

    fn field_name(&mut self) -> Parsed<String> {
        let name = match self.peek() {
            TokenKind::Ident => self.text().to_owned(),
            TokenKind::Quoted => self.text().trim_matches('`').to_owned(),
            _ => return self.unexpected("a name"),
        };
        self.at += 1;
        Ok(name)
    }

    fn node(&mut self, kind: ExprKind, span: Span) -> Parsed<Expr> {
        let expr = Expr::new(kind, span);
        if expr.height() > MAX_EXPRESSION_DEPTH { self.too_deep(span) } else { Ok(expr) }
    }

    fn too_deep<T>(&mut self, span: Span) -> Parsed<T> {
        let error = CelError::new("the expression nests too deeply", span);
        Err(Stop(error.expected(format!("at most {MAX_EXPRESSION_DEPTH} levels"))))
    }

    fn unexpected<T>(&mut self, expected: &str) -> Parsed<T> {
        let found = match self.text() {
            "" => "the end of the expression".to_owned(),
            text => quoted(text),
        };
        let error = CelError::new("the expression is not well formed", self.span());
        Err(Stop(error.found(found).expected(expected)))
    }

    fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.eat(symbol) {
            return Ok(());
        }
        self.unexpected(&quoted(symbol))
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), TokenKind::Symbol(text) if *text == symbol);
        self.at += usize::from(found);
        found
    }

    fn peek_binary(&self) -> Option<BinaryOp> {
        match self.peek() {
            TokenKind::Symbol(text) => BinaryOp::from_text(text),
            _ => None,
        }
    }

    fn peek(&self) -> &TokenKind {
        self.kind_at(self.at)
    }

    fn kind_at(&self, at: usize) -> &TokenKind {
        self.tokens.get(at).map_or(&TokenKind::End, |token| &token.kind)
    }

    fn span(&self) -> Span {
        self.tokens
            .get(self.at)
            .or(self.tokens.last())
            .map_or_else(Span::default, |token| token.span)
    }

    fn previous(&self) -> Span {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.map_or_else(Span::default, |token| token.span)
    }

    fn text(&self) -> &str {
        let span = self.span();
        self.source.get(span.start..span.end).unwrap_or_default()
    }
}

/// Returns the author's text in backticks, shortened.
pub(super) fn quoted(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX_QUOTED) {
        None if line.len() == text.len() => format!("`{text}`"),
        cut => format!("`{}...`", cut.map_or(line, |(at, _)| line.get(..at).unwrap_or_default())),
    }
}

/// Words that no variable and no function may have as its name.
const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "namespace",
    "package",
    "return",
    "var",
    "void",
    "while",
];

/// Operators of other languages, with those of CEL.
const WORDS: [(&str, &str); 4] = [
    ("and", "`&&`"),
    ("or", "`||`"),
    ("is", "`==`"),
    ("contains", "`in`, or the call `.contains(...)`"),
];

const OPERAND: &str = "a value";

/// Characters of the author's text that a message repeats.
const MAX_QUOTED: usize = 40;
