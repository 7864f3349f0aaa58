//! Repeated members of one object: readers do not agree which of them counts, so they are refused.
//!
//! The fast path only has to detect them. A name has a mark among 64; names that share one are
//! compared. The plain reader reports them, and it reads objects with more members than fit here.

use wardgate_engine::limits::MAX_VALUE_DEPTH;

use super::input::{Scanned, Stop};
use super::scan::{Fault, Scanner, Start, Text};

/// The names of the open objects, innermost last.
pub(crate) struct OpenNames {
    names: [(usize, usize); MAX_NAMES],
    used: usize,
}

/// An open object: the index of its first name, and its marks.
pub(crate) struct Object {
    first: usize,
    marks: Marks,
}

/// The marks of the names of one object.
#[derive(Clone, Copy, Default)]
pub(crate) struct Marks(u64);

impl Marks {
    /// Marks a name, and returns true if an earlier name may be equal.
    #[inline(always)]
    pub(crate) fn is_shared(&mut self, scanner: &Scanner<'_>, name: Text) -> bool {
        // Numbered names differ in their last letter. For an empty name the last byte is its quote.
        let last = scanner.byte(name.end.wrapping_sub(1));
        let [length, ..] = name.end.wrapping_sub(name.start).to_le_bytes();
        let bit = 1 << (last.wrapping_mul(5).wrapping_add(length) % 64);
        let is_shared = self.0 & bit != 0;
        self.0 |= bit;
        is_shared
    }
}

impl OpenNames {
    pub(crate) const fn new() -> Self {
        Self { names: [(0, 0); MAX_NAMES], used: 0 }
    }

    /// Forgets all names.
    pub(crate) const fn clear(&mut self) {
        self.used = 0;
    }

    /// Begins an object.
    #[inline]
    pub(crate) const fn open(&self) -> Object {
        Object { first: self.used, marks: Marks(0) }
    }

    /// Notes the name of a member; a repeated name is an error.
    #[inline]
    pub(crate) fn note(
        &mut self,
        scanner: &Scanner<'_>,
        name: Text,
        object: &mut Object,
    ) -> Scanned<()> {
        let is_shared = object.marks.is_shared(scanner, name);
        // The name behind escapes is not known here.
        if name.is_escaped || is_shared && self.has(scanner, object.first, scanner.raw_bytes(name))
        {
            return Err(Stop::Unsupported);
        }
        *self.names.get_mut(self.used).ok_or(Stop::Unsupported)? = (name.start, name.end);
        self.used += 1;
        Ok(())
    }

    /// Ends the innermost object.
    #[inline]
    pub(crate) const fn close(&mut self, object: Object) {
        self.used = object.first;
    }

    /// Skips a value that begins here. A repeated name in one of its objects is an error.
    #[inline(never)]
    pub(crate) fn skip(&mut self, scanner: &mut Scanner<'_>, start: Start) -> Scanned<()> {
        self.skip_within(scanner, start, MAX_VALUE_DEPTH)
    }

    #[inline]
    fn skip_within(
        &mut self,
        scanner: &mut Scanner<'_>,
        start: Start,
        depth: usize,
    ) -> Scanned<()> {
        match start {
            Start::Object => self.skip_object(scanner, inside(depth)?),
            Start::List => self.skip_list(scanner, inside(depth)?),
            scalar => Ok(scanner.skip(scalar)?),
        }
    }

    fn skip_object(&mut self, scanner: &mut Scanner<'_>, depth: usize) -> Scanned<()> {
        let (mut object, mut is_first) = (self.open(), true);
        scanner.enter();
        while let Some(name) = scanner.member(is_first)? {
            is_first = false;
            self.note(scanner, name, &mut object)?;
            let start = scanner.start()?;
            self.skip_within(scanner, start, depth)?;
        }
        self.close(object);
        Ok(())
    }

    fn skip_list(&mut self, scanner: &mut Scanner<'_>, depth: usize) -> Scanned<()> {
        let mut is_first = true;
        scanner.enter();
        while scanner.element(is_first)? {
            is_first = false;
            let start = scanner.start()?;
            self.skip_within(scanner, start, depth)?;
        }
        Ok(())
    }

    #[inline(never)]
    fn has(&self, scanner: &Scanner<'_>, first: usize, name: &[u8]) -> bool {
        let names = self.names.get(first..self.used).unwrap_or(&[]);
        names.iter().any(|(start, end)| {
            end - start == name.len()
                && scanner.raw_bytes(Text { start: *start, end: *end, is_escaped: false }) == name
        })
    }
}

fn inside(depth: usize) -> Scanned<usize> {
    depth.checked_sub(1).ok_or(Stop::Fault(Fault::TooDeep))
}

/// The largest number of names of all objects that are open at once.
const MAX_NAMES: usize = 128;
