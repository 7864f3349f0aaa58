//! Regions: a loop, or the read of an optional, as one term.
//!
//! A region begins with an instruction that jumps and ends where its last jump leads. It is a function
//! of the terms that it reads. Its registers are numbered in the order in which they are written, so
//! that equal loops are equal wherever they stand. The compiler writes a register of a region before
//! it is read, on every way through it.

use std::collections::BTreeMap;

use wardgate_engine::cel::Op;
use wardgate_engine::cel::validate::Instruction;
use wardgate_engine::table::word;

use super::reader::{Code, Reader, Registers, of};
use super::terms::{Head, TermId, Terms, TextId, number};

/// Reads the region that begins at an index, and returns the index of the instruction after it.
pub(super) fn read(
    reader: &mut Reader<'_>,
    terms: &mut Terms,
    code: &Code<'_, '_>,
    start: usize,
    registers: &mut Registers,
) -> Option<usize> {
    let end = end(code, start)?;
    let mut region = Region { tokens: Vec::new(), reads: Vec::new(), written: BTreeMap::new() };
    for found in code.list.get(start..end)? {
        region.instruction(reader, terms, (code, start), found, registers)?;
    }
    let Region { tokens, reads, written } = region;
    let term = terms.add(Head::Region(tokens.into()), &reads);
    for (register, local) in written {
        let result = terms.add(Head::Result(local), &[term]);
        *registers.get_mut(usize::from(register))? = Some(result);
    }
    Some(end)
}

/// Returns the index behind the last instruction of a region.
fn end(code: &Code<'_, '_>, start: usize) -> Option<usize> {
    let mut end = start + 1;
    let mut next = start;
    while next < end {
        let found = code.list.get(next)?;
        for target in targets(found) {
            end = end.max(code.index(target)?);
        }
        next += 1;
    }
    Some(end)
}

fn targets(found: &Instruction<'_>) -> impl Iterator<Item = u32> {
    let count = match found.op {
        Op::Branch => 2,
        Op::Jump | Op::JumpIfFalse | Op::JumpIfTrue => 1,
        Op::Iterate | Op::Next | Op::NextPair | Op::OptionalUnwrap => 1,
        _ => 0,
    };
    found.words.iter().take(count).copied()
}

struct Region {
    tokens: Vec<u64>,
    /// The terms that the region reads, in the order of its tokens.
    reads: Vec<TermId>,
    /// The registers that are written, with their numbers in the region.
    written: BTreeMap<u8, u32>,
}

impl Region {
    fn instruction(
        &mut self,
        reader: &mut Reader<'_>,
        terms: &mut Terms,
        (code, start): (&Code<'_, '_>, usize),
        found: &Instruction<'_>,
        registers: &Registers,
    ) -> Option<()> {
        self.tokens.push(INSTRUCTION | u64::from(found.op.code()));
        let [a, b, c] = found.operands;
        match found.op {
            // The values of these come from outside, and say themselves what they are.
            Op::Const | Op::Slot | Op::HasSlot | Op::Variable | Op::HasVariable => {
                let value = reader.operation(terms, code, found, registers)?;
                self.term(value);
                self.write(a);
            }
            Op::Undefined => {
                let value = reader.operation(terms, code, found, registers)?;
                self.term(value);
                self.write(a);
            }
            Op::Select | Op::Has | Op::OptSelect => {
                self.read(b, registers)?;
                let field = reader.field(terms, word(found.words, 0))?;
                self.tokens.push(FIELD | u64::from(field));
                self.write(a);
            }
            Op::Call => {
                self.tokens.push(FUNCTION | u64::from(word(found.words, 0)));
                for number in 0..c {
                    self.read(b.checked_add(number)?, registers)?;
                }
                self.write(a);
            }
            _ => self.flow(found, registers)?,
        }
        for target in targets(found) {
            let target = code.index(target)?.checked_sub(start)?;
            self.tokens.push(TARGET | u64::from(number(target)));
        }
        Some(())
    }

    /// Notes the registers of an instruction that names nothing but registers.
    fn flow(&mut self, found: &Instruction<'_>, registers: &Registers) -> Option<()> {
        let [a, b, c] = found.operands;
        let (reads, writes): (&[u8], &[u8]) = match found.op {
            Op::Return => return None,
            Op::Jump => (&[], &[]),
            Op::JumpIfFalse | Op::JumpIfTrue => (&[a], &[]),
            Op::List | Op::Map => (&[], &[a]),
            Op::Branch | Op::OptionalUnwrap => (&[b], &[a]),
            Op::Move | Op::Not | Op::Neg | Op::OptionalOf => (&[b], &[a]),
            Op::ListPush | Op::ListPushOptional | Op::MapMerge => (&[a, b], &[a]),
            Op::MapPut | Op::MapPutOptional => (&[a, b, c], &[a]),
            Op::Iterate => (&[b], &[a, a.checked_add(1)?, c]),
            Op::Next => (&[a, a.checked_add(1)?], &[b]),
            Op::NextPair => (&[a, a.checked_add(1)?], &[b, b.checked_add(1)?]),
            _ => (&[b, c], &[a]),
        };
        for register in reads {
            self.read(*register, registers)?;
        }
        writes.iter().for_each(|register| self.write(*register));
        Some(())
    }

    fn read(&mut self, register: u8, registers: &Registers) -> Option<()> {
        match self.written.get(&register) {
            Some(local) => self.tokens.push(LOCAL | u64::from(*local)),
            None => self.term(of(registers, register)?),
        }
        Some(())
    }

    fn term(&mut self, term: TermId) {
        let known = self.reads.iter().position(|known| *known == term);
        let position = known.unwrap_or_else(|| {
            self.reads.push(term);
            self.reads.len() - 1
        });
        self.tokens.push(READ | u64::from(number(position)));
    }

    fn write(&mut self, register: u8) {
        let next = number(self.written.len());
        let local = *self.written.entry(register).or_insert(next);
        self.tokens.push(WRITE | u64::from(local));
    }
}

const INSTRUCTION: u64 = 1 << 32;
const FIELD: u64 = 2 << 32;
const TARGET: u64 = 3 << 32;
const LOCAL: u64 = 4 << 32;
const READ: u64 = 5 << 32;
const WRITE: u64 = 6 << 32;
const FUNCTION: u64 = 7 << 32;

/// Returns the names of the fields that a region reads, from its tokens.
pub(crate) fn fields(tokens: &[u64]) -> impl Iterator<Item = TextId> {
    let field = |token: &u64| token.checked_sub(FIELD).and_then(|id| TextId::try_from(id).ok());
    tokens.iter().filter_map(field)
}
