//! Readers of fast paths: the section, the fast paths in it, and the lists that lead to them.
//!
//! Everything is read without copies. A number out of bounds leads to `None` or an empty slice,
//! never to a panic.

use crate::at;
use crate::layout::test::TERM_WORDS;
use crate::layout::{
    ACTION_WORDS, BY_CLASS, ENTRY_WORDS, LIST_WORDS, ORIGINS, PATH_WORDS, ROLE_WORDS, SLOT_WORDS,
    TEST, fast_path,
};

/// The section of fast paths.
#[derive(Clone, Copy, Debug, Default)]
pub struct FastPaths<'a> {
    words: &'a [u32],
}

/// One view of a fast path. See [`fast_path`].
#[derive(Clone, Copy, Debug)]
pub struct FastPath<'a> {
    start: &'a [u32; PATH_WORDS],
    record: &'a [u32],
    /// The number of bits by which the fields of the view are shifted.
    view: u32,
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

/// Entries of both views, entries of verdicts alone, origins of all, places of the latter.
type VerdictParts<'a> = (&'a [Entry], &'a [Entry], &'a [u32], &'a [u32]);

impl<'a> FastPaths<'a> {
    /// Returns the fast paths of a section.
    #[inline]
    #[must_use]
    pub const fn new(words: &'a [u32]) -> Self {
        Self { words }
    }

    /// Returns the number of views: two for each fast path.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.first().map_or(0, |count| at(*count).saturating_mul(2))
    }

    /// Returns true if the section has no fast path.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns view `id`; `None` if it does not exist.
    #[inline]
    #[must_use]
    pub fn get(&self, id: u32) -> Option<FastPath<'a>> {
        let (count, offsets) = self.words.split_first()?;
        let offset = offsets.get(..at(*count))?.get(at(id >> 1))?;
        let record = self.words.get(at(*offset)..)?;
        let effects = FastPath { start: record.first_chunk()?, record, view: 0 };
        if id & 1 == 0 { Some(effects) } else { effects.of_verdicts() }
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
    (*key, [effect.checked_sub(1), verdicts.checked_sub(1)])
}

impl<'a> FastPath<'a> {
    /// Returns the flags, such as [`SIMPLE`](crate::layout::SIMPLE).
    #[inline]
    #[must_use]
    pub const fn flags(&self) -> u32 {
        self.start[fast_path::FLAGS] >> self.view & 0xff
    }

    /// Returns the mask or class of a role that is not listed.
    #[inline]
    #[must_use]
    pub const fn others(&self) -> u32 {
        self.start[fast_path::OTHERS]
    }

    /// Returns the slots in their order.
    pub fn slots(&self) -> impl Iterator<Item = SlotRecord<'a>> + use<'a> {
        let (view, (_, lists)) = (self.view, self.code_and_lists());
        let count = at(self.start[fast_path::SLOTS] >> view & 0xff);
        self.all_slots().iter().take(count).map(move |[slot, uses, offset]| {
            let words = offset.checked_sub(1).map_or(&[][..], |offset| counted(lists, offset));
            let (slot, uses) = (*slot, uses >> view & 0xff);
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
        let slots = self.slot_count().saturating_mul(SLOT_WORDS);
        records(self.record, PATH_WORDS.saturating_add(slots), at(self.start[fast_path::ROLES]))
    }

    /// Returns the mask (or class) of a role; `None` is a role that the table does not know.
    #[must_use]
    pub fn role(&self, id: Option<u32>) -> u32 {
        let roles = self.roles();
        let listed = id.and_then(|id| roles.binary_search_by_key(&id, |role| role[0]).ok());
        listed.and_then(|position| roles.get(position)).map_or(self.others(), |role| role[1])
    }

    /// Returns the entries that bear on allow or deny, of a fast path that is not by class.
    #[inline]
    #[must_use]
    pub fn entries(&self) -> &'a [Entry] {
        records(self.record, self.entries_at(), at(self.start[fast_path::ENTRIES]))
    }

    /// Returns the entries of verdicts alone and their places; none in the view of effects.
    #[must_use]
    pub fn more(&self) -> (&'a [Entry], &'a [u32]) {
        let (_, more, _, places) = self.parts_of_verdicts();
        (more, places)
    }

    /// Returns an entry of the view of verdicts and its origin, by the number that a verdict has.
    #[must_use]
    pub fn entry_with_origin(&self, number: u32) -> Option<(&'a Entry, u32)> {
        let (entries, more, origins, _) = self.parts_of_verdicts();
        let number = at(number);
        let entry = match number.checked_sub(entries.len()) {
            None => entries.get(number)?,
            Some(number) => more.get(number)?,
        };
        Some((entry, *origins.get(number)?))
    }

    /// Returns the number of classes of a fast path by class.
    #[must_use]
    pub const fn classes(&self) -> u32 {
        self.start[fast_path::ENTRIES]
    }

    /// Returns the entries of one class of a fast path by class.
    #[must_use]
    pub fn class(&self, class: u32) -> Option<&'a [Entry]> {
        let [first, count] = self.class_table().get(at(class))?;
        self.class_entries().get(at(*first)..)?.get(..at(*count))
    }

    /// Returns the number of the first entry and of all entries of each class.
    pub(crate) fn class_table(&self) -> &'a [[u32; 2]] {
        records(self.record, self.entries_at(), at(self.classes()))
    }

    /// Returns the entries of all classes.
    pub(crate) fn class_entries(&self) -> &'a [Entry] {
        let classes = at(self.classes()).saturating_mul(2);
        records(
            self.record,
            self.entries_at().saturating_add(classes),
            at(self.start[fast_path::MORE]),
        )
    }

    /// Returns the origins of the entries, those of [`FastPath::more`] last; none in the view of
    /// effects.
    #[must_use]
    pub fn origins(&self) -> &'a [u32] {
        self.parts_of_verdicts().2
    }

    /// Returns the entries of both views, those of verdicts alone, the origins and the places; all
    /// empty in the view of effects.
    #[inline(never)]
    pub(crate) fn parts_of_verdicts(&self) -> VerdictParts<'a> {
        if self.flags() & ORIGINS == 0 {
            return VerdictParts::default();
        }
        let [entries, more] = self.counts();
        let rest = self.record.get(self.entries_at()..).unwrap_or(&[]);
        let all = entries.saturating_add(more);
        let (words, rest) =
            rest.split_at_checked(all.saturating_mul(ENTRY_WORDS)).unwrap_or_default();
        let (origins, rest) = rest.split_at_checked(all).unwrap_or_default();
        let (entries, more_entries) =
            words.as_chunks().0.split_at_checked(entries).unwrap_or_default();
        (entries, more_entries, origins, rest.get(..more).unwrap_or(&[]))
    }

    /// Returns the code, empty if it is not all there, and the lists, with what follows the fast
    /// path.
    #[inline(never)]
    pub(crate) fn code_and_lists(&self) -> (&'a [u32], &'a [u32]) {
        let [entries, more] = self.counts();
        let flags = self.start[fast_path::FLAGS];
        let [of_entry, of_more] = if flags & BY_CLASS != 0 {
            [2, ENTRY_WORDS]
        } else if flags >> 8 & ORIGINS != 0 {
            [ENTRY_WORDS + 1, ENTRY_WORDS + 2]
        } else {
            [ENTRY_WORDS; 2]
        };
        let words = entries.saturating_mul(of_entry).saturating_add(more.saturating_mul(of_more));
        let start = self.entries_at().saturating_add(words);
        let rest = self.record.get(start..).unwrap_or(&[]);
        rest.split_at_checked(at(self.start[fast_path::CODE_WORDS])).unwrap_or_default()
    }

    pub(crate) const fn start(&self) -> &'a [u32; PATH_WORDS] {
        self.start
    }

    /// Returns the same fast path in the view of effects.
    pub(crate) const fn of_effects(self) -> Self {
        Self { view: 0, ..self }
    }

    /// Returns the view of verdicts; `None` if there is none.
    pub(crate) fn of_verdicts(self) -> Option<Self> {
        let view = Self { view: 8, ..self };
        (view.flags() & ORIGINS != 0).then_some(view)
    }

    pub(crate) const fn record(&self) -> &'a [u32] {
        self.record
    }

    /// Returns the records of the slots of both views.
    pub(crate) fn all_slots(&self) -> &'a [[u32; SLOT_WORDS]] {
        records(self.record, PATH_WORDS, self.slot_count())
    }

    #[inline]
    fn slot_count(&self) -> usize {
        let slots = self.start[fast_path::SLOTS];
        at((slots & 0xff).max(slots >> 8))
    }

    /// Returns the number of entries that bear on allow or deny, and of those of verdicts alone.
    fn counts(&self) -> [usize; 2] {
        [at(self.start[fast_path::ENTRIES]), at(self.start[fast_path::MORE])]
    }

    // A sum that overflows leads out of the fast path, or to other words of it.
    #[inline]
    fn entries_at(&self) -> usize {
        let roles = at(self.start[fast_path::ROLES]).wrapping_mul(ROLE_WORDS);
        let slots = self.slot_count().wrapping_mul(SLOT_WORDS);
        PATH_WORDS.wrapping_add(slots).wrapping_add(roles)
    }
}

/// Returns `count` records of `N` words from `start` on; none if they are not all there.
#[inline]
fn records<const N: usize>(words: &[u32], start: usize, count: usize) -> &[[u32; N]] {
    let records = words.get(start..).and_then(|words| words.get(..count.checked_mul(N)?));
    records.unwrap_or(&[]).as_chunks().0
}

/// Returns the list at an offset: a count, then that many words.
#[inline]
pub(crate) fn counted(words: &[u32], offset: u32) -> &[u32] {
    let list = words.get(at(offset)..).unwrap_or(&[]);
    list.split_first().and_then(|(count, rest)| rest.get(..at(*count))).unwrap_or(&[])
}
