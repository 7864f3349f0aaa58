//! The threads that answer.
//!
//! A connection stays with the thread that it was given to, whose runtime nobody else wakes. Threads that take work from each
//! other wake each other for every request: on two cores, with the clients on the same ones, two threads answered
//! 24,857 requests a second over 16 connections that way, and 56,409 this way (2026-11-22).

use std::io;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use crate::net::awake;

/// Threads that answer. They end when it is dropped, whatever they are at.
#[derive(Debug)]
pub(crate) struct Crew {
    members: Vec<Member>,
    _ends: Vec<oneshot::Sender<()>>,
}

/// One thread, and how many connections it has.
#[derive(Debug)]
struct Member {
    handle: Handle,
    connections: Arc<AtomicUsize>,
}

/// A connection that a thread has, until it is dropped.
pub(crate) struct Seat {
    pub(crate) thread: Handle,
    connections: Arc<AtomicUsize>,
}

impl Crew {
    /// Starts so many threads, or one for each core, that stay `awake` so long between quick answers.
    ///
    /// # Errors
    /// The system has no threads for it.
    pub(crate) fn start(count: Option<usize>, awake: Duration) -> io::Result<Self> {
        let cores = || thread::available_parallelism().map_or(1, NonZero::get);
        let mut crew = Self { members: Vec::new(), _ends: Vec::new() };
        for _ in 0..count.unwrap_or_else(cores).max(1) {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let (handle, connections) = (runtime.handle().clone(), Arc::default());
            crew.members.push(Member { handle, connections });
            let (end, ended) = oneshot::channel::<()>();
            crew._ends.push(end);
            let work = move || {
                runtime.block_on(async {
                    tokio::select! {
                        // Nothing is ever sent: it ends when the other end is dropped.
                        _ = ended => {}
                        () = awake::keep(awake) => {}
                    }
                });
            };
            thread::Builder::new().name("answers".to_owned()).spawn(work)?;
        }
        Ok(crew)
    }

    /// How many threads there are.
    pub(crate) const fn len(&self) -> usize {
        self.members.len()
    }

    /// Takes a seat for a connection: at the thread that has the fewest, and at the first of several.
    pub(crate) fn seat(&self) -> Option<Seat> {
        let count = |member: &&Member| member.connections.load(Ordering::Relaxed);
        let member = self.members.iter().min_by_key(count)?;
        member.connections.fetch_add(1, Ordering::Relaxed);
        let (thread, connections) = (member.handle.clone(), Arc::clone(&member.connections));
        Some(Seat { thread, connections })
    }

    /// The threads, in the order in which they get connections while there are none.
    pub(crate) fn threads(&self) -> Vec<Handle> {
        self.members.iter().map(|member| member.handle.clone()).collect()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::Crew;
    use std::time::Duration;

    #[test]
    fn connections_are_spread_and_gaps_are_filled() {
        let crew = Crew::start(Some(3), Duration::ZERO).expect("there are threads");
        let places = |crew: &Crew| {
            let count = |member: &super::Member| {
                member.connections.load(std::sync::atomic::Ordering::Relaxed)
            };
            crew.members.iter().map(count).collect::<Vec<_>>()
        };
        let mut seats: Vec<_> = (0..7).filter_map(|_| crew.seat()).collect();
        assert_eq!(places(&crew), [3, 2, 2]);
        // The second, fifth: both of the second thread.
        drop((seats.remove(4), seats.remove(1)));
        assert_eq!(places(&crew), [3, 0, 2]);
        seats.extend((0..2).filter_map(|_| crew.seat()));
        assert_eq!(places(&crew), [3, 2, 2]);
        drop(seats);
        assert_eq!(places(&crew), [0, 0, 0]);
    }
}
