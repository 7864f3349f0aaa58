//! Readers of fast paths: the section, the fast paths in it, and the lists that lead to them.
//!
//! Everything is read without copies. A number out of bounds leads to `None` or an empty slice,
//! never to a panic.

use crate::at;
use crate::layout::test::TERM_WORDS;
use crate::layout::{
    ACTION_WORDS, ENTRY_WORDS, LIST_WORDS, PATH_WORDS, ROLE_WORDS, SLOT_WORDS, TEST, fast_path,
};

/// The section of fast paths.
#[derive(Clone, Copy, Debug, Default)]
pub struct FastPaths<'a> {
    words: &'a [u32],
}

/// One fast path.
#[derive(Clone, Copy, Debug)]
pub struct FastPath<'a> {
    start: &'a [u32; PATH_WORDS],
    record: &'a [u32],
}

/// The fast paths of one kind, version and scope.
#[derive(Clone, Copy, Debug)]
pub struct FastPathList<'a> {
    header: [u32; LIST_WORDS],
    actions: &'a [Action],
    patterns: &'a [u32],
    sets: &'a [Action],
}

/// An action or a set of patterns, with its fast paths. See [`LIST_WORDS`].
type Action = [u32; ACTION_WORDS];

/// One slot of a fast path.
#[derive(Clone, Copy, Debug)]
pub struct SlotRecord<'a> {
    /// The slot's offset in the table's slots.
    pub slot: u32,
    /// The uses of the slot: [`CONSTANTS`](crate::layout::CONSTANTS), [`TEXT`](crate::layout::TEXT)
    /// [`VALUE`](crate::layout::VALUE) and [`LONE`](crate::layout::LONE), or
    /// [`TEST`](crate::layout::TEST) alone.
    pub uses: u32,
    /// String ids of the constants that the slot is compared with, sorted; empty if it has a test.
    pub constants: &'a [u32],
    /// The test, if the slot has one.
    pub test: Option<SlotTest<'a>>,
}

/// The test of a slot. See [`crate::layout::test`].
#[derive(Clone, Copy, Debug)]
pub struct SlotTest<'a> {
    /// The kind, such as [`MEMBER`](crate::layout::test::MEMBER).
    pub kind: u32,
    /// The terms.
    pub terms: &'a [Term],
}

/// One term of a test: member plus one, bits, constant or slot. See [`crate::layout::test`].
pub type Term = [u32; TERM_WORDS];

/// One entry: head, operand and mask. See [`crate::layout`].
pub type Entry = [u32; ENTRY_WORDS];

impl<'a> FastPaths<'a> {
    /// Returns the fast paths of a section.
    #[inline]
    #[must_use]
    pub const fn new(words: &'a [u32]) -> Self {
        Self { words }
    }

    /// Returns the number of fast paths.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.first().map_or(0, |count| at(*count))
    }

    /// Returns true if the section has no fast path.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns fast path `id`.
    #[inline]
    #[must_use]
    pub fn get(&self, id: u32) -> Option<FastPath<'a>> {
        let (count, offsets) = self.words.split_first()?;
        let offset = offsets.get(..at(*count))?.get(at(id))?;
        let record = self.words.get(at(*offset)..)?;
        Some(FastPath { start: record.first_chunk()?, record })
    }

    /// Returns the list at `offset`.
    #[must_use]
    pub fn list(&self, offset: u32) -> Option<FastPathList<'a>> {
        let list = self.words.get(at(offset)..)?;
        let header @ [_, _, _, actions, counts] = *list.first_chunk::<LIST_WORDS>()?;
        let rest = list.get(LIST_WORDS..)?;
        let words = at(actions).checked_mul(ACTION_WORDS)?;
        let (actions, rest) = rest.split_at_checked(words)?;
        let (patterns, rest) = rest.split_at_checked(at(counts & 0xff))?;
        let sets = rest.get(..at(counts >> 8).checked_mul(ACTION_WORDS)?)?;
        let (actions, sets) = (actions.as_chunks().0, sets.as_chunks().0);
        Some(FastPathList { header, actions, patterns, sets })
    }
}

impl<'a> FastPathList<'a> {
    /// Returns the id of the fast path of the action with this string id; `None` is an action that
    /// the table does not know. `matches` returns true if the pattern with a string id matches the
    /// action. Returns `None` if the general path decides.
    #[must_use]
    pub fn fast_path(&self, action: Option<u32>, matches: impl Fn(u32) -> bool) -> Option<u32> {
        self.of(action, matches)?[1].checked_sub(1)
    }

    /// Returns the id of the fast path with verdicts of an action, as [`FastPathList::fast_path`]
    /// does.
    #[must_use]
    pub fn verdicts(&self, action: Option<u32>, matches: impl Fn(u32) -> bool) -> Option<u32> {
        self.of(action, matches)?[2].checked_sub(1)
    }

    fn of(&self, action: Option<u32>, matches: impl Fn(u32) -> bool) -> Option<Action> {
        let listed = action
            .and_then(|id| self.actions.binary_search_by_key(&id, |entry| entry[0]).ok())
            .and_then(|position| self.actions.get(position));
        if let Some(entry) = listed {
            return Some(*entry);
        }
        let bits = self.patterns.iter().zip(0..u32::BITS);
        let set = bits.fold(0, |set, (pattern, bit)| set | u32::from(matches(*pattern)) << bit);
        self.of_set(set)
    }

    /// Returns the id of the fast path of actions that are not listed and that these patterns
    /// match: a bit for each pattern.
    #[must_use]
    pub fn set(&self, patterns: u32) -> Option<u32> {
        self.of_set(patterns)?[1].checked_sub(1)
    }

    /// Returns the id of the fast path with verdicts of a set, as [`FastPathList::set`] does.
    #[must_use]
    pub fn verdict_set(&self, patterns: u32) -> Option<u32> {
        self.of_set(patterns)?[2].checked_sub(1)
    }

    fn of_set(&self, patterns: u32) -> Option<Action> {
        if patterns == 0 {
            let [effect, verdicts, ..] = self.header;
            return Some([0, effect, verdicts]);
        }
        let position = self.sets.binary_search_by_key(&patterns, |set| set[0]).ok()?;
        self.sets.get(position).copied()
    }

    /// Returns the id of the fast path whose entries grant derived roles; `None` if no policy has
    /// any.
    #[must_use]
    pub const fn grants(&self) -> Option<u32> {
        self.header[2].checked_sub(1)
    }

    /// Returns the string ids of the patterns.
    #[must_use]
    pub const fn patterns(&self) -> &'a [u32] {
        self.patterns
    }

    /// Returns bits and fast paths of each set of patterns, sorted by bits.
    pub fn sets(&self) -> impl Iterator<Item = (u32, [Option<u32>; 2])> + use<'a> {
        self.sets.iter().map(paths)
    }

    /// Returns the number of words of the list.
    #[must_use]
    pub const fn words(&self) -> usize {
        LIST_WORDS + ACTION_WORDS * (self.actions.len() + self.sets.len()) + self.patterns.len()
    }

    /// Returns string id and fast path of each listed action, sorted by id.
    pub fn actions(&self) -> impl Iterator<Item = (u32, Option<u32>)> + use<'a> {
        self.actions.iter().map(paths).map(|(action, [fast_path, _])| (action, fast_path))
    }

    /// Returns string id and fast path with verdicts of each listed action, sorted by id.
    pub fn actions_with_verdicts(&self) -> impl Iterator<Item = (u32, Option<u32>)> + use<'a> {
        self.actions.iter().map(paths).map(|(action, [_, verdicts])| (action, verdicts))
    }
}

/// Returns the string id or the bits of a record, and its fast paths.
fn paths([key, effect, verdicts]: &Action) -> (u32, [Option<u32>; 2]) {
    (*key, [effect, verdicts].map(|fast_path| fast_path.checked_sub(1)))
}

impl<'a> FastPath<'a> {
    /// Returns the flags, such as [`SIMPLE`](crate::layout::SIMPLE).
    #[inline]
    #[must_use]
    pub const fn flags(&self) -> u32 {
        self.start[fast_path::FLAGS]
    }

    /// Returns the mask or class of a role that is not listed.
    #[inline]
    #[must_use]
    pub const fn others(&self) -> u32 {
        self.start[fast_path::OTHERS]
    }

    /// Returns the slots in their order.
    pub fn slots(&self) -> impl Iterator<Item = SlotRecord<'a>> + use<'a> {
        let record = self.record;
        let (slots, _) = record.get(PATH_WORDS..).unwrap_or(&[]).as_chunks::<SLOT_WORDS>();
        slots.iter().take(at(self.start[fast_path::SLOTS])).map(move |[slot, uses, offset]| {
            let words = if *offset == 0 { &[] } else { counted(record, *offset) };
            let (slot, uses) = (*slot, *uses);
            match words.split_first().filter(|_| uses & TEST != 0) {
                None => SlotRecord { slot, uses, constants: words, test: None },
                Some((kind, terms)) => {
                    let test = SlotTest { kind: *kind, terms: terms.as_chunks().0 };
                    SlotRecord { slot, uses, constants: &[], test: Some(test) }
                }
            }
        })
    }

    /// Returns string id and mask (or class) of each listed role, sorted by id.
    #[must_use]
    pub fn roles(&self) -> &'a [[u32; ROLE_WORDS]] {
        let first = at(self.start[fast_path::SLOTS]).saturating_mul(SLOT_WORDS);
        let words = self.record.get(PATH_WORDS.saturating_add(first)..).unwrap_or(&[]);
        words.as_chunks().0.get(..at(self.start[fast_path::ROLES])).unwrap_or(&[])
    }

    /// Returns the mask (or class) of a role; `None` is a role that the table does not know.
    #[must_use]
    pub fn role(&self, id: Option<u32>) -> u32 {
        let roles = self.roles();
        let listed = id.and_then(|id| roles.binary_search_by_key(&id, |role| role[0]).ok());
        listed.and_then(|position| roles.get(position)).map_or(self.others(), |role| role[1])
    }

    /// Returns the entries of a fast path that is not by class.
    #[inline]
    #[must_use]
    pub fn entries(&self) -> &'a [Entry] {
        self.entries_at(self.start[fast_path::ENTRIES_AT], self.start[fast_path::ENTRIES])
    }

    /// Returns the number of classes of a fast path by class.
    #[must_use]
    pub const fn classes(&self) -> u32 {
        self.start[fast_path::ENTRIES]
    }

    /// Returns the entries of one class of a fast path by class.
    #[must_use]
    pub fn class(&self, class: u32) -> Option<&'a [Entry]> {
        let (classes, _) =
            self.record.get(at(self.start[fast_path::ENTRIES_AT])..)?.as_chunks::<2>();
        let [offset, count] = classes.get(..at(self.classes()))?.get(at(class))?;
        Some(self.entries_at(*offset, *count))
    }

    /// Returns the origins of the entries, in their order; empty in a fast path without verdicts.
    #[must_use]
    pub fn origins(&self) -> &'a [u32] {
        match at(self.start[fast_path::ORIGINS_AT]) {
            0 => &[],
            start => {
                let end = start.saturating_add(at(self.start[fast_path::ENTRIES]));
                self.record.get(start..end).unwrap_or(&[])
            }
        }
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
        (at(self.start[fast_path::CODE_AT]), at(self.start[fast_path::CODE_WORDS]))
    }

    pub(crate) const fn start(&self) -> &'a [u32; PATH_WORDS] {
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
