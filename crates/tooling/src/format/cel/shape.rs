//! From the tree of an expression to the shape that is printed, with the places where it may break.
//!
//! A line end that an author put between operands, or after an opening bracket, is preserved: it
//! shows how they read the expression. The printer chooses all others.

use super::tree::{Brackets, Choice, Item, Node, Suffix, Tree};
use super::words::Word;

/// A piece of text, or a place where a line may end.
#[derive(Debug)]
pub(super) enum Shape<'s> {
    Text(&'s str),
    /// A space, or the end of a line.
    Space,
    /// Nothing, or the end of a line.
    Nothing,
    /// If the next line end is one, an empty line follows it.
    Blank,
    /// A comment that ends its line.
    Trailing(&'s str),
    /// A comment on a line of its own.
    Comment(&'s str),
    /// Lines after the first are indented more.
    Indent(Vec<Shape<'s>>),
    /// Printed on one line, or broken at all of its own places.
    Group {
        broken: bool,
        parts: Vec<Shape<'s>>,
    },
}

/// Returns the shape of a whole expression.
pub(super) fn whole<'s>(tree: &Tree<'s>) -> Shape<'s> {
    let mut parts = vec![node(&tree.root, Context::Alone)];
    parts.extend(tree.end.after.iter().map(|comment| Shape::Trailing(comment)));
    comments_before(&tree.end, &mut parts);
    group(false, parts)
}

/// Determines if the lines of a chain are set apart from the text beside it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    Alone,
    Beside,
}

fn node<'s>(node: &Node<'s>, context: Context) -> Shape<'s> {
    let mut parts = Vec::new();
    match node {
        Node::Leaf(words) => words.iter().for_each(|it| word(it, &mut parts)),
        Node::Unary(words, operand) => {
            words.iter().for_each(|it| word(it, &mut parts));
            parts.push(self::node(operand, Context::Beside));
        }
        Node::Chain(_, first, rest) => return chain(first, rest, context),
        Node::Choice(choice) => return self::choice(choice),
        Node::Group(brackets) | Node::Collection(brackets) => return self::brackets(brackets),
        Node::Member(base, suffixes) => {
            parts.push(self::node(base, Context::Beside));
            for suffix in suffixes {
                match suffix {
                    Suffix::Name(words) => words.iter().for_each(|it| word(it, &mut parts)),
                    Suffix::Brackets(brackets) => parts.push(self::brackets(brackets)),
                }
            }
        }
    }
    group(false, parts)
}

fn chain<'s>(first: &Node<'s>, rest: &[(Word<'s>, Node<'s>)], context: Context) -> Shape<'s> {
    let mut tail = Vec::new();
    let mut broken = false;
    for (operator, operand) in rest {
        broken |= operator.begins_line || operand.begins_line();
        tail.push(Shape::Text(" "));
        tail.push(Shape::Text(operator.text));
        tail.extend(operator.after.iter().map(|comment| Shape::Trailing(comment)));
        if operator.follows_blank || follows_blank(operand.first()) {
            tail.push(Shape::Blank);
        }
        tail.push(Shape::Space);
        comments_before(operator, &mut tail);
        tail.push(node(operand, Context::Beside));
    }
    let mut parts = vec![node(first, Context::Beside)];
    match context {
        Context::Alone => parts.extend(tail),
        Context::Beside => parts.push(Shape::Indent(tail)),
    }
    group(broken, parts)
}

fn choice<'s>(choice: &Choice<'s>) -> Shape<'s> {
    let Choice { condition, question, then, colon, otherwise } = choice;
    let mut tail = Vec::new();
    for (mark, part) in [(question, then), (colon, otherwise)] {
        tail.push(Shape::Space);
        word(mark, &mut tail);
        tail.push(Shape::Text(" "));
        tail.push(Shape::Indent(vec![node(part, Context::Beside)]));
    }
    let broken = [question, colon].iter().any(|word| word.begins_line)
        || [then, otherwise].iter().any(|part| part.begins_line());
    group(broken, vec![node(condition, Context::Beside), Shape::Indent(tail)])
}

fn brackets<'s>(brackets: &Brackets<'s>) -> Shape<'s> {
    let Brackets { open, items, close } = brackets;
    let mut parts = Vec::new();
    word(open, &mut parts);
    let context = if items.len() == 1 { Context::Alone } else { Context::Beside };
    let first = items.first().and_then(Item::first);
    let mut inner = Vec::new();
    for (item, number) in items.iter().zip(1..) {
        if number == 1 {
            inner.push(Shape::Nothing);
        } else if follows_blank(item.first()) {
            inner.extend([Shape::Blank, Shape::Space]);
        } else {
            inner.push(Shape::Space);
        }
        self::item(item, context, &mut inner);
        let after = item.comma.iter().flat_map(|comma| &comma.after);
        if number < items.len() {
            inner.push(Shape::Text(","));
        }
        inner.extend(after.map(|comment| Shape::Trailing(comment)));
        item.comma.iter().for_each(|comma| comments_before(comma, &mut inner));
    }
    if !inner.is_empty() {
        parts.push(Shape::Indent(inner));
        parts.push(Shape::Nothing);
    }
    comments_before(close, &mut parts);
    parts.push(Shape::Text(close.text));
    let broken = first.is_some_and(|word| word.begins_line);
    // A comment behind the brackets does not break the text between them.
    let mut whole = vec![group(broken, parts)];
    whole.extend(close.after.iter().map(|comment| Shape::Trailing(comment)));
    group(false, whole)
}

fn item<'s>(item: &Item<'s>, context: Context, parts: &mut Vec<Shape<'s>>) {
    item.mark.iter().for_each(|mark| word(mark, parts));
    if let Some((key, colon)) = &item.key {
        parts.push(node(key, Context::Beside));
        word(colon, parts);
        parts.push(Shape::Text(" "));
        parts.push(node(&item.value, Context::Beside));
        return;
    }
    parts.push(node(&item.value, context));
}

fn word<'s>(word: &Word<'s>, parts: &mut Vec<Shape<'s>>) {
    comments_before(word, parts);
    parts.push(Shape::Text(word.text));
    parts.extend(word.after.iter().map(|comment| Shape::Trailing(comment)));
}

fn comments_before<'s>(word: &Word<'s>, parts: &mut Vec<Shape<'s>>) {
    parts.extend(word.before.iter().map(|comment| Shape::Comment(comment)));
}

fn follows_blank(word: Option<&Word<'_>>) -> bool {
    word.is_some_and(|word| word.follows_blank)
}

/// Makes a group; a group that holds a broken one is broken too.
fn group(broken: bool, parts: Vec<Shape<'_>>) -> Shape<'_> {
    let broken = broken || parts.iter().any(is_broken);
    Shape::Group { broken, parts }
}

fn is_broken(shape: &Shape<'_>) -> bool {
    match shape {
        Shape::Trailing(_) | Shape::Comment(_) => true,
        Shape::Group { broken, .. } => *broken,
        Shape::Indent(parts) => parts.iter().any(is_broken),
        Shape::Text(_) | Shape::Space | Shape::Nothing | Shape::Blank => false,
    }
}
