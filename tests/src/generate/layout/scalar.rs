//! Text in each of the five styles of YAML.

use super::{Tail, Writer};

/// The surroundings of a text.
#[derive(Clone, Copy)]
pub(super) struct Context {
    /// The least number of spaces at the beginning of its lines after the first.
    pub(super) least: usize,
    /// The indentation of the block that it is a value of; `None` between brackets and as a key.
    pub(super) parent: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Single,
    Double,
    Literal,
    Folded,
}

impl Writer<'_> {
    /// Writes a text in one of the styles that can express it. Returns true if the line is ended
    /// too.
    pub(super) fn scalar(&mut self, text: &str, context: Context) -> bool {
        let can = |style: &Style| match style {
            Style::Plain => {
                is_plain(text, context.parent.is_none())
                    && (self.one_line == 0 || !text.contains('\n'))
            }
            Style::Single => is_foldable(text) && (self.one_line == 0 || !text.contains('\n')),
            Style::Double => true,
            Style::Literal | Style::Folded => context.parent.is_some() && is_block(text),
        };
        let styles: Vec<Style> = STYLES.iter().copied().filter(can).collect();
        let style = styles.get(self.choices.below(styles.len())).copied().unwrap_or(Style::Double);
        match style {
            Style::Plain => self.folded(text, context.least, &|c| c.to_string()),
            Style::Single => {
                self.out.push('\'');
                self.folded(text, context.least, &|c| {
                    if c == '\'' { "''".to_owned() } else { c.to_string() }
                });
                self.out.push('\'');
            }
            Style::Double => self.double(text, context.least),
            Style::Literal => self.block_scalar(text, context.parent.unwrap_or_default(), false),
            Style::Folded => self.block_scalar(text, context.parent.unwrap_or_default(), true),
        }
        matches!(style, Style::Literal | Style::Folded)
    }

    fn double(&mut self, text: &str, least: usize) {
        self.out.push('"');
        if is_foldable(text) && self.one_line == 0 && self.choices.chance(3) {
            self.folded(text, least, &escaped);
        } else {
            for c in text.chars() {
                if self.one_line == 0
                    && !c.is_whitespace()
                    && self.choices.chance(1)
                    && self.choices.chance(1)
                {
                    self.out.push_str("\\\n");
                    let indent = least + self.choices.below(4);
                    self.indent(indent);
                }
                match c {
                    'a' | 'ü' if self.choices.chance(1) => {
                        self.out.push_str(&format!("\\u{:04x}", u32::from(c)))
                    }
                    c => self.out.push_str(&escaped(c)),
                }
            }
        }
        self.out.push('"');
    }

    /// Writes text whose line ends are spaces, and whose empty lines are line ends.
    fn folded(&mut self, text: &str, least: usize, written: &dyn Fn(char) -> String) {
        let characters: Vec<char> = text.chars().collect();
        let at = |index: Option<usize>| index.and_then(|index| characters.get(index)).copied();
        for (index, c) in characters.iter().enumerate() {
            let (before, after) = (at(index.checked_sub(1)), at(Some(index + 1)));
            let is_lone = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace());
            match c {
                '\n' => {
                    if before != Some('\n') {
                        self.fold_end();
                    }
                    self.out.push('\n');
                    if after != Some('\n') {
                        let indent = least + self.choices.below(5);
                        self.indent(indent);
                    }
                }
                ' ' if is_lone(before)
                    && is_lone(after)
                    && self.one_line == 0
                    && self.choices.chance(1) =>
                {
                    self.fold_end();
                    let indent = least + self.choices.below(5);
                    self.indent(indent);
                }
                c => self.out.push_str(&written(*c)),
            }
        }
    }

    fn fold_end(&mut self) {
        if self.choices.chance(1) {
            self.blank();
        }
        self.out.push('\n');
    }

    fn block_scalar(&mut self, text: &str, parent: usize, is_folded: bool) {
        let body = text.trim_end_matches('\n');
        let ends = text.len() - body.len();
        let first = body.trim_start_matches('\n');
        let names = first.starts_with(' ') || self.choices.chance(1);
        let deeper = 1 + self.choices.below(5);
        let keeps = ends > 1 || body.is_empty() && ends > 0 || ends == 1 && self.choices.chance(2);
        let mut header = vec![if is_folded { ">" } else { "|" }.to_owned()];
        header.extend(names.then(|| deeper.to_string()));
        header.extend(if keeps {
            Some("+".to_owned())
        } else {
            (ends == 0).then(|| "-".to_owned())
        });
        if header.len() == 3 && self.choices.chance(3) {
            header.swap(1, 2);
        }
        self.out.push_str(&header.concat());
        self.line_end();
        let indent = parent + deeper;
        if !body.is_empty() {
            let lines = if is_folded {
                self.fold_lines(body)
            } else {
                body.split('\n').map(str::to_owned).collect()
            };
            for line in lines {
                if !line.is_empty() {
                    self.indent(indent);
                }
                self.out.push_str(&line);
                self.out.push('\n');
            }
        }
        let left = if body.is_empty() { ends } else { ends.saturating_sub(1) };
        self.out.extend(std::iter::repeat_n('\n', if keeps { left } else { 0 }));
        // A comment directly behind the header would be the first line of the text.
        let indent = if body.is_empty() { parent + 1 } else { indent };
        self.tail = Some(Tail { indent, keeps });
    }

    /// Returns the lines that fold to `body`.
    fn fold_lines(&mut self, body: &str) -> Vec<String> {
        let mut lines = Vec::new();
        let mut last: Option<&str> = None;
        let mut empty = 0;
        for line in body.split('\n') {
            if line.is_empty() {
                empty += 1;
                continue;
            }
            let is_deeper = |line: &str| line.starts_with([' ', '\t']);
            let more = last.is_some_and(|last| !is_deeper(last) && !is_deeper(line));
            lines.extend(std::iter::repeat_n(String::new(), empty + usize::from(more)));
            lines.push(String::new());
            let words = line.split(' ').collect::<Vec<_>>();
            let can_split = !is_deeper(line)
                && !line.contains("  ")
                && !line.ends_with(' ')
                && !line.contains('\t');
            for (word, number) in words.iter().zip(0..) {
                if number > 0 && can_split && self.choices.chance(1) {
                    lines.push(String::new());
                } else if number > 0 {
                    lines.last_mut().into_iter().for_each(|line| line.push(' '));
                }
                lines.last_mut().into_iter().for_each(|line| line.push_str(word));
            }
            (last, empty) = (Some(line), 0);
        }
        lines
    }
}

fn escaped(c: char) -> String {
    match c {
        '"' | '\\' => format!("\\{c}"),
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        c => c.to_string(),
    }
}

/// Returns true if line ends can be written as empty lines and come back.
fn is_foldable(text: &str) -> bool {
    let beside = [" \n", "\n ", "\t\n", "\n\t"];
    !text.starts_with('\n')
        && !text.ends_with('\n')
        && !beside.iter().any(|pair| text.contains(pair))
}

/// Returns true if a text surely needs no quotes.
fn is_plain(text: &str, between_brackets: bool) -> bool {
    let mark = [": ", ":\n", ":\t", " #", "\n#", "\t"].iter().any(|mark| text.contains(mark));
    let in_brackets = between_brackets && text.contains([',', '[', ']', '{', '}', '?', ':']);
    let is_word = matches!(text, "true" | "y" | "n");
    let begins_well = text.starts_with(|c: char| c.is_alphabetic() || c == '\u{1f600}');
    is_foldable(text)
        && !mark
        && !in_brackets
        && !is_word
        && begins_well
        && !text.ends_with([':', ' '])
}

/// Returns true if a text can be a block: no line of it is white space alone.
fn is_block(text: &str) -> bool {
    text.split('\n').all(|line| line.is_empty() || !line.trim().is_empty())
}

const STYLES: [Style; 5] =
    [Style::Plain, Style::Double, Style::Single, Style::Literal, Style::Folded];
