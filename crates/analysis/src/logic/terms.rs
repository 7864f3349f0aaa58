//! Terms: expressions without registers, the same for equal expressions of both tables.
//!
//! Each term has one number, whichever table it comes from. Names are texts with numbers of their own,
//! so that no id of a table is part of a term.

use std::collections::HashMap;
use std::rc::Rc;

use wardgate_engine::cel::pool::{ConstTag, Root};
use wardgate_engine::cel::{Function, Op, Pool};
use wardgate_engine::limits::MAX_VALUE_DEPTH;
use wardgate_engine::table::{at, word};

/// The number of a term.
pub(crate) type TermId = u32;

/// The number of a text.
pub(crate) type TextId = u32;

/// An expression whose parts are terms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Term {
    pub(crate) head: Head,
    pub(crate) parts: Box<[TermId]>,
}

/// The operation of a term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Head {
    Literal(Literal),
    /// A path into the request: the code of its root, and names.
    Slot(u32, Box<[TextId]>),
    /// True if the last step of a path leads to a value.
    HasSlot(u32, Box<[TextId]>),
    /// An operation of the machine with the name of a field, if it has one.
    Operation(u8, Option<TextId>),
    Call(u32),
    /// A choice: condition, then, else.
    If,
    /// The value of a part, or `null` if it fails.
    OrNull,
    /// The derived roles in effect: all that they depend on.
    DerivedRoles(Box<[u64]>),
    /// Instructions with jumps, in a spelling without registers.
    Region(Box<[u64]>),
    /// The value that a region leaves in one of its registers.
    Result(u32),
    /// A program that was not understood: the number of its table, and its own.
    Program(u8, u32),
}

/// A constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    /// The bits of a double.
    Double(u64),
    Text(TextId),
    Bytes(Box<[u8]>),
    List(Box<[Literal]>),
    /// Keys and values in turn.
    Map(Box<[Literal]>),
    /// Any other constant: its tag, its text, and its words.
    Other(u32, TextId, Box<[u32]>),
    Some(Box<Literal>),
}

/// All terms and texts of a comparison.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    texts: HashMap<Rc<str>, TextId>,
    names: Vec<Rc<str>>,
    known: HashMap<Rc<Term>, TermId>,
    all: Vec<Rc<Term>>,
}

impl Terms {
    /// Returns the number of a text.
    pub(crate) fn text(&mut self, text: &str) -> TextId {
        if let Some(known) = self.texts.get(text) {
            return *known;
        }
        let (id, text): (TextId, Rc<str>) = (number(self.names.len()), text.into());
        self.names.push(Rc::clone(&text));
        self.texts.insert(text, id);
        id
    }

    /// Returns the number of a text that is known.
    pub(crate) fn text_id(&self, text: &str) -> Option<TextId> {
        self.texts.get(text).copied()
    }

    /// Returns the text with this number.
    pub(crate) fn name(&self, id: TextId) -> &str {
        self.names.get(at(id)).map_or("", |name| name)
    }

    /// Returns the term with this number.
    pub(crate) fn get(&self, id: TermId) -> Rc<Term> {
        let term = self.all.get(at(id)).cloned();
        term.unwrap_or_else(|| {
            Rc::new(Term { head: Head::Literal(Literal::Null), parts: [].into() })
        })
    }

    /// Returns the number of a term. Comparisons have one spelling.
    pub(crate) fn add(&mut self, head: Head, parts: &[TermId]) -> TermId {
        match (&head, parts) {
            (Head::Operation(code, _), [left, right]) => self.compared(*code, *left, *right),
            _ => self.intern(head, parts),
        }
    }

    /// Adds an operation of two operands: `a != b` as `!(a == b)`, `a > b` as `b < a`, and a constant
    /// that is compared with a path behind it.
    fn compared(&mut self, code: u8, left: TermId, right: TermId) -> TermId {
        let operation = |op: Op| Head::Operation(op.code(), None);
        match Op::from_code(code) {
            Some(Op::Ne) => {
                let equal = self.compared(Op::Eq.code(), left, right);
                self.intern(operation(Op::Not), &[equal])
            }
            Some(Op::Eq) if self.is_literal(left) && self.is_plain(right) => {
                self.intern(operation(Op::Eq), &[right, left])
            }
            Some(Op::Eq) if left > right && self.is_plain(left) && self.is_plain(right) => {
                self.intern(operation(Op::Eq), &[right, left])
            }
            Some(Op::Gt) => self.intern(operation(Op::Lt), &[right, left]),
            Some(Op::Ge) => self.intern(operation(Op::Le), &[right, left]),
            _ => self.intern(Head::Operation(code, None), &[left, right]),
        }
    }

    fn intern(&mut self, head: Head, parts: &[TermId]) -> TermId {
        let term = Rc::new(Term { head, parts: parts.into() });
        if let Some(known) = self.known.get(&term) {
            return *known;
        }
        let id = number(self.all.len());
        self.all.push(Rc::clone(&term));
        self.known.insert(term, id);
        id
    }

    /// Returns the number of a term that is known.
    pub(crate) fn find(&self, term: &Term) -> Option<TermId> {
        self.known.get(term).copied()
    }

    /// Returns the term of a constant of a table.
    pub(crate) fn constant(&mut self, pool: &Pool<'_>, id: u32) -> Option<TermId> {
        let literal = self.literal(pool, id, MAX_VALUE_DEPTH)?;
        Some(self.intern(Head::Literal(literal), &[]))
    }

    fn literal(&mut self, pool: &Pool<'_>, id: u32, depth: usize) -> Option<Literal> {
        let depth = depth.checked_sub(1)?;
        let words = pool.constants.get(at(id)..)?;
        let wide = || u64::from(word(words, 1)) | u64::from(word(words, 2)) << 32;
        let list = |times: usize| words.get(2..2 + at(word(words, 1)).checked_mul(times)?);
        let tag = ConstTag::from_code(word(words, 0))?;
        Some(match tag {
            ConstTag::Null => Literal::Null,
            ConstTag::False => Literal::Bool(false),
            ConstTag::True => Literal::Bool(true),
            ConstTag::Int => Literal::Int(i64::from_ne_bytes(wide().to_ne_bytes())),
            ConstTag::Uint => Literal::Uint(wide()),
            ConstTag::Double => Literal::Double(wide()),
            ConstTag::String => Literal::Text(self.text(pool.string(word(words, 1))?)),
            ConstTag::Bytes => {
                let (start, length) = (at(word(words, 1)), at(word(words, 2)));
                Literal::Bytes(pool.blob.get(start..start.checked_add(length)?)?.into())
            }
            ConstTag::List => Literal::List(self.literals(pool, list(1)?, depth)?),
            ConstTag::Map => Literal::Map(self.literals(pool, list(2)?, depth)?),
            ConstTag::Some => Literal::Some(Box::new(self.literal(pool, word(words, 1), depth)?)),
            ConstTag::Timestamp => self.other(tag, "", words.get(1..4)?),
            ConstTag::Duration => self.other(tag, "", words.get(1..3)?),
            ConstTag::Type => self.other(tag, pool.string(word(words, 1))?, &[]),
            ConstTag::None => self.other(tag, "", &[]),
            ConstTag::Regex | ConstTag::Zone => {
                let end = 3_usize.checked_add(at(word(words, 2)))?;
                self.other(tag, pool.string(word(words, 1))?, words.get(3..end)?)
            }
        })
    }

    fn literals(&mut self, pool: &Pool<'_>, ids: &[u32], depth: usize) -> Option<Box<[Literal]>> {
        ids.iter().map(|id| self.literal(pool, *id, depth)).collect()
    }

    fn other(&mut self, tag: ConstTag, text: &str, words: &[u32]) -> Literal {
        Literal::Other(tag.code(), self.text(text), words.into())
    }

    pub(crate) fn is_literal(&self, id: TermId) -> bool {
        matches!(self.get(id).head, Head::Literal(_))
    }

    /// Returns true if the values of a term are those that JSON has, numbers, texts and truths: only
    /// these are compared with constants as their classes say.
    pub(crate) fn is_plain(&self, id: TermId) -> bool {
        match &self.get(id).head {
            Head::Slot(root, _) => !matches!(
                Root::from_code(*root),
                None | Some(Root::Runtime | Root::EffectiveDerivedRoles)
            ),
            Head::Call(function) => Function::from_id(*function).is_some_and(|function| {
                matches!(
                    function,
                    Function::Size
                        | Function::LowerAscii
                        | Function::UpperAscii
                        | Function::Trim
                        | Function::Int
                        | Function::Double
                        | Function::String
                )
            }),
            _ => false,
        }
    }

    /// Returns the terms below a term that satisfy `wanted`, each once, in the order of their numbers.
    pub(crate) fn below(&self, roots: &[TermId], wanted: impl Fn(&Term) -> bool) -> Vec<TermId> {
        let mut seen = std::collections::BTreeSet::new();
        let mut open = roots.to_vec();
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                open.extend(self.get(id).parts.iter());
            }
        }
        seen.into_iter().filter(|id| wanted(&self.get(*id))).collect()
    }
}

/// Returns an index as a number: far fewer than 2^32 things are numbered.
pub(crate) fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
