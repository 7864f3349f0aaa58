//! The layout of one expression.
//!
//! Only white space and needless parentheses change: every literal, name, macro and comment is
//! printed as it is written. The result is parsed again, and given up if it is another tree, if a
//! comment is missing, or if a second layout would change it.

mod equivalence;
mod print;
mod shape;
mod simplify;
mod tree;
mod words;

use equivalence::equivalent;
use tree::Tree;
use wardgate_compiler::cel;

/// The width that the text may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// On one line, however long.
    Line,
    /// On as many lines as it takes, each of so many characters if possible.
    Lines(usize),
}

/// Which parentheses stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parentheses {
    /// Those that the meaning needs, and those that show how `&&` and `||` mix.
    Needed,
    /// All that are written.
    Written,
}

/// Returns the text of `source` as it should be, or nothing if it must stay as it is.
pub(super) fn layout(source: &str, width: Width, parentheses: Parentheses) -> Option<String> {
    // The parser comes first, because it bounds how deep the text may nest.
    let tree = cel::parse(source).ok()?;
    let once = attempt(source, width, parentheses)?;
    let is_equivalent = equivalent(&tree, &cel::parse(&once).ok()?);
    let stable = || attempt(&once, width, parentheses).is_some_and(|twice| twice == once);
    let comments = || words::comments(source) == words::comments(&once);
    (is_equivalent && comments() && stable()).then_some(once)
}

/// Returns true if two texts are the same expression.
pub(super) fn equal(one: &str, other: &str) -> bool {
    match (cel::parse(one), cel::parse(other)) {
        (Ok(one_tree), Ok(other_tree)) => equivalent(&one_tree, &other_tree),
        _ => one == other,
    }
}

fn attempt(source: &str, width: Width, parentheses: Parentheses) -> Option<String> {
    let words = words::words(source)?;
    if width == Width::Line && words.iter().any(|word| !word.fits_a_line()) {
        return None;
    }
    let mut tree = Tree::parse(words)?;
    if parentheses == Parentheses::Needed {
        simplify::whole(&mut tree.root);
    }
    Some(print::text(&shape::whole(&tree), width))
}

#[cfg(test)]
mod tests;
