//! Decisions by a fast path: reads its slots into a frame and runs it.
//!
//! Allocates only if a program reads a list or an object of the host's own. Functions return `None`
//! if the fast path is unsure; the general path then decides.

mod contents;

use std::cell::RefCell;

use wardgate_engine::cel::Timestamp;
use wardgate_engine::fastpath::Contents;
use wardgate_engine::limits::{MAX_FAST_PATH_ROLE_BYTES, MAX_FAST_PATH_ROLES};
use wardgate_engine::table::PolicyTable;
use wardgate_fastpath::layout::{MAX_REQUEST_CLASSES, MAX_SLOTS};
use wardgate_fastpath::{Answer, Frame, Texts, word};

use crate::clock::Clock;
use crate::fast::cache::with_key;
use crate::fast::equalities;
use crate::fast::index::{Index, Unusual};
use crate::fast::input::{FastInput, SlotValue, read};
use crate::fast::moment;
use crate::fast::path::{Slot, UnpackedPath};
use crate::field::Field;
pub(crate) use contents::SlotValues;

/// Decides by the fast path of the question; `None` if there is none or it is unsure.
#[inline]
pub(crate) fn decide(
    table: &PolicyTable,
    index: &Index,
    input: &impl FastInput,
    clock: &impl Clock,
) -> Option<bool> {
    let usual = index.fast_path(table, input.target());
    let fast_path = match usual.filter(|_| !index.has_own_policies(input.principal())) {
        Some(fast_path) => fast_path,
        None => match index.unusual(table, input) {
            Unusual::FastPath(fast_path) => fast_path,
            Unusual::Denied => return Some(false),
            Unusual::General => return None,
        },
    };
    let value = |at: usize| {
        fast_path.slots.get(at).map_or(SlotValue::Unsupported, |slot| read(input, slot))
    };
    Decider { table, fast_path, clock }.decide(input, value)
}

/// A fast path of a table, and the clock of a decision.
pub(crate) struct Decider<'d, C> {
    pub(crate) table: &'d PolicyTable,
    pub(crate) fast_path: &'d UnpackedPath,
    pub(crate) clock: &'d C,
}

impl<C: Clock> Decider<'_, C> {
    /// Decides about `input`; `read` reads its slots.
    #[inline(always)]
    pub(crate) fn decide<'a>(
        &self,
        input: &impl FastInput,
        read: impl Fn(usize) -> SlotValue<'a>,
    ) -> Option<bool> {
        if self.fast_path.is_by_class() {
            return self.by_class(input, self.values(read));
        }
        self.masked(Roles::mask(self.fast_path, input.roles())?, input, read)
    }

    /// Decides for roles that are looked up already.
    #[inline]
    pub(crate) fn decide_for_roles<'a>(
        &self,
        roles: &Roles,
        input: &impl FastInput,
        read: impl Fn(usize) -> SlotValue<'a>,
    ) -> Option<bool> {
        match roles {
            Roles::Mask(mask) => self.masked(*mask, input, read),
            Roles::Classes(..) => self.by_frame(roles, input, self.values(read)),
        }
    }

    #[inline(always)]
    fn masked<'a>(
        &self,
        mask: u32,
        input: &impl FastInput,
        read: impl Fn(usize) -> SlotValue<'a>,
    ) -> Option<bool> {
        if let Some(equalities) = &self.fast_path.equalities {
            return equalities::decide(equalities, mask, read);
        }
        self.by_frame(&Roles::Mask(mask), input, self.values(read))
    }

    /// Decides by a fast path in which roles have classes. Their number makes it the slowest form.
    #[inline(never)]
    fn by_class<'a>(
        &self,
        input: &impl FastInput,
        values: impl Iterator<Item = SlotValue<'a>>,
    ) -> Option<bool> {
        self.by_frame(&Roles::classes(self.fast_path, input.roles())?, input, values)
    }

    /// Decides by any fast path.
    #[inline(never)]
    fn by_frame<'a>(
        &self,
        roles: &Roles,
        input: &impl FastInput,
        values: impl Iterator<Item = SlotValue<'a>>,
    ) -> Option<bool> {
        let Self { table, fast_path, .. } = *self;
        let is_small = fast_path.slots.len() <= FEW;
        if fast_path.has_programs() {
            return if is_small {
                self.run::<FEW>(roles, input, values)
            } else {
                self.run::<MAX_SLOTS>(roles, input, values)
            };
        }
        let slots = fast_path.slots.iter().zip(values);
        with_frame(|frame| {
            if is_small {
                fill::<FEW>(frame, slots)?;
            } else {
                fill::<MAX_SLOTS>(frame, slots)?;
            }
            if fast_path.needs_time() {
                write_time(frame, fast_path, self.clock.now())?;
            }
            answered(match roles {
                Roles::Mask(mask) => table.decide(fast_path.id, *mask, frame),
                Roles::Classes(classes, count) => {
                    table.decide_classes(fast_path.id, classes.get(..*count)?, frame)
                }
            })
        })
    }

    /// Decides by a fast path that runs programs and has at most `N` slots.
    #[inline(never)]
    fn run<'a, const N: usize>(
        &self,
        roles: &Roles,
        input: &impl FastInput,
        values: impl Iterator<Item = SlotValue<'a>>,
    ) -> Option<bool> {
        let values = SlotValues::<_, N>::new(input, values);
        let evaluate = || self.evaluate(roles, &values);
        let Some(cache) = &self.fast_path.cache else { return evaluate() };
        with_key(|key| {
            let read = (&values, self.fast_path.slots.len());
            match key.and_then(|key| key.write(self.fast_path.id, roles, read)) {
                Some(key) => cache.answer(key, evaluate),
                None => evaluate(),
            }
        })
    }

    /// Runs the programs.
    fn evaluate<A: FastInput, const N: usize>(
        &self,
        roles: &Roles,
        values: &SlotValues<'_, '_, A, N>,
    ) -> Option<bool> {
        let Self { table, fast_path, clock } = *self;
        let now = if fast_path.needs_time() { clock.now() } else { Timestamp::default() };
        with_frame(|frame| {
            fill::<N>(frame, fast_path.slots.iter().zip(values.values()))?;
            if fast_path.needs_time() {
                write_time(frame, fast_path, now)?;
            }
            let contents: (&Frame, &dyn Contents) = (frame, values);
            answered(match roles {
                Roles::Mask(mask) => table.decide_with(fast_path.id, *mask, contents, now),
                Roles::Classes(classes, count) => {
                    let classes = classes.get(..*count)?;
                    table.decide_classes_with(fast_path.id, classes, contents, now)
                }
            })
        })
    }

    /// Returns the values of the slots, in their order.
    #[inline]
    fn values<'a>(
        &self,
        read: impl Fn(usize) -> SlotValue<'a>,
    ) -> impl Iterator<Item = SlotValue<'a>> {
        (0..self.fast_path.slots.len()).map(read)
    }
}

const fn answered(answer: Answer) -> Option<bool> {
    match answer {
        Answer::Allow => Some(true),
        Answer::Deny => Some(false),
        Answer::Unsure => None,
    }
}

/// The roles of a principal as a fast path reads them.
pub(crate) enum Roles {
    Mask(u32),
    /// Classes in the order of the roles, and their number.
    Classes([u32; MAX_REQUEST_CLASSES], usize),
}

impl Roles {
    pub(crate) fn of<'r>(
        fast_path: &UnpackedPath,
        roles: impl Iterator<Item = &'r str>,
    ) -> Option<Self> {
        if fast_path.is_by_class() {
            return Self::classes(fast_path, roles);
        }
        Self::mask(fast_path, roles).map(Self::Mask)
    }

    #[inline]
    fn mask<'r>(fast_path: &UnpackedPath, roles: impl Iterator<Item = &'r str>) -> Option<u32> {
        let join = |(mask, count, longest): (u32, usize, usize), role: &str| {
            (mask | fast_path.role(role), count + 1, longest.max(role.len()))
        };
        let (mask, count, longest) = roles.fold((0, 0, 0), join);
        let is_short = count <= MAX_FAST_PATH_ROLES && longest <= MAX_FAST_PATH_ROLE_BYTES;
        is_short.then_some(mask)
    }

    fn classes<'r>(fast_path: &UnpackedPath, roles: impl Iterator<Item = &'r str>) -> Option<Self> {
        let (mut classes, mut count) = ([0; MAX_REQUEST_CLASSES], 0);
        for role in roles {
            if role.len() > MAX_FAST_PATH_ROLE_BYTES {
                return None;
            }
            *classes.get_mut(count)? = fast_path.role(role);
            count += 1;
        }
        Some(Self::Classes(classes, count))
    }
}

/// Lends a frame to `work`: that of the thread, or a new one if `work` runs inside such a call.
#[inline]
fn with_frame<T>(work: impl FnOnce(&mut Frame) -> T) -> T {
    FRAME.with(|frame| match frame.try_borrow_mut() {
        Ok(mut frame) => work(&mut frame),
        Err(_) => work(&mut Frame::new()),
    })
}

/// Writes the time of the decision into the slots that hold it.
#[inline(never)]
fn write_time(frame: &mut Frame, fast_path: &UnpackedPath, now: Timestamp) -> Option<()> {
    for slot in fast_path.times() {
        frame.set_number(slot, moment::of_time(now)?);
    }
    Some(())
}

/// Writes every slot of a fast path. `N` is at least the number of slots.
#[inline]
fn fill<'s, 'r, const N: usize>(
    frame: &mut Frame,
    slots: impl Iterator<Item = (&'s Slot, SlotValue<'r>)>,
) -> Option<()> {
    let mut texts = Texts::<N>::new();
    let positions = frame.words.iter_mut().zip(&mut frame.numbers);
    for ((slot, value), (position, number)) in slots.zip(positions) {
        *position = match value {
            SlotValue::Field(Field::Missing) => word::MISSING,
            SlotValue::Broken => word::BROKEN,
            SlotValue::Field(Field::Null) => word::NULL,
            SlotValue::Field(Field::Bool(false)) => word::FALSE,
            SlotValue::Field(Field::Bool(true)) => word::TRUE,
            SlotValue::Field(Field::Number(value)) => {
                *number = value;
                if value.is_finite() { word::NUMBER } else { return None }
            }
            SlotValue::Field(Field::Text(text)) => match slot.constants.get(text) {
                Some(word) => word,
                None => texts.word(text)?,
            },
            SlotValue::Unsupported => return None,
            _ if slot.wants_value() => word::VALUE,
            _ => return None,
        };
    }
    Some(())
}

/// The number of slots that suffices for most fast paths.
const FEW: usize = 4;

thread_local! {
    static FRAME: RefCell<Frame> = const { RefCell::new(Frame::new()) };
}
