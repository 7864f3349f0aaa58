//! Ends of lines, and the empty lines and comments between lines.

use super::Writer;

impl Writer<'_> {
    /// Ends a line, perhaps after a comment.
    pub(super) fn line_end(&mut self) {
        if self.choices.chance(2) {
            self.blank();
            self.comment();
        } else if self.choices.chance(1) {
            self.blank();
        }
        self.out.push('\n');
    }

    /// Writes empty lines and comments on lines of their own. The cursor is where a line begins.
    pub(super) fn fill(&mut self) {
        for _ in 0..self.choices.below(8).saturating_sub(4) {
            match (self.choices.below(2), self.tail) {
                (0, Some(tail)) if tail.keeps => {}
                (0, Some(_)) => self.out.push('\n'),
                (0, None) => {
                    self.spaces(6);
                    self.out.push('\n');
                }
                (_, Some(tail)) if tail.indent == 0 => {}
                (_, tail) => {
                    let bound = tail.map_or(10, |tail| tail.indent);
                    self.spaces(bound);
                    self.comment();
                    self.out.push('\n');
                    self.tail = tail.map(|tail| super::Tail { keeps: false, ..tail });
                }
            }
        }
    }

    /// Writes fewer spaces than `bound`.
    pub(super) fn spaces(&mut self, bound: usize) {
        let count = self.choices.below(bound);
        self.indent(count);
    }

    pub(super) fn indent(&mut self, count: usize) {
        self.out.extend(std::iter::repeat_n(' ', count));
    }

    /// Writes white space that separates tokens of one line.
    pub(super) fn blank(&mut self) {
        let blank = self.choices.pick(" ", &["  ", "     ", "\t", " \t "]);
        // Behind a `?` the reader takes no tab.
        let blank = if self.out.ends_with('?') { " " } else { blank };
        self.out.push_str(blank);
    }

    /// Writes a comment that is unique among all texts.
    fn comment(&mut self) {
        let text = self.choices.pick("", &[" why", "why: [not", " 'so\"", "# ## {", " ü &x *y"]);
        let comment = format!("#{text} <{}>", self.comments.len());
        self.out.push_str(&comment);
        self.comments.push(comment);
    }
}
