//! Members that stand twice in one object: no two readers agree what they mean, so they are refused.
//!
//! The short way only has to notice them. A name has a mark among 64; where two names share one, they are compared.
//! What is told of them, and objects with more members than fit here, is for the plain reader.

use wardgate_engine::limits::MAX_VALUE_DEPTH;

use super::input::{Scanned, Stop};
use super::scan::{Fault, Scanner, Start, Text};

/// The names of the objects that are open, innermost last.
pub(crate) struct OpenNames {
    names: [(usize, usize); MAX_NAMES],
    used: usize,
}

/// An object that is open: where its names begin, and their marks.
pub(crate) struct Object {
    first: usize,
    marks: Marks,
}

/// The marks of the names of one object.
#[derive(Clone, Copy, Default)]
pub(crate) struct Marks(u64);

impl Marks {
    /// Marks a name, and returns true if it may be one that was marked before.
    #[inline(always)]
    pub(crate) fn is_shared(&mut self, scanner: &Scanner<'_>, name: Text) -> bool {
        // Numbered names differ in their last letter. Of a name that is empty it is its quote.
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

    /// Notes the name of a member, which must be the only one of that name.
    #[inline]
    pub(crate) fn note(
        &mut self,
        scanner: &Scanner<'_>,
        name: Text,
        object: &mut Object,
    ) -> Scanned<()> {
        let is_shared = object.marks.is_shared(scanner, name);
        // Which name escapes stand for is not known here.
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

    /// Skips a value that begins here, all of whose objects have each name once.
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
    fn has(&self, scanner: &Scanner<'_>, first: usize, said: &[u8]) -> bool {
        let names = self.names.get(first..self.used).unwrap_or(&[]);
        names.iter().any(|(start, end)| {
            end - start == said.len()
                && scanner.raw_bytes(Text { start: *start, end: *end, is_escaped: false }) == said
        })
    }
}

fn inside(depth: usize) -> Scanned<usize> {
    depth.checked_sub(1).ok_or(Stop::Fault(Fault::TooDeep))
}

/// Names of all objects that are open at one place.
const MAX_NAMES: usize = 128;
