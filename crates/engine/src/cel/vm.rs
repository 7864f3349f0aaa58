//! The register machine.
//!
//! An error is a value like any other: only the budget and a malformed program stop a run, and both
//! become its result. A program with few registers runs without allocating.

mod collect;

use alloc::vec;
use core::cell::Cell;
use core::cmp::Ordering;

use super::access;
use super::context::{Context, spend};
use super::error::{Answer, Error};
use super::function::Function;
use super::functions;
use super::op::Op;
use super::operators as calc;
use super::value::{Map, Value, constant};
use super::{Activation, Pool};

/// The largest number of registers that are on the stack.
const STACK_REGISTERS: usize = 16;

/// Runs program `program` and returns its result.
///
/// `steps` is the rest of the budget; the run takes from it.
#[must_use]
pub fn eval<'a>(
    pool: &'a Pool<'a>,
    program: u32,
    activation: &dyn Activation<'a>,
    steps: &Cell<u32>,
) -> Value<'a> {
    run(program, Context { pool, activation, steps }).into()
}

fn run<'a>(program: u32, context: Context<'a, '_>) -> Answer<'a> {
    let program = context.pool.program(program).ok_or(Error::Malformed)?;
    let count = usize::from(u8::try_from(program.registers).map_err(|_| Error::Malformed)?);
    let code = program.code;
    let mut on_stack = [const { Value::Null }; STACK_REGISTERS];
    if let Some(registers) = on_stack.get_mut(..count) {
        return Machine { code, at: 0, registers, context }.run();
    }
    let mut on_heap = vec![Value::Null; count];
    Machine { code, at: 0, registers: &mut on_heap, context }.run()
}

struct Machine<'a, 'c, 'r> {
    code: &'a [u32],
    at: usize,
    registers: &'r mut [Value<'a>],
    context: Context<'a, 'c>,
}

/// One decoded instruction.
struct Instruction {
    op: Op,
    a: u8,
    b: u8,
    c: u8,
    words: [u32; 2],
}

impl<'a> Machine<'a, '_, '_> {
    fn run(mut self) -> Answer<'a> {
        loop {
            // Inlined, unlike `charge`, because it runs once for each instruction.
            spend(self.context.steps, 1)?;
            let instruction = self.fetch()?;
            if instruction.op == Op::Return {
                return self.take(instruction.a);
            }
            self.step(&instruction)?;
        }
    }

    fn fetch(&mut self) -> Result<Instruction, Error<'a>> {
        let word = *self.code.get(self.at).ok_or(Error::Malformed)?;
        let [code, a, b, c] = word.to_le_bytes();
        let op = Op::from_code(code).ok_or(Error::Malformed)?;
        let extension = |offset| self.code.get(self.at + offset).copied().unwrap_or(u32::MAX);
        let words = match op.extension_words() {
            0 => [0, 0],
            1 => [extension(1), 0],
            _ => [extension(1), extension(2)],
        };
        self.at += 1 + op.extension_words();
        Ok(Instruction { op, a, b, c, words })
    }

    /// Executes one instruction that moves no value into a collection and does not jump; leaves the
    /// others to [`Self::flow`].
    fn step(&mut self, instruction: &Instruction) -> Result<(), Error<'a>> {
        let Instruction { op, a, b, c, words: [w0, _] } = *instruction;
        let context = self.context;
        let answer = match op {
            Op::Const => Ok(constant(context.pool, w0)),
            Op::Slot => access::slot(w0, &context),
            Op::HasSlot => access::has_slot(w0, &context).map(Value::Bool),
            Op::Variable => self.variable(w0),
            Op::HasVariable => self.has_variable(w0).map(Value::Bool),
            Op::Move => Ok(self.get(b)?.clone()),
            Op::Select => access::select(self.searched(b)?, self.name(w0)?),
            Op::Has => access::has(self.searched(b)?, self.name(w0)?).map(Value::Bool),
            Op::OptSelect => {
                self.searched(b)?;
                self.operand(b).and_then(|b| access::opt_select(b, self.name(w0)?))
            }
            Op::Not => calc::not(self.get(b)?).map_err(|error| self.named(error, op, b)),
            Op::Neg => calc::negate(self.get(b)?).map_err(|error| self.named(error, op, b)),
            Op::And => calc::logic(self.get(b)?, self.get(c)?, false),
            Op::Or => calc::logic(self.get(b)?, self.get(c)?, true),
            Op::Call => self.call(w0, b, c),
            Op::Undefined => Err(Error::UndefinedField(self.name(w0)?)),
            Op::OptionalOf => self.operand(b).map(|value| Value::some(value.clone())),
            Op::List => Ok(Value::list(vec![])),
            Op::Map => Ok(collect::empty_map()),
            Op::Index
            | Op::OptIndex
            | Op::Add
            | Op::Sub
            | Op::Mul
            | Op::Div
            | Op::Mod
            | Op::Eq
            | Op::Ne
            | Op::Lt
            | Op::Le
            | Op::Gt
            | Op::Ge
            | Op::In => self.binary(op, b, c).map_err(|error| self.named(error, op, b)),
            _ => return self.flow(instruction),
        };
        self.set(
            a,
            match op {
                // These follow the truth of a partly true operand for each topic; the others do not.
                Op::Not | Op::And | Op::Or | Op::Variable | Op::Call => answer,
                _ => answer.map_err(Error::of_operand),
            },
        )
    }

    fn binary(&self, op: Op, b: u8, c: u8) -> Answer<'a> {
        let (left, right) = (self.operand(b)?, self.operand(c)?);
        let context = &self.context;
        match op {
            Op::Index => access::index(left, right, context),
            Op::OptIndex => access::opt_index(left, right, context),
            Op::Add => calc::add(left, right, context),
            Op::Sub => calc::subtract(left, right),
            Op::Mul => calc::multiply(left, right),
            Op::Div => calc::divide(left, right),
            Op::Mod => calc::modulo(left, right),
            Op::Eq => context.equal(left, right).map(Value::Bool),
            Op::Ne => context.equal(left, right).map(|equal| Value::Bool(!equal)),
            Op::Lt => calc::ordered(left, right, context, Ordering::is_lt),
            Op::Le => calc::ordered(left, right, context, Ordering::is_le),
            Op::Gt => calc::ordered(left, right, context, Ordering::is_gt),
            Op::Ge => calc::ordered(left, right, context, Ordering::is_ge),
            Op::In => access::contains(left, right, context).map(Value::Bool),
            _ => Err(Error::Malformed),
        }
    }

    /// Executes a jump, a step of a loop, or an instruction that extends a collection.
    fn flow(&mut self, instruction: &Instruction) -> Result<(), Error<'a>> {
        let Instruction { op, a, b, c, words: [w0, w1] } = *instruction;
        match op {
            Op::Jump => self.jump(w0),
            Op::JumpIfFalse if is_bool(self.get(a)?, false) => self.jump(w0),
            Op::JumpIfTrue if is_bool(self.get(a)?, true) => self.jump(w0),
            Op::JumpIfFalse | Op::JumpIfTrue => Ok(()),
            Op::Branch => self.branch(a, b, w0, w1),
            Op::ListPush => self.list_push(a, b),
            Op::ListPushOptional => self.list_push_optional(a, b),
            Op::MapPut => self.map_put(a, b, c),
            Op::MapPutOptional => self.map_put_optional(a, b, c),
            Op::MapMerge => self.map_merge(a, b),
            Op::Iterate => self.iterate(a, b, c, w0),
            Op::Next => self.next(a, b, w0),
            Op::NextPair => self.next_pair(a, b, w0),
            Op::OptionalUnwrap => self.optional_unwrap(a, b, w0),
            _ => Err(Error::Malformed),
        }
    }

    /// Names the operator in an error if its left operand, register `b`, knows no such operator.
    fn named(&self, error: Error<'a>, op: Op, b: u8) -> Error<'a> {
        match (&error, self.registers.get(usize::from(b))) {
            (Error::NoSuchOverload, Some(left)) => calc::overload_error(op, left),
            _ => error,
        }
    }

    fn variable(&self, id: u32) -> Answer<'a> {
        match self.context.activation.variable(id) {
            Value::Error(error) if error.is_partly() || matches!(error, Error::Limit) => Err(error),
            Value::Error(_) => Err(match self.context.pool.variable(id) {
                Some((_, name)) => Error::UndefinedField(name),
                None => Error::Malformed,
            }),
            value => Ok(value),
        }
    }

    fn has_variable(&self, id: u32) -> Result<bool, Error<'a>> {
        match self.context.activation.variable(id) {
            // It may have failed for some topics and not for others.
            Value::Error(error) if error.is_partly() => Err(error),
            value => Ok(value.error().is_none()),
        }
    }

    fn call(&self, function: u32, first: u8, count: u8) -> Answer<'a> {
        let function = Function::from_id(function).ok_or(Error::Malformed)?;
        let first = usize::from(first);
        let args = self.registers.get(first..first + usize::from(count)).ok_or(Error::Malformed)?;
        functions::call(function, args, &self.context).into_answer()
    }

    fn branch(&mut self, a: u8, b: u8, to_false: u32, to_error: u32) -> Result<(), Error<'a>> {
        match self.get(b)? {
            Value::Bool(true) => Ok(()),
            Value::Bool(false) => self.jump(to_false),
            other => {
                let error = calc::wrong_type(other);
                self.set(a, Err(error))?;
                self.jump(to_error)
            }
        }
    }

    fn optional_unwrap(&mut self, a: u8, b: u8, target: u32) -> Result<(), Error<'a>> {
        let answer = match self.get(b)? {
            Value::Optional(Some(inner)) => {
                let inner = Value::clone(inner);
                return self.set(a, Ok(inner));
            }
            Value::Optional(None) => Ok(Value::none()),
            other => Err(calc::wrong_type(other)),
        };
        self.set(a, answer)?;
        self.jump(target)
    }

    fn jump(&mut self, target: u32) -> Result<(), Error<'a>> {
        self.at = usize::try_from(target).map_err(|_| Error::Malformed)?;
        Ok(())
    }

    fn name(&self, id: u32) -> Result<&'a str, Error<'a>> {
        self.context.pool.string(id).ok_or(Error::Malformed)
    }

    fn get(&self, register: u8) -> Result<&Value<'a>, Error<'a>> {
        self.registers.get(usize::from(register)).ok_or(Error::Malformed)
    }

    /// Returns the register in which a field is searched. A map of the table has no order, so each
    /// of its entries costs a step.
    fn searched(&self, register: u8) -> Result<&Value<'a>, Error<'a>> {
        let value = self.get(register)?;
        let inner = if let Value::Optional(Some(inner)) = value { inner } else { value };
        if let Value::Map(Map::Constant(map)) = inner {
            self.context.charge(map.len())?;
        }
        Ok(value)
    }

    /// Returns the value of a register, or the error in it.
    fn operand(&self, register: u8) -> Result<&Value<'a>, Error<'a>> {
        match self.get(register)? {
            Value::Error(error) => Err(error.clone()),
            value => Ok(value),
        }
    }

    fn set(&mut self, register: u8, answer: Answer<'a>) -> Result<(), Error<'a>> {
        *self.registers.get_mut(usize::from(register)).ok_or(Error::Malformed)? = answer.into();
        Ok(())
    }

    /// Moves the value out of a register.
    fn take(&mut self, register: u8) -> Answer<'a> {
        self.registers.get_mut(usize::from(register)).map(core::mem::take).ok_or(Error::Malformed)
    }
}

fn is_bool(value: &Value<'_>, wanted: bool) -> bool {
    matches!(value, Value::Bool(found) if *found == wanted)
}

#[cfg(test)]
mod tests;
