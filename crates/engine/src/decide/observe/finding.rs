//! A condition evaluated in full, with the values that its expressions read.

use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::Cell;

use super::super::session::Session;
use super::Truth;
use crate::attr::Attr;
use crate::cel::pool::Root;
use crate::cel::validate::instructions;
use crate::cel::{Context, Error, Op, Value, read_slot};
use crate::table::layout::Junction;
use crate::table::{Section, at, word};

/// A condition, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// One expression.
    Expression {
        /// The source text.
        text: String,
        /// The result.
        truth: Truth,
        /// The error, or the type of a value that is not a boolean.
        trouble: Option<String>,
        /// The slots and variables that it reads, each once, followed by those that the variables
        /// read.
        reads: Vec<Read>,
    },
    /// Several conditions.
    Junction {
        /// The junction that joins them.
        junction: Junction,
        /// The conditions.
        parts: Vec<Finding>,
    },
}

/// A slot or variable that an expression reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The source text, such as `R.attr.owner` or `V.is_owner`.
    pub name: String,
    /// The value that the expression reads.
    pub sight: Sight,
    /// The source text of a variable's expression.
    pub definition: Option<String>,
}

/// The value of a slot or variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Sight {
    /// A value.
    Value(Attr),
    /// A value that has no JSON form, or a large one; its type.
    Other(&'static str),
    /// No value.
    Missing,
    /// Evaluating it failed.
    Failed(String),
}

impl<'a> Session<'a> {
    /// Evaluates all of the condition at `offset`, below so many negations without an author.
    pub(super) fn finding(&self, offset: u32, negations: usize) -> Finding {
        let words = self.table.section(Section::Conditions).get(at(offset)..).unwrap_or(&[]);
        let (junction, operands) = Junction::split(word(words, 0));
        let operands = words.get(1..1 + at(operands)).unwrap_or(&[]);
        match junction {
            Junction::Expr => self.expression(word(operands, 0)),
            Junction::None if negations > 0 => self.finding(word(operands, 0), negations - 1),
            junction => {
                let parts = operands.iter().map(|part| self.finding(*part, negations)).collect();
                Finding::Junction { junction, parts }
            }
        }
    }

    fn expression(&self, program: u32) -> Finding {
        let value = self.evaluate(program);
        Finding::Expression {
            text: self.source(program).to_string(),
            truth: Truth::of(&value),
            trouble: match &value {
                Value::Bool(_) => None,
                Value::Error(error) => Some(error.to_string()),
                other => Some(alloc::format!("a {}, not a boolean", other.type_name())),
            },
            reads: self.reads(program),
        }
    }

    /// Returns the slots and variables that a program reads. They are a list and not a tree:
    /// variables that name others twice would make a tree that grows without bound.
    fn reads(&self, program: u32) -> Vec<Read> {
        let mut reads: Vec<Read> = Vec::new();
        let mut open = VecDeque::from([program]);
        while let Some(program) = open.pop_front() {
            let Some(program) = self.pool.program(program) else { continue };
            let in_full = self.table.explanation(program.source).contains("request.");
            for found in instructions(program.code).map_while(Result::ok) {
                let id = found.words.first().copied().unwrap_or(u32::MAX);
                let variable = self.pool.variable(id);
                let (read, next) = match found.op {
                    Op::Slot | Op::HasSlot => (self.read_slot(id, in_full), None),
                    Op::Variable | Op::HasVariable => {
                        (self.read_variable(id), variable.map(|(program, _)| program))
                    }
                    _ => continue,
                };
                if let Some(read) = read.filter(|read| !reads.iter().any(|r| r.name == read.name)) {
                    reads.push(read);
                    open.extend(next);
                }
            }
        }
        reads
    }

    fn read_slot(&self, id: u32, in_full: bool) -> Option<Read> {
        let steps = Cell::new(MAX_STEPS);
        let context = Context { pool: self.pool, activation: self, steps: &steps };
        let value = read_slot(id, &context).unwrap_or_else(Value::Error);
        let (name, sight) = (self.slot_name(id, in_full)?, Sight::of(&value));
        Some(Read { name, sight, definition: None })
    }

    fn read_variable(&self, id: u32) -> Option<Read> {
        let (program, name) = self.pool.variable(id)?;
        let sight = match self.evaluate(program) {
            Value::Error(error) => Sight::Failed(error.to_string()),
            value => Sight::of(&value),
        };
        let definition = Some(self.source(program).to_string());
        Some(Read { name: alloc::format!("V.{name}"), sight, definition })
    }

    fn slot_name(&self, id: u32, in_full: bool) -> Option<String> {
        let words = self.table.section(Section::Slots).get(at(id)..)?;
        let root = Root::from_code(word(words, 0))?;
        let path = words.get(2..)?.get(..at(word(words, 1)))?;
        let segments = path.iter().map(|segment| self.table.string(*segment));
        let name = crate::table::path_name(root, segments);
        Some(if in_full { name } else { short(&name) })
    }
}

impl Sight {
    fn of(value: &Value<'_>) -> Self {
        match value {
            Value::Error(
                Error::NoSuchKey(_) | Error::NoSuchAttribute(_) | Error::UndefinedField(_),
            ) => Self::Missing,
            Value::Error(error) => Self::Failed(error.to_string()),
            value => match value.to_attr(&Cell::new(MAX_STEPS)) {
                Ok(value) => Self::Value(value),
                Err(_) => Self::Other(value.type_name()),
            },
        }
    }
}

/// Returns a name with `P` and `R`, as most authors write it.
fn short(name: &str) -> String {
    for (long, short) in [("request.principal", "P"), ("request.resource", "R")] {
        if let Some(rest) = name.strip_prefix(long) {
            return alloc::format!("{short}{rest}");
        }
    }
    name.to_string()
}

/// The steps for reading and copying one value: one that takes more is too long to be read by
/// people.
const MAX_STEPS: u32 = 10_000;
