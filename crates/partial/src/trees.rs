//! Trees of expressions: programs executed with symbols instead of values.
//!
//! Only expressions that a fast path can hold become trees. The jumps of `&&` and `||` merely save
//! work, so both sides are in the tree. A loop becomes a node if it is the one of `exists` or
//! `all`. A program with any other jump, call or loop stays a program.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use wardgate_fastpath::layout::{relation, test};

use wardgate_engine::cel::Function;
use wardgate_engine::cel::Value;
use wardgate_engine::cel::op::Op;
use wardgate_engine::cel::pool::Pool;
use wardgate_engine::cel::validate::instructions;
use wardgate_engine::cel::value::constant;
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
    /// `hasIntersection` of two lists.
    Intersects(NodeId, NodeId),
    /// A function of a text and another one. The number is its [`test`].
    Text(u32, NodeId, NodeId),
    /// `matchesTopic` of a topic, and a pattern or a list of them.
    Topic(NodeId, NodeId),
    /// `matchesTopic` of a topic, a pattern and a list of words.
    FilledTopic(NodeId, NodeId, NodeId),
    /// A list of expressions, by its number.
    List(usize),
    Size(NodeId),
    /// `timestamp` of a text.
    Time(NodeId),
    /// `now()`.
    Now,
    /// `exists` or `all` over a list: the number is its [`test`]; the list, and the body with
    /// [`Node::Element`] as its variable.
    Loop(u32, NodeId, NodeId),
    /// The element of the innermost loop.
    Element,
    /// The member of the element with this name, a string id.
    Member(u32),
    /// The program of a variable that has no tree.
    Program(u32),
}

/// The trees of the programs of a table, each made once.
pub(super) struct Trees<'a> {
    pool: &'a Pool<'a>,
    nodes: Vec<Node>,
    lists: Vec<Vec<NodeId>>,
    known: BTreeMap<u32, Option<NodeId>>,
}

impl<'a> Trees<'a> {
    pub(super) fn new(pool: &'a Pool<'a>) -> Self {
        Self { pool, nodes: Vec::new(), lists: Vec::new(), known: BTreeMap::new() }
    }

    /// Returns the root of the tree of a program, if it has one.
    pub(super) fn of(&mut self, program: u32) -> Option<NodeId> {
        self.within(program, MAX_DEPTH)
    }

    pub(super) fn node(&self, id: NodeId) -> Option<Node> {
        self.nodes.get(id).copied()
    }

    /// Returns the elements of a list.
    pub(super) fn list(&self, number: usize) -> &[NodeId] {
        self.lists.get(number).map_or(&[], Vec::as_slice)
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
        let mut open: Option<Open> = None;
        for found in instructions(program.code) {
            let found = found.ok()?;
            let [to, left, right] = found.operands.map(usize::from);
            let word = found.words.first().copied().unwrap_or(u32::MAX);
            let of = |register: usize| registers.get(register).copied().flatten();
            let node = match found.op {
                Op::Iterate if open.is_none() => {
                    open = Some(Open { range: of(left)?, cursor: to, result: right, end: word });
                    continue;
                }
                Op::Next => {
                    let here = open.as_ref().filter(|open| open.cursor == to && open.end == word);
                    here?;
                    *registers.get_mut(left)? = Some(self.add(Node::Element));
                    continue;
                }
                Op::JumpIfFalse | Op::JumpIfTrue
                    if open.as_ref().is_some_and(|open| open.ends(to, word)) =>
                {
                    continue;
                }
                // The end of a round.
                Op::Jump => {
                    let Open { range, result, .. } = open.take()?;
                    let node = self.quantified(range, of(result)?)?;
                    *registers.get_mut(result)? = Some(self.add(node));
                    continue;
                }
                Op::Move => {
                    *registers.get_mut(to)? = of(left);
                    continue;
                }
                Op::Select if matches!(self.node(of(left)?), Some(Node::Element)) => {
                    Node::Member(word)
                }
                Op::Call => called(Function::from_id(word)?, right, |number| of(left + number))?,
                Op::Return => return of(to),
                Op::JumpIfFalse if joins(program.code, word, Op::And, found.operands[0]) => {
                    continue;
                }
                Op::JumpIfTrue if joins(program.code, word, Op::Or, found.operands[0]) => continue,
                Op::List => self.new_list(Vec::new()),
                // A loop that collects a list has no tree.
                Op::ListPush if open.is_none() => self.longer(of(to)?, of(left)?)?,
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

    /// Returns the node of a loop whose rounds leave `result`: `false || body` for `exists`, and
    /// `true && body` for `all`.
    fn quantified(&self, range: NodeId, result: NodeId) -> Option<Node> {
        let start = |node: NodeId| match self.node(node)? {
            Node::Const(id) => match constant(self.pool, id) {
                Value::Bool(start) => Some(start),
                _ => None,
            },
            _ => None,
        };
        match self.node(result)? {
            Node::Or(first, body) if !start(first)? => Some(Node::Loop(test::EXISTS, range, body)),
            Node::And(first, body) if start(first)? => Some(Node::Loop(test::ALL, range, body)),
            _ => None,
        }
    }

    fn new_list(&mut self, elements: Vec<NodeId>) -> Node {
        self.lists.push(elements);
        Node::List(self.lists.len() - 1)
    }

    /// Returns a list with one more element; `None` if no test has so many.
    fn longer(&mut self, list: NodeId, element: NodeId) -> Option<Node> {
        let Node::List(number) = self.node(list)? else { return None };
        let mut elements = self.list(number).to_vec();
        elements.push(element);
        (elements.len() <= test::MAX_TERMS).then(|| self.new_list(elements))
    }

    fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() - 1
    }
}

/// Returns the node of a call with so many arguments; `of` returns one of them.
fn called(function: Function, count: usize, of: impl Fn(usize) -> Option<NodeId>) -> Option<Node> {
    Some(match (function, count) {
        (Function::Size, 1) => Node::Size(of(0)?),
        (Function::Timestamp, 1) => Node::Time(of(0)?),
        (Function::Now, 0) => Node::Now,
        (Function::StartsWith, 2) => Node::Text(test::STARTS_WITH, of(0)?, of(1)?),
        (Function::EndsWith, 2) => Node::Text(test::ENDS_WITH, of(0)?, of(1)?),
        (Function::Contains, 2) => Node::Text(test::CONTAINS, of(0)?, of(1)?),
        (Function::HasIntersection | Function::SetsIntersects, 2) => {
            Node::Intersects(of(0)?, of(1)?)
        }
        (Function::MatchesTopic, 2) => Node::Topic(of(0)?, of(1)?),
        (Function::MatchesTopic, 3) => Node::FilledTopic(of(0)?, of(1)?, of(2)?),
        _ => return None,
    })
}

/// A loop whose end is not reached yet: the list, the registers of the cursor and of the result,
/// and the target of the jumps that leave it.
struct Open {
    range: NodeId,
    cursor: usize,
    result: usize,
    end: u32,
}

impl Open {
    /// Returns true if a jump on this register leaves the loop early: it merely saves work.
    const fn ends(&self, register: usize, target: u32) -> bool {
        self.result == register && self.end == target
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
