//! Prints a shape within so many columns: a group is printed on one line if it fits there.
//!
//! Comments move to the next line end, so that nothing after them on their line is lost.

use super::Width;
use super::shape::Shape;

/// Prints a shape.
pub(super) fn text(shape: &Shape<'_>, width: Width) -> String {
    let mut printer = Printer {
        width,
        out: String::new(),
        column: 0,
        at_line_start: true,
        indent: 0,
        blank: false,
        trailing: Vec::new(),
        comments: Vec::new(),
    };
    printer.run(shape);
    printer.finish()
}

/// A shape that is still to be printed.
#[derive(Clone, Copy)]
struct Task<'t, 's> {
    indent: usize,
    flat: bool,
    shape: &'t Shape<'s>,
}

struct Printer<'s> {
    width: Width,
    out: String,
    column: usize,
    at_line_start: bool,
    /// The indentation of the line that has just begun.
    indent: usize,
    blank: bool,
    /// Comments for the end of this line.
    trailing: Vec<&'s str>,
    /// Comments for the lines after this one.
    comments: Vec<&'s str>,
}

impl<'s> Printer<'s> {
    fn run(&mut self, shape: &Shape<'s>) {
        let mut tasks = vec![Task { indent: 0, flat: self.width == Width::Line, shape }];
        while let Some(Task { indent, flat, shape }) = tasks.pop() {
            let below = |indent, flat| move |shape| Task { indent, flat, shape };
            match shape {
                Shape::Text(text) => self.text(text),
                Shape::Space | Shape::Nothing if !flat => self.end_line(indent),
                Shape::Space => self.text(" "),
                Shape::Nothing => {}
                Shape::Blank => self.blank = !flat,
                Shape::Trailing(comment) => self.trailing.push(comment),
                Shape::Comment(comment) => self.comment(comment),
                Shape::Indent(parts) => {
                    let deeper = indent.saturating_add(STEP);
                    tasks.extend(parts.iter().rev().map(below(deeper, flat)));
                }
                Shape::Group { broken, parts } => {
                    let fits = || self.fits(parts, &tasks);
                    let flat = flat || !broken && fits();
                    tasks.extend(parts.iter().rev().map(below(indent, flat)));
                }
            }
        }
    }

    fn text(&mut self, text: &str) {
        if self.at_line_start {
            self.out.extend(std::iter::repeat_n(' ', self.indent));
            self.column = self.indent;
            self.at_line_start = false;
        }
        self.out.push_str(text);
        let last = text.rsplit('\n').next().unwrap_or_default().chars().count();
        self.column = if text.contains('\n') { last } else { self.column.saturating_add(last) };
    }

    fn end_line(&mut self, indent: usize) {
        for comment in self.trailing.drain(..) {
            self.out.push(' ');
            self.out.push_str(comment);
        }
        self.out.push('\n');
        if std::mem::take(&mut self.blank) {
            self.out.push('\n');
        }
        self.indent = indent;
        self.at_line_start = true;
        for comment in std::mem::take(&mut self.comments) {
            self.comment(comment);
        }
    }

    /// Prints a comment on a line of its own, now or when this line has ended.
    fn comment(&mut self, comment: &'s str) {
        if !self.at_line_start {
            self.comments.push(comment);
            return;
        }
        self.out.extend(std::iter::repeat_n(' ', self.indent));
        self.out.push_str(comment);
        self.out.push('\n');
    }

    /// Returns true if parts, and the text after them up to the next line end, fit on this line.
    fn fits(&self, parts: &[Shape<'_>], tasks: &[Task<'_, '_>]) -> bool {
        let Width::Lines(width) = self.width else { return true };
        let column = if self.at_line_start { self.indent } else { self.column };
        let mut left = width.saturating_sub(column);
        let mut pending: Vec<(bool, &Shape<'_>)> =
            parts.iter().rev().map(|part| (true, part)).collect();
        let mut after = tasks.iter().rev();
        loop {
            let next = pending.pop().or_else(|| after.next().map(|task| (task.flat, task.shape)));
            let Some((flat, shape)) = next else { return true };
            let length = match shape {
                Shape::Text(text) => text.chars().count(),
                Shape::Space | Shape::Nothing if !flat => return true,
                Shape::Space => 1,
                Shape::Nothing | Shape::Blank | Shape::Trailing(_) | Shape::Comment(_) => 0,
                Shape::Indent(parts) => {
                    pending.extend(parts.iter().rev().map(|part| (flat, part)));
                    0
                }
                Shape::Group { broken, parts } => {
                    pending.extend(parts.iter().rev().map(|part| (flat || !broken, part)));
                    0
                }
            };
            let Some(rest) = left.checked_sub(length) else { return false };
            left = rest;
        }
    }

    fn finish(mut self) -> String {
        if !self.trailing.is_empty() || !self.comments.is_empty() {
            self.end_line(0);
        }
        let length = self.out.trim_end().len();
        self.out.truncate(length);
        self.out
    }
}

/// The spaces of each level of indentation.
const STEP: usize = 2;
