//! The connections that are open, and which of them must go when there are too many.
//!
//! A connection that nobody uses costs memory, and somebody else's place. When all places are taken, the one
//! among a few that has waited longest for its client is closed. No request takes a lock for this.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::body::Room;

/// All of one protocol.
pub(crate) struct Connections {
    most: usize,
    begin: Instant,
    open: Mutex<Open>,
    room: Room,
}

#[derive(Default)]
struct Open {
    all: Vec<Arc<Connection>>,
    /// Where the next search for an idle one begins.
    next: usize,
}

/// One connection: what it waits for, and since when.
pub(crate) struct Connection {
    begin: Instant,
    /// Milliseconds since `begin`, times four, plus the phase.
    since: AtomicU64,
    closing: Notify,
    is_cut: AtomicBool,
    // INVARIANT: it stands there in `Open::all`, or nowhere. Only whoever has the lock of `Open` changes it.
    place: AtomicUsize,
}

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The client may ask.
    Idle,
    /// The head of a request has begun.
    Head,
    /// The body of a request has begun.
    Body,
    /// We have to answer.
    Answer,
}

/// A place among the open connections, given back when it is dropped.
pub(crate) struct Place {
    pub(crate) connections: Arc<Connections>,
    pub(crate) connection: Arc<Connection>,
}

impl Connections {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, begin: Instant::now(), open: Mutex::default(), room: Room::default() }
    }

    /// Takes a place; another connection is told to go if there is none.
    pub(crate) fn enter(self: &Arc<Self>) -> Place {
        let since = AtomicU64::new(0);
        let (closing, is_cut) = (Notify::new(), AtomicBool::new(false));
        let place = AtomicUsize::new(NOWHERE);
        let connection = Connection { begin: self.begin, since, closing, is_cut, place };
        connection.enters(Phase::Idle);
        let connection = Arc::new(connection);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.all.len() >= self.most {
            open.close_one();
        }
        open.add(Arc::clone(&connection));
        drop(open);
        Place { connections: Arc::clone(self), connection }
    }

    /// Room for the bodies of requests.
    pub(crate) const fn room(&self) -> &Room {
        &self.room
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).all.len()
    }
}

impl Open {
    fn add(&mut self, connection: Arc<Connection>) {
        connection.place.store(self.all.len(), Ordering::Relaxed);
        self.all.push(connection);
    }

    /// Takes one off the list, if it is there. However many there are, it takes no longer.
    fn remove(&mut self, place: usize) -> Option<Arc<Connection>> {
        if place >= self.all.len() {
            return None;
        }
        let removed = self.all.swap_remove(place);
        removed.place.store(NOWHERE, Ordering::Relaxed);
        if let Some(moved) = self.all.get(place) {
            moved.place.store(place, Ordering::Relaxed);
        }
        Some(removed)
    }

    /// Closes the one among the next few that has waited for its client longest, and takes it off the list.
    fn close_one(&mut self) {
        let count = self.all.len();
        let places = (0..SAMPLE.min(count)).map(|step| (self.next + step) % count);
        let waiting = places.filter_map(|place| {
            let (phase, since) = self.all.get(place)?.phase();
            (phase != Phase::Answer).then_some((since, place))
        });
        // Where all of them are being answered, one that is will be cut off: the bound is a bound.
        let place = waiting.min().map_or(self.next % count.max(1), |(_, place)| place);
        self.next = self.next.wrapping_add(SAMPLE) % count.max(1);
        if let Some(connection) = self.remove(place) {
            connection.closing.notify_one();
        }
    }
}

impl Connection {
    /// Notes that something else is waited for from now on.
    pub(crate) fn enters(&self, phase: Phase) {
        let now = u64::try_from(self.begin.elapsed().as_millis()).unwrap_or(u64::MAX);
        let number = match phase {
            Phase::Idle => 0,
            Phase::Head => 1,
            Phase::Body => 2,
            Phase::Answer => 3,
        };
        self.since.store(now.wrapping_mul(4) | number, Ordering::Relaxed);
    }

    /// What is waited for, and since when.
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

    /// Notes that bytes have come.
    pub(crate) fn hears(&self) {
        if self.since.load(Ordering::Relaxed).is_multiple_of(4) {
            self.enters(Phase::Head);
        }
    }

    /// How long it has waited for what it waits for.
    pub(crate) fn waited(&self) -> (Phase, Duration) {
        let (phase, since) = self.phase();
        (phase, self.begin.elapsed().saturating_sub(since))
    }

    /// Notes that its end is not the client's wish, and that nobody waits for the client.
    pub(crate) fn cut(&self) {
        self.is_cut.store(true, Ordering::Relaxed);
    }

    /// Whether it was cut.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut.load(Ordering::Relaxed)
    }

    /// Ends when the connection has to go.
    pub(crate) async fn closing(&self) {
        self.closing.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.connections.open.lock().unwrap_or_else(PoisonError::into_inner);
        drop(open.remove(self.connection.place.load(Ordering::Relaxed)));
    }
}

/// How many connections are looked at to find one that can go.
const SAMPLE: usize = 32;

/// The place of a connection that is not on the list.
const NOWHERE: usize = usize::MAX;

#[cfg(test)]
mod tests {
    use super::{Connections, NOWHERE, Place};
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    /// Every connection that is on the list knows where.
    fn check(connections: &Connections) {
        let open = connections.open.lock().unwrap();
        for (place, connection) in open.all.iter().enumerate() {
            assert_eq!(connection.place.load(Ordering::Relaxed), place);
        }
    }

    #[test]
    fn places_are_given_back_in_any_order() {
        let connections = Arc::new(Connections::new(100));
        let mut places: Vec<Place> = (0..100).map(|_| connections.enter()).collect();
        for step in 0..100 {
            drop(places.swap_remove(step * 37 % places.len()));
            check(&connections);
            assert_eq!(connections.count(), places.len());
        }
    }

    #[test]
    fn whoever_had_to_go_gives_nothing_back() {
        let connections = Arc::new(Connections::new(10));
        let mut places: Vec<Place> = (0..50).map(|_| connections.enter()).collect();
        check(&connections);
        assert_eq!(connections.count(), 10);
        let is_on = |place: &Place| place.connection.place.load(Ordering::Relaxed) != NOWHERE;
        assert_eq!(places.iter().filter(|place| is_on(place)).count(), 10);
        places.retain(is_on);
        check(&connections);
        assert_eq!((connections.count(), places.len()), (10, 10));
        drop(places);
        assert_eq!(connections.count(), 0);
    }
}
