//! The bounded queue of spans to send.

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use super::span::Span;

/// The waiting spans, and the counts of those before them.
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    /// The most that may wait or be on their way.
    most: usize,
    /// So many are worth to be sent before their time.
    batch: usize,
    enough: Notify,
    closed: watch::Sender<bool>,
    counts: Counts,
}

#[derive(Default)]
struct Waiting {
    spans: Vec<Span>,
    /// The number of spans that were taken and are neither sent nor dropped yet.
    taken: usize,
}

/// The counts of spans.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    sent: AtomicU64,
    dropped: AtomicU64,
}

impl Queue {
    pub(super) fn new(most: usize, batch: usize) -> Self {
        Self {
            waiting: Mutex::default(),
            most,
            batch,
            enough: Notify::new(),
            closed: watch::Sender::new(false),
            counts: Counts::default(),
        }
    }

    /// Adds a span if there is room. The lock is held for no longer than that.
    pub(super) fn put(&self, span: Span) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = waiting.spans.len().saturating_add(waiting.taken) < self.most;
        if has_room {
            waiting.spans.push(span);
        }
        let is_enough = has_room && waiting.spans.len() == self.batch;
        drop(waiting);
        if is_enough {
            self.enough.notify_one();
        }
        if !has_room {
            self.counts.dropped(1);
        }
    }

    /// Takes all waiting spans. Each must be reported as [ended](Self::ended).
    pub(super) fn take(&self) -> Vec<Span> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let spans = mem::take(&mut waiting.spans);
        waiting.taken = waiting.taken.saturating_add(spans.len());
        spans
    }

    /// Makes room for as many as were sent or dropped.
    pub(super) fn ended(&self, sent: usize, dropped: usize) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.taken = waiting.taken.saturating_sub(sent.saturating_add(dropped));
        drop(waiting);
        self.counts.sent.fetch_add(u64::try_from(sent).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.counts.dropped(dropped);
    }

    /// Returns the number of spans that wait or are being sent.
    pub(super) fn left(&self) -> usize {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.spans.len().saturating_add(waiting.taken)
    }

    /// Ends when there are enough to be sent, or after a time, or when there will be no more.
    pub(super) async fn enough(&self, interval: Duration) {
        tokio::select! {
            _ = timeout(interval, self.enough.notified()) => {}
            () = self.closed() => {}
        }
    }

    /// Says that there will be no more.
    pub(super) fn close(&self) {
        self.closed.send_replace(true);
    }

    pub(super) fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    /// Ends when there will be no more.
    pub(super) async fn closed(&self) {
        // The other end is here, so it cannot fail.
        let _ = self.closed.subscribe().wait_for(|closed| *closed).await;
    }

    pub(super) const fn counts(&self) -> &Counts {
        &self.counts
    }
}

impl Counts {
    /// Returns the number of spans that a collector has taken.
    pub(crate) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Returns the number of spans lost to a full queue or a collector that refused them.
    pub(crate) fn lost(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    fn dropped(&self, count: usize) {
        self.dropped.fetch_add(u64::try_from(count).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}
