//! The blocks of logs, shared by several threads.

use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};

use crate::limits::MAX_THREADS;
use crate::lines::{Block, Lines};
use crate::source::Source;

/// A log that cannot be read.
#[derive(Debug)]
pub struct LogError {
    /// The number of the log, from 0.
    pub log: usize,
    /// The error.
    pub error: io::Error,
}

/// Hands each block of the logs to one of at most `threads` workers, and returns what these have found.
///
/// # Errors
/// A log cannot be read.
pub(crate) fn each_block<'s, W, F: Send>(
    logs: impl Iterator<Item = io::Result<Source<'s>>> + Send,
    threads: usize,
    begin: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, usize, &Block) + Sync,
    end: impl Fn(W) -> F + Sync,
) -> Result<Vec<F>, LogError> {
    let feed = Mutex::new(Feed { logs, current: None, next: 0 });
    let run = || {
        let (mut worker, mut block) = (begin(), Block::default());
        loop {
            let read = feed.lock().unwrap_or_else(PoisonError::into_inner).read(&mut block)?;
            let Some(log) = read else { return Ok(end(worker)) };
            work(&mut worker, log, &block);
        }
    };
    std::thread::scope(|scope| {
        let count = threads.clamp(1, MAX_THREADS);
        let others: Vec<_> = (1..count).map(|_| scope.spawn(run)).collect();
        let mut found = vec![run()];
        found.extend(
            others
                .into_iter()
                .map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))),
        );
        found.into_iter().collect()
    })
}

/// The blocks of all logs, one after the other.
struct Feed<'s, I> {
    logs: I,
    current: Option<Lines<Box<dyn Read + Send + 's>>>,
    /// The number of the next log.
    next: usize,
}

impl<'s, I: Iterator<Item = io::Result<Source<'s>>>> Feed<'s, I> {
    /// Reads the next block, and returns the number of its log; `None` at the end. After an error all is at an end.
    fn read(&mut self, block: &mut Block) -> Result<Option<usize>, LogError> {
        loop {
            if let Some(lines) = &mut self.current {
                let log = self.next.saturating_sub(1);
                match lines.read(block) {
                    Ok(true) => return Ok(Some(log)),
                    Ok(false) => self.current = None,
                    Err(error) => {
                        self.current = None;
                        while self.logs.next().is_some() {}
                        return Err(LogError { log, error });
                    }
                }
            }
            let Some(log) = self.logs.next() else { return Ok(None) };
            let number = self.next;
            self.next += 1;
            let log = log.map_err(|error| LogError { log: number, error })?;
            self.current = Some(Lines::new(log.lines, log.first));
        }
    }
}
