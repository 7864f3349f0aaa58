//! Work that follows the log on a thread of its own: it reads what was written, and nothing waits for it.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::{io, pin::pin, thread};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::limits::FLUSH;

/// Work that goes on until the server stops.
pub(super) trait Work: Send + 'static {
    /// The name of its thread.
    const THREAD: &'static str;
    /// The warning that its last round was cut off.
    const CUT_OFF: &'static str;
    /// The warning that its thread is not waited for.
    const LEFT: &'static str;

    /// Works until the server has stopped, and once more then.
    async fn run(&mut self, stops: watch::Receiver<bool>);

    /// Keeps what the next start needs to know.
    fn end(&mut self) {}
}

/// The thread of such work.
#[derive(Debug)]
pub(super) struct Follower<W> {
    stops: watch::Sender<bool>,
    /// The work, until its thread has begun.
    work: Mutex<Option<W>>,
    /// Says when it has ended.
    ended: Mutex<Option<Receiver<()>>>,
}

impl<W: Work> Follower<W> {
    pub(super) fn new(work: W) -> Self {
        Self {
            stops: watch::Sender::new(false),
            work: Mutex::new(Some(work)),
            ended: Mutex::default(),
        }
    }

    /// Returns the work if its thread has not begun.
    pub(super) fn take(&self) -> Option<W> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Starts the thread.
    ///
    /// # Errors
    /// The system has none for it.
    pub(super) fn start(&self) -> io::Result<()> {
        if let Some(work) = self.take() {
            let ended = begin(work, self.stops.subscribe())?;
            *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
        }
        Ok(())
    }

    /// Lets the work end, as far as a bounded time allows. The log is closed.
    pub(super) fn close(&self) {
        self.stops.send_replace(true);
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner).take();
        let waited = ended.map(|ended| ended.recv_timeout(FLUSH.saturating_mul(2)));
        if waited == Some(Err(RecvTimeoutError::Timeout)) {
            tracing::warn!("{}", W::LEFT);
        }
    }
}

impl<W> Drop for Follower<W> {
    fn drop(&mut self) {
        self.stops.send_replace(true);
    }
}

/// Starts the thread. Nothing is ever received: the other end is dropped when it ends.
fn begin<W: Work>(work: W, stops: watch::Receiver<bool>) -> io::Result<Receiver<()>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let (ends, ended) = mpsc::channel();
    let body = move || {
        follow(work, runtime, stops);
        drop(ends);
    };
    thread::Builder::new().name(W::THREAD.into()).spawn(body)?;
    Ok(ended)
}

fn follow<W: Work>(mut work: W, runtime: Runtime, stops: watch::Receiver<bool>) {
    let mut stopping = stops.clone();
    runtime.block_on(async {
        let mut late = pin!(async {
            let _ = stopping.wait_for(|stops| *stops).await;
            sleep(FLUSH).await;
        });
        tokio::select! {
            () = work.run(stops) => {}
            () = late.as_mut() => tracing::warn!("{}", W::CUT_OFF),
        }
    });
    work.end();
    // A name that is being looked up is not waited for.
    runtime.shutdown_background();
}
