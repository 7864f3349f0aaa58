//! Writes tokens: most as they are, scalars of several lines with new indentation, expressions laid
//! out.

use super::Sheet;
use super::cel::{self, Parentheses, Width};
use super::events::{Leaf, Style};
use super::expressions::Expressions;
use super::token::{Block, Kind, Token, header};
use wardgate_compiler::yaml::{self, plain};

/// The text so far.
pub(super) struct Writer<'w> {
    sheet: &'w Sheet<'w>,
    expressions: &'w Expressions,
    out: String,
}

impl<'w> Writer<'w> {
    pub(super) fn new(sheet: &'w Sheet<'w>, expressions: &'w Expressions) -> Self {
        Self { sheet, expressions, out: String::with_capacity(sheet.text.len()) }
    }

    /// Returns the first character of a token.
    pub(super) fn first(&self, token: &Token) -> char {
        self.sheet.of(token).chars().next().unwrap_or_default()
    }

    pub(super) fn space(&mut self) {
        self.out.push(' ');
    }

    /// Begins a line, after an empty one if there was any.
    pub(super) fn begin_line(&mut self, indent: usize, follows_blank: bool) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        if follows_blank {
            self.out.push('\n');
        }
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    /// Writes a token; lines of it after the first begin after `indent` spaces.
    pub(super) fn token(&mut self, token: &Token, indent: usize, in_flow: bool) {
        let sheet = self.sheet;
        let raw = sheet.of(token);
        let is_expression = self.expressions.any_in(token.start, token.end);
        match token.kind {
            Kind::Leaf(leaf) => {
                let leaf = sheet.leaves.get(leaf).filter(|_| is_expression);
                let laid_out =
                    leaf.and_then(|leaf| Scalar { raw, leaf, indent, in_flow }.laid_out());
                match laid_out {
                    Some(text) => self.out.push_str(&text),
                    None => self.lines(raw, indent),
                }
            }
            Kind::Block(leaf, block) => {
                let leaf = sheet.leaves.get(leaf).filter(|_| is_expression);
                self.block(token, block, indent, leaf);
            }
            _ => self.out.push_str(raw),
        }
    }

    /// Writes a scalar whose line ends are spaces.
    fn lines(&mut self, raw: &str, indent: usize) {
        let last = raw.split('\n').count();
        for (line, number) in raw.split('\n').zip(1..) {
            // A space after a backslash is part of the scalar, and so are those beside the quotes.
            let line = if number == 1 { line } else { line.trim_start_matches(BLANK) };
            let bare = line.trim_end_matches(BLANK);
            let line = if number == last || bare.ends_with('\\') { line } else { bare };
            if number > 1 {
                self.out.push('\n');
                let indent = if line.is_empty() { 0 } else { indent };
                self.out.extend(std::iter::repeat_n(' ', indent));
            }
            self.out.push_str(line);
        }
    }

    fn block(&mut self, token: &Token, block: Block, indent: usize, leaf: Option<&Leaf>) {
        let raw = self.sheet.of(token);
        let (header, comment) = header(raw.split('\n').next().unwrap_or_default());
        let named = |c: char| if c.is_ascii_digit() { NAMED_STEP } else { c };
        self.out.extend(header.chars().map(named));
        if let Some(comment) = comment {
            self.out.push(' ');
            self.out.push_str(comment);
        }
        let body = self.sheet.text.get(block.body..token.end).unwrap_or_default();
        if body.is_empty() {
            return;
        }
        let laid_out =
            leaf.filter(|_| !header.contains('+')).and_then(|leaf| lines_of(leaf, indent));
        let as_it_is = || body.split('\n').map(|line| dedented(line, block.indent)).collect();
        let lines: Vec<&str> =
            laid_out.as_ref().map_or_else(as_it_is, |text| text.lines().collect());
        for line in lines {
            self.out.push('\n');
            let indent = if line.is_empty() { 0 } else { indent };
            self.out.extend(std::iter::repeat_n(' ', indent));
            self.out.push_str(line);
        }
    }

    /// Returns the text, with the end of its last line, unless a block ends there, which that would
    /// be a part of.
    pub(super) fn finish(mut self) -> String {
        let last = self.sheet.tokens.last();
        let in_block = last.is_some_and(|last| matches!(last.kind, Kind::Block(..)));
        let is_open = in_block && !self.sheet.text.ends_with('\n');
        if !self.out.is_empty() && !self.out.ends_with('\n') && !is_open {
            self.out.push('\n');
        }
        self.out
    }
}

/// Lays out the expression of a block scalar.
fn lines_of(leaf: &Leaf, indent: usize) -> Option<String> {
    match leaf.style {
        Style::Literal => first_of(&leaf.text, lines_from(indent), |_| true),
        _ => first_of(&unfolded(leaf)?, lines_from(indent), |_| true),
    }
}

/// Returns the line ends of a scalar whose reader takes them for spaces.
fn unfolded(leaf: &Leaf) -> Option<String> {
    let has_meaning =
        leaf.text.contains("//") || leaf.text.contains("\"\"\"") || leaf.text.contains("'''");
    (!has_meaning || !leaf.text.contains('\n')).then(|| leaf.text.replace('\n', " "))
}

/// Returns the line of a block without its indentation.
fn dedented(line: &str, indent: usize) -> &str {
    line.get(indent..).unwrap_or_else(|| line.trim_start_matches(' '))
}

/// An expression without quotes or between them.
struct Scalar<'s> {
    raw: &'s str,
    leaf: &'s Leaf,
    /// The column of its lines after the first.
    indent: usize,
    in_flow: bool,
}

impl Scalar<'_> {
    /// Returns the text on one line if it was so or fits there, and otherwise on several.
    fn laid_out(&self) -> Option<String> {
        let text = unfolded(self.leaf)?;
        let line = || first_of(&text, Width::Line, |new| self.written(new).is_some());
        if self.in_flow || !self.raw.contains('\n') {
            return self.written(&line()?);
        }
        let fits = |new: &String| new.chars().count().saturating_add(self.indent) <= WIDTH;
        let several =
            || first_of(&text, lines_from(self.indent), |new| self.written(new).is_some());
        self.written(&line().filter(fits).or_else(several)?)
    }

    /// Writes text in the style of the scalar, if that style can hold it.
    fn written(&self, text: &str) -> Option<String> {
        let written = match self.leaf.style {
            Style::Plain => self.plain(text)?.to_owned(),
            Style::SingleQuoted => format!("'{}'", text.replace('\'', "''")),
            Style::DoubleQuoted if has_only_plain_escapes(self.raw) => {
                format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
            }
            _ => return None,
        };
        let lines = written.split('\n').map(|line| line.trim_start_matches(' '));
        let lines: Vec<&str> = lines.collect();
        let separator = format!("\n{}", " ".repeat(self.indent));
        Some(lines.join(&separator))
    }

    fn plain<'t>(&self, text: &'t str) -> Option<&'t str> {
        let means_more = [": ", ":\n", " #", "\n#"].iter().any(|mark| text.contains(mark));
        let in_brackets = self.in_flow && text.contains([',', '[', ']', '{', '}']);
        let is_text = matches!(plain::resolve(text), yaml::Kind::String(..));
        let mut chars = text.chars();
        let begins_well = match (chars.next()?, chars.next()) {
            ('-' | '?' | ':', second) => second.is_some_and(|c| !c.is_whitespace()),
            (first, _) => !INDICATORS.contains(first),
        };
        let is_plain =
            !means_more && !in_brackets && is_text && begins_well && !text.ends_with(':');
        is_plain.then_some(text)
    }
}

/// Returns the first layout that can be written, with as few parentheses as possible.
fn first_of(text: &str, width: Width, fits: impl Fn(&str) -> bool) -> Option<String> {
    let attempts = [Parentheses::Needed, Parentheses::Written];
    attempts
        .into_iter()
        .filter_map(|parentheses| cel::layout(text, width, parentheses))
        .find(|new| fits(new))
}

fn lines_from(indent: usize) -> Width {
    Width::Lines(WIDTH.saturating_sub(indent).max(LEAST_WIDTH))
}

/// Returns true if every backslash precedes a quote or another backslash.
fn has_only_plain_escapes(raw: &str) -> bool {
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        if c == '\\' && !matches!(chars.next(), Some('"' | '\\')) {
            return false;
        }
    }
    true
}

const BLANK: [char; 3] = [' ', '\t', '\r'];
/// The indentation indicator of a block.
const NAMED_STEP: char = '2';
/// The characters that no text without quotes begins with.
const INDICATORS: &str = ",[]{}#&*!|>'\"%@`";
/// Columns of a line.
const WIDTH: usize = 100;
/// The columns of an expression at any depth.
const LEAST_WIDTH: usize = 40;
