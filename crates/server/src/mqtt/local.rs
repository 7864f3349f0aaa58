//! The broker of this server, and the links of clients to it.
//!
//! All threads share one broker behind a lock, which is held for as long as it takes to route what
//! one read brought. A client whose queue has got something is woken after the lock is free, and
//! takes all that is there at once.

use std::future::poll_fn;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::time::{Duration, Instant, MissedTickBehavior, interval, timeout};
use wardgate_mqtt::broker::{Broker, SessionId, Settings, Stored};
use wardgate_mqtt::gate::{Gate, Judge, Steps};
use wardgate_mqtt::packet::Reason;
use wardgate_native::{Clock, SystemClock};

use super::judge::{Author, PolicyJudge};
use crate::limits::{MQTT_LAST_WRITE, MQTT_TICK};
use crate::shared::Shared;

type Message = Arc<Stored<Arc<Author>>>;

/// The broker, for all threads.
pub(super) struct Local {
    broker: Mutex<Broker<Arc<Waiter>, Arc<Author>>>,
    begin: Instant,
    shared: Arc<Shared>,
}

/// Wakes the task of a client.
#[derive(Default)]
pub(super) struct Waiter {
    has_news: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

/// The session of a client. It ends when the link is dropped.
pub(super) struct Link {
    local: Arc<Local>,
    session: Option<SessionId>,
    waiter: Arc<Waiter>,
    /// Made for the first message that is retained.
    author: Option<Arc<Author>>,
    /// When a message that waits for a reader is tried again.
    held_until: Option<Instant>,
}

impl Local {
    pub(super) fn new(settings: Settings, shared: Arc<Shared>) -> Self {
        // Unpredictable, as the hasher of the standard library is.
        let seed = RandomState::new().hash_one("wardgate");
        let broker = Mutex::new(Broker::new(settings, seed));
        shared.metrics().mqtt().has_broker();
        Self { broker, begin: Instant::now(), shared }
    }

    /// Returns a link without session.
    pub(super) fn link(self: &Arc<Self>) -> Link {
        let (local, waiter) = (Arc::clone(self), Arc::default());
        Link { local, session: None, waiter, author: None, held_until: None }
    }

    /// Lets messages expire, and decides on retained messages again after a change.
    pub(super) async fn keep(self: Arc<Self>) {
        let mut stopping = self.shared.stopping();
        let mut tick = interval(MQTT_TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut basis = None;
        let mut was_changed = false;
        loop {
            tokio::select! {
                () = stopping.begun() => return,
                _ = tick.tick() => {}
            }
            self.lock().tick(self.now());
            let state = self.shared.state();
            let now = Some((state.serial(), state.has_expired(SystemClock.now())));
            let is_changed = now != basis;
            basis = now;
            // Once more at the next tick: a message may have been decided before the change and
            // stored after it.
            self.reconsider(is_changed || was_changed).await;
            was_changed = is_changed;
            self.gauge();
        }
    }

    async fn reconsider(&self, is_changed: bool) {
        let messages = self.lock().retained();
        for some in messages.chunks(BATCH) {
            let may_stay = |message: &&Message| {
                let author = message.publisher();
                match is_changed {
                    true => author.may_publish(&self.shared, message),
                    false => author.is_timely(),
                }
            };
            let lost: Vec<_> = some.iter().filter(|message| !may_stay(message)).collect();
            if !lost.is_empty() {
                let mut broker = self.lock();
                lost.into_iter().for_each(|message| broker.forget(message));
            }
            tokio::task::yield_now().await;
        }
    }

    fn gauge(&self) {
        let (retained, subscriptions) = {
            let broker = self.lock();
            (broker.retained_size(), broker.subscriptions())
        };
        self.shared.metrics().mqtt().gauge(retained, subscriptions);
    }

    fn lock(&self) -> MutexGuard<'_, Broker<Arc<Waiter>, Arc<Author>>> {
        self.broker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begin.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Waiter {
    fn register(&self, waker: &Waker) {
        let mut known = self.waker.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *known {
            Some(known) => known.clone_from(waker),
            None => *known = Some(waker.clone()),
        }
    }

    fn wake(&self) {
        self.has_news.store(true, Ordering::Release);
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).clone();
        waker.into_iter().for_each(Waker::wake);
    }

    fn has_news(&self) -> bool {
        self.has_news.load(Ordering::Acquire)
    }
}

impl Link {
    /// Returns when to try again what waits for a reader.
    pub(super) const fn held_until(&self) -> Option<Instant> {
        self.held_until
    }

    /// Tries again what waits for a reader.
    pub(super) const fn try_again(&mut self) {
        self.held_until = None;
    }

    /// Gives the broker what the gate has passed on, and the gate what the broker has. Returns the
    /// reason code if the broker closes the connection, and true if anything moved.
    pub(super) fn exchange(
        &mut self,
        context: &Context<'_>,
        gate: &mut Gate,
        judge: &mut PolicyJudge,
        steps: &mut Steps,
    ) -> (Option<Reason>, bool) {
        self.waiter.register(context.waker());
        let has_news = self.waiter.has_news();
        let gives = !steps.to_server.is_empty() && (has_news || self.held_until.is_none());
        let takes = steps.to_client.is_empty() && (has_news || gives);
        if !gives && !has_news {
            return (None, false);
        }
        let local = Arc::clone(&self.local);
        let (mut out, mut end) = (Vec::new(), None);
        let (mut woken, mut used) = (Vec::new(), 0);
        let now = local.now();
        let counts = {
            let mut broker = local.lock();
            if gives {
                used = self.give(&mut broker, judge, &steps.to_server, now);
                broker.woken(&mut woken);
            }
            if let (true, Some(session)) = (takes, self.session) {
                // What woke this client by its own packets is taken here.
                woken.retain(|waiter| !Arc::ptr_eq(waiter, &self.waiter));
                self.waiter.has_news.store(false, Ordering::Release);
                end = broker.output(session, &mut out, now);
                broker.woken(&mut woken);
            } else if let Some(session) = self.session {
                // A client that reads nothing is closed all the same.
                end = broker.end_of(session);
            }
            broker.take_counts()
        };
        woken.iter().for_each(|waiter| waiter.wake());
        local.shared.metrics().mqtt().routed(&counts);
        let has_output = !out.is_empty();
        remove_front(&mut steps.to_server, used);
        let was_open = gate.is_open();
        gate.from_server(&out, judge, steps);
        if !was_open {
            // The client id of the publisher may just have been assigned.
            self.author = None;
        }
        (end, used > 0 || has_output)
    }

    /// Returns the number of bytes that the broker took.
    fn give(
        &mut self,
        broker: &mut Broker<Arc<Waiter>, Arc<Author>>,
        judge: &PolicyJudge,
        bytes: &[u8],
        now: u64,
    ) -> usize {
        let session = *self.session.get_or_insert_with(|| broker.enter(Arc::clone(&self.waiter)));
        let author = &mut self.author;
        let mut publisher = || Arc::clone(author.get_or_insert_with(|| Arc::new(judge.author())));
        let taken = broker.take(session, bytes, now, &mut publisher);
        self.held_until = taken.is_held.then(|| Instant::now() + PATIENCE);
        taken.used
    }

    /// Gives the broker the last packets of a client that has gone, and ends its session. A will
    /// that may be published is.
    pub(super) async fn leave(&mut self, judge: &mut PolicyJudge, last: &mut Vec<u8>) {
        let waits = async {
            while !last.is_empty() {
                self.waiter.has_news.store(false, Ordering::Release);
                self.give_last(judge, last);
                if !last.is_empty() {
                    let _ = timeout(PATIENCE, poll_fn(|context| self.poll_news(context))).await;
                }
            }
        };
        let _ = timeout(MQTT_LAST_WRITE, waits).await;
        let local = Arc::clone(&self.local);
        let Some(session) = self.session.take() else { return };
        if !last.is_empty() {
            let mut publisher = || Arc::new(judge.author());
            local.lock().take_at_once(session, last, local.now(), &mut publisher);
        }
        let will = local.lock().will(session);
        let publisher = will
            .filter(|will| judge.will(&will.message()).is_allowed())
            .map(|_| Arc::new(judge.author()));
        local.end(session, publisher);
    }

    fn give_last(&mut self, judge: &PolicyJudge, last: &mut Vec<u8>) {
        let local = Arc::clone(&self.local);
        let mut woken = Vec::new();
        let (used, counts) = {
            let mut broker = local.lock();
            let used = self.give(&mut broker, judge, last, local.now());
            broker.woken(&mut woken);
            (used, broker.take_counts())
        };
        woken.iter().for_each(|waiter| waiter.wake());
        local.shared.metrics().mqtt().routed(&counts);
        remove_front(last, used);
    }

    fn poll_news(&self, context: &Context<'_>) -> Poll<()> {
        self.waiter.register(context.waker());
        if self.waiter.has_news() { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Local {
    fn end(&self, session: SessionId, publisher: Option<Arc<Author>>) {
        let mut woken = Vec::new();
        let counts = {
            let mut broker = self.lock();
            broker.leave(session, publisher, self.now());
            broker.woken(&mut woken);
            broker.take_counts()
        };
        woken.iter().for_each(|waiter| waiter.wake());
        self.shared.metrics().mqtt().routed(&counts);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            self.local.end(session, None);
        }
    }
}

fn remove_front(bytes: &mut Vec<u8>, used: usize) {
    if used >= bytes.len() {
        bytes.clear();
        bytes.shrink_to(IDLE_BUFFER);
    } else {
        bytes.drain(..used);
    }
}

/// The time for which a reader may hold its publishers.
const PATIENCE: Duration = Duration::from_millis(Settings::DEFAULT.patience_millis);

/// Retained messages that are decided on in one go.
const BATCH: usize = 64;

/// Room that stays for the packets of a client that sends.
const IDLE_BUFFER: usize = 1 << 10;
