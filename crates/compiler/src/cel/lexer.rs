//! Source text in, tokens out.
//!
//! Total: a character that starts no token is reported and skipped, so the parser always gets a
//! list that ends with [`TokenKind::End`].

use super::ast::{CelError, Span};
use super::literal;

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// The token's kind.
    pub kind: TokenKind,
    /// The token's bytes in the source.
    pub span: Span,
}

/// The kind of a token; its text is in the source.
#[derive(Clone, Debug, PartialEq)]
pub enum TokenKind {
    /// An identifier or a word that may be one.
    Ident,
    /// A field name in backquotes.
    Quoted,
    /// A decimal or hexadecimal number.
    Int,
    /// The same followed by `u`.
    Uint,
    /// A number with a fraction or an exponent.
    Double,
    /// A string, decoded.
    String(String),
    /// A byte string, decoded.
    Bytes(Vec<u8>),
    /// An operator, a bracket, or one of the words `in`, `true`, `false`, `null`.
    Symbol(&'static str),
    /// The end of the source.
    End,
}

/// Splits `source` into tokens.
pub fn tokens(source: &str, errors: &mut Vec<CelError>) -> Vec<Token> {
    let mut lexer = Lexer { source, at: 0, errors };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blank();
        let start = lexer.at;
        let kind = lexer.token();
        let span = Span { start, end: lexer.at };
        match kind {
            Some(TokenKind::End) => {
                tokens.push(Token { kind: TokenKind::End, span });
                return tokens;
            }
            Some(kind) => tokens.push(Token { kind, span }),
            None => {}
        }
    }
}

struct Lexer<'a, 'e> {
    source: &'a str,
    at: usize,
    errors: &'e mut Vec<CelError>,
}

impl<'a> Lexer<'a, '_> {
    fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn skip_blank(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(['\t', ' ', '\r', '\n', '\u{c}']);
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with("//") {
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    /// Reads one token; reports characters that begin no token, and skips them.
    fn token(&mut self) -> Option<TokenKind> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return Some(TokenKind::End);
        };
        if let Some(quote) = Quote::at(rest) {
            return self.string(quote);
        }
        if first.is_ascii_alphabetic() || first == '_' {
            return Some(self.word());
        }
        if first.is_ascii_digit() || (first == '.' && digits(rest.get(1..).unwrap_or_default()) > 0)
        {
            return Some(self.number());
        }
        if first == '`' {
            return self.quoted();
        }
        self.symbol(first)
    }

    fn word(&mut self) -> TokenKind {
        let rest = self.rest();
        let end =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        self.at += end;
        let word = rest.get(..end).unwrap_or_default();
        WORDS
            .iter()
            .find(|symbol| **symbol == word)
            .map_or(TokenKind::Ident, |symbol| TokenKind::Symbol(symbol))
    }

    fn number(&mut self) -> TokenKind {
        let rest = self.rest();
        if let Some(hex) = rest.strip_prefix("0x") {
            let length = hex.bytes().take_while(u8::is_ascii_hexdigit).count();
            if length > 0 {
                self.at += 2 + length;
                return self.integer_suffix();
            }
        }
        let (length, is_double) = decimal(rest);
        self.at += length;
        if is_double { TokenKind::Double } else { self.integer_suffix() }
    }

    fn integer_suffix(&mut self) -> TokenKind {
        if self.rest().starts_with(['u', 'U']) {
            self.at += 1;
            return TokenKind::Uint;
        }
        TokenKind::Int
    }

    fn quoted(&mut self) -> Option<TokenKind> {
        let body = self.rest().get(1..).unwrap_or_default();
        let allowed =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | ' ');
        let end = body.find(|c| !allowed(c)).unwrap_or(body.len());
        if end == 0 || !body.get(end..).is_some_and(|rest| rest.starts_with('`')) {
            let start = self.at;
            self.at += body.find('`').map_or(body.len() + 1, |end| end + 2);
            let error = CelError::new(BAD_NAME, Span { start, end: self.at });
            self.errors.push(error.expected(NAME_CHARACTERS));
            return None;
        }
        self.at += end + 2;
        Some(TokenKind::Quoted)
    }

    fn symbol(&mut self, first: char) -> Option<TokenKind> {
        let rest = self.rest();
        let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) else {
            return self.unreadable(first);
        };
        self.at += symbol.len();
        Some(TokenKind::Symbol(symbol))
    }

    fn string(&mut self, quote: Quote) -> Option<TokenKind> {
        let start = self.at;
        let body = self.rest().get(quote.open..).unwrap_or_default();
        let Some(end) = quote.end(body) else {
            self.at = self.source.len();
            let error =
                CelError::new("the text has no closing quote", Span { start, end: self.at });
            self.errors.push(error.expected(format!("`{}`", quote.mark)));
            return None;
        };
        self.at += quote.open + end + quote.mark.len();
        let text = body.get(..end).unwrap_or_default();
        let decoded = match (quote.bytes, quote.raw) {
            (false, true) => Ok(TokenKind::String(literal::raw(text))),
            (true, true) => Ok(TokenKind::Bytes(literal::raw(text).into_bytes())),
            (false, false) => literal::string(text).map(TokenKind::String),
            (true, false) => literal::bytes(text).map(TokenKind::Bytes),
        };
        decoded
            .unwrap_or_else(|fault| {
                let at = start + quote.open + fault.at;
                let error = CelError::new(fault.message, Span { start: at, end: self.at });
                self.errors.push(error.expected(fault.expected));
                TokenKind::String(String::new())
            })
            .into()
    }

    fn unreadable(&mut self, found: char) -> Option<TokenKind> {
        let rest = self.rest();
        let end = rest.find(|c| c != found).unwrap_or(rest.len());
        let span = Span { start: self.at, end: self.at + end };
        self.at = span.end;
        let mut error = CelError::new(format!("`{found}` is not allowed in an expression"), span);
        error.expected =
            INTENDED.iter().find(|(c, _)| *c == found).map(|(_, intended)| (*intended).to_owned());
        self.errors.push(error);
        None
    }
}

/// The opening of a string literal, which determines its end.
struct Quote {
    bytes: bool,
    raw: bool,
    /// Bytes of prefix and opening mark.
    open: usize,
    mark: &'static str,
}

impl Quote {
    fn at(rest: &str) -> Option<Self> {
        let unprefixed = rest.strip_prefix(['b', 'B']).unwrap_or(rest);
        let bytes = unprefixed.len() < rest.len();
        let bare = unprefixed.strip_prefix(['r', 'R']).unwrap_or(unprefixed);
        let raw = bare.len() < unprefixed.len();
        let mark = MARKS.into_iter().find(|mark| bare.starts_with(mark))?;
        Some(Self { bytes, raw, open: rest.len() - bare.len() + mark.len(), mark })
    }

    /// Returns the offset of the closing mark in `body`.
    fn end(&self, body: &str) -> Option<usize> {
        let mut escaped = false;
        for (at, c) in body.char_indices() {
            let ends_here = body.get(at..).is_some_and(|rest| rest.starts_with(self.mark));
            match c {
                _ if escaped => escaped = false,
                _ if ends_here => return Some(at),
                '\\' => escaped = !self.raw,
                '\n' | '\r' if self.mark.len() == 1 => return None,
                _ => {}
            }
        }
        None
    }
}

/// Returns the length of the number at the start of `rest`, and whether it is a double.
fn decimal(rest: &str) -> (usize, bool) {
    let whole = digits(rest);
    let mut length = whole;
    if let Some(fraction) = rest.get(whole..).and_then(|tail| tail.strip_prefix('.')) {
        let places = digits(fraction);
        if places > 0 {
            length += 1 + places;
        }
    }
    if let Some(exponent) = rest.get(length..).and_then(|tail| tail.strip_prefix(['e', 'E'])) {
        let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if digits(unsigned) > 0 {
            length += 1 + (exponent.len() - unsigned.len()) + digits(unsigned);
        }
    }
    (length, length > whole)
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Corrections for characters without a meaning in CEL.
const INTENDED: [(char, &str); 7] = [
    ('=', "`==`"),
    ('&', "`&&`"),
    ('|', "`||`"),
    ('“', "a straight quote"),
    ('”', "a straight quote"),
    ('‘', "a straight quote"),
    ('’', "a straight quote"),
];

const BAD_NAME: &str = "this is not a name between backquotes";
const NAME_CHARACTERS: &str = "letters, digits, `_`, `.`, `-`, `/` and blanks, then a backquote";

const WORDS: [&str; 4] = ["in", "true", "false", "null"];

/// Longer ones first.
const SYMBOLS: [&str; 24] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!",
    "?", ":", "+", "*", "/", "%",
];

/// Longer ones first.
const MARKS: [&str; 4] = ["\"\"\"", "'''", "\"", "'"];
