//! The slots of one decision, each read when an entry or a program first needs it.
//!
//! Most conditions belong to some role, so most requests need few of the slots of a fast path. A
//! value that the fast path cannot read makes the decision unsure, if it is needed.

use std::cell::{Cell, OnceCell, RefCell};

use wardgate_engine::attr::Attr;
use wardgate_engine::cel::value::List;
use wardgate_engine::cel::{Timestamp, Value};
use wardgate_engine::fastpath::Contents;
use wardgate_fastpath::layout::{ALWAYS, FRAME_WORDS};
use wardgate_fastpath::{Slots, Texts, word};

use crate::fast::input::{FastInput, SlotValue};
use crate::fast::json;
use crate::fast::moment;
use crate::fast::path::Slot;
use crate::field::{Copier, Field};

/// The slots of a question, at most `N` of them; `read` reads the value of one. Programs may read the
/// values of the first `C` of them.
pub(crate) struct LazySlots<'d, 'r, A, R, const N: usize, const C: usize> {
    slots: &'d [Slot],
    input: &'d A,
    read: R,
    now: Timestamp,
    words: [Cell<u32>; N],
    numbers: [Cell<f64>; N],
    texts: RefCell<Texts<'r, N>>,
    /// Lists and objects of the host that a program reads.
    copies: [OnceCell<Option<Attr>>; C],
    is_unsure: Cell<bool>,
}

impl<'d, 'r, A, R, const N: usize, const C: usize> LazySlots<'d, 'r, A, R, N, C>
where
    A: FastInput,
    R: Fn(usize) -> SlotValue<'r>,
{
    #[inline]
    pub(crate) fn new(slots: &'d [Slot], input: &'d A, read: R, now: Timestamp) -> Self {
        Self {
            slots,
            input,
            read,
            now,
            words: [const { Cell::new(UNREAD) }; N],
            numbers: [const { Cell::new(0.0) }; N],
            texts: RefCell::new(Texts::new()),
            copies: [const { OnceCell::new() }; C],
            is_unsure: Cell::new(false),
        }
    }

    /// Returns true if a value was needed that only the general path reads.
    pub(crate) const fn are_unsure(&self) -> bool {
        self.is_unsure.get()
    }

    /// Reads a slot for the first time. Whatever word an unsure decision goes on with, its answer
    /// does not count.
    #[inline(never)]
    fn first(&self, position: usize) -> u32 {
        let word = self.slots.get(position).and_then(|slot| self.written(slot, position));
        let word = word.unwrap_or_else(|| {
            self.is_unsure.set(true);
            word::MISSING
        });
        if let Some(known) = self.words.get(position) {
            known.set(word);
        }
        word
    }

    fn written(&self, slot: &Slot, position: usize) -> Option<u32> {
        if slot.is_time() {
            return self.number_word(position, moment::of_time(self.now)?);
        }
        match (self.read)(position) {
            SlotValue::Field(Field::Text(text)) => self.text_word(slot, text),
            SlotValue::Field(Field::Missing) => Some(word::MISSING),
            SlotValue::Field(Field::Null) => Some(word::NULL),
            SlotValue::Field(Field::Bool(false)) => Some(word::FALSE),
            SlotValue::Field(Field::Bool(true)) => Some(word::TRUE),
            SlotValue::Field(Field::Number(number)) => self.number_word(position, number),
            SlotValue::Broken => Some(word::BROKEN),
            SlotValue::Unsupported => None,
            _ => slot.wants_value().then_some(word::VALUE),
        }
    }

    #[inline]
    fn text_word(&self, slot: &Slot, text: &'r str) -> Option<u32> {
        if let Some(word) = slot.constants.get(text) {
            return Some(word);
        }
        if slot.is_lone() {
            return Some(LONE_TEXT);
        }
        self.texts.try_borrow_mut().ok()?.word(text)
    }

    fn number_word(&self, position: usize, number: f64) -> Option<u32> {
        self.numbers.get(position)?.set(number);
        number.is_finite().then_some(word::NUMBER)
    }

    fn copy(&self, value: SlotValue<'_>) -> Option<Attr> {
        let mut copier = Copier::new();
        let copied = match value {
            SlotValue::Field(field) => copier.attribute(field),
            SlotValue::Attr(attr) => Some(attr.clone()),
            SlotValue::Roles => {
                let roles = self.input.roles().map(|role| Attr::String(role.into()));
                Some(Attr::List(roles.collect()))
            }
            SlotValue::Json(json) => json::value(json),
            SlotValue::Broken | SlotValue::Unsupported => None,
        };
        copied.filter(|_| copier.is_complete())
    }
}

impl<'r, A, R, const N: usize, const C: usize> Slots for LazySlots<'_, 'r, A, R, N, C>
where
    A: FastInput,
    R: Fn(usize) -> SlotValue<'r>,
{
    #[inline]
    fn word(&self, slot: u32) -> u32 {
        let position = place(slot);
        match self.words.get(position).map_or(UNREAD, Cell::get) {
            UNREAD if position == place(ALWAYS) => word::TRUE,
            UNREAD => self.first(position),
            word => word,
        }
    }

    #[inline]
    fn number(&self, slot: u32) -> f64 {
        self.numbers.get(place(slot)).map_or(0.0, Cell::get)
    }
}

impl<'r, A, R, const N: usize, const C: usize> Contents for LazySlots<'_, 'r, A, R, N, C>
where
    A: FastInput,
    R: Fn(usize) -> SlotValue<'r>,
{
    fn pays(&self, steps: u32) -> bool {
        self.input.pays(steps)
    }

    fn text(&self, slot: usize) -> Option<&str> {
        match (self.read)(slot) {
            SlotValue::Field(Field::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn value(&self, slot: usize) -> Option<Value<'_>> {
        match (self.read)(slot) {
            SlotValue::Attr(attr) => Some(Value::from(attr)),
            SlotValue::Roles if let Some(roles) = self.input.list_of_roles() => {
                Some(Value::List(List::Strings(roles)))
            }
            value => {
                let copy = self.copies.get(slot)?.get_or_init(|| self.copy(value));
                copy.as_ref().map(Value::from)
            }
        }
    }
}

/// Returns the position of a slot: as in a frame, the lowest bits count.
#[inline]
fn place(slot: u32) -> usize {
    usize::try_from(slot).unwrap_or(usize::MAX) % FRAME_WORDS
}

/// The word of a slot that was not read yet; no value has it.
const UNREAD: u32 = u32::MAX;
/// The word of a text in a slot that is compared with constants only, and is none of them.
const LONE_TEXT: u32 = word::FIRST_TEMPORARY + 255;
