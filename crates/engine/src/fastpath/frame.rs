//! Programs that run on a frame instead of a request.
//!
//! Reading a slot gives the value or error that the general path finds. A reached limit, or a word
//! without a value, makes the whole decision Unsure: no answer is a guess.

use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use wardgate_fastpath::{FastPath, Programs, SlotRecord, Slots, Truth, word};

use crate::attr::Attr;
use crate::cel::pool::Root;
use crate::cel::{self, Activation, Error, Pool, Timestamp, Value};
use crate::decide::memo::{Memo, View};
use crate::limits::{MAX_FAST_PATH_STEPS, MAX_STEPS};
use crate::table::at;

/// The values that the words of a frame cannot hold. Slots are counted as in the fast path.
pub trait Contents {
    /// Returns the text of a slot whose word is a temporary string.
    fn text(&self, slot: usize) -> Option<&str>;

    /// Returns the value of a slot whose word is [`word::VALUE`]: a list or a map as the general
    /// path would read it, every number a double.
    fn value(&self, slot: usize) -> Option<Value<'_>>;

    /// Notes that a program took so many steps, and returns true if they were left: for callers
    /// whose questions share a bound.
    fn pays(&self, steps: u32) -> bool {
        let _ = steps;
        true
    }
}

/// One decision whose fast path runs programs.
pub(super) struct Running<'a, S> {
    pool: &'a Pool<'a>,
    fast_path: FastPath<'a>,
    frame: &'a S,
    contents: &'a dyn Contents,
    now: Timestamp,
    /// The steps that are left for all programs.
    steps: Cell<u32>,
    /// True if an evaluation was not finished.
    is_incomplete: Cell<bool>,
    /// The values of variables, made with the first one: allocating it takes as long as a program.
    memo: RefCell<Option<Memo<'a>>>,
    /// The entries that emit an output, each with the position of the role for which it does.
    pub(super) emitted: RefCell<Vec<(usize, u32)>>,
}

impl<'a, S: Slots> Running<'a, S> {
    pub(super) fn new(
        pool: &'a Pool<'a>,
        (fast_path, frame, contents): (FastPath<'a>, &'a S, &'a dyn Contents),
        now: Timestamp,
    ) -> Self {
        Self {
            pool,
            fast_path,
            frame,
            contents,
            now,
            steps: Cell::new(MAX_FAST_PATH_STEPS),
            is_incomplete: Cell::new(false),
            memo: RefCell::new(None),
            emitted: RefCell::default(),
        }
    }

    /// Allows all programs together so many steps.
    pub(super) fn within(self, steps: u32) -> Self {
        self.steps.set(steps);
        self
    }

    /// Evaluates a program with as many steps as one may take.
    fn evaluate(&self, program: u32) -> Value<'a> {
        let allowed = self.steps.get().min(MAX_STEPS);
        let steps = Cell::new(allowed);
        let value = cel::eval(self.pool, program, self, &steps);
        let taken = allowed.saturating_sub(steps.get());
        self.steps.set(self.steps.get().saturating_sub(taken));
        let is_paid = self.contents.pays(taken);
        let is_unsure = |error: &Error<'_>| error.is_incomplete() || error.is_partly();
        if !is_paid || value.error().is_some_and(is_unsure) {
            self.is_incomplete.set(true);
        }
        value
    }

    /// Makes an output, whose other texts have so many bytes. Returns `None` if only the general path can make or
    /// report it.
    pub(super) fn output(&self, program: u32, texts: usize) -> Option<Attr> {
        let value = self.evaluate(program);
        if self.is_incomplete.get() {
            return None;
        }
        let written = value.to_attr(&self.steps).ok()?;
        let of_texts = u32::try_from(2 + texts / 16).ok()?;
        self.steps.set(self.steps.get().checked_sub(of_texts)?);
        Some(written)
    }

    /// Returns the number and the word of a slot of the table.
    fn find(&self, slot: u32) -> Option<(u32, u32)> {
        let holds =
            |(_, record): &(u32, SlotRecord<'_>)| record.slot == slot && record.test.is_none();
        let (position, _) = (0..).zip(self.fast_path.slots()).find(holds)?;
        Some((position, self.frame.word(position)))
    }

    fn read(&self, slot: u32) -> Option<Value<'a>> {
        let (position, found) = self.find(slot)?;
        Some(match found {
            word::MISSING | word::BROKEN => Value::Error(NOT_FOUND),
            word::NULL => Value::Null,
            word::FALSE => Value::Bool(false),
            word::TRUE => Value::Bool(true),
            word::NUMBER => Value::Double(self.frame.number(position)),
            word::VALUE => self.contents.value(at(position))?,
            word::FIRST_TEMPORARY.. => Value::string(self.contents.text(at(position))?),
            constant => {
                let id = constant.checked_sub(word::FIRST_STRING)?;
                Value::string(self.pool.string(id)?)
            }
        })
    }

    fn doubt<T>(&self) -> Result<T, Error<'a>> {
        self.is_incomplete.set(true);
        Err(Error::Malformed)
    }
}

impl<S: Slots> Programs for Running<'_, S> {
    fn run(&self, program: u32) -> Option<Truth> {
        let value = self.evaluate(program);
        if self.is_incomplete.get() {
            return None;
        }
        Some(match value {
            Value::Bool(false) => Truth::False,
            Value::Bool(true) => Truth::True,
            Value::Error(_) => Truth::Error,
            _ => Truth::Other,
        })
    }

    fn emitted(&self, role: usize, entry: u32) {
        self.emitted.borrow_mut().push((role, entry));
    }
}

impl<'a, S: Slots> Activation<'a> for Running<'a, S> {
    fn root(&self, _: Root, _: &'a str) -> Value<'a> {
        self.doubt().into()
    }

    fn slot(&self, id: u32) -> Option<cel::Answer<'a>> {
        Some(self.read(id).map_or_else(|| self.doubt(), Value::into_answer))
    }

    fn has_slot(&self, id: u32) -> Option<Result<bool, Error<'a>>> {
        Some(match self.find(id) {
            None => self.doubt(),
            Some((_, word::BROKEN)) => Err(NOT_FOUND),
            Some((_, found)) => Ok(found != word::MISSING),
        })
    }

    fn variable(&self, id: u32) -> Value<'a> {
        let Some((program, name)) = self.pool.variable(id) else {
            return self.doubt().into();
        };
        let key = (program, View::Plain);
        let known = self.memo.borrow().as_ref().and_then(|memo| memo.get(key));
        let value = known.unwrap_or_else(|| {
            let value = self.evaluate(program);
            self.memo.borrow_mut().get_or_insert_with(Memo::new).put(key, &value);
            value
        });
        match value {
            Value::Error(error) if error.is_incomplete() => Value::Error(error),
            Value::Error(_) => Value::Error(Error::UndefinedField(name)),
            value => value,
        }
    }

    fn now(&self) -> Timestamp {
        self.now
    }
}

/// The error of a slot without a value; its text is never shown.
const NOT_FOUND: Error<'static> = Error::UndefinedField("");
