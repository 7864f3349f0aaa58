//! Reading plans: the section, the plans in it, and the lists by which they are found.
//!
//! Everything is read in place. What a number does not reach is not there; nothing panics.

use crate::at;
use crate::layout::{ENTRY_WORDS, LIST_WORDS, PLAN_WORDS, ROLE_WORDS, SLOT_WORDS, plan};

/// The section of plans.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plans<'a> {
    words: &'a [u32],
}

/// One plan.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    start: &'a [u32; PLAN_WORDS],
    record: &'a [u32],
}

/// The plans of one kind, version and scope.
#[derive(Clone, Copy, Debug)]
pub struct PlanList<'a> {
    other: u32,
    actions: &'a [[u32; 2]],
}

/// One slot of a plan.
#[derive(Clone, Copy, Debug)]
pub struct SlotRecord<'a> {
    /// Its offset in the table's slots.
    pub slot: u32,
    /// [`CONSTANTS`](crate::layout::CONSTANTS), [`TEXT`](crate::layout::TEXT) and
    /// [`VALUE`](crate::layout::VALUE).
    pub uses: u32,
    /// String ids of the constants that it is compared with, sorted.
    pub constants: &'a [u32],
}

/// One entry: head, operand and mask. See [`crate::layout`].
pub type Entry = [u32; ENTRY_WORDS];

impl<'a> Plans<'a> {
    /// The plans in a section.
    #[inline]
    #[must_use]
    pub const fn new(words: &'a [u32]) -> Self {
        Self { words }
    }

    /// Returns how many plans there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.first().map_or(0, |count| at(*count))
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns plan `id`.
    #[inline]
    #[must_use]
    pub fn get(&self, id: u32) -> Option<Plan<'a>> {
        let (count, offsets) = self.words.split_first()?;
        let offset = offsets.get(..at(*count))?.get(at(id))?;
        let record = self.words.get(at(*offset)..)?;
        Some(Plan { start: record.first_chunk()?, record })
    }

    /// Returns the list at `offset`.
    #[must_use]
    pub fn list(&self, offset: u32) -> Option<PlanList<'a>> {
        let list = self.words.get(at(offset)..)?;
        let [other, count] = *list.first_chunk::<LIST_WORDS>()?;
        let (actions, _) = list.get(LIST_WORDS..)?.as_chunks::<2>();
        Some(PlanList { other, actions: actions.get(..at(count))? })
    }
}

impl<'a> PlanList<'a> {
    /// Returns the plan of the action with this string id, or of an action that the table does not
    /// know. Nothing means that the general path decides.
    #[must_use]
    pub fn plan(&self, action: Option<u32>) -> Option<u32> {
        let listed = action
            .and_then(|id| self.actions.binary_search_by_key(&id, |entry| entry[0]).ok())
            .and_then(|place| self.actions.get(place));
        listed.map_or(self.other, |entry| entry[1]).checked_sub(1)
    }

    /// Returns the plan of actions that are not listed.
    #[must_use]
    pub fn other(&self) -> Option<u32> {
        self.other.checked_sub(1)
    }

    /// Returns string id and plan of each listed action, sorted by id.
    pub fn actions(&self) -> impl Iterator<Item = (u32, Option<u32>)> + use<'a> {
        self.actions.iter().map(|[action, plan]| (*action, plan.checked_sub(1)))
    }
}

impl<'a> Plan<'a> {
    /// Returns the flags, such as [`SIMPLE`](crate::layout::SIMPLE).
    #[inline]
    #[must_use]
    pub const fn flags(&self) -> u32 {
        self.start[plan::FLAGS]
    }

    /// Returns the mask or class of a role that is not listed.
    #[inline]
    #[must_use]
    pub const fn others(&self) -> u32 {
        self.start[plan::OTHERS]
    }

    /// Returns the slots in their order.
    pub fn slots(&self) -> impl Iterator<Item = SlotRecord<'a>> + use<'a> {
        let record = self.record;
        let (slots, _) = record.get(PLAN_WORDS..).unwrap_or(&[]).as_chunks::<SLOT_WORDS>();
        slots.iter().take(at(self.start[plan::SLOTS])).map(move |[slot, uses, constants]| {
            let constants = if *constants == 0 { &[] } else { counted(record, *constants) };
            SlotRecord { slot: *slot, uses: *uses, constants }
        })
    }

    /// Returns string id and mask (or class) of each listed role, sorted by id.
    #[must_use]
    pub fn roles(&self) -> &'a [[u32; ROLE_WORDS]] {
        let first = at(self.start[plan::SLOTS]).saturating_mul(SLOT_WORDS);
        let words = self.record.get(PLAN_WORDS.saturating_add(first)..).unwrap_or(&[]);
        words.as_chunks().0.get(..at(self.start[plan::ROLES])).unwrap_or(&[])
    }

    /// Returns the mask (or class) of a role; `None` is a role that the table does not know.
    #[must_use]
    pub fn role(&self, id: Option<u32>) -> u32 {
        let roles = self.roles();
        let listed = id.and_then(|id| roles.binary_search_by_key(&id, |role| role[0]).ok());
        listed.and_then(|place| roles.get(place)).map_or(self.others(), |role| role[1])
    }

    /// Returns the entries of a plan that is not by class.
    #[inline]
    #[must_use]
    pub fn entries(&self) -> &'a [Entry] {
        self.entries_at(self.start[plan::ENTRIES_AT], self.start[plan::ENTRIES])
    }

    /// Returns how many classes a plan by class has.
    #[must_use]
    pub const fn classes(&self) -> u32 {
        self.start[plan::ENTRIES]
    }

    /// Returns the entries of one class of a plan by class.
    #[must_use]
    pub fn class(&self, class: u32) -> Option<&'a [Entry]> {
        let (classes, _) = self.record.get(at(self.start[plan::ENTRIES_AT])..)?.as_chunks::<2>();
        let [offset, count] = classes.get(..at(self.classes()))?.get(at(class))?;
        Some(self.entries_at(*offset, *count))
    }

    /// Returns the word at `offset`, or 0 beyond the end.
    #[inline]
    pub(crate) fn word(&self, offset: usize) -> u32 {
        self.record.get(offset).copied().unwrap_or(0)
    }

    /// Returns the list at `offset`: a count, then that many words.
    #[inline]
    pub(crate) fn list(&self, offset: u32) -> &'a [u32] {
        counted(self.record, offset)
    }

    /// Returns offset and length of the code.
    pub(crate) fn code(&self) -> (usize, usize) {
        (at(self.start[plan::CODE_AT]), at(self.start[plan::CODE_WORDS]))
    }

    pub(crate) const fn start(&self) -> &'a [u32; PLAN_WORDS] {
        self.start
    }

    pub(crate) const fn record(&self) -> &'a [u32] {
        self.record
    }

    #[inline]
    fn entries_at(&self, offset: u32, count: u32) -> &'a [Entry] {
        let (entries, _) = self.record.get(at(offset)..).unwrap_or(&[]).as_chunks();
        entries.get(..at(count)).unwrap_or(&[])
    }
}

fn counted(words: &[u32], offset: u32) -> &[u32] {
    let list = words.get(at(offset)..).unwrap_or(&[]);
    list.split_first().and_then(|(count, rest)| rest.get(..at(*count))).unwrap_or(&[])
}
