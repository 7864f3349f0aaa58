//! The open connections, and the choice of those to close when there are too many.
//!
//! An idle connection costs memory and a slot. When all slots are taken, the one among a few that
//! has waited longest for its client is closed. No request takes a lock for this.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::limits::{BODY_GRACE_MILLIS, LOOK_MILLIS, MADE_AT_ONCE, MIN_BYTES_A_MILLISECOND};
use crate::net::room::Room;

/// All of one protocol.
pub(crate) struct Connections {
    most: usize,
    begin: Instant,
    open: Mutex<Open>,
    room: Room,
    /// Milliseconds since `begin` at which room was last looked for.
    last_search: AtomicU64,
}

#[derive(Default)]
struct Open {
    all: Vec<Arc<Connection>>,
    /// The start of the next search for an idle one.
    next: usize,
}

/// One connection: its phase, and the time of its last change.
pub(crate) struct Connection {
    begin: Instant,
    /// Milliseconds since `begin`, times four, plus the phase.
    since: AtomicU64,
    /// The deadline of the body, should others need its room: milliseconds since `begin`, times the
    /// bytes that have to come in one.
    deadline: AtomicU64,
    /// Bytes of that body that take room.
    body_bytes: AtomicUsize,
    closing: Notify,
    is_cut: AtomicBool,
    // INVARIANT: the index in `Open::all`, or `UNLISTED`. It changes only under the lock of `Open`.
    index: AtomicUsize,
}

/// The phase of a connection: the event that it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The client may send a request.
    Idle,
    /// The head of a request has begun.
    Head,
    /// The body of a request has begun.
    Body,
    /// We have to answer.
    Answer,
}

/// A place among the open connections, given back when it is dropped.
pub(crate) struct OpenConnection {
    pub(crate) connections: Arc<Connections>,
    pub(crate) connection: Arc<Connection>,
}

impl Connections {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            begin: Instant::now(),
            open: Mutex::default(),
            room: Room::default(),
            last_search: AtomicU64::new(0),
        }
    }

    /// Lists a new connection; closes another one if all slots are taken.
    pub(crate) fn enter(self: &Arc<Self>) -> OpenConnection {
        let connection = Connection::new(self.begin);
        connection.enter_phase(Phase::Idle);
        let connection = Arc::new(connection);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.all.len() >= self.most {
            open.close_one();
        }
        open.add(Arc::clone(&connection));
        drop(open);
        OpenConnection { connections: Arc::clone(self), connection }
    }

    /// Room for the bodies of requests.
    pub(crate) const fn room(&self) -> &Room {
        &self.room
    }

    /// Closes the connection that holds most room of those with late bodies, and others of them
    /// where that is little. Frequent calls are cheap: it looks at all connections only from time
    /// to time.
    pub(crate) fn make_room(&self) {
        let now = elapsed(self.begin);
        let is_due =
            |last_search: u64| (last_search.saturating_add(LOOK_MILLIS) <= now).then_some(now);
        if self.last_search.try_update(Ordering::Relaxed, Ordering::Relaxed, is_due).is_err() {
            return;
        }
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let late = || open.all.iter().filter(|connection| connection.is_late(now));
        let most = late().max_by_key(|connection| connection.body_bytes.load(Ordering::Relaxed));
        let mut made = 0_usize;
        for connection in most.into_iter().chain(late()) {
            if made >= MADE_AT_ONCE {
                break;
            }
            made = made.saturating_add(connection.body_bytes.swap(0, Ordering::Relaxed));
            connection.closing.notify_one();
        }
    }

    /// Returns their number.
    pub(crate) fn count(&self) -> usize {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).all.len()
    }
}

impl Open {
    fn add(&mut self, connection: Arc<Connection>) {
        connection.index.store(self.all.len(), Ordering::Relaxed);
        self.all.push(connection);
    }

    /// Takes one off the list, if it is there. However many there are, it takes no longer.
    fn remove(&mut self, index: usize) -> Option<Arc<Connection>> {
        if index >= self.all.len() {
            return None;
        }
        let removed = self.all.swap_remove(index);
        removed.index.store(UNLISTED, Ordering::Relaxed);
        if let Some(moved) = self.all.get(index) {
            moved.index.store(index, Ordering::Relaxed);
        }
        Some(removed)
    }

    /// Closes the one among the next few that has waited longest for its client, and takes it off
    /// the list.
    fn close_one(&mut self) {
        let count = self.all.len();
        let indices = (0..SAMPLE.min(count)).map(|step| (self.next + step) % count);
        let waiting = indices.filter_map(|index| {
            let (phase, since) = self.all.get(index)?.phase();
            (phase != Phase::Answer).then_some((since, index))
        });
        // Where all of them are being answered, one that is will be cut off: the bound is a bound.
        let index = waiting.min().map_or(self.next % count.max(1), |(_, index)| index);
        self.next = self.next.wrapping_add(SAMPLE) % count.max(1);
        if let Some(connection) = self.remove(index) {
            connection.closing.notify_one();
        }
    }
}

impl Connection {
    fn new(begin: Instant) -> Self {
        let (since, deadline, body_bytes) =
            (AtomicU64::new(0), AtomicU64::new(0), AtomicUsize::new(0));
        let (closing, is_cut) = (Notify::new(), AtomicBool::new(false));
        let index = AtomicUsize::new(UNLISTED);
        Self { begin, since, deadline, body_bytes, closing, is_cut, index }
    }

    /// Notes that something else is waited for from now on.
    pub(crate) fn enter_phase(&self, phase: Phase) {
        let now = elapsed(self.begin);
        let number = match phase {
            Phase::Idle => 0,
            Phase::Head => 1,
            Phase::Body => 2,
            Phase::Answer => 3,
        };
        self.since.store(now.wrapping_mul(4) | number, Ordering::Relaxed);
    }

    /// Returns the phase, and its begin.
    pub(crate) fn phase(&self) -> (Phase, Duration) {
        let since = self.since.load(Ordering::Relaxed);
        let phase = match since % 4 {
            0 => Phase::Idle,
            1 => Phase::Head,
            2 => Phase::Body,
            _ => Phase::Answer,
        };
        (phase, Duration::from_millis(since / 4))
    }

    /// Notes that a body takes room for `bytes` more bytes. It may pause for a while after any of
    /// them, and no longer for having come fast before.
    pub(crate) fn add_body_bytes(&self, bytes: usize) {
        let latest = at_pace(elapsed(self.begin).saturating_add(BODY_GRACE_MILLIS));
        let is_first = self.body_bytes.fetch_add(bytes, Ordering::Relaxed) == 0;
        let earned = u64::try_from(bytes).unwrap_or(u64::MAX);
        let deadline = self.deadline.load(Ordering::Relaxed).saturating_add(earned);
        self.deadline
            .store(if is_first { latest } else { deadline.min(latest) }, Ordering::Relaxed);
    }

    /// Notes that the body waits for room, and not for its client, until the result is given to
    /// [`Connection::resume_body`].
    pub(crate) fn pause_body(&self) -> Pause {
        Pause {
            since: elapsed(self.begin),
            deadline: self.deadline.swap(u64::MAX, Ordering::Relaxed),
        }
    }

    /// Notes that the body waits for its client again, which has lost no time.
    pub(crate) fn resume_body(&self, Pause { since, deadline }: Pause) {
        let lost = at_pace(elapsed(self.begin).saturating_sub(since));
        self.deadline.store(deadline.saturating_add(lost), Ordering::Relaxed);
    }

    /// Notes that its body takes no room any more.
    pub(crate) fn release_room(&self) {
        self.body_bytes.store(0, Ordering::Relaxed);
    }

    /// Returns true if a request body holds room and has come more slowly than
    /// [`MIN_BYTES_A_MILLISECOND`] for longer than the grace.
    fn is_late(&self, now: u64) -> bool {
        let is_reading = matches!(self.phase(), (Phase::Body, _));
        is_reading
            && self.body_bytes.load(Ordering::Relaxed) > 0
            && self.deadline.load(Ordering::Relaxed) < at_pace(now)
    }

    /// Notes that bytes have come.
    pub(crate) fn received(&self) {
        if self.since.load(Ordering::Relaxed).is_multiple_of(4) {
            self.enter_phase(Phase::Head);
        }
    }

    /// Returns the phase, and its duration.
    pub(crate) fn waited(&self) -> (Phase, Duration) {
        let (phase, since) = self.phase();
        (phase, self.begin.elapsed().saturating_sub(since))
    }

    /// Notes that the server ends the connection, so that closing does not wait for the client.
    pub(crate) fn cut(&self) {
        self.is_cut.store(true, Ordering::Relaxed);
    }

    /// Returns true if the server has cut the connection.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut.load(Ordering::Relaxed)
    }

    /// Ends when the connection has to go.
    pub(crate) async fn closing(&self) {
        self.closing.notified().await;
    }
}

/// While a body waits for room.
#[derive(Debug)]
pub(crate) struct Pause {
    since: u64,
    deadline: u64,
}

/// Returns the bytes that have to come in a number of milliseconds.
const fn at_pace(milliseconds: u64) -> u64 {
    milliseconds.saturating_mul(MIN_BYTES_A_MILLISECOND)
}

/// Milliseconds since then.
fn elapsed(begin: Instant) -> u64 {
    u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX)
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let mut open = self.connections.open.lock().unwrap_or_else(PoisonError::into_inner);
        drop(open.remove(self.connection.index.load(Ordering::Relaxed)));
    }
}

/// The number of connections examined to find one to close.
const SAMPLE: usize = 32;

/// The place of a connection that is not on the list.
const UNLISTED: usize = usize::MAX;

#[cfg(test)]
mod tests {
    use super::{Connections, OpenConnection, Phase, UNLISTED};
    use crate::limits::{BODY_GRACE_MILLIS, MIN_BYTES_A_MILLISECOND};
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    /// Every connection that is on the list knows where.
    fn check(connections: &Connections) {
        let open = connections.open.lock().unwrap();
        for (index, connection) in open.all.iter().enumerate() {
            assert_eq!(connection.index.load(Ordering::Relaxed), index);
        }
    }

    #[test]
    fn places_are_given_back_in_any_order() {
        let connections = Arc::new(Connections::new(100));
        let mut guards: Vec<OpenConnection> = (0..100).map(|_| connections.enter()).collect();
        for step in 0..100 {
            drop(guards.swap_remove(step * 37 % guards.len()));
            check(&connections);
            assert_eq!(connections.count(), guards.len());
        }
    }

    #[test]
    fn room_is_taken_from_the_late_body_that_holds_most() {
        let connections = Arc::new(Connections::new(100));
        let guards: Vec<OpenConnection> = (0..4).map(|_| connections.enter()).collect();
        for (guard, bytes) in guards.iter().zip([0, 10, 1000, 2000]) {
            guard.connection.enter_phase(Phase::Body);
            if bytes > 0 {
                guard.connection.add_body_bytes(bytes);
            }
        }
        let late = |now: u64| guards.iter().map(|p| p.connection.is_late(now)).collect::<Vec<_>>();
        let now = super::elapsed(connections.begin);
        assert_eq!(late(now), [false; 4]);
        assert_eq!(late(now + BODY_GRACE_MILLIS + 1), [false, true, true, true]);
        // Bytes earn time, however few at once, and never more than the grace.
        let first = &guards[1].connection;
        first.deadline.store(0, Ordering::Relaxed);
        (0..2 * MIN_BYTES_A_MILLISECOND).for_each(|_| first.add_body_bytes(1));
        assert_eq!([1, 2, 3].map(|now| first.is_late(now)), [false, false, true]);
        first.add_body_bytes(usize::MAX / 2);
        assert!(!first.is_late(now));
        assert!(first.is_late(super::elapsed(connections.begin) + BODY_GRACE_MILLIS + 1));
        // A body that waits for room is not late.
        let pause = first.pause_body();
        assert!(!first.is_late(u64::MAX / MIN_BYTES_A_MILLISECOND));
        first.resume_body(pause);
        assert!(first.is_late(super::elapsed(connections.begin) + BODY_GRACE_MILLIS + 1));
        // An answer is not a body.
        guards[2].connection.enter_phase(Phase::Answer);
        assert!(!guards[2].connection.is_late(u64::MAX));
    }

    #[test]
    fn closed_connections_leave_the_list_once() {
        let connections = Arc::new(Connections::new(10));
        let mut guards: Vec<OpenConnection> = (0..50).map(|_| connections.enter()).collect();
        check(&connections);
        assert_eq!(connections.count(), 10);
        let is_on =
            |guard: &OpenConnection| guard.connection.index.load(Ordering::Relaxed) != UNLISTED;
        assert_eq!(guards.iter().filter(|guard| is_on(guard)).count(), 10);
        guards.retain(is_on);
        check(&connections);
        assert_eq!((connections.count(), guards.len()), (10, 10));
        drop(guards);
        assert_eq!(connections.count(), 0);
    }
}
