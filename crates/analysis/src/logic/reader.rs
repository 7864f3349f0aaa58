//! Reads programs as terms: the instructions are executed with terms instead of values.
//!
//! The jumps of `&&` and `||` merely save work, so both sides are in the term. A choice becomes a term
//! of three parts. Loops and the reads of optionals become regions.

use std::collections::HashMap;

use wardgate_engine::cel::pool::{DEPENDS_ON_ROLES, Pool, Root};
use wardgate_engine::cel::validate::{Instruction, instructions};
use wardgate_engine::cel::{Op, pool::Program};
use wardgate_engine::limits::MAX_VARIABLE_DEPTH;
use wardgate_engine::table::{Evaluation, PolicyTable, at, word};

use super::region;
use super::terms::{Head, Literal, TermId, Terms, TextId};

/// What a condition sees beside the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum View {
    /// A condition of a rule, where these derived roles are in effect.
    Rule(TermId),
    /// The condition of a derived role, when its table computes the derived roles in effect.
    DerivedRole,
}

/// Reads the programs of one table.
pub(crate) struct Reader<'a> {
    pool: Pool<'a>,
    /// The number of the table.
    table: u8,
    is_lenient: bool,
    known: HashMap<(u32, Option<View>), TermId>,
}

/// Terms in registers.
pub(super) type Registers = Vec<Option<TermId>>;

/// A program that is being read.
pub(super) struct Code<'c, 'p> {
    pub(super) words: &'c [u32],
    pub(super) list: Vec<Instruction<'p>>,
    view: View,
    depth: u32,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(table: &'a PolicyTable, number: u8) -> Self {
        let is_lenient = table.evaluation() == Evaluation::Lenient;
        Self { pool: table.pool(), table: number, is_lenient, known: HashMap::new() }
    }

    /// Returns the term of a program.
    pub(crate) fn read(&mut self, terms: &mut Terms, program: u32, view: View) -> TermId {
        self.within(terms, program, view, MAX_VARIABLE_DEPTH)
    }

    fn within(&mut self, terms: &mut Terms, program: u32, view: View, depth: u32) -> TermId {
        let found = self.pool.program(program);
        let reads_roles = found.is_some_and(|found| found.flags & DEPENDS_ON_ROLES != 0);
        let is_general = view != View::DerivedRole && !reads_roles;
        let key = (program, (!is_general).then_some(view));
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let term = found
            .zip(depth.checked_sub(1))
            .and_then(|(found, depth)| self.execute(terms, &found, view, depth));
        let term = term.unwrap_or_else(|| self.opaque(terms, program, view));
        self.known.insert(key, term);
        term
    }

    /// Returns a program that is not understood as one unknown.
    fn opaque(&self, terms: &mut Terms, program: u32, view: View) -> TermId {
        let parts = match view {
            View::Rule(roles) => vec![roles],
            View::DerivedRole => Vec::new(),
        };
        terms.add(Head::Program(self.table, program), &parts)
    }

    fn execute(
        &mut self,
        terms: &mut Terms,
        program: &Program<'a>,
        view: View,
        depth: u32,
    ) -> Option<TermId> {
        let list: Vec<_> = instructions(program.code).collect::<Result<_, _>>().ok()?;
        let end = list.len();
        let code = Code { words: program.code, list, view, depth };
        let mut registers: Registers = vec![None; at(program.registers)];
        self.run(terms, &code, (0, end), &mut registers)?
    }

    /// Executes the instructions from one index up to another. The inner result is that of the program,
    /// if it ends; `None` if an instruction is not understood.
    fn run(
        &mut self,
        terms: &mut Terms,
        code: &Code<'_, '_>,
        (from, to): (usize, usize),
        registers: &mut Registers,
    ) -> Option<Option<TermId>> {
        let mut next = from;
        while next < to {
            let found = code.list.get(next)?;
            next = match found.op {
                Op::Return => return Some(Some(of(registers, found.operands[0])?)),
                Op::JumpIfFalse if joins(code.words, found, Op::And) => next + 1,
                Op::JumpIfTrue if joins(code.words, found, Op::Or) => next + 1,
                Op::Branch => self.choice(terms, code, next, registers)?,
                Op::Iterate | Op::OptionalUnwrap => {
                    region::read(self, terms, code, next, registers)?
                }
                _ => {
                    let term = self.operation(terms, code, found, registers)?;
                    *registers.get_mut(usize::from(found.operands[0]))? = Some(term);
                    next + 1
                }
            };
        }
        Some(None)
    }

    /// Reads a choice, and returns the index of the instruction after it.
    fn choice(
        &mut self,
        terms: &mut Terms,
        code: &Code<'_, '_>,
        at: usize,
        registers: &mut Registers,
    ) -> Option<usize> {
        let found = code.list.get(at)?;
        let [to, on, _] = found.operands;
        let (otherwise, after) =
            (code.index(word(found.words, 0))?, code.index(word(found.words, 1))?);
        let last = otherwise.checked_sub(1)?;
        let jump = code.list.get(last)?;
        let is_choice = jump.op == Op::Jump && word(jump.words, 0) == word(found.words, 1);
        if !is_choice || otherwise <= at || after < otherwise {
            return None;
        }
        let condition = of(registers, on)?;
        let (mut yes, mut no) = (registers.clone(), registers.clone());
        let ends = [
            self.run(terms, code, (at + 1, last), &mut yes)?,
            self.run(terms, code, (otherwise, after), &mut no)?,
        ];
        if ends != [None; 2] {
            return None;
        }
        let parts = [condition, of(&yes, to)?, of(&no, to)?];
        for (register, (yes, no)) in registers.iter_mut().zip(yes.into_iter().zip(no)) {
            *register = yes.filter(|yes| no == Some(*yes));
        }
        *registers.get_mut(usize::from(to))? = Some(terms.add(Head::If, &parts));
        Some(after)
    }

    /// Returns the term of an instruction that does not jump.
    pub(super) fn operation(
        &mut self,
        terms: &mut Terms,
        code: &Code<'_, '_>,
        found: &Instruction<'_>,
        registers: &Registers,
    ) -> Option<TermId> {
        let [to, left, right] = found.operands;
        let id = word(found.words, 0);
        let operation = Head::Operation(found.op.code(), None);
        Some(match found.op {
            Op::Const => terms.constant(&self.pool, id)?,
            Op::Slot | Op::HasSlot => self.slot(terms, id, found.op == Op::HasSlot, code.view)?,
            Op::Variable => self.variable(terms, id, code)?,
            Op::HasVariable => {
                let value = self.variable(terms, id, code)?;
                terms.add(operation, &[value])
            }
            Op::Move => of(registers, left)?,
            Op::Select | Op::Has | Op::OptSelect => {
                let field = terms.text(self.pool.string(id)?);
                terms.add(Head::Operation(found.op.code(), Some(field)), &[of(registers, left)?])
            }
            Op::Undefined => {
                let field = terms.text(self.pool.string(id)?);
                terms.add(Head::Operation(found.op.code(), Some(field)), &[])
            }
            Op::Call => {
                let parts: Option<Vec<TermId>> =
                    (0..right).map(|number| of(registers, left.checked_add(number)?)).collect();
                terms.add(Head::Call(id), &parts?)
            }
            Op::List | Op::Map => terms.add(operation, &[]),
            Op::Not | Op::Neg | Op::OptionalOf => terms.add(operation, &[of(registers, left)?]),
            Op::ListPush | Op::ListPushOptional | Op::MapMerge => {
                terms.add(operation, &[of(registers, to)?, of(registers, left)?])
            }
            Op::MapPut | Op::MapPutOptional => {
                let parts = [of(registers, to)?, of(registers, left)?, of(registers, right)?];
                terms.add(operation, &parts)
            }
            Op::Return
            | Op::Jump
            | Op::JumpIfFalse
            | Op::JumpIfTrue
            | Op::Branch
            | Op::Iterate
            | Op::Next
            | Op::NextPair
            | Op::OptionalUnwrap => return None,
            _ => terms.add(operation, &[of(registers, left)?, of(registers, right)?]),
        })
    }

    /// Returns the value of a variable. One that fails is an error under another name, which makes no
    /// difference; in the condition of a derived role of a lenient table it is `null`.
    fn variable(&mut self, terms: &mut Terms, id: u32, code: &Code<'_, '_>) -> Option<TermId> {
        let (program, _) = self.pool.variable(id)?;
        let value = self.within(terms, program, code.view, code.depth);
        let may_be_null = code.view == View::DerivedRole && self.is_lenient;
        Some(if may_be_null { terms.add(Head::OrNull, &[value]) } else { value })
    }

    /// Returns the text of a field.
    pub(super) fn field(&self, terms: &mut Terms, id: u32) -> Option<TextId> {
        Some(terms.text(self.pool.string(id)?))
    }

    fn slot(&self, terms: &mut Terms, id: u32, asks: bool, view: View) -> Option<TermId> {
        let words = self.pool.slots.get(at(id)..)?;
        let root = Root::from_code(word(words, 0))?;
        let path = words.get(2..2_usize.checked_add(at(word(words, 1)))?)?;
        let mut names = Vec::with_capacity(path.len());
        for id in path {
            names.push(terms.text(self.pool.string(*id)?));
        }
        let head = if asks { Head::HasSlot } else { Head::Slot };
        let parts = match (root, view) {
            (Root::EffectiveDerivedRoles | Root::Runtime, View::Rule(roles)) => vec![roles],
            _ => Vec::new(),
        };
        if asks {
            // `has` is a question about the classes of the path.
            terms.add(Head::Slot(root.code(), names.clone().into()), &parts);
        }
        Some(terms.add(head(root.code(), names.into()), &parts))
    }
}

impl Code<'_, '_> {
    /// Returns the index of the instruction at an offset.
    pub(super) fn index(&self, offset: u32) -> Option<usize> {
        self.list.binary_search_by_key(&at(offset), |found| found.at).ok()
    }
}

/// Returns the term in a register.
pub(super) fn of(registers: &Registers, register: u8) -> Option<TermId> {
    registers.get(usize::from(register)).copied().flatten()
}

/// Returns true if a jump ends right behind the operator whose left operand it tests.
fn joins(code: &[u32], jump: &Instruction<'_>, op: Op) -> bool {
    let register = jump.operands[0];
    let before = at(word(jump.words, 0)).checked_sub(1).and_then(|at| code.get(at));
    before.is_some_and(|word| {
        let [code, to, left, _] = word.to_le_bytes();
        code == op.code() && to == register && left == register
    })
}

/// Returns the term of derived roles where there are none.
pub(crate) fn no_derived_roles(terms: &mut Terms) -> TermId {
    terms.add(Head::Literal(Literal::List([].into())), &[])
}
