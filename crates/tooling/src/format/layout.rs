//! From tokens to the text as it should be: where each line begins, and one space or none between
//! tokens.

use super::Sheet;
use super::expressions::Expressions;
use super::frame::{Frames, Next};
use super::text::Writer;
use super::token::{Kind, Token};

/// Lays a text out.
pub(super) fn text(sheet: &Sheet<'_>, expressions: &Expressions) -> String {
    let mut layout = Layout { frames: Frames::default(), writer: Writer::new(sheet, expressions) };
    let mut last: Option<&Token> = None;
    // The token after each run of comments is looked for once.
    let mut following = sheet.tokens.iter().filter(|token| token.kind != Kind::Comment).peekable();
    for token in sheet.tokens {
        while following.next_if(|next| next.start <= token.start).is_some() {}
        layout.token(token, last, following.peek().copied());
        last = Some(token);
    }
    layout.writer.finish()
}

struct Layout<'l> {
    frames: Frames,
    writer: Writer<'l>,
}

impl Layout<'_> {
    fn token(&mut self, token: &Token, last: Option<&Token>, next: Option<&Token>) {
        if token.begins_line {
            let comment = (token.kind == Kind::Comment && self.frames.item().is_none())
                .then(|| self.comment_indent(token, next));
            enter(&mut self.frames, token);
            let indent = comment.unwrap_or_else(|| line_indent(&self.frames, token));
            self.frames.begin_line(indent);
            self.writer.begin_line(indent, token.follows_blank);
        } else {
            enter(&mut self.frames, token);
            let first = |token: &Token| self.writer.first(token);
            if last.is_some_and(|last| is_apart(last, token, &first)) {
                self.writer.space();
            }
        }
        let indent = self.frames.item().unwrap_or_else(|| self.frames.value());
        self.writer.token(token, indent, self.frames.item().is_some());
        match token.kind {
            Kind::Open => self.frames.open(),
            Kind::Close => self.frames.close(),
            _ => {}
        }
    }

    fn comment_indent(&self, comment: &Token, next: Option<&Token>) -> usize {
        let Some(next) = next.filter(|next| !next.kind.is_document_mark()) else {
            return self.frames.comment(comment.column, &Next::default());
        };
        let mut frames = self.frames.clone();
        enter(&mut frames, next);
        let remaining = self.frames.depth().min(frames.depth());
        let indent = line_indent(&frames, next);
        self.frames.comment(comment.column, &Next { column: next.column, indent, remaining })
    }
}

/// Opens and closes the blocks that a token begins and ends.
fn enter(frames: &mut Frames, token: &Token) {
    if token.kind.is_document_mark() {
        frames.clear();
    }
    if let Some(collection) = token.begins {
        frames.begin(collection, token.column);
    }
}

/// Returns the column of a token that begins a line.
fn line_indent(frames: &Frames, token: &Token) -> usize {
    match (frames.item(), token.kind) {
        (Some(_), Kind::Close) => frames.closing(),
        (Some(item), _) => item,
        (None, kind) if kind.is_document_mark() => 0,
        (None, _) if token.begins.is_some() => frames.entry(),
        (None, _) => frames.value(),
    }
}

/// Returns true if a space separates two tokens of one line.
fn is_apart(last: &Token, token: &Token, first: &dyn Fn(&Token) -> char) -> bool {
    match (last.kind, token.kind) {
        (_, Kind::Comment) => true,
        (Kind::Open, Kind::Close) => false,
        (Kind::Open, _) => first(last) == '{',
        (_, Kind::Close) => first(token) == '}',
        (Kind::Leaf(_), Kind::Colon) => first(last) == '*',
        (Kind::Close, Kind::Colon) => false,
        (Kind::Leaf(_) | Kind::Close, Kind::Comma) => false,
        _ => true,
    }
}
