//! Members and texts of a request, noted by their positions in its text.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use super::doubles::{Marks, OpenNames};
use super::input::{Scanned, Stop, each_member, or_unsupported, plain_text, skip};
use super::scan::{Scanner, Start, Text};
use crate::limits::MAX_SHORT_READ_BYTES;

/// A member of an object, or an element of a list, as positions in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) name: (u32, u32),
    pub(crate) value: u32,
    /// The end of the value; 0 for a string with escapes.
    pub(crate) end: u32,
}

/// The members that were noted.
pub(crate) struct Tape {
    members: [Member; MAX_MEMBERS],
    used: usize,
    /// The bytes of values that may still be read again.
    allowance: Cell<usize>,
    /// The names of skipped values.
    pub(crate) names: OpenNames,
}

impl Member {
    /// Returns the text of its name.
    pub(crate) fn name_in<'t>(&self, text: &'t str) -> Option<&'t str> {
        let (start, end) = self.name;
        text.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }

    /// Returns true if both have one name. Most differ in its length or its last letter.
    fn has_name_of(&self, other: &Self, scanner: &Scanner<'_>) -> bool {
        let [(start, end), (from, to)] = [self.name, other.name];
        let last =
            |end: u32| scanner.byte(usize::try_from(end.wrapping_sub(1)).unwrap_or(usize::MAX));
        end.wrapping_sub(start) == to.wrapping_sub(from)
            && last(end) == last(to)
            && self.name_in(scanner.whole()) == other.name_in(scanner.whole())
    }

    /// Returns the offset of its value.
    pub(crate) fn value_at(&self) -> Option<usize> {
        usize::try_from(self.value).ok()
    }
}

impl Tape {
    const fn new() -> Self {
        let none = Member { name: (0, 0), value: 0, end: 0 };
        Self {
            members: [none; MAX_MEMBERS],
            used: 0,
            allowance: Cell::new(0),
            names: OpenNames::new(),
        }
    }

    /// Forgets all members, and begins with another text.
    pub(crate) fn begin(&mut self, text: &str) {
        self.used = 0;
        self.names.clear();
        self.allowance.set(text.len().saturating_add(MAX_SHORT_READ_BYTES));
    }

    /// Returns true if there is allowance left to read `raw` once more, and takes it.
    pub(crate) fn affords(&self, raw: &str) -> bool {
        let left = self.allowance.get().checked_sub(raw.len());
        self.allowance.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Returns the position after the last member.
    pub(crate) const fn mark(&self) -> usize {
        self.used
    }

    /// Forgets the members from a position on.
    pub(crate) const fn rewind(&mut self, mark: usize) {
        self.used = mark;
    }

    pub(crate) fn range(&self, range: &Range<usize>) -> &[Member] {
        self.members.get(range.clone()).unwrap_or(&[])
    }

    /// Notes one text as the only name.
    pub(crate) fn text(&mut self, text: Text) -> Scanned<Range<usize>> {
        let first = self.used;
        let name = (position(text.start)?, position(text.end)?);
        self.note(Member { name, value: 0, end: 0 })?;
        Ok(first..self.used)
    }

    /// Notes the members of an object.
    pub(crate) fn object(
        &mut self,
        scanner: &mut Scanner<'_>,
        start: Start,
    ) -> Scanned<Range<usize>> {
        let (first, mut marks, mut is_shared) = (self.used, Marks::default(), false);
        if start != Start::Object {
            return Err(Stop::Unsupported);
        }
        each_member(scanner, |scanner, name, start| {
            is_shared |= marks.is_shared(scanner, name);
            let value = position(scanner.at())?;
            let is_whole = skip_once(scanner, start, &mut self.names)?;
            let end = if is_whole { position(scanner.at())? } else { 0 };
            let name = (position(name.start)?, position(name.end)?);
            self.note(Member { name, value, end })
        })?;
        if is_shared {
            self.must_be_single(scanner, first)?;
        }
        Ok(first..self.used)
    }

    /// Refuses the members from `first` on if two have one name.
    #[cold]
    fn must_be_single(&self, scanner: &Scanner<'_>, first: usize) -> Scanned<()> {
        let mut members = self.range(&(first..self.used));
        while let [member, others @ ..] = members {
            if others.iter().any(|other| other.has_name_of(member, scanner)) {
                return Err(Stop::Unsupported);
            }
            members = others;
        }
        Ok(())
    }

    /// Notes the elements of a list of text, as names.
    pub(crate) fn texts(
        &mut self,
        scanner: &mut Scanner<'_>,
        start: Start,
    ) -> Scanned<Range<usize>> {
        let first = self.used;
        if start != Start::List {
            return Err(Stop::Unsupported);
        }
        scanner.enter();
        while scanner.element(self.used == first)? {
            let start = scanner.start()?;
            let role = plain_text(scanner, start)?;
            let name = (position(role.start)?, position(role.end)?);
            self.note(Member { name, value: 0, end: 0 })?;
        }
        Ok(first..self.used)
    }

    #[inline]
    fn note(&mut self, member: Member) -> Scanned<()> {
        *or_unsupported(self.members.get_mut(self.used))? = member;
        self.used += 1;
        Ok(())
    }
}

/// Lends the tape of the thread to `work`.
#[inline]
pub(crate) fn with_tape<T>(work: impl FnOnce(&mut Tape) -> T) -> T {
    TAPE.with(|tape| match tape.try_borrow_mut() {
        Ok(mut tape) => work(&mut tape),
        Err(_) => work(&mut Tape::new()),
    })
}

/// Skips a value as [`skip`] does. A repeated name in one of its objects is an error.
#[inline]
fn skip_once(scanner: &mut Scanner<'_>, start: Start, names: &mut OpenNames) -> Scanned<bool> {
    if matches!(start, Start::Object | Start::List) {
        return names.skip(scanner, start).map(|()| true);
    }
    Ok(skip(scanner, start)?)
}

#[inline]
fn position(at: usize) -> Scanned<u32> {
    u32::try_from(at).map_err(|_| Stop::Unsupported)
}

/// The largest number of members and roles that are noted. Larger requests take the general path.
const MAX_MEMBERS: usize = 256;

thread_local! {
    static TAPE: RefCell<Tape> = const { RefCell::new(Tape::new()) };
}
