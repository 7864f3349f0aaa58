//! Expressions in the instructions of fast paths.
//!
//! The parts of an expression that the fast path's own operations cover become such operations. Any
//! other part stays one program, which the engine's machine runs on the frame. Slots are named by
//! their offsets in the table, derived slots by numbers from [`DERIVED`] on; `write` numbers them.

use alloc::vec::Vec;

use wardgate_fastpath::layout::{MAX_STACK, relation};
use wardgate_fastpath::word;

use super::derived::Test;
use super::trees::{Node, NodeId, Trees};
use crate::limits::MAX_FUSED;
use wardgate_engine::cel::Value;
use wardgate_engine::cel::pool::{ConstTag, Pool};
use wardgate_engine::cel::value::{List, constant};
use wardgate_engine::fastpath::footprint::is_readable;
use wardgate_engine::number::{int_to_double, uint_to_double};
use wardgate_engine::order::sort_by;
use wardgate_engine::table::{at, word as word_at};

/// One instruction of a fast path's code. See [`wardgate_fastpath::layout::code`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Op {
    Push(u32),
    EqualConst(u32, u32),
    EqualSlot(u32, u32),
    Bool(u32),
    Has(u32),
    /// The words are sorted.
    Member(u32, Vec<u32>),
    /// Slot, relation, the bits of a number.
    Compare(u32, u32, u64),
    CompareSlots(u32, u32, u32),
    Not,
    And,
    Or,
    Leaf,
    JumpFalse(u32),
    JumpTrue(u32),
    /// The target of the jumps with this number; not an instruction.
    Label(u32),
    Invert,
    Program(u32),
}

/// Splits expressions into instructions of fast paths.
pub(super) struct Fuser<'a> {
    pool: &'a Pool<'a>,
    trees: Trees<'a>,
    tests: Vec<Test>,
    /// True if expressions become tests, where they can.
    has_tests: bool,
    /// The number of labels of the expression.
    labels: u32,
}

/// The slot of the first test; those of other tests follow. The offsets of slots are smaller: their
/// section is.
pub(super) const DERIVED: u32 = 1 << 31;

impl<'a> Fuser<'a> {
    pub(super) fn new(pool: &'a Pool<'a>) -> Self {
        Self { pool, trees: Trees::new(pool), tests: Vec::new(), has_tests: true, labels: 0 }
    }

    /// Says if expressions become tests, which need a slot each, or programs.
    pub(super) const fn allow_tests(&mut self, has_tests: bool) {
        self.has_tests = has_tests;
    }

    pub(super) const fn has_tests(&self) -> bool {
        self.has_tests
    }

    /// Returns true if a test was made.
    pub(super) const fn knows_tests(&self) -> bool {
        !self.tests.is_empty()
    }

    /// Returns the test of a derived slot; `None` if the slot is one of the table.
    pub(super) fn derived(&self, slot: u32) -> Option<&Test> {
        self.tests.get(at(slot.checked_sub(DERIVED)?))
    }

    /// Returns the slot of a test.
    pub(super) fn slot_of(&mut self, test: Test) -> u32 {
        let known = self.tests.iter().position(|known| *known == test);
        let position = known.unwrap_or_else(|| {
            self.tests.push(test);
            self.tests.len() - 1
        });
        DERIVED.saturating_add(u32::try_from(position).unwrap_or(u32::MAX))
    }

    /// Returns program and string id of a variable.
    pub(super) fn variable(&self, id: u32) -> Option<(u32, &'a str)> {
        self.pool.variable(id)
    }

    pub(super) const fn pool(&self) -> &'a Pool<'a> {
        self.pool
    }

    pub(super) fn node(&self, id: NodeId) -> Option<Node> {
        self.trees.node(id)
    }

    /// Returns the code of an expression. Its labels count from 1.
    pub(super) fn expression(&mut self, program: u32) -> Vec<Op> {
        let mut code = Vec::new();
        self.labels = 0;
        let root = self.trees.of(program);
        let whole = root.and_then(|root| self.truth(root, &mut code));
        if whole.is_none() || code.len() > MAX_FUSED || depth(&code) > MAX_STACK {
            code = [Op::Program(program)].into();
        }
        code
    }

    /// Returns an upper bound of the steps that the machine charges for the instructions that one
    /// instruction of a fast path replaces: a few for reading variables that were inlined, and the
    /// cost of the operation itself.
    pub(super) fn price(&self, op: &Op) -> usize {
        let path = |slot: u32| match self.derived(slot) {
            Some(test) => test.price(),
            None => at(word_at(self.pool.slots, at(slot).saturating_add(1))),
        };
        32 + match op {
            Op::Member(slot, words) => path(*slot).saturating_add(words.len()),
            Op::EqualSlot(a, b) | Op::CompareSlots(a, b, _) => path(*a).saturating_add(path(*b)),
            Op::EqualConst(slot, _) | Op::Bool(slot) | Op::Has(slot) | Op::Compare(slot, ..) => {
                path(*slot)
            }
            _ => 0,
        }
    }

    /// Writes the truth of a node.
    fn truth(&mut self, node: NodeId, code: &mut Vec<Op>) -> Option<()> {
        // Variables that name others twice unfold.
        if code.len() > MAX_FUSED {
            return None;
        }
        let found = self.trees.node(node)?;
        let op = match found {
            Node::Const(id) => match constant(self.pool, id) {
                Value::Bool(value) => Op::Push(u32::from(value)),
                Value::Error(_) => return None,
                _ => Op::Push(OTHER),
            },
            Node::Slot(slot) => Op::Bool(self.readable(slot)?),
            Node::Has(slot) => Op::Has(self.readable(slot)?),
            Node::Program(program) => Op::Program(program),
            Node::Not(inner) => {
                self.truth(inner, code)?;
                Op::Not
            }
            Node::And(left, right) => return self.junction([left, right], Op::And, code),
            Node::Or(left, right) => return self.junction([left, right], Op::Or, code),
            Node::Equal(left, right) => return self.equality(left, right, code),
            Node::Unequal(left, right) => {
                self.equality(left, right, code)?;
                Op::Not
            }
            Node::Compare(relation, left, right) => self.comparison(relation, left, right)?,
            Node::In(item, list) if matches!(self.trees.node(list)?, Node::Const(_)) => {
                return self.membership(item, list, code);
            }
            Node::In(..)
            | Node::Text(..)
            | Node::Loop(..)
            | Node::Topic(..)
            | Node::FilledTopic(..)
            | Node::Intersects(..) => {
                let test = self.test(found)?;
                Op::Bool(self.slot_of(test))
            }
            Node::Size(_)
            | Node::Time(_)
            | Node::Now
            | Node::Element
            | Node::Member(_)
            | Node::List(_) => {
                return None;
            }
        };
        code.push(op);
        Some(())
    }

    /// Writes `left && right` or `left || right`. If a program is on the right side, the left side
    /// comes before it alone too, with a jump to the end where it decides: as in the general path,
    /// no program runs then.
    fn junction(&mut self, [left, right]: [NodeId; 2], op: Op, code: &mut Vec<Op>) -> Option<()> {
        let start = code.len();
        self.truth(left, code)?;
        let middle = code.len();
        self.truth(right, code)?;
        let runs = code.iter().skip(middle).any(|op| matches!(op, Op::Program(_)));
        let is_plain = code.get(start..middle)?.iter().all(is_plain);
        if !runs || !is_plain || middle - start > MAX_TWICE {
            code.push(op);
            return Some(());
        }
        self.labels += 1;
        let end = self.labels;
        let after = code.split_off(middle);
        let twice = code.get(start..)?.to_vec();
        code.push(if op == Op::And { Op::JumpFalse(end) } else { Op::JumpTrue(end) });
        for part in [twice, after, [op, Op::Label(end)].into()] {
            code.extend(part);
        }
        Some(())
    }

    pub(super) fn readable(&self, slot: u32) -> Option<u32> {
        is_readable(slot, self.pool).then_some(slot)
    }

    fn equality(&mut self, left: NodeId, right: NodeId, code: &mut Vec<Op>) -> Option<()> {
        if let Some(op) = self.measure(relation::EQUAL, left, right) {
            code.push(op);
            return Some(());
        }
        let op = match (self.trees.node(left)?, self.trees.node(right)?) {
            (Node::Slot(a), Node::Slot(b)) => Op::EqualSlot(self.readable(a)?, self.readable(b)?),
            (Node::Slot(slot), Node::Const(id)) | (Node::Const(id), Node::Slot(slot)) => {
                let slot = self.readable(slot)?;
                match self.word(id) {
                    Some(word) => Op::EqualConst(slot, word),
                    None => Op::Compare(slot, relation::EQUAL, self.number(id)?),
                }
            }
            (inner, Node::Const(id)) if is_truth(inner) => return self.truth_test(left, id, code),
            (Node::Const(id), inner) if is_truth(inner) => return self.truth_test(right, id, code),
            _ => return None,
        };
        code.push(op);
        Some(())
    }

    /// Writes `node == true` or `node == false`, where the result of the node is a truth or an
    /// error.
    fn truth_test(&mut self, node: NodeId, id: u32, code: &mut Vec<Op>) -> Option<()> {
        let Value::Bool(wanted) = constant(self.pool, id) else { return None };
        self.truth(node, code)?;
        if !wanted {
            code.push(Op::Not);
        }
        Some(())
    }

    fn comparison(&mut self, relation: u32, left: NodeId, right: NodeId) -> Option<Op> {
        if let Some(op) = self.measure(relation, left, right) {
            return Some(op);
        }
        Some(match (self.trees.node(left)?, self.trees.node(right)?) {
            (Node::Slot(slot), Node::Const(id)) => {
                Op::Compare(self.readable(slot)?, relation, self.number(id)?)
            }
            (Node::Const(id), Node::Slot(slot)) => {
                Op::Compare(self.readable(slot)?, mirrored(relation), self.number(id)?)
            }
            (Node::Slot(a), Node::Slot(b)) => {
                Op::CompareSlots(self.readable(a)?, self.readable(b)?, relation)
            }
            _ => return None,
        })
    }

    /// Returns the comparison of a size with a constant, or of moments; `None` if it is neither.
    fn measure(&mut self, relation: u32, left: NodeId, right: NodeId) -> Option<Op> {
        if let Some(op) = self.moments(relation, left, right) {
            return Some(op);
        }
        let (size, id, relation) = match (self.trees.node(left)?, self.trees.node(right)?) {
            (size @ Node::Size(_), Node::Const(id)) => (size, id, relation),
            (Node::Const(id), size @ Node::Size(_)) => (size, id, mirrored(relation)),
            _ => return None,
        };
        let number = self.number(id)?;
        let test = self.test(size)?;
        Some(Op::Compare(self.slot_of(test), relation, number))
    }

    /// Writes the membership of a slot in a list of constants. Numbers are compared one by one.
    fn membership(&self, item: NodeId, list: NodeId, code: &mut Vec<Op>) -> Option<()> {
        let (Node::Slot(slot), Node::Const(list)) =
            (self.trees.node(item)?, self.trees.node(list)?)
        else {
            return None;
        };
        let slot = self.readable(slot)?;
        let elements = self.constants(list)?;
        let (mut members, mut numbers) = (Vec::new(), Vec::new());
        for element in elements {
            match self.word(*element) {
                Some(word) => members.push(word),
                None => numbers.push(self.number(*element)?),
            }
        }
        sort_by(&mut members, u32::cmp);
        let any = !members.is_empty() || numbers.is_empty();
        code.extend(any.then_some(Op::Member(slot, members)));
        for (position, number) in numbers.into_iter().enumerate() {
            code.push(Op::Compare(slot, relation::EQUAL, number));
            code.extend((any || position > 0).then_some(Op::Or));
        }
        Some(())
    }

    /// Returns the word of a constant that is equal only to values with the same word.
    pub(super) fn word(&self, id: u32) -> Option<u32> {
        let words = self.pool.constants.get(at(id)..)?;
        match ConstTag::from_code(word_at(words, 0))? {
            ConstTag::Null => Some(word::NULL),
            ConstTag::False => Some(word::FALSE),
            ConstTag::True => Some(word::TRUE),
            ConstTag::String => {
                let word = word::FIRST_STRING.checked_add(word_at(words, 1))?;
                (word < word::FIRST_TEMPORARY).then_some(word)
            }
            _ => None,
        }
    }

    /// Returns the elements of a constant list.
    pub(super) fn constants(&self, list: u32) -> Option<&'a [u32]> {
        let Value::List(List::Constant(_)) = constant(self.pool, list) else { return None };
        let words = self.pool.constants.get(at(list)..)?;
        words.get(2..2_usize.checked_add(at(word_at(words, 1)))?)
    }

    /// Returns a constant text.
    pub(super) fn text(&self, id: u32) -> Option<&'a str> {
        self.pool.string(self.word(id)?.checked_sub(word::FIRST_STRING)?)
    }

    /// Returns the expressions of a list.
    pub(super) fn list(&self, number: usize) -> &[NodeId] {
        self.trees.list(number)
    }

    /// Returns the bits of a constant number that a double holds exactly.
    fn number(&self, id: u32) -> Option<u64> {
        let number = match constant(self.pool, id) {
            Value::Int(int) => int_to_double(int),
            Value::Uint(uint) => uint_to_double(uint),
            Value::Double(double) => double,
            _ => return None,
        };
        let is_exact = number.abs() <= EXACT || matches!(constant(self.pool, id), Value::Double(_));
        (number.is_finite() && is_exact).then_some(number.to_bits())
    }
}

/// Returns true if the only values of a node are `true` and `false`.
const fn is_truth(node: Node) -> bool {
    !matches!(
        node,
        Node::Const(_)
            | Node::Slot(_)
            | Node::Program(_)
            | Node::Size(_)
            | Node::Time(_)
            | Node::Now
            | Node::Element
            | Node::Member(_)
            | Node::List(_)
    )
}

pub(super) const fn mirrored(relation: u32) -> u32 {
    match relation {
        relation::LESS => relation::GREATER,
        relation::LESS_EQUAL => relation::GREATER_EQUAL,
        relation::GREATER => relation::LESS,
        relation::GREATER_EQUAL => relation::LESS_EQUAL,
        same => same,
    }
}

/// Returns true for an instruction that may be repeated: it runs no program, and does not jump.
const fn is_plain(op: &Op) -> bool {
    !matches!(op, Op::Program(_) | Op::JumpFalse(_) | Op::JumpTrue(_) | Op::Label(_))
}

/// Returns the largest number of truths that the code of one expression has on its stack.
fn depth(code: &[Op]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for op in code {
        match op {
            Op::And | Op::Or | Op::JumpFalse(_) | Op::JumpTrue(_) => {
                depth = depth.saturating_sub(1);
            }
            Op::Not | Op::Label(_) => {}
            _ => depth += 1,
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// The largest number of instructions that are written twice to save a program.
const MAX_TWICE: usize = 8;
/// Truth of code: a value that is neither true nor false.
const OTHER: u32 = 3;
/// The bound of the whole numbers that doubles hold exactly: 2^53.
const EXACT: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests {
    use super::{Op, depth};

    #[test]
    fn depth_is_the_largest_number_of_truths_on_the_stack() {
        let check = |code: &[Op], expected| assert_eq!(depth(code), expected, "{code:?}");
        check(&[Op::Bool(1), Op::Not], 1);
        check(&[Op::Bool(1), Op::Bool(2), Op::And, Op::Bool(3), Op::Or], 2);
        check(&[Op::Bool(1), Op::Bool(2), Op::Bool(3), Op::Or, Op::And], 3);
    }
}
