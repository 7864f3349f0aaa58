//! Threads for long decisions.
//!
//! A thread of connections has many clients, and health checks among them. A decision that could
//! keep it busy is made here instead: up to a bound it waits in a queue, and past the bound its
//! client gets 503 with a `Retry-After`.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};

use tokio::sync::oneshot;

use crate::limits::MAX_WAITING_DECISIONS;

/// The threads that decide, and their queue. They end when it is dropped.
#[derive(Debug)]
pub(crate) struct Deciders(Arc<Queue>);

/// The reason for a missing decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecideError {
    /// As much waits as may.
    Full,
    /// Its thread has failed.
    Failed,
}

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Queue {
    jobs: Mutex<Jobs>,
}

#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    /// Idle threads. The last one is woken first: its memory is warm, and the memory that the
    /// allocator reserves for the others stays small.
    idle: Vec<Thread>,
    has_ended: bool,
}

impl Deciders {
    /// Starts `count` threads.
    ///
    /// # Errors
    /// The system has no threads for them.
    pub(crate) fn start(count: usize) -> io::Result<Self> {
        let deciders = Self(Arc::default());
        for _ in 0..count.max(1) {
            let queue = Arc::clone(&deciders.0);
            thread::Builder::new().name("decides".to_owned()).spawn(move || queue.work())?;
        }
        Ok(deciders)
    }

    /// Calls `decide` on one of the threads. If the connection has closed before, it is not called.
    ///
    /// # Errors
    /// There is no room for it, or it panicked.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        decide: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, DecideError> {
        let (done, decided) = oneshot::channel();
        let job = move || {
            if !done.is_closed() {
                // The client may have gone meanwhile.
                let _ = done.send(decide());
            }
        };
        self.queue(job)?;
        decided.await.map_err(|_| DecideError::Failed)
    }

    /// Lets `job` wait for one of the threads.
    ///
    /// # Errors
    /// There is no room for it.
    pub(crate) fn queue(&self, job: impl FnOnce() + Send + 'static) -> Result<(), DecideError> {
        self.0.add(Box::new(job))
    }
}

impl Drop for Deciders {
    fn drop(&mut self) {
        let mut jobs = self.0.jobs();
        jobs.has_ended = true;
        jobs.idle.iter().for_each(Thread::unpark);
    }
}

impl Queue {
    fn add(&self, job: Job) -> Result<(), DecideError> {
        let mut jobs = self.jobs();
        if jobs.waiting.len() >= MAX_WAITING_DECISIONS {
            return Err(DecideError::Full);
        }
        jobs.waiting.push_back(job);
        let woken = jobs.idle.pop();
        drop(jobs);
        if let Some(thread) = woken {
            thread.unpark();
        }
        Ok(())
    }

    fn work(&self) {
        while let Some(job) = self.next() {
            // A panic must not end the thread. The dropped sender of the job reports the failure.
            let _ = catch_unwind(AssertUnwindSafe(job));
        }
    }

    /// Waits for the next job; returns `None` once the server ends.
    fn next(&self) -> Option<Job> {
        let this = thread::current();
        loop {
            let mut jobs = self.jobs();
            jobs.idle.retain(|thread| thread.id() != this.id());
            if jobs.has_ended {
                return None;
            }
            if let Some(job) = jobs.waiting.pop_front() {
                return Some(job);
            }
            jobs.idle.push(this.clone());
            drop(jobs);
            thread::park();
        }
    }

    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        // No code of a job runs while it is held.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").field("waiting", &self.jobs().waiting.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::{DecideError, Deciders};
    use crate::limits::MAX_WAITING_DECISIONS;

    #[tokio::test]
    async fn decisions_are_returned() {
        let deciders = Deciders::start(2).unwrap();
        for number in 0..100 {
            assert_eq!(deciders.run(move || number * 2).await, Ok(number * 2));
        }
    }

    #[tokio::test]
    async fn a_decision_that_panics_costs_no_thread() {
        let deciders = Deciders::start(1).unwrap();
        let failed = deciders.run(|| std::panic::panic_any("a stand-in")).await;
        assert_eq!(failed, Err::<(), _>(DecideError::Failed));
        assert_eq!(deciders.run(|| 7).await, Ok(7));
    }

    #[tokio::test]
    async fn no_more_wait_than_may() {
        let deciders = Deciders::start(1).unwrap();
        let (free, busy) = mpsc::channel::<()>();
        let (begun, has_begun) = mpsc::channel();
        let stand_in = move || {
            begun.send(()).unwrap();
            let _ = busy.recv();
        };
        deciders.queue(stand_in).unwrap();
        has_begun.recv().unwrap();
        for _ in 0..MAX_WAITING_DECISIONS {
            assert_eq!(deciders.queue(|| {}), Ok(()));
        }
        assert_eq!(deciders.run(|| 7).await, Err(DecideError::Full));
        drop(free);
    }

    #[test]
    fn a_job_without_a_receiver_is_skipped() {
        let deciders = Deciders::start(1).unwrap();
        let (free, busy) = mpsc::channel::<()>();
        let stand_in = move || {
            let _ = busy.recv();
        };
        deciders.queue(stand_in).unwrap();
        let (sender, receiver) = mpsc::channel();
        let (left, last) = (sender.clone(), sender);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let decision = std::pin::pin!(deciders.run(move || left.send("left").unwrap()));
            // The future is polled once, and then its client leaves.
            assert!(polled_once(decision).is_none());
        });
        deciders.queue(move || last.send("last").unwrap()).unwrap();
        drop(free);
        assert_eq!(receiver.iter().collect::<Vec<_>>(), ["last"]);
    }

    /// Polls a future once.
    fn polled_once<F: Future>(future: std::pin::Pin<&mut F>) -> Option<F::Output> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match future.poll(&mut context) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        }
    }
}
