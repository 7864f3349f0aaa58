//! Of many rules about topics, those whose patterns match one: the others are false.
//!
//! The patterns of the rules of a role are a set of filters, so that the time of a decision depends
//! on the rules that match and not on those that there are.

use std::fmt;
use std::iter::Peekable;
use std::slice::Iter;

use wardgate_fastpath::{Entry, FastPath, Selection};
use wardgate_mqtt::{Filters, Name, OwnedFilter};

use crate::fast::topic::programs::{Matched, Program};

/// The indexes of the entries of a fast path, one for each class.
#[derive(Debug, Default)]
pub(crate) struct Index {
    lists: Box<[Option<List>]>,
}

/// The entries of one class.
struct List {
    /// The patterns of entries that are false where none of them matches.
    patterns: Filters<Found>,
    /// The numbers of the other entries, ascending.
    others: Box<[u32]>,
}

/// The number of an entry, and its program, if that is true where the pattern matches.
#[derive(Clone, Copy)]
struct Found {
    entry: u32,
    program: Option<u32>,
}

/// The question which entries may not be false for a topic.
pub(super) struct Asked<'i, 'n> {
    index: &'i Index,
    name: Name<'n>,
    matched: &'i Matched,
}

impl Index {
    /// Makes the indexes of a fast path, of whose programs `known` returns those about the topic.
    /// `room` is the number of patterns that they may have; lists beyond it have no index.
    pub(super) fn new<'p>(
        fast_path: &FastPath<'_>,
        known: &dyn Fn(u32) -> Option<&'p Program>,
        room: &mut usize,
    ) -> Self {
        let lists: Vec<Option<List>> =
            fast_path.lists().map(|entries| List::new(fast_path, entries, known, room)).collect();
        let is_empty = lists.iter().all(Option::is_none);
        Self { lists: if is_empty { Box::default() } else { lists.into() } }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }
}

impl List {
    fn new<'p>(
        fast_path: &FastPath<'_>,
        entries: &[Entry],
        known: &dyn Fn(u32) -> Option<&'p Program>,
        room: &mut usize,
    ) -> Option<Self> {
        if entries.len() < MIN_ENTRIES {
            return None;
        }
        let mut patterns = Vec::new();
        let mut others = Vec::new();
        for (position, entry) in (0..).zip(entries) {
            match patterns_of(fast_path, (entry, position), known) {
                Some(found) => patterns.extend(found),
                None => others.push(position),
            }
        }
        if entries.len() - others.len() < MIN_ENTRIES {
            return None;
        }
        *room = room.checked_sub(patterns.len())?;
        let mut set = Filters::new();
        for (pattern, found) in patterns {
            set.insert(pattern.filter(), found).ok()?;
        }
        Some(Self { patterns: set, others: others.into() })
    }
}

/// Returns the patterns of an entry that is false where none of them matches; `None` of any other.
fn patterns_of<'p>(
    fast_path: &FastPath<'_>,
    (entry, position): (&Entry, u32),
    known: &dyn Fn(u32) -> Option<&'p Program>,
) -> Option<Vec<(&'p OwnedFilter, Found)>> {
    let mut patterns = Vec::new();
    let is_false = fast_path.is_false_without(entry, |program| {
        let constant = known(program).filter(|program| program.words.is_empty());
        let is_true = |it: &Program| it.is_whole.then_some(it.number);
        let found = Found { entry: position, program: constant.and_then(is_true) };
        let all = constant.map_or(&[][..], |program| &program.patterns);
        patterns.extend(all.iter().map(|pattern| (pattern, found)));
        constant.is_some()
    });
    is_false.then_some(patterns)
}

impl<'i, 'n> Asked<'i, 'n> {
    pub(super) const fn new(index: &'i Index, name: Name<'n>, matched: &'i Matched) -> Self {
        Self { index, name, matched }
    }
}

impl Selection for Asked<'_, '_> {
    fn select<'e>(&self, class: u32, entries: &'e [Entry]) -> impl Iterator<Item = &'e Entry> {
        let class = usize::try_from(class).unwrap_or(usize::MAX);
        match self.index.lists.get(class) {
            Some(Some(list)) => {
                let mut found = Numbers::default();
                list.patterns.matches(self.name, &mut |it| {
                    found.add(it.entry);
                    it.program.into_iter().for_each(|program| self.matched.add(program));
                });
                found.sort();
                Selected::Some { entries, others: list.others.iter().peekable(), found, next: 0 }
            }
            _ => Selected::All(entries.iter()),
        }
    }
}

/// Entries in their order.
enum Selected<'l, 'e> {
    All(Iter<'e, Entry>),
    /// Those with the numbers of two lists.
    Some {
        entries: &'e [Entry],
        others: Peekable<Iter<'l, u32>>,
        found: Numbers,
        next: usize,
    },
}

impl<'e> Iterator for Selected<'_, 'e> {
    type Item = &'e Entry;

    fn next(&mut self) -> Option<&'e Entry> {
        let (entries, others, found, next) = match self {
            Self::All(entries) => return entries.next(),
            Self::Some { entries, others, found, next } => (entries, others, found.all(), next),
        };
        let number = match (found.get(*next), others.peek()) {
            (Some(first), other) if other.is_none_or(|other| first < *other) => {
                let same = found.iter().skip(*next).take_while(|number| *number == first);
                *next += same.count();
                *first
            }
            _ => *others.next()?,
        };
        entries.get(usize::try_from(number).ok()?)
    }
}

/// Numbers of entries, the first of them without an allocation.
#[derive(Default)]
struct Numbers {
    few: [u32; FEW],
    count: usize,
    many: Vec<u32>,
}

impl Numbers {
    fn add(&mut self, number: u32) {
        match self.few.get_mut(self.count) {
            Some(free) => *free = number,
            None => {
                if self.many.is_empty() {
                    self.many.extend(self.few);
                }
                self.many.push(number);
            }
        }
        self.count += 1;
    }

    fn sort(&mut self) {
        if self.many.is_empty() {
            self.few.get_mut(..self.count).unwrap_or_default().sort_unstable();
        } else {
            self.many.sort_unstable();
        }
    }

    fn all(&self) -> &[u32] {
        if self.many.is_empty() { self.few.get(..self.count).unwrap_or(&[]) } else { &self.many }
    }
}

impl fmt::Debug for List {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (patterns, others) = (self.patterns.len(), self.others.len());
        out.debug_struct("List").field("patterns", &patterns).field("others", &others).finish()
    }
}

/// The fewest entries that an index is quicker for than trying them all.
const MIN_ENTRIES: usize = 8;

/// The numbers that are held without an allocation.
const FEW: usize = 8;
