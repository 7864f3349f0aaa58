//! From the text and its leaves to tokens.
//!
//! Every character is either part of a token or white space. Where the punctuation and the leaves
//! do not fit together, because a reader of YAML understands the text otherwise, there are no
//! tokens at all.

use super::events::{Leaf, Style};
use super::token::{Block, Collection, Kind, Token, header};

/// Splits a text that is known to be YAML.
pub(super) fn tokens(text: &str, leaves: &[Leaf]) -> Option<Vec<Token>> {
    let mut scanner = Scanner {
        text,
        leaves,
        at: 0,
        line: 0,
        leaf: 0,
        depth: 0,
        opened: 0,
        columns: Vec::new(),
        tokens: Vec::new(),
    };
    while scanner.next()? {}
    (scanner.leaf == leaves.len() && scanner.depth == 0).then_some(scanner.tokens)
}

struct Scanner<'s> {
    text: &'s str,
    leaves: &'s [Leaf],
    at: usize,
    /// The start of the current line.
    line: usize,
    /// The next leaf.
    leaf: usize,
    /// The number of open brackets.
    depth: usize,
    /// The number of tokens before the outermost bracket that was opened last.
    opened: usize,
    /// The columns of open collections, for block scalars that name their indentation.
    columns: Vec<(Collection, usize)>,
    tokens: Vec<Token>,
}

impl<'s> Scanner<'s> {
    /// Takes one token. Returns whether there was one.
    fn next(&mut self) -> Option<bool> {
        let breaks = self.skip_blank();
        let Some(first) = self.rest().chars().next() else { return Some(false) };
        let begins_line = breaks > 0 || self.tokens.is_empty();
        let start = self.at;
        // Between brackets columns have no meaning, and a line may be as long as the file.
        let column = match self.depth {
            0 => self.text.get(self.line..start)?.chars().count(),
            _ => 0,
        };
        let kind = self.kind(first, column)?;
        let follows_blank = breaks > 1 && !self.tokens.is_empty();
        let (end, begins) = (self.at, None);
        let token = Token { kind, start, end, column, begins_line, follows_blank, begins };
        self.tokens.push(token);
        self.mark(kind)?;
        Some(end > start)
    }

    /// Skips white space and returns how many lines ended.
    fn skip_blank(&mut self) -> usize {
        let mut breaks = 0_usize;
        if self.text.get(..self.at).is_some_and(|before| before.ends_with('\n')) && self.at > 0 {
            breaks = 1;
            self.line = self.at;
        }
        while let Some(c) = self.rest().chars().next().filter(|c| " \t\n\r".contains(*c)) {
            self.at = self.at.saturating_add(1);
            if c == '\n' {
                breaks = breaks.saturating_add(1);
                self.line = self.at;
            }
        }
        breaks
    }

    fn rest(&self) -> &'s str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn kind(&mut self, first: char, column: usize) -> Option<Kind> {
        let leaf = self.leaves.get(self.leaf);
        let reached = leaf.is_some_and(|leaf| leaf.start <= self.at);
        let spaced = self
            .rest()
            .get(1..)
            .is_none_or(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n']));
        let in_flow = self.depth > 0;
        let at_document = column == 0 && !in_flow;
        match first {
            '#' => Some(self.rest_of_line(Kind::Comment)),
            '%' if at_document && !reached => Some(self.rest_of_line(Kind::Directive)),
            '-' if at_document && self.is_mark("---") => Some(self.take(3, Kind::DocumentStart)),
            '.' if at_document && self.is_mark("...") => Some(self.take(3, Kind::DocumentEnd)),
            '&' | '!' => self.property(),
            '*' => self.leaf(Style::Alias),
            '"' => self.leaf(Style::DoubleQuoted),
            '\'' => self.leaf(Style::SingleQuoted),
            '|' if !in_flow => self.block(Style::Literal),
            '>' if !in_flow => self.block(Style::Folded),
            '[' | '{' => Some(self.take(1, Kind::Open)),
            ']' | '}' if in_flow => Some(self.take(1, Kind::Close)),
            ',' if in_flow => Some(self.take(1, Kind::Comma)),
            '-' if spaced && !in_flow => Some(self.take(1, Kind::Dash)),
            '?' if spaced => Some(self.take(1, Kind::Question)),
            ':' if spaced || in_flow && !reached => Some(self.take(1, Kind::Colon)),
            _ if reached => self.leaf(Style::Plain),
            _ => None,
        }
    }

    fn take(&mut self, bytes: usize, kind: Kind) -> Kind {
        self.at = self.at.saturating_add(bytes);
        kind
    }

    fn rest_of_line(&mut self, kind: Kind) -> Kind {
        let line = self.rest().split('\n').next().unwrap_or_default();
        self.take(line.trim_end().len(), kind)
    }

    fn is_mark(&self, mark: &str) -> bool {
        let rest = self.rest().strip_prefix(mark);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n']))
    }

    fn property(&mut self) -> Option<Kind> {
        let rest = self.rest();
        let ends = |c: char| c.is_whitespace();
        let length = match rest.starts_with("!<") {
            true => rest.find('>')?.checked_add(1)?,
            false if self.depth > 0 => {
                rest.find(|c| ends(c) || ",[]{}".contains(c)).unwrap_or(rest.len())
            }
            false => rest.find(ends).unwrap_or(rest.len()),
        };
        Some(self.take(length, Kind::Property))
    }

    fn leaf(&mut self, style: Style) -> Option<Kind> {
        let leaf = self.leaves.get(self.leaf).filter(|leaf| leaf.style == style)?;
        let rest = self.rest();
        let length = match style {
            Style::Alias => {
                rest.find(|c: char| c.is_whitespace() || ",[]{}".contains(c)).unwrap_or(rest.len())
            }
            Style::DoubleQuoted => double_quoted(rest)?,
            Style::SingleQuoted => single_quoted(rest)?,
            _ => plain(rest, &leaf.text)?,
        };
        let kind = Kind::Leaf(self.leaf);
        self.leaf = self.leaf.saturating_add(1);
        Some(self.take(length, kind))
    }

    fn block(&mut self, style: Style) -> Option<Kind> {
        self.leaves.get(self.leaf).filter(|leaf| leaf.style == style)?;
        let rest = self.rest();
        let line = rest.split('\n').next()?.trim_end();
        let (header, _) = header(line);
        let body = rest.find('\n').map_or(rest.len(), |end| end.saturating_add(1));
        let lines = rest.get(body..)?;
        let named =
            header.chars().find_map(|c| c.to_digit(10)).and_then(|n| usize::try_from(n).ok());
        let parent = self.columns.last().map(|(_, column)| *column);
        let written = lines.lines().find(|line| !line.trim_matches(' ').is_empty()).map(leading);
        let indent = match (named, parent) {
            (Some(named), Some(column)) => column.saturating_add(named),
            (Some(_), None) => return None,
            (None, _) => {
                written.filter(|found| parent.is_none_or(|column| *found > column)).unwrap_or(0)
            }
        };
        let is_empty = indent == 0 && parent.is_some();
        let length = if is_empty { 0 } else { body_length(lines, indent) };
        let trailing = match header.contains('+') {
            true => blank_lines(lines.get(length..)?),
            false => 0,
        };
        let length = length.saturating_add(trailing);
        let start = self.at;
        let kind = Kind::Block(self.leaf, Block { body: start.saturating_add(body), indent });
        self.leaf = self.leaf.saturating_add(1);
        let length = if length == 0 { line.len() } else { body.saturating_add(length) };
        Some(self.take(length, kind))
    }

    /// Notes where the last token begins an entry of a collection.
    fn mark(&mut self, kind: Kind) -> Option<()> {
        match kind {
            Kind::Open => {
                if self.depth == 0 {
                    self.opened = self.tokens.len().checked_sub(1)?;
                }
                self.depth = self.depth.saturating_add(1);
            }
            Kind::Close => {
                self.depth = self.depth.checked_sub(1)?;
                if self.depth == 0 && self.is_key() {
                    let back = self.tokens.len().checked_sub(1)?.checked_sub(self.opened)?;
                    self.begin_key(back);
                }
            }
            _ if self.depth > 0 => {}
            Kind::DocumentStart | Kind::DocumentEnd => self.columns.clear(),
            Kind::Dash => self.begin(0, Collection::Sequence),
            Kind::Question => self.begin(0, Collection::Mapping),
            Kind::Colon if !self.follows_key() => self.begin(0, Collection::Mapping),
            Kind::Leaf(_) if self.is_key() => self.begin_key(0),
            _ => {}
        }
        Some(())
    }

    /// Returns true if a `:` of a key follows the last token.
    fn is_key(&self) -> bool {
        let rest = self.rest().trim_start_matches([' ', '\t']).strip_prefix(':');
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n']))
    }

    /// Returns true if the `:` that has just been taken ends a key on its line.
    fn follows_key(&self) -> bool {
        let mut last = self.tokens.iter().rev();
        let begins_line = last.next().is_none_or(|colon| colon.begins_line);
        let ends_key = |token: &Token| matches!(token.kind, Kind::Leaf(_) | Kind::Close);
        !begins_line && last.next().is_some_and(ends_key)
    }

    /// Begins an entry with the key whose first token is `back` tokens before the last.
    fn begin_key(&mut self, back: usize) {
        let beside = self.properties_before(back);
        self.begin(back.saturating_add(beside), Collection::Mapping);
    }

    /// Returns the number of anchors and tags on the line before the token that is `back` before
    /// the last.
    fn properties_before(&self, back: usize) -> usize {
        let mut count = 0_usize;
        let mut tokens = self.tokens.iter().rev().skip(back);
        let mut begins_line = tokens.next().is_none_or(|token| token.begins_line);
        for token in tokens {
            if begins_line || token.kind != Kind::Property {
                break;
            }
            count = count.saturating_add(1);
            begins_line = token.begins_line;
        }
        count
    }

    /// Marks the token `back` tokens before the last as the beginning of an entry.
    fn begin(&mut self, back: usize, collection: Collection) {
        let Some(token) = self.tokens.iter_mut().rev().nth(back) else { return };
        token.begins = Some(collection);
        let column = token.column;
        while let Some((open, at)) = self.columns.last() {
            let ends = *at > column
                || *at == column
                    && *open == Collection::Sequence
                    && collection == Collection::Mapping;
            if !ends {
                break;
            }
            self.columns.pop();
        }
        if self.columns.last() != Some(&(collection, column)) {
            self.columns.push((collection, column));
        }
    }
}

fn double_quoted(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at.checked_add(1),
            _ => {}
        }
    }
    None
}

fn single_quoted(text: &str) -> Option<usize> {
    let mut quotes = text.char_indices().skip(1).filter(|(_, c)| *c == '\'').map(|(at, _)| at);
    let mut end = quotes.next()?;
    while text.get(end..)?.starts_with("''") {
        quotes.next();
        end = quotes.next()?;
    }
    end.checked_add(1)
}

/// Returns the length of a scalar without quotes: line ends and the spaces beside them apart, its
/// characters are those of its value.
fn plain(text: &str, says: &str) -> Option<usize> {
    let mut written = text.char_indices().filter(|(_, c)| !is_blank(*c));
    let mut end = None;
    for expected in says.chars().filter(|c| !is_blank(*c)) {
        let (at, c) = written.next()?;
        if c != expected {
            return None;
        }
        end = at.checked_add(c.len_utf8());
    }
    end
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

fn leading(line: &str) -> usize {
    line.len().saturating_sub(line.trim_start_matches(' ').len())
}

/// Returns the length of the lines up to the last one that holds more than white space of `indent`.
fn body_length(lines: &str, indent: usize) -> usize {
    let (mut at, mut end) = (0_usize, 0);
    for line in lines.split_inclusive('\n') {
        let bare = line.trim_end_matches('\n');
        let is_blank = bare.trim_start_matches(' ').is_empty();
        if !is_blank && leading(bare) < indent {
            break;
        }
        at = at.saturating_add(line.len());
        if !is_blank || bare.len() > indent {
            end = at.saturating_sub(line.len()).saturating_add(bare.len());
        }
    }
    end
}

/// Returns how long the white space is at the start, up to its last line end.
fn blank_lines(text: &str) -> usize {
    let blank = text.len().saturating_sub(text.trim_start_matches([' ', '\n']).len());
    text.get(..blank).and_then(|blank| blank.rfind('\n')).map_or(0, |end| end.saturating_add(1))
}
