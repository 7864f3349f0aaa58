//! Decisions by a fast path: reads its slots into a frame and runs it.
//!
//! Allocates only if a program reads a list or an object of the host's own. Functions return `None`
//! if the fast path is unsure; the general path then decides.

mod contents;

use std::cell::RefCell;

use wardgate_engine::cel::Timestamp;
use wardgate_engine::limits::{MAX_FAST_PATH_ROLE_BYTES, MAX_FAST_PATH_ROLES};
use wardgate_engine::table::PolicyTable;
use wardgate_fastpath::layout::{MAX_REQUEST_CLASSES, MAX_SLOTS};
use wardgate_fastpath::{Answer, Frame, Texts, word};

use crate::clock::Clock;
use crate::fast::cache::with_key;
use crate::fast::equalities;
use crate::fast::index::Index;
use crate::fast::input::{FastInput, SlotValue, read};
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
    let fast_path = index.fast_path(table, input.target())?;
    if index.has_own_policies(input.principal()) {
        return None;
    }
    let value = |at: usize| {
        fast_path.slots.get(at).map_or(SlotValue::Unsupported, |slot| read(input, slot))
    };
    decide_for(table, fast_path, (input, value), clock)
}

/// Decides by `fast_path`; `read` reads its slots.
#[inline(always)]
pub(crate) fn decide_for<'a>(
    table: &PolicyTable,
    fast_path: &UnpackedPath,
    (input, read): (&impl FastInput, impl Fn(usize) -> SlotValue<'a>),
    clock: &impl Clock,
) -> Option<bool> {
    if fast_path.is_by_class() {
        let values = (0..fast_path.slots.len()).map(read);
        return decide_by_class(table, fast_path, (input, values), clock);
    }
    decide_masked(table, (fast_path, Roles::mask(fast_path, input.roles())?), (input, read), clock)
}

/// Decides by `fast_path` for roles that are looked up already.
#[inline]
pub(crate) fn decide_with<'a>(
    table: &PolicyTable,
    (fast_path, roles): (&UnpackedPath, &Roles),
    (input, read): (&impl FastInput, impl Fn(usize) -> SlotValue<'a>),
    clock: &impl Clock,
) -> Option<bool> {
    match roles {
        Roles::Mask(mask) => decide_masked(table, (fast_path, *mask), (input, read), clock),
        Roles::Classes(..) => {
            let values = (0..fast_path.slots.len()).map(read);
            decide_by_frame(table, (fast_path, roles), (input, values), clock)
        }
    }
}

#[inline(always)]
fn decide_masked<'a>(
    table: &PolicyTable,
    (fast_path, mask): (&UnpackedPath, u32),
    (input, read): (&impl FastInput, impl Fn(usize) -> SlotValue<'a>),
    clock: &impl Clock,
) -> Option<bool> {
    if let Some(equalities) = &fast_path.equalities {
        return equalities::decide(equalities, mask, read);
    }
    let values = (0..fast_path.slots.len()).map(read);
    decide_by_frame(table, (fast_path, &Roles::Mask(mask)), (input, values), clock)
}

/// Decides by a fast path in which roles have classes. Their number makes it the slowest form.
#[inline(never)]
fn decide_by_class<'a>(
    table: &PolicyTable,
    fast_path: &UnpackedPath,
    (input, values): (&impl FastInput, impl Iterator<Item = SlotValue<'a>>),
    clock: &impl Clock,
) -> Option<bool> {
    let roles = Roles::classes(fast_path, input.roles())?;
    decide_by_frame(table, (fast_path, &roles), (input, values), clock)
}

/// Decides by any fast path.
#[inline(never)]
fn decide_by_frame<'a>(
    table: &PolicyTable,
    (fast_path, roles): (&UnpackedPath, &Roles),
    (input, values): (&impl FastInput, impl Iterator<Item = SlotValue<'a>>),
    clock: &impl Clock,
) -> Option<bool> {
    if fast_path.has_programs() {
        return if fast_path.slots.len() <= FEW {
            run::<FEW>(table, (fast_path, roles), (input, values), clock)
        } else {
            run::<MAX_SLOTS>(table, (fast_path, roles), (input, values), clock)
        };
    }
    let slots = fast_path.slots.iter().zip(values);
    with_frame(|frame| {
        if fast_path.slots.len() <= FEW {
            fill::<FEW>(frame, slots)?;
        } else {
            fill::<MAX_SLOTS>(frame, slots)?;
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
    table: &PolicyTable,
    (fast_path, roles): (&UnpackedPath, &Roles),
    (input, values): (&impl FastInput, impl Iterator<Item = SlotValue<'a>>),
    clock: &impl Clock,
) -> Option<bool> {
    let values = SlotValues::<_, N>::new(input, values);
    let Some(cache) = &fast_path.cache else {
        return evaluate(table, (fast_path, roles), &values, clock);
    };
    with_key(|key| {
        let key =
            key.and_then(|key| key.write(fast_path.id, roles, (&values, fast_path.slots.len())));
        let decide = || evaluate(table, (fast_path, roles), &values, clock);
        match key {
            Some(key) => cache.answer(key, decide),
            None => decide(),
        }
    })
}

/// Runs the programs.
fn evaluate<A: FastInput, const N: usize>(
    table: &PolicyTable,
    (fast_path, roles): (&UnpackedPath, &Roles),
    values: &SlotValues<'_, '_, A, N>,
    clock: &impl Clock,
) -> Option<bool> {
    let now = if fast_path.needs_time() { clock.now() } else { Timestamp::default() };
    with_frame(|frame| {
        fill::<N>(frame, fast_path.slots.iter().zip(values.values()))?;
        answered(match roles {
            Roles::Mask(mask) => table.decide_with(fast_path.id, *mask, (frame, values), now),
            Roles::Classes(classes, count) => table.decide_classes_with(
                fast_path.id,
                classes.get(..*count)?,
                (frame, values),
                now,
            ),
        })
    })
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
