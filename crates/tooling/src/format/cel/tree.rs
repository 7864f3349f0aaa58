//! The tree of an expression as it is written: with its parentheses, chains of operators and
//! commas.
//!
//! The parser of the compiler has accepted the text before, so depth is bounded by it; a text that
//! does not fit here all the same gives no tree.

use super::words::{Kind, Word};
use wardgate_compiler::cel::ast::BinaryOp;

/// An expression and the end of its text, which may carry comments.
pub(super) struct Tree<'s> {
    pub(super) root: Node<'s>,
    pub(super) end: Word<'s>,
}

/// A piece of an expression.
#[derive(Clone, Debug)]
pub(super) enum Node<'s> {
    /// A literal or a name, with the `-` of a number or the `.` of a name before it.
    Leaf(Vec<Word<'s>>),
    /// `!` or `-`, any number of times.
    Unary(Vec<Word<'s>>, Box<Node<'s>>),
    /// Operands between operators of one precedence.
    Chain(u8, Box<Node<'s>>, Vec<(Word<'s>, Node<'s>)>),
    /// `condition ? then : otherwise`.
    Choice(Box<Choice<'s>>),
    /// Something in parentheses.
    Group(Box<Brackets<'s>>),
    /// A list or a map.
    Collection(Box<Brackets<'s>>),
    /// A value and its suffixes.
    Member(Box<Node<'s>>, Vec<Suffix<'s>>),
}

#[derive(Clone, Debug)]
pub(super) struct Choice<'s> {
    pub(super) condition: Node<'s>,
    pub(super) question: Word<'s>,
    pub(super) then: Node<'s>,
    pub(super) colon: Word<'s>,
    pub(super) otherwise: Node<'s>,
}

/// A suffix of a value: a member, an index or a call.
#[derive(Clone, Debug)]
pub(super) enum Suffix<'s> {
    /// `.name` or `.?name`.
    Name(Vec<Word<'s>>),
    /// `(arguments)`, `[index]` or `{fields}`.
    Brackets(Brackets<'s>),
}

/// Brackets and the items between them.
#[derive(Clone, Debug)]
pub(super) struct Brackets<'s> {
    pub(super) open: Word<'s>,
    pub(super) items: Vec<Item<'s>>,
    pub(super) close: Word<'s>,
}

/// The text between two commas.
#[derive(Clone, Debug)]
pub(super) struct Item<'s> {
    pub(super) mark: Option<Word<'s>>,
    pub(super) key: Option<(Node<'s>, Word<'s>)>,
    pub(super) value: Node<'s>,
    pub(super) comma: Option<Word<'s>>,
}

impl<'s> Tree<'s> {
    /// Parses words that end with [`Kind::End`].
    pub(super) fn parse(words: Vec<Word<'s>>) -> Option<Self> {
        let mut parser = Parser { words: words.into_iter().peekable() };
        let root = parser.expression()?;
        let end = parser.words.next().filter(|word| word.kind == Kind::End)?;
        Some(Self { root, end })
    }
}

impl<'s> Node<'s> {
    /// Returns the first word.
    pub(super) fn first(&self) -> Option<&Word<'s>> {
        match self {
            Self::Leaf(words) | Self::Unary(words, _) => words.first(),
            Self::Chain(_, first, _) | Self::Member(first, _) => first.first(),
            Self::Choice(choice) => choice.condition.first(),
            Self::Group(brackets) | Self::Collection(brackets) => Some(&brackets.open),
        }
    }

    /// Returns true if its author put it at the start of a line.
    pub(super) fn begins_line(&self) -> bool {
        self.first().is_some_and(|word| word.begins_line)
    }
}

impl<'s> Item<'s> {
    /// Returns the first word.
    pub(super) fn first(&self) -> Option<&Word<'s>> {
        let key = self.key.as_ref().and_then(|(key, _)| key.first());
        self.mark.as_ref().or(key).or_else(|| self.value.first())
    }
}

struct Parser<'s> {
    words: std::iter::Peekable<std::vec::IntoIter<Word<'s>>>,
}

impl<'s> Parser<'s> {
    fn expression(&mut self) -> Option<Node<'s>> {
        let condition = self.binary(BinaryOp::Or.precedence())?;
        let Some(question) = self.eat("?") else { return Some(condition) };
        let then = self.binary(BinaryOp::Or.precedence())?;
        let colon = self.eat(":")?;
        let otherwise = self.expression()?;
        Some(Node::Choice(Box::new(Choice { condition, question, then, colon, otherwise })))
    }

    fn binary(&mut self, least: u8) -> Option<Node<'s>> {
        let mut left = self.unary()?;
        while let Some(precedence) = self.operator().filter(|found| *found >= least) {
            let mut rest = Vec::new();
            while self.operator() == Some(precedence) {
                let operator = self.words.next()?;
                rest.push((operator, self.binary(precedence.saturating_add(1))?));
            }
            left = Node::Chain(precedence, Box::new(left), rest);
        }
        Some(left)
    }

    fn operator(&mut self) -> Option<u8> {
        let word = self.words.peek().filter(|word| word.kind == Kind::Symbol)?;
        BinaryOp::from_text(word.text).map(BinaryOp::precedence)
    }

    fn unary(&mut self) -> Option<Node<'s>> {
        let mut operators = Vec::new();
        while let Some(operator) = self.eat("!").or_else(|| self.eat("-")) {
            operators.push(operator);
        }
        let next_is_number = self.words.peek()?.kind == Kind::Number;
        let ends_in_minus = operators.last().is_some_and(|word| word.is("-"));
        let sign = if next_is_number && ends_in_minus { operators.pop() } else { None };
        let operand = self.member(sign)?;
        match operators.is_empty() {
            true => Some(operand),
            false => Some(Node::Unary(operators, Box::new(operand))),
        }
    }

    fn member(&mut self, sign: Option<Word<'s>>) -> Option<Node<'s>> {
        let base = self.primary(sign)?;
        let mut suffixes = Vec::new();
        loop {
            if let Some(dot) = self.eat(".") {
                let mut words = vec![dot];
                words.extend(self.eat("?"));
                words.push(self.next(Kind::Name)?);
                suffixes.push(Suffix::Name(words));
            } else if let Some(close) = self.suffix_bracket(&base, &suffixes) {
                suffixes.push(Suffix::Brackets(self.brackets(close)?));
            } else {
                break;
            }
        }
        match suffixes.is_empty() {
            true => Some(base),
            false => Some(Node::Member(Box::new(base), suffixes)),
        }
    }

    /// Returns the closing bracket of the next opening one, if that belongs to the value before it.
    fn suffix_bracket(&mut self, base: &Node<'s>, suffixes: &[Suffix<'s>]) -> Option<&'static str> {
        let word = self.words.peek().filter(|word| word.kind == Kind::Symbol)?;
        let after_name = match suffixes.last() {
            Some(Suffix::Name(_)) => true,
            Some(Suffix::Brackets(_)) => false,
            None => matches!(base, Node::Leaf(_)),
        };
        match word.text {
            "[" => Some("]"),
            "(" if after_name => Some(")"),
            "{" if after_name => Some("}"),
            _ => None,
        }
    }

    fn primary(&mut self, sign: Option<Word<'s>>) -> Option<Node<'s>> {
        let word = self.words.next()?;
        if sign.is_some() || matches!(word.kind, Kind::Name | Kind::Number | Kind::Literal) {
            return Some(Node::Leaf(sign.into_iter().chain([word]).collect()));
        }
        let close = match word.text {
            "." => return Some(Node::Leaf(vec![word, self.next(Kind::Name)?])),
            "(" => ")",
            "[" => "]",
            "{" => "}",
            _ => return None,
        };
        let brackets = Box::new(self.between(word, close)?);
        match close {
            ")" => Some(Node::Group(brackets)),
            _ => Some(Node::Collection(brackets)),
        }
    }

    fn brackets(&mut self, close: &str) -> Option<Brackets<'s>> {
        let open = self.words.next()?;
        self.between(open, close)
    }

    fn between(&mut self, open: Word<'s>, close: &str) -> Option<Brackets<'s>> {
        let mut items = Vec::new();
        // A comma may be alone between brackets, without a meaning.
        self.eat(",");
        loop {
            if let Some(close) = self.eat(close) {
                return Some(Brackets { open, items, close });
            }
            items.push(self.item()?);
        }
    }

    fn item(&mut self) -> Option<Item<'s>> {
        let mark = self.eat("?");
        let value = self.expression()?;
        let (key, value) = match self.eat(":") {
            Some(colon) => (Some((value, colon)), self.expression()?),
            None => (None, value),
        };
        Some(Item { mark, key, value, comma: self.eat(",") })
    }

    fn eat(&mut self, symbol: &str) -> Option<Word<'s>> {
        self.words.next_if(|word| word.is(symbol))
    }

    fn next(&mut self, kind: Kind) -> Option<Word<'s>> {
        self.words.next_if(|word| word.kind == kind)
    }
}
