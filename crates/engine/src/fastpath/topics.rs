//! Programs about topics of MQTT, read so that a host can answer them without running them.
//!
//! A host that knows all patterns of many rules finds those that match a topic at once. The others
//! are false, and leaving them out is exact, because that is a program's only result where the topic
//! is the name of one and matches no pattern: neither an error nor a limit can take its place.

use alloc::vec;
use alloc::vec::Vec;

use wardgate_mqtt::{Filter, Level, Limits};

use crate::cel::validate::{Instruction, instructions};
use crate::cel::value::{List, Str, Value, constant};
use crate::cel::{Function, Op, Pool};
use crate::limits::{MAX_TOPIC_WORD_BYTES, MAX_TOPIC_WORDS};
use crate::table::at;

/// A program that is false where a topic matches none of its patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicProgram<'a> {
    /// The slot of the topic, by its offset in the table's slots.
    pub slot: u32,
    /// The patterns, all of them valid.
    pub patterns: Vec<Filter<'a>>,
    /// The slots of the words for the levels `{}` of the one pattern; without any, the patterns are
    /// constant.
    pub words: Vec<u32>,
    /// True if the program is true where a pattern matches; otherwise more is to be evaluated.
    pub is_whole: bool,
    /// The most steps that the general path takes for it where no pattern matches, but for reading
    /// the topic.
    pub steps: usize,
    /// The number of times that it reads the topic.
    pub reads: usize,
}

/// Reads a program; `None` if it may be anything else than false, or does work without a small bound.
#[must_use]
pub fn topic_program<'a>(pool: &'a Pool<'a>, program: u32) -> Option<TopicProgram<'a>> {
    let program = pool.program(program)?;
    let registers = vec![Symbol::Other; at(program.registers)];
    let start = TopicProgram {
        slot: u32::MAX,
        patterns: Vec::new(),
        words: Vec::new(),
        is_whole: false,
        steps: 0,
        reads: 0,
    };
    let mut reader = Reader { pool, code: program.code, registers, open: Vec::new(), found: start };
    let mut next = 0;
    for instruction in instructions(program.code) {
        let instruction = instruction.ok()?;
        if instruction.at < next {
            continue;
        }
        match reader.step(&instruction)? {
            Step::Next => {}
            Step::Jump(target) => next = at(target),
            Step::End => return Some(reader.found),
        }
    }
    None
}

/// What is known of a register where no pattern matches.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Symbol {
    Const(u32),
    Slot(u32),
    /// A list of the values of slots.
    Slots(Vec<u32>),
    /// `false`; the field is true if it is true where a pattern matches.
    False(bool),
    Other,
}

enum Step {
    Next,
    Jump(u32),
    End,
}

/// Executes a program with symbols, on the way that it takes where no pattern matches.
struct Reader<'a> {
    pool: &'a Pool<'a>,
    code: &'a [u32],
    registers: Vec<Symbol>,
    /// Registers with the left side of `&&` or `||`, from which a jump may lead behind the operator,
    /// and the offset there.
    open: Vec<(u8, usize)>,
    found: TopicProgram<'a>,
}

impl<'a> Reader<'a> {
    fn step(&mut self, instruction: &Instruction<'_>) -> Option<Step> {
        let [to, left, right] = instruction.operands;
        let word = instruction.words.first().copied().unwrap_or(u32::MAX);
        self.found.steps = self.found.steps.saturating_add(1);
        let symbol = match instruction.op {
            Op::Return => return self.end(to),
            Op::JumpIfFalse => return self.jump(to, word, Op::And),
            Op::JumpIfTrue => return self.jump(to, word, Op::Or),
            Op::Const => Symbol::Const(word),
            Op::Slot => self.slot(word).map(Symbol::Slot)?,
            Op::HasSlot => self.slot(word).map(|_| Symbol::Other)?,
            Op::Move => self.get(left)?.clone(),
            Op::Not => Symbol::Other,
            Op::List => Symbol::Slots(Vec::new()),
            Op::ListPush => self.longer(to, left)?,
            Op::And | Op::Or => return self.join(instruction, [to, left, right]),
            Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => self.comparison(left, right)?,
            Op::Call if Function::from_id(word) == Some(Function::MatchesTopic) => {
                self.call(usize::from(left), right)?
            }
            _ => return None,
        };
        self.set(to, symbol)?;
        Some(Step::Next)
    }

    /// Sets a register, unless a jump that may have been taken would have left it alone.
    fn set(&mut self, register: u8, symbol: Symbol) -> Option<()> {
        let is_free = self.open.last().is_none_or(|(open, _)| register > *open);
        *self.registers.get_mut(usize::from(register)).filter(|_| is_free)? = symbol;
        Some(())
    }

    fn get(&self, register: u8) -> Option<&Symbol> {
        self.registers.get(usize::from(register))
    }

    fn end(&mut self, register: u8) -> Option<Step> {
        let Symbol::False(is_whole) = *self.get(register)? else { return None };
        self.found.is_whole = is_whole;
        // A word that is none fails, so its pattern alone says what the program is.
        (is_whole || self.found.words.is_empty()).then_some(Step::End)
    }

    /// Follows the jump of `&&` or `||` behind its left side.
    fn jump(&mut self, register: u8, target: u32, op: Op) -> Option<Step> {
        let before = at(target).checked_sub(1).and_then(|at| self.code.get(at))?;
        let [code, to, left, _] = before.to_le_bytes();
        if code != op.code() || to != register || left != register {
            return None;
        }
        let symbol = self.registers.get_mut(usize::from(register))?;
        if let Symbol::False(is_whole) = symbol {
            *is_whole = false;
            return Some(if op == Op::And { Step::Jump(target) } else { Step::Next });
        }
        self.open.push((register, at(target)));
        Some(Step::Next)
    }

    /// Joins both sides of `&&` or `||`.
    fn join(&mut self, found: &Instruction<'_>, [to, left, right]: [u8; 3]) -> Option<Step> {
        let are_false = [left, right].map(|side| matches!(self.get(side), Some(Symbol::False(_))));
        let is_false =
            if found.op == Op::And { are_false != [false; 2] } else { are_false == [true; 2] };
        if self.open.last() == Some(&(to, found.at.saturating_add(1))) {
            self.open.pop();
            // What the right side left behind is not there if it was skipped.
            let behind = self.registers.iter_mut().skip(usize::from(to) + 1);
            behind.for_each(|register| *register = Symbol::Other);
        }
        self.set(to, if is_false { Symbol::False(false) } else { Symbol::Other })?;
        Some(Step::Next)
    }

    /// Pays for reading a slot.
    fn slot(&mut self, slot: u32) -> Option<u32> {
        let length = *self.pool.slots.get(at(slot).checked_add(1)?)?;
        self.found.steps = self.found.steps.saturating_add(at(length));
        Some(slot)
    }

    fn longer(&self, list: u8, element: u8) -> Option<Symbol> {
        let (Symbol::Slots(slots), Symbol::Slot(slot)) = (self.get(list)?, self.get(element)?)
        else {
            return None;
        };
        let slots: Vec<u32> = slots.iter().chain([slot]).copied().collect();
        (slots.len() <= MAX_TOPIC_WORDS).then_some(Symbol::Slots(slots))
    }

    /// Pays for a comparison with a constant, which reads no more than the constant has.
    fn comparison(&mut self, left: u8, right: u8) -> Option<Symbol> {
        let id = match (self.get(left)?, self.get(right)?) {
            (Symbol::Const(id), _) | (_, Symbol::Const(id)) => *id,
            _ => return None,
        };
        let bytes = match constant(self.pool, id) {
            Value::String(text) => text.len(),
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_) => 0,
            _ => return None,
        };
        self.found.steps = self.found.steps.saturating_add(bytes / 16);
        Some(Symbol::Other)
    }

    /// Reads a call of `matchesTopic`.
    fn call(&mut self, first: usize, count: u8) -> Option<Symbol> {
        let arguments = self.registers.get(first..first.checked_add(usize::from(count))?)?;
        let (slot, patterns, words) = match arguments {
            [Symbol::Slot(slot), Symbol::Const(id)] => (*slot, *id, None),
            [Symbol::Slot(slot), Symbol::Const(id), Symbol::Slots(words)] => {
                (*slot, *id, Some(words.clone()))
            }
            _ => return None,
        };
        let is_first = self.found.patterns.is_empty();
        if !is_first && (self.found.slot != slot || words.is_some() || !self.found.words.is_empty())
        {
            return None;
        }
        self.found.slot = slot;
        self.found.reads = self.found.reads.saturating_add(1);
        match words {
            Some(words) => self.filled(patterns, words)?,
            None => self.constant(patterns)?,
        }
        Some(Symbol::False(true))
    }

    fn constant(&mut self, patterns: u32) -> Option<()> {
        let Value::List(List::Constant(list)) = constant(self.pool, patterns) else {
            return self.pattern(&constant(self.pool, patterns));
        };
        self.found.steps = self.found.steps.saturating_add(list.len());
        (0..list.len()).try_for_each(|number| self.pattern(&list.element(number)?))
    }

    /// Adds a pattern and pays for reading it.
    fn pattern(&mut self, pattern: &Value<'a>) -> Option<()> {
        let Value::String(Str::Borrowed(text)) = pattern else { return None };
        let filter = Filter::unshared_within(text, &Limits::WIDEST).ok()?;
        self.found.steps = self.found.steps.saturating_add(1 + text.len() / 16);
        self.found.patterns.push(filter);
        Some(())
    }

    /// Adds a pattern and its words, and pays for filling it and reading the result.
    fn filled(&mut self, pattern: u32, words: Vec<u32>) -> Option<()> {
        self.pattern(&constant(self.pool, pattern))?;
        let pattern = self.found.patterns.first()?;
        let (mut levels, mut holes) = (0_usize, 0);
        for level in pattern.levels() {
            levels += 1;
            holes += usize::from(level == Level::Word("{}"));
        }
        let length = pattern.text().len() + MAX_TOPIC_WORDS * MAX_TOPIC_WORD_BYTES;
        let steps = levels.saturating_add(2).saturating_mul(1 + length / 16);
        self.found.steps = self.found.steps.saturating_add(steps);
        self.found.words = words;
        (holes == self.found.words.len() && (1..=MAX_TOPIC_WORDS).contains(&holes)).then_some(())
    }
}
