//! Blocks of whole lines, numbered.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memrchr};

use crate::limits::{BLOCK_BYTES, MAX_LINE_BYTES};

/// The lines of a log, block by block.
pub struct Lines<R> {
    log: R,
    /// What was read beyond the last block.
    rest: Vec<u8>,
    /// The number of the next line.
    next: u64,
    has_ended: bool,
}

/// Some whole lines of a log.
#[derive(Debug, Default)]
pub struct Block {
    bytes: Vec<u8>,
    /// The number of the first line.
    pub first: u64,
    /// True if the block stands for one line that is too long, and is empty.
    pub is_too_long: bool,
}

impl<R: Read> Lines<R> {
    /// Returns the lines of `log`, of which the first one has the number `next`.
    pub const fn new(log: R, next: u64) -> Self {
        Self { log, rest: Vec::new(), next, has_ended: false }
    }

    /// Reads the next block into `block`, and returns false at the end.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn read(&mut self, block: &mut Block) -> io::Result<bool> {
        block.bytes.clear();
        block.bytes.append(&mut self.rest);
        block.first = self.next;
        block.is_too_long = false;
        loop {
            if !self.has_ended && block.bytes.len() < BLOCK_BYTES {
                self.fill(&mut block.bytes, BLOCK_BYTES)?;
            }
            if let Some(end) = memrchr(b'\n', &block.bytes) {
                self.rest.extend(block.bytes.drain(end + 1..));
                self.next += count(&block.bytes);
                return Ok(true);
            }
            if self.has_ended {
                self.next += u64::from(!block.bytes.is_empty());
                return Ok(!block.bytes.is_empty());
            }
            if block.bytes.len() > MAX_LINE_BYTES {
                return self.skip(block).map(|()| true);
            }
            let length = block.bytes.len().saturating_add(BLOCK_BYTES);
            self.fill(&mut block.bytes, length)?;
        }
    }

    /// Reads until `bytes` has `length` bytes, or the log ends.
    fn fill(&mut self, bytes: &mut Vec<u8>, length: usize) -> io::Result<()> {
        let missing = u64::try_from(length.saturating_sub(bytes.len())).unwrap_or(u64::MAX);
        let read = self.log.by_ref().take(missing).read_to_end(bytes)?;
        self.has_ended = u64::try_from(read) != Ok(missing);
        Ok(())
    }

    /// Skips the rest of a line that is too long.
    fn skip(&mut self, block: &mut Block) -> io::Result<()> {
        block.is_too_long = true;
        self.next += 1;
        loop {
            block.bytes.clear();
            self.fill(&mut block.bytes, BLOCK_BYTES)?;
            if let Some(end) = memchr(b'\n', &block.bytes) {
                self.rest.extend(block.bytes.drain(end + 1..));
            } else if !self.has_ended {
                continue;
            }
            block.bytes.clear();
            return Ok(());
        }
    }
}

impl Block {
    /// Returns the lines with their numbers; empty ones are left out.
    pub fn lines(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let ends = memchr_iter(b'\n', &self.bytes).chain([self.bytes.len()]);
        let lines = ends.scan(0, |start, end| {
            let line = self.bytes.get(*start..end)?;
            *start = end.saturating_add(1);
            Some(line)
        });
        let numbered = (self.first..).zip(lines.map(<[u8]>::trim_ascii));
        numbered.filter(|(_, line)| !line.is_empty())
    }
}

fn count(bytes: &[u8]) -> u64 {
    u64::try_from(memchr_iter(b'\n', bytes).count()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Block, Lines};
    use crate::limits::MAX_LINE_BYTES;

    fn read(log: &[u8]) -> Vec<(u64, usize)> {
        let (mut lines, mut block, mut found) = (Lines::new(log, 1), Block::default(), Vec::new());
        while lines.read(&mut block).unwrap() {
            if block.is_too_long {
                found.push((block.first, usize::MAX));
            }
            found.extend(block.lines().map(|(number, line)| (number, line.len())));
        }
        found
    }

    #[test]
    fn lines_are_numbered_across_blocks() {
        assert_eq!(read(b""), []);
        assert_eq!(read(b"a\n\nbb\r\nccc"), [(1, 1), (3, 2), (4, 3)]);
        let line = [b'x'; 99_999];
        let log = [&line[..]; 9].join(&b'\n');
        assert_eq!(read(&log), (1..=9).map(|number| (number, 99_999)).collect::<Vec<_>>());
    }

    #[test]
    fn a_line_that_is_too_long_is_one_fault() {
        let long = vec![b'x'; MAX_LINE_BYTES * 3];
        let log = [b"a\n", &long[..], b"\nb\n"].concat();
        assert_eq!(read(&log), [(1, 1), (2, usize::MAX), (3, 1)]);
        assert_eq!(read(&long), [(1, usize::MAX)]);
    }
}
