//! Programs: every instruction known, every register, id and jump target in range.
//!
//! Jumps point forwards to the start of an instruction. The one that points back ends a loop: its
//! target is a `Next` or `NextPair`, which leaves the loop when the range ends.

use alloc::vec::Vec;

use super::constants::Starts;
use super::{Invalid, count};
use crate::cel::function::Function;
use crate::cel::op::Op;
use crate::cel::pool::{Pool, VARIABLE_WORDS};
use crate::limits::MAX_REGISTERS;

/// One instruction of the code.
#[derive(Clone, Copy)]
pub struct Instruction<'a> {
    /// The operation.
    pub op: Op,
    /// The offset of its word in the code.
    pub at: usize,
    /// Registers, mostly; see [`Op`].
    pub operands: [u8; 3],
    /// The words that follow the instruction's own.
    pub words: &'a [u32],
}

/// Checks program `id`, which may have `most` words of code, and returns how many it has.
///
/// Programs do not share code: otherwise a small table could name a large program many times, and
/// every time would cost a walk.
pub(super) fn validate(
    pool: &Pool<'_>,
    id: u32,
    constants: &Starts,
    slots: &Starts,
    most: usize,
) -> Result<usize, Invalid> {
    let program = pool.program(id).ok_or(Invalid::Program(id, 0))?;
    let (code, registers) =
        (program.code, usize::try_from(program.registers).unwrap_or(usize::MAX));
    let has_source =
        usize::try_from(program.source).is_ok_and(|id| id + 1 < pool.explanations.len());
    if code.len() > most || registers > MAX_REGISTERS || !has_source {
        return Err(Invalid::Program(id, 0));
    }
    let decoded: Result<Vec<Instruction<'_>>, usize> = instructions(code).collect();
    let decoded = decoded.map_err(|at| Invalid::Program(id, at))?;
    let mut starts = Starts::new(code.len());
    for found in &decoded {
        starts.mark(found.at);
    }
    // Code cannot run past its end if the last instruction is one that never continues.
    if !decoded.last().is_some_and(|found| matches!(found.op, Op::Return | Op::Jump)) {
        return Err(Invalid::Program(id, code.len()));
    }
    for found in decoded {
        let valid = registers_in_range(&found, registers)
            && ids_in_range(pool, &found, constants, slots)
            && targets_in_range(code, &found, &starts);
        if !valid {
            return Err(Invalid::Program(id, found.at));
        }
    }
    Ok(code.len())
}

/// Returns true if all variables that `program` reads are marked in `settled`.
pub(super) fn reads_only(pool: &Pool<'_>, program: u32, settled: &[bool]) -> bool {
    let code = pool.program(program).map_or(&[][..], |program| program.code);
    let is_settled = |id: &u32| usize::try_from(*id).ok().and_then(|at| settled.get(at).copied());
    instructions(code).flatten().all(|found| match found.op {
        Op::Variable | Op::HasVariable => found.words.first().and_then(is_settled).unwrap_or(false),
        _ => true,
    })
}

/// Decodes the code. The item of the first invalid instruction is an `Err` with its offset, and the
/// last.
pub fn instructions(code: &[u32]) -> impl Iterator<Item = Result<Instruction<'_>, usize>> {
    let mut at = 0;
    core::iter::from_fn(move || {
        let word = code.get(at)?;
        let [op, operands @ ..] = word.to_le_bytes();
        let start = at;
        let found = Op::from_code(op).and_then(|op| {
            let words = code.get(start + 1..start + 1 + op.extension_words())?;
            Some(Instruction { op, at: start, operands, words })
        });
        at = found.map_or(code.len(), |found| start + 1 + found.words.len());
        Some(found.ok_or(start))
    })
}

/// Returns the highest register of an instruction, plus one.
fn highest(found: &Instruction<'_>) -> usize {
    let [a, b, c] = found.operands;
    let [a, b, c] = [usize::from(a), usize::from(b), usize::from(c)];
    let named = match found.op {
        Op::Return | Op::JumpIfFalse | Op::JumpIfTrue | Op::List | Op::Map => a,
        Op::Const | Op::Slot | Op::HasSlot | Op::Variable | Op::HasVariable | Op::Undefined => a,
        Op::Jump => return 0,
        Op::Move | Op::Select | Op::Has | Op::OptSelect | Op::Not | Op::Neg => a.max(b),
        Op::Branch | Op::ListPush | Op::ListPushOptional | Op::OptionalOf => a.max(b),
        Op::OptionalUnwrap | Op::MapMerge => a.max(b),
        Op::Call => return (a + 1).max(b + c),
        Op::Iterate => (a + 1).max(b).max(c),
        Op::Next => (a + 1).max(b),
        Op::NextPair => (a + 1).max(b + 1),
        _ => a.max(b).max(c),
    };
    named + 1
}

fn registers_in_range(found: &Instruction<'_>, registers: usize) -> bool {
    highest(found) <= registers
}

fn ids_in_range(
    pool: &Pool<'_>,
    found: &Instruction<'_>,
    constants: &Starts,
    slots: &Starts,
) -> bool {
    let id = found.words.first().copied().unwrap_or(u32::MAX);
    match found.op {
        Op::Const => constants.contains(id),
        Op::Slot | Op::HasSlot => slots.contains(id),
        Op::Variable | Op::HasVariable => id < count(pool.variables, VARIABLE_WORDS),
        Op::Select | Op::Has | Op::OptSelect | Op::Undefined => pool.string(id).is_some(),
        Op::Call => Function::from_id(id).is_some(),
        _ => true,
    }
}

fn targets_in_range(code: &[u32], found: &Instruction<'_>, starts: &Starts) -> bool {
    let count = match found.op {
        Op::Jump | Op::JumpIfFalse | Op::JumpIfTrue | Op::Iterate | Op::Next | Op::NextPair => 1,
        Op::OptionalUnwrap => 1,
        Op::Branch => 2,
        _ => 0,
    };
    found.words.iter().take(count).all(|target| {
        let at = usize::try_from(*target).unwrap_or(usize::MAX);
        let forwards = at > found.at;
        starts.contains(*target) && (forwards || closes_loop(code, found, at))
    })
}

fn closes_loop(code: &[u32], found: &Instruction<'_>, target: usize) -> bool {
    let op = code.get(target).and_then(|word| Op::from_code(word.to_le_bytes()[0]));
    found.op == Op::Jump && matches!(op, Some(Op::Next | Op::NextPair))
}
