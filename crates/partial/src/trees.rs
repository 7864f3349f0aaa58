//! Trees of expressions: programs executed with symbols instead of values.
//!
//! Only expressions that a fast path can hold become trees. The jumps of `&&` and `||` merely save
//! work, so both sides are in the tree. A program with any other jump, call or loop stays a
//! program.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use wardgate_fastpath::layout::relation;

use wardgate_engine::cel::op::Op;
use wardgate_engine::cel::pool::Pool;
use wardgate_engine::cel::validate::instructions;
use wardgate_engine::table::at;

/// The index of a node.
pub(super) type NodeId = usize;

/// One operation of an expression.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node {
    Const(u32),
    Slot(u32),
    Has(u32),
    Not(NodeId),
    And(NodeId, NodeId),
    Or(NodeId, NodeId),
    Equal(NodeId, NodeId),
    Unequal(NodeId, NodeId),
    /// The relation is one of [`relation`].
    Compare(u32, NodeId, NodeId),
    In(NodeId, NodeId),
    /// The program of a variable that has no tree.
    Program(u32),
}

/// The trees of the programs of a table, each made once.
pub(super) struct Trees<'a> {
    pool: &'a Pool<'a>,
    nodes: Vec<Node>,
    known: BTreeMap<u32, Option<NodeId>>,
}

impl<'a> Trees<'a> {
    pub(super) fn new(pool: &'a Pool<'a>) -> Self {
        Self { pool, nodes: Vec::new(), known: BTreeMap::new() }
    }

    /// Returns the root of the tree of a program, if it has one.
    pub(super) fn of(&mut self, program: u32) -> Option<NodeId> {
        self.within(program, MAX_DEPTH)
    }

    pub(super) fn node(&self, id: NodeId) -> Option<Node> {
        self.nodes.get(id).copied()
    }

    fn within(&mut self, program: u32, depth: u32) -> Option<NodeId> {
        if let Some(known) = self.known.get(&program) {
            return *known;
        }
        let root = self.execute(program, depth);
        self.known.insert(program, root);
        root
    }

    fn execute(&mut self, program: u32, depth: u32) -> Option<NodeId> {
        let program = self.pool.program(program)?;
        let mut registers: Vec<Option<NodeId>> = vec![None; at(program.registers)];
        for found in instructions(program.code) {
            let found = found.ok()?;
            let [to, left, right] = found.operands.map(usize::from);
            let word = found.words.first().copied().unwrap_or(u32::MAX);
            let of = |register: usize| registers.get(register).copied().flatten();
            let node = match found.op {
                Op::Return => return of(to),
                Op::JumpIfFalse if joins(program.code, word, Op::And, found.operands[0]) => {
                    continue;
                }
                Op::JumpIfTrue if joins(program.code, word, Op::Or, found.operands[0]) => continue,
                Op::Const => Node::Const(word),
                Op::Slot => Node::Slot(word),
                Op::HasSlot => Node::Has(word),
                Op::Not => Node::Not(of(left)?),
                Op::And => Node::And(of(left)?, of(right)?),
                Op::Or => Node::Or(of(left)?, of(right)?),
                Op::Eq => Node::Equal(of(left)?, of(right)?),
                Op::Ne => Node::Unequal(of(left)?, of(right)?),
                Op::Lt => Node::Compare(relation::LESS, of(left)?, of(right)?),
                Op::Le => Node::Compare(relation::LESS_EQUAL, of(left)?, of(right)?),
                Op::Gt => Node::Compare(relation::GREATER, of(left)?, of(right)?),
                Op::Ge => Node::Compare(relation::GREATER_EQUAL, of(left)?, of(right)?),
                Op::In => Node::In(of(left)?, of(right)?),
                Op::Variable => {
                    let (program, _) = self.pool.variable(word)?;
                    let inlined = depth.checked_sub(1).and_then(|left| self.within(program, left));
                    let root = inlined.unwrap_or_else(|| self.add(Node::Program(program)));
                    *registers.get_mut(to)? = Some(root);
                    continue;
                }
                _ => return None,
            };
            *registers.get_mut(to)? = Some(self.add(node));
        }
        None
    }

    fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() - 1
    }
}

/// Returns true if a jump ends right behind the operator whose left operand it tests.
fn joins(code: &[u32], target: u32, op: Op, register: u8) -> bool {
    let before = at(target).checked_sub(1).and_then(|at| code.get(at));
    before.is_some_and(|word| {
        let [code, to, left, _] = word.to_le_bytes();
        code == op.code() && to == register && left == register
    })
}

/// The depth to which variables are inlined; a deeper one runs as a program.
const MAX_DEPTH: u32 = 8;
