//! Fast paths, unpacked when a bundle is opened: names beside the words, so that a decision needs
//! no lookup in the table.

use std::sync::Arc;

use wardgate_engine::cel::pool::Root;
use wardgate_engine::table::PolicyTable;
use wardgate_fastpath::layout::{BY_CLASS, CONSTANTS, LONE, NOW, PROGRAMS, VALUE};
use wardgate_fastpath::{SlotRecord, word};

use crate::fast::cache::Cache;
use crate::fast::derived::Test;
use crate::fast::equalities::{self, Equality};
use crate::fast::input::{FastInput, SlotValue, read};
use crate::fast::topic::Topics;
use crate::names::Names;

/// The slots, roles and entries of one fast path, unpacked.
#[derive(Debug)]
pub(crate) struct UnpackedPath {
    /// The number of the fast path in the table.
    pub(crate) id: u32,
    pub(crate) slots: Box<[Slot]>,
    /// The slots that every decision reads, although no entry does.
    pub(crate) guards: Box<[u32]>,
    /// Its entries, if all are equalities.
    pub(crate) equalities: Option<Box<[Equality]>>,
    /// The mask or class of each role.
    roles: Names<u32>,
    /// A bit for the [`fingerprint`] of each listed role.
    fingerprints: u64,
    /// The mask or class of other roles.
    others: u32,
    flags: u32,
    /// The cache of answers, if the fast path uses one: its conditions read no more than its slots,
    /// and take longer than a lookup.
    pub(crate) cache: Option<Arc<Cache>>,
    /// Its programs about topics, if it has any.
    pub(crate) topics: Option<Box<Topics>>,
}

/// One path into a request.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) root: SlotRoot,
    /// The names of members, from the root on.
    pub(crate) path: Box<[Box<str>]>,
    /// The words of the constants that it is compared with.
    pub(crate) constants: Names<u32>,
    /// The test whose result is the slot's word; `None` if it is the value itself.
    pub(crate) test: Option<Box<Test>>,
    uses: u32,
}

/// The beginning of a slot's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotRoot {
    PrincipalId,
    PrincipalRoles,
    PrincipalAttr,
    ResourceKind,
    ResourceId,
    ResourceAttr,
    /// The claims of the token of the auxiliary data.
    Claims,
    /// The tokens of the auxiliary data, by name.
    Tokens,
}

impl UnpackedPath {
    /// Unpacks fast path `id`. Returns `None` if a slot has a root that fast paths do not read: the
    /// general path then decides.
    /// `room` is the number of patterns of topics that indexes may still have.
    pub(crate) fn unpack(
        table: &PolicyTable,
        id: u32,
        cache: Option<&Arc<Cache>>,
        room: &mut usize,
    ) -> Option<Self> {
        let fast_path = table.fast_paths().get(id)?;
        let is_worth_it = fast_path.flags() & (PROGRAMS | NOW) == PROGRAMS;
        let mut slots: Vec<Slot> = Vec::new();
        for record in fast_path.slots() {
            slots.push(Slot::unpack(table, record, &slots)?);
        }
        let has_programs = fast_path.flags() & PROGRAMS != 0;
        let topics = if has_programs { Topics::new(table, &fast_path, &slots, room) } else { None };
        let is_guard = |slot: &Slot| slot.test.as_ref().is_some_and(|test| test.is_guard());
        let guards = (0..).zip(&slots).filter(|(_, slot)| is_guard(slot));
        let guards: Box<[u32]> = guards.map(|(position, _)| position).collect();
        let equalities = guards.is_empty().then(|| equalities::unpack(table, &fast_path));
        let roles = || fast_path.roles().iter().map(|[role, mask]| (table.string(*role), *mask));
        Some(Self {
            id,
            slots: slots.into(),
            guards,
            equalities: equalities.flatten(),
            fingerprints: roles()
                .fold(0, |fingerprints, (role, _)| fingerprints | 1 << fingerprint(role)),
            roles: roles().collect(),
            others: fast_path.others(),
            flags: fast_path.flags(),
            cache: cache.filter(|_| is_worth_it).map(Arc::clone),
            topics: topics.map(Box::new),
        })
    }

    /// Returns the mask or class of a role.
    #[inline]
    pub(crate) fn role(&self, role: &str) -> u32 {
        // Most roles of a principal are not among the listed ones.
        if self.fingerprints >> fingerprint(role) & 1 == 0 {
            self.others
        } else {
            self.listed_role(role)
        }
    }

    /// Returns true if the fast path tells a role from others.
    #[cfg(feature = "decision-log")]
    pub(crate) fn lists(&self, role: &str) -> bool {
        self.fingerprints >> fingerprint(role) & 1 != 0 && self.roles.get(role).is_some()
    }

    /// Returns the mask or class of the roles that are not listed.
    #[cfg(feature = "decision-log")]
    pub(crate) const fn others(&self) -> u32 {
        self.others
    }

    // A call is cheaper here: inside a loop over roles the lookup would push other values out of
    // registers.
    #[inline(never)]
    fn listed_role(&self, role: &str) -> u32 {
        self.roles.get(role).unwrap_or(self.others)
    }

    /// Returns the mask or class of every role, if all have the same.
    #[inline]
    pub(crate) fn mask_of_all(&self) -> Option<u32> {
        (self.fingerprints == 0).then_some(self.others)
    }

    /// Returns true if roles have classes instead of masks.
    #[inline]
    pub(crate) const fn is_by_class(&self) -> bool {
        self.flags & BY_CLASS != 0
    }

    /// Returns true if some condition runs as a program.
    #[inline]
    pub(crate) const fn has_programs(&self) -> bool {
        self.flags & PROGRAMS != 0
    }

    /// Returns the steps that a decision counts for, with so many left; `None` if a program may run.
    pub(crate) fn steps(&self, input: &impl FastInput, left: u32) -> Option<u32> {
        let slots = u32::try_from(self.slots.len()).unwrap_or(u32::MAX).saturating_add(1);
        if !self.has_programs() {
            return Some(slots);
        }
        let topics = self.topics.as_deref().filter(|topics| topics.is_complete())?;
        let value =
            |at: usize| self.slots.get(at).map_or(SlotValue::Unsupported, |slot| read(input, slot));
        let steps = topics.asked(value)?.steps().saturating_add(slots);
        (steps <= left).then_some(steps)
    }

    /// Returns true if some condition reads the time.
    pub(crate) const fn needs_time(&self) -> bool {
        self.flags & NOW != 0
    }
}

impl Slot {
    fn unpack(table: &PolicyTable, record: SlotRecord<'_>, earlier: &[Self]) -> Option<Self> {
        let (root, path) = table.slot_path(record.slot)?;
        let root = SlotRoot::of(root)?;
        let test = record.test.map(|test| Test::unpack(table, root, test, earlier).map(Box::new));
        let constant = |id: &u32| (table.string(*id), word::FIRST_STRING.wrapping_add(*id));
        let constants = if record.uses & CONSTANTS == 0 { &[] } else { record.constants };
        Some(Self {
            root,
            path: path.map(Box::from).collect(),
            constants: constants.iter().map(constant).collect(),
            test: match test {
                Some(test) => Some(test?),
                None => None,
            },
            uses: record.uses,
        })
    }

    /// Returns true if the slot holds the time of the decision.
    #[inline]
    pub(crate) fn is_time(&self) -> bool {
        self.test.as_ref().is_some_and(|test| test.is_now())
    }

    /// Returns true if no other slot is compared with it.
    #[inline]
    pub(crate) const fn is_lone(&self) -> bool {
        self.uses & LONE != 0
    }

    /// Returns true if a program may read the value, of any type.
    #[inline]
    pub(crate) const fn wants_value(&self) -> bool {
        self.uses & VALUE != 0
    }
}

impl SlotRoot {
    pub(crate) const fn of(root: Root) -> Option<Self> {
        Some(match root {
            Root::PrincipalId => Self::PrincipalId,
            Root::PrincipalRoles => Self::PrincipalRoles,
            Root::PrincipalAttr => Self::PrincipalAttr,
            Root::ResourceKind => Self::ResourceKind,
            Root::ResourceId => Self::ResourceId,
            Root::ResourceAttr => Self::ResourceAttr,
            Root::AuxDataJwt => Self::Claims,
            Root::AuxDataJwts => Self::Tokens,
            _ => return None,
        })
    }
}

/// Returns a number below 64 that depends on the name: different numbers mean different names.
#[inline]
fn fingerprint(name: &str) -> u32 {
    let first = name.as_bytes().first().copied().unwrap_or(0);
    let [length, ..] = name.len().to_le_bytes();
    u32::from(length.wrapping_add(first.wrapping_mul(4)) % 64)
}
