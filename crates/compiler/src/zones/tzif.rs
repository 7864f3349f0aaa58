//! The file format of compiled time zones, RFC 9636.
//!
//! A file holds its data twice, first with 32-bit times for old readers; only the second part,
//! with 64-bit times and the rule for the time after them, is read.

const HEADER: usize = 44;
const MAGIC: &[u8] = b"TZif";

/// The recorded offsets of a place, in seconds east of UTC.
pub(super) struct Changes {
    /// Before the first change.
    pub(super) first: i32,
    /// Seconds since the epoch, and the offset from then on.
    pub(super) later: Vec<(i64, i32)>,
}

/// Lengths of the parts of a data block, in the order of the header.
struct Counts {
    ut_marks: usize,
    standard_marks: usize,
    leaps: usize,
    times: usize,
    types: usize,
    name_bytes: usize,
}

/// Returns the recorded changes and the text of the rule that follows them.
pub(super) fn parse(file: &[u8]) -> Option<(Changes, &str)> {
    let old = Counts::of(file)?;
    let file = file.get(HEADER.checked_add(old.block(4)?)?..)?;
    let counts = Counts::of(file)?;
    let block = file.get(HEADER..)?;
    let (block, tail) = block.split_at_checked(counts.block(8)?)?;
    let tail = tail.strip_prefix(b"\n")?.strip_suffix(b"\n")?;
    Some((changes(block, &counts)?, std::str::from_utf8(tail).ok()?))
}

impl Counts {
    fn of(file: &[u8]) -> Option<Self> {
        let header = file.strip_prefix(MAGIC)?.get(16..HEADER - MAGIC.len())?;
        let mut counts = header.chunks_exact(4).map(number);
        let mut next = || counts.next().flatten();
        Some(Self {
            ut_marks: next()?,
            standard_marks: next()?,
            leaps: next()?,
            times: next()?,
            types: next()?,
            name_bytes: next()?,
        })
    }

    /// Returns the length of a block whose times have so many bytes.
    fn block(&self, time: usize) -> Option<usize> {
        let parts = [
            self.times.checked_mul(time.checked_add(1)?)?,
            self.types.checked_mul(6)?,
            self.name_bytes,
            self.leaps.checked_mul(time.checked_add(4)?)?,
            self.standard_marks,
            self.ut_marks,
        ];
        parts.iter().try_fold(0_usize, |sum, part| sum.checked_add(*part))
    }
}

fn changes(block: &[u8], counts: &Counts) -> Option<Changes> {
    let (times, rest) = block.split_at_checked(counts.times.checked_mul(8)?)?;
    let (kinds, rest) = rest.split_at_checked(counts.times)?;
    let types = rest.get(..counts.types.checked_mul(6)?)?;
    let offset_of = |kind: usize| {
        let record = types.chunks_exact(6).nth(kind)?;
        record.first_chunk().map(|bytes| i32::from_be_bytes(*bytes))
    };
    let later = times
        .chunks_exact(8)
        .zip(kinds)
        .map(|(time, kind)| {
            let moment = time.first_chunk().map(|bytes| i64::from_be_bytes(*bytes))?;
            Some((moment, offset_of(usize::from(*kind))?))
        })
        .collect::<Option<_>>()?;
    Some(Changes { first: offset_of(0)?, later })
}

fn number(bytes: &[u8]) -> Option<usize> {
    usize::try_from(u32::from_be_bytes(*bytes.first_chunk()?)).ok()
}
