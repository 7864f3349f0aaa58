//! Predicates: the conditions of a rule in the instructions of plans.
//!
//! Slots are named as the table names them; the writer of a plan gives them their places. Equal
//! predicates have one number, so that equal rules are seen to be equal.

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::vec::Vec;

use wardgate_plan::layout::{MAX_STACK, relation};
use wardgate_plan::word;

use super::super::footprint::{Footprint, Footprints, is_readable};
use super::trees::{Node, NodeId, Trees};
use crate::cel::Value;
use crate::cel::number::{int_to_double, uint_to_double};
use crate::cel::pool::{ConstTag, Pool};
use crate::cel::value::{List, constant};
use crate::limits::MAX_FUSED;
use crate::table::layout::Junction;
use crate::table::{Evaluation, PolicyTable, Rule, Section, at, word as word_at};

/// One instruction of a plan's code. See [`wardgate_plan::layout::code`].
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
    /// Where jumps with this number land; not an instruction.
    Label(u32),
    Invert,
    Program(u32),
}

/// What a rule asks of a request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Predicate {
    /// Nothing: it always holds.
    Always,
    /// It never holds, and never fails.
    Never,
    /// One equality; negated if the second part says so.
    Equality(Op, bool),
    /// All of this.
    Code(Vec<Op>),
}

/// A number among the predicates.
pub(super) type PredicateId = u32;

/// The predicate that always holds.
pub(super) const ALWAYS: PredicateId = 0;

/// The predicates of a table.
pub(super) struct Predicates<'a> {
    table: &'a PolicyTable,
    pool: &'a Pool<'a>,
    trees: Trees<'a>,
    footprints: Footprints<'a>,
    all: Vec<Rc<Predicate>>,
    costs: Vec<usize>,
    ids: BTreeMap<Rc<Predicate>, PredicateId>,
    /// By role condition and condition.
    known: BTreeMap<[Option<u32>; 2], Option<PredicateId>>,
    labels: u32,
    /// What the general path would charge for the conditions being written.
    cost: usize,
}

impl<'a> Predicates<'a> {
    pub(super) fn new(table: &'a PolicyTable, pool: &'a Pool<'a>) -> Self {
        let mut predicates = Self {
            table,
            pool,
            trees: Trees::new(pool),
            footprints: Footprints::new(*pool),
            all: Vec::new(),
            costs: Vec::new(),
            ids: BTreeMap::new(),
            known: BTreeMap::new(),
            labels: 0,
            cost: 0,
        };
        predicates.intern(Predicate::Always);
        predicates
    }

    pub(super) fn get(&self, id: PredicateId) -> Option<&Predicate> {
        self.all.get(at(id)).map(|predicate| &**predicate)
    }

    /// Returns at most what the general path charges for one evaluation.
    pub(super) fn cost(&self, id: PredicateId) -> usize {
        self.costs.get(at(id)).copied().unwrap_or(0)
    }

    pub(super) fn footprint(&self, program: u32) -> Option<Rc<Footprint>> {
        self.footprints.of(program)
    }

    /// Whether an evaluation can end in an error, or not end at all.
    pub(super) fn can_fail(&self, id: PredicateId) -> bool {
        match self.get(id) {
            Some(Predicate::Always | Predicate::Never) => false,
            Some(Predicate::Code(code)) if !self.is_strict() => {
                code.iter().any(|op| matches!(op, Op::Program(_)))
            }
            _ => true,
        }
    }

    /// Returns the predicate of a rule; nothing if no plan can hold it.
    pub(super) fn of(&mut self, rule: &Rule<'_>) -> Option<PredicateId> {
        let key = [rule.role_condition(), rule.condition()];
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let found = self.write(key).map(|predicate| self.intern(predicate));
        self.known.insert(key, found);
        found
    }

    /// Both conditions must hold, the one of the derived role first.
    fn write(&mut self, conditions: [Option<u32>; 2]) -> Option<Predicate> {
        (self.labels, self.cost) = (0, 0);
        let conditions: Vec<u32> = conditions.into_iter().flatten().collect();
        let mut code = Vec::new();
        match conditions.as_slice() {
            [] => return Some(Predicate::Always),
            [only] => self.condition(*only, &mut code)?,
            all => self.sequence(all, Op::JumpFalse, &mut code)?,
        }
        Some(simplified(code, self.is_strict()))
    }

    fn intern(&mut self, predicate: Predicate) -> PredicateId {
        let predicate = Rc::new(predicate);
        if let Some(known) = self.ids.get(&predicate) {
            let id = *known;
            if let Some(cost) = self.costs.get_mut(at(id)) {
                *cost = self.cost.max(*cost);
            }
            return id;
        }
        let id = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(Rc::clone(&predicate));
        self.costs.push(self.cost);
        self.ids.insert(predicate, id);
        id
    }

    /// Returns what tells the end of an expression whether an error is false.
    pub(super) fn leniency(&self) -> u32 {
        u32::from(!self.is_strict())
    }

    fn is_strict(&self) -> bool {
        self.table.evaluation() == Evaluation::Strict
    }

    /// Depth is bounded by the validator of the table.
    fn condition(&mut self, offset: u32, code: &mut Vec<Op>) -> Option<()> {
        let words = self.table.section(Section::Conditions).get(at(offset)..)?;
        let (junction, count) = Junction::split(word_at(words, 0));
        let operands = words.get(1..1_usize.checked_add(at(count))?)?;
        self.cost = self.cost.saturating_add(crate::limits::MAX_PLAN_ROLES);
        match junction {
            Junction::Expr => self.leaf(word_at(operands, 0), code),
            Junction::All => self.sequence(operands, Op::JumpFalse, code),
            Junction::Any => self.sequence(operands, Op::JumpTrue, code),
            Junction::None => {
                self.sequence(operands, Op::JumpTrue, code)?;
                code.push(Op::Invert);
                Some(())
            }
        }
    }

    /// Writes conditions that are tried one after the other, until `jump` leaves.
    fn sequence(
        &mut self,
        conditions: &[u32],
        jump: fn(u32) -> Op,
        code: &mut Vec<Op>,
    ) -> Option<()> {
        let Some((last, first)) = conditions.split_last() else {
            code.push(Op::Push(u32::from(jump(0) == Op::JumpFalse(0))));
            return Some(());
        };
        self.labels += 1;
        let end = self.labels;
        for condition in first {
            self.condition(*condition, code)?;
            code.push(jump(end));
        }
        self.condition(*last, code)?;
        if !first.is_empty() {
            code.push(Op::Label(end));
        }
        Some(())
    }

    /// Writes one expression: taken apart if it can be, else as a program.
    fn leaf(&mut self, program: u32, code: &mut Vec<Op>) -> Option<()> {
        let mut fused = Vec::new();
        let root = self.trees.of(program);
        let whole = root.and_then(|root| self.truth(root, &mut fused));
        if whole.is_none() || fused.len() > MAX_FUSED || depth(&fused) > MAX_STACK {
            fused = [Op::Program(program)].into();
        }
        for op in &fused {
            if let Op::Program(program) = op {
                self.footprints.of(*program)?;
            }
            self.cost = self.cost.saturating_add(self.price(op));
        }
        code.append(&mut fused);
        code.push(Op::Leaf);
        Some(())
    }

    /// What the machine charges at most for the instructions behind one of a plan's: a few for reading
    /// variables that were taken apart, and what the operation itself costs.
    fn price(&self, op: &Op) -> usize {
        let path = |slot: u32| at(word_at(self.pool.slots, at(slot).saturating_add(1)));
        32 + match op {
            Op::Member(slot, words) => path(*slot).saturating_add(words.len()),
            Op::EqualSlot(a, b) | Op::CompareSlots(a, b, _) => path(*a).saturating_add(path(*b)),
            Op::EqualConst(slot, _) | Op::Bool(slot) | Op::Has(slot) | Op::Compare(slot, ..) => {
                path(*slot)
            }
            _ => 0,
        }
    }

    /// Writes what a node comes to as a truth.
    fn truth(&self, node: NodeId, code: &mut Vec<Op>) -> Option<()> {
        // Variables that name others twice unfold.
        if code.len() > MAX_FUSED {
            return None;
        }
        let op = match self.trees.node(node)? {
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
            Node::And(left, right) => {
                self.truth(left, code)?;
                self.truth(right, code)?;
                Op::And
            }
            Node::Or(left, right) => {
                self.truth(left, code)?;
                self.truth(right, code)?;
                Op::Or
            }
            Node::Equal(left, right) => return self.equality(left, right, code),
            Node::Unequal(left, right) => {
                self.equality(left, right, code)?;
                Op::Not
            }
            Node::Compare(relation, left, right) => self.comparison(relation, left, right)?,
            Node::In(item, list) => return self.membership(item, list, code),
        };
        code.push(op);
        Some(())
    }

    fn readable(&self, slot: u32) -> Option<u32> {
        is_readable(slot, self.pool).then_some(slot)
    }

    fn equality(&self, left: NodeId, right: NodeId, code: &mut Vec<Op>) -> Option<()> {
        let op = match (self.trees.node(left)?, self.trees.node(right)?) {
            (Node::Slot(a), Node::Slot(b)) => Op::EqualSlot(self.readable(a)?, self.readable(b)?),
            (Node::Slot(slot), Node::Const(id)) | (Node::Const(id), Node::Slot(slot)) => {
                let slot = self.readable(slot)?;
                match self.word(id) {
                    Some(word) => Op::EqualConst(slot, word),
                    None => Op::Compare(slot, relation::EQUAL, self.number(id)?),
                }
            }
            (inner, Node::Const(id)) if is_truth(inner) => return self.test(left, id, code),
            (Node::Const(id), inner) if is_truth(inner) => return self.test(right, id, code),
            _ => return None,
        };
        code.push(op);
        Some(())
    }

    /// Writes `node == true` or `node == false`, where the node is nothing but a truth or an error.
    fn test(&self, node: NodeId, id: u32, code: &mut Vec<Op>) -> Option<()> {
        let Value::Bool(wanted) = constant(self.pool, id) else { return None };
        self.truth(node, code)?;
        if !wanted {
            code.push(Op::Not);
        }
        Some(())
    }

    fn comparison(&self, relation: u32, left: NodeId, right: NodeId) -> Option<Op> {
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

    /// Writes whether a slot is in a list of constants. Numbers are compared one by one.
    fn membership(&self, item: NodeId, list: NodeId, code: &mut Vec<Op>) -> Option<()> {
        let (Node::Slot(slot), Node::Const(list)) =
            (self.trees.node(item)?, self.trees.node(list)?)
        else {
            return None;
        };
        let slot = self.readable(slot)?;
        let Value::List(List::Constant(_)) = constant(self.pool, list) else { return None };
        let words = self.pool.constants.get(at(list)..)?;
        let elements = words.get(2..2_usize.checked_add(at(word_at(words, 1)))?)?;
        let (mut members, mut numbers) = (Vec::new(), Vec::new());
        for element in elements {
            match self.word(*element) {
                Some(word) => members.push(word),
                None => numbers.push(self.number(*element)?),
            }
        }
        members.sort_unstable();
        let any = !members.is_empty() || numbers.is_empty();
        code.extend(any.then_some(Op::Member(slot, members)));
        for (position, number) in numbers.into_iter().enumerate() {
            code.push(Op::Compare(slot, relation::EQUAL, number));
            code.extend((any || position > 0).then_some(Op::Or));
        }
        Some(())
    }

    /// Returns the word of a constant that is equal only to what has the same word.
    fn word(&self, id: u32) -> Option<u32> {
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

/// Whether a node has no value but `true` and `false`.
const fn is_truth(node: Node) -> bool {
    !matches!(node, Node::Const(_) | Node::Slot(_) | Node::Program(_))
}

const fn mirrored(relation: u32) -> u32 {
    match relation {
        relation::LESS => relation::GREATER,
        relation::LESS_EQUAL => relation::GREATER_EQUAL,
        relation::GREATER => relation::LESS,
        _ => relation::LESS_EQUAL,
    }
}

/// Returns how many truths the code of one expression has on its stack at once.
fn depth(code: &[Op]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for op in code {
        match op {
            Op::And | Op::Or => depth = depth.saturating_sub(1),
            Op::Not => {}
            _ => depth += 1,
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Returns the simplest form of code. In a lenient table an error is false, which an equality alone
/// cannot say.
fn simplified(mut code: Vec<Op>, strict: bool) -> Predicate {
    let inverted = code.iter().rev().take_while(|op| **op == Op::Invert).count();
    let body = code.get(..code.len() - inverted).unwrap_or(&[]);
    let turned = inverted % 2 == 1;
    match body {
        [Op::Push(truth)] | [Op::Push(truth), Op::Leaf] => {
            return if (*truth == TRUE) == turned { Predicate::Never } else { Predicate::Always };
        }
        [equality @ (Op::EqualConst(..) | Op::EqualSlot(..)), rest @ .., Op::Leaf]
            if strict && rest.iter().all(|op| *op == Op::Not) =>
        {
            let turned = turned != (rest.len() % 2 == 1);
            return Predicate::Equality(equality.clone(), turned);
        }
        [Op::Bool(slot), Op::Leaf] if strict => {
            return Predicate::Equality(Op::EqualConst(*slot, word::TRUE), turned);
        }
        _ => {}
    }
    // The end of the code takes an error or another value as a strict leaf does.
    if strict && code.last() == Some(&Op::Leaf) {
        code.pop();
    }
    Predicate::Code(code)
}

/// Truth of code: `true`.
const TRUE: u32 = 1;
/// Truth of code: a value that is no truth.
const OTHER: u32 = 3;
/// Whole numbers up to 2^53 are doubles.
const EXACT: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests;
