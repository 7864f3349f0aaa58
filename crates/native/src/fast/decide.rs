//! Decisions by a fast path: runs it on slots that are read when it needs them.
//!
//! Allocates only if a program reads a list or an object of the host's own. Functions return `None`
//! if the fast path is unsure; the general path then decides.

use wardgate_engine::cel::Timestamp;
use wardgate_engine::fastpath::Contents;
use wardgate_engine::limits::{MAX_FAST_PATH_ROLE_BYTES, MAX_FAST_PATH_ROLES};
use wardgate_engine::table::PolicyTable;
use wardgate_fastpath::layout::{MAX_REQUEST_CLASSES, MAX_SLOTS};
use wardgate_fastpath::{Answer, Slots};

use crate::clock::Clock;
use crate::fast::cache::with_key;
use crate::fast::equalities;
use crate::fast::index::{Index, Way};
use crate::fast::input::{FastInput, SlotValue, read};
use crate::fast::path::UnpackedPath;
use crate::fast::slots::LazySlots;

/// Decides by the fast path of the question; `None` if there is none or it is unsure.
#[inline]
pub(crate) fn decide(
    table: &PolicyTable,
    index: &Index,
    input: &impl FastInput,
    clock: &impl Clock,
) -> Option<bool> {
    let fast_path = match select(table, index, input) {
        Way::FastPath(fast_path) => fast_path,
        Way::Denied => return Some(false),
        Way::General => return None,
    };
    let value = |at: usize| {
        fast_path.slots.get(at).map_or(SlotValue::Unsupported, |slot| read(input, slot))
    };
    Decider { table, fast_path, clock }.decide(input, value)
}

/// Finds the way to decide about a question.
#[inline(always)]
pub(crate) fn select<'i>(table: &PolicyTable, index: &'i Index, input: &impl FastInput) -> Way<'i> {
    let usual = index.fast_path(table, input.target());
    let has_own = index.has_own_policies(input.principal());
    match usual {
        Some(fast_path) if !has_own => Way::FastPath(fast_path),
        _ => {
            let own = || [input.principal(), input.principal_scope()];
            index.unusual(table, input.target(), has_own.then(own))
        }
    }
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
            return self.by_class(input, read);
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
            Roles::Classes(..) => self.by_slots(roles, input, read),
        }
    }

    /// Decides where the masks of all roles together are unsure, since one role may be allowed and another fail: in the order
    /// of the roles, as hosts do that take no general path before.
    #[cfg(feature = "decision-log")]
    pub(crate) fn decide_in_order<'a>(
        &self,
        masks: &[u32],
        input: &impl FastInput,
        read: impl Fn(usize) -> SlotValue<'a>,
    ) -> Option<bool> {
        let Self { table, fast_path, clock } = *self;
        if fast_path.is_by_class() || masks.len() < 2 || masks.len() > MAX_REQUEST_CLASSES {
            return None;
        }
        let now = if fast_path.needs_time() { clock.now() } else { Timestamp::default() };
        let slots =
            LazySlots::<_, _, MAX_SLOTS, MAX_SLOTS>::new(&fast_path.slots, input, &read, now);
        fast_path.guards.iter().for_each(|guard| _ = slots.word(*guard));
        if slots.are_unsure() {
            return None;
        }
        match table.decide_in_order(fast_path.id, masks, (&slots, &slots), now) {
            _ if slots.are_unsure() => None,
            Answer::Allow => Some(true),
            Answer::Deny => Some(false),
            Answer::Unsure => None,
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
        self.by_slots(&Roles::Mask(mask), input, read)
    }

    /// Decides by a fast path in which roles have classes. Their number makes it the slowest form.
    #[inline(never)]
    fn by_class<'a>(
        &self,
        input: &impl FastInput,
        read: impl Fn(usize) -> SlotValue<'a>,
    ) -> Option<bool> {
        self.by_slots(&Roles::classes(self.fast_path, input.roles())?, input, read)
    }

    /// Decides by any fast path.
    #[inline(never)]
    fn by_slots<'a>(
        &self,
        roles: &Roles,
        input: &impl FastInput,
        read: impl Fn(usize) -> SlotValue<'a>,
    ) -> Option<bool> {
        let is_small = self.fast_path.slots.len() <= FEW;
        if self.fast_path.cache.is_some() {
            return self.by_cache(roles, input, read);
        }
        match (self.fast_path.has_programs(), is_small) {
            (false, true) => self.evaluate::<FEW, 0>(roles, input, read),
            (false, false) => self.evaluate::<MAX_SLOTS, 0>(roles, input, read),
            (true, true) => self.evaluate::<FEW, FEW>(roles, input, read),
            (true, false) => self.evaluate::<MAX_SLOTS, MAX_SLOTS>(roles, input, read),
        }
    }

    /// Decides by a fast path whose answers are cached.
    #[inline(never)]
    fn by_cache<'a>(
        &self,
        roles: &Roles,
        input: &impl FastInput,
        read: impl Fn(usize) -> SlotValue<'a>,
    ) -> Option<bool> {
        let evaluate = || self.evaluate::<MAX_SLOTS, MAX_SLOTS>(roles, input, &read);
        let Some(cache) = &self.fast_path.cache else { return evaluate() };
        with_key(|key| {
            let values = (0..self.fast_path.slots.len()).map(&read);
            match key.and_then(|key| key.write(self.fast_path.id, roles, input, values)) {
                Some(key) => cache.answer(key, evaluate),
                None => evaluate(),
            }
        })
    }

    /// Decides by a fast path with at most `N` slots, whose programs read the values of at most `P`.
    #[inline(never)]
    fn evaluate<'a, const N: usize, const P: usize>(
        &self,
        roles: &Roles,
        input: &impl FastInput,
        read: impl Fn(usize) -> SlotValue<'a>,
    ) -> Option<bool> {
        let Self { table, fast_path, clock } = *self;
        let now = if fast_path.needs_time() { clock.now() } else { Timestamp::default() };
        let slots = LazySlots::<_, _, N, P>::new(&fast_path.slots, input, &read, now);
        let guards = fast_path.guards.iter();
        guards.for_each(|guard| _ = slots.word(*guard));
        if slots.are_unsure() {
            return None;
        }
        let contents: (_, &dyn Contents) = (&slots, &slots);
        let asked = if P == 0 { None } else { fast_path.topics.as_deref() };
        let topic = asked.and_then(|topics| topics.asked(&read));
        let answer = match roles {
            roles if let Some(topic) = topic => {
                topic.decide((table, fast_path.id), roles, (&slots, &slots), &read, now)
            }
            Roles::Mask(mask) if P == 0 => table.decide(fast_path.id, *mask, &slots),
            Roles::Mask(mask) => table.decide_with(fast_path.id, *mask, contents, now),
            Roles::Classes(classes, count) if P == 0 => {
                table.decide_classes(fast_path.id, classes.get(..*count)?, &slots)
            }
            Roles::Classes(classes, count) => {
                table.decide_classes_with(fast_path.id, classes.get(..*count)?, contents, now)
            }
        };
        match answer {
            _ if slots.are_unsure() => None,
            Answer::Allow => Some(true),
            Answer::Deny => Some(false),
            Answer::Unsure => None,
        }
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

    /// Returns roles out of the mask or class of each.
    #[cfg(feature = "decision-log")]
    pub(crate) fn of_words(
        fast_path: &UnpackedPath,
        words: impl Iterator<Item = u32>,
    ) -> Option<Self> {
        if !fast_path.is_by_class() {
            return Some(Self::Mask(words.fold(0, |mask, word| mask | word)));
        }
        let (mut classes, mut count) = ([0; MAX_REQUEST_CLASSES], 0);
        for class in words {
            *classes.get_mut(count)? = class;
            count += 1;
        }
        Some(Self::Classes(classes, count))
    }

    #[inline]
    fn mask<'r>(fast_path: &UnpackedPath, roles: impl Iterator<Item = &'r str>) -> Option<u32> {
        let join = |(mask, count, longest): (u32, usize, usize), role: &str| {
            (mask | fast_path.role(role), count + 1, longest.max(role.len()))
        };
        // Where the entries are for any role, the texts of the roles stay unread.
        let alike = fast_path.mask_of_all();
        let join_alike = |(_, count, longest): (u32, usize, usize), role: &str| {
            (alike.unwrap_or(0), count + 1, longest.max(role.len()))
        };
        let start = (0, 0, 0);
        let (mask, count, longest) =
            if alike.is_some() { roles.fold(start, join_alike) } else { roles.fold(start, join) };
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

/// The number of slots that suffices for most fast paths.
const FEW: usize = 8;
