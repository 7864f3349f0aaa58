//! Memory for request bodies, shared by the connections of one protocol.
//!
//! A lease grows with its body and returns its bytes when it is dropped; all leases together stay
//! within a bound.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::limits::MAX_BODIES_BYTES;

/// The room for all bodies of one protocol.
#[derive(Debug, Default)]
pub(crate) struct Room(Arc<AtomicUsize>);

/// The room of one body, until it is dropped.
#[derive(Debug, Default)]
pub(crate) struct RoomLease {
    /// `None` as long as it has taken none.
    room: Option<Arc<AtomicUsize>>,
    bytes: usize,
}

impl RoomLease {
    /// Takes `bytes` more bytes, if they are free.
    pub(crate) fn grow(&mut self, room: &Room, bytes: usize) -> Option<()> {
        let fits = |all: usize| all.checked_add(bytes).filter(|all| *all <= MAX_BODIES_BYTES);
        let room = self.room.get_or_insert_with(|| Arc::clone(&room.0));
        room.try_update(Ordering::Relaxed, Ordering::Relaxed, fits).ok()?;
        self.bytes = self.bytes.saturating_add(bytes);
        Some(())
    }
}

impl Drop for RoomLease {
    fn drop(&mut self) {
        if let Some(room) = &self.room {
            room.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Room, RoomLease};
    use crate::limits::MAX_BODIES_BYTES;

    #[test]
    fn bodies_share_a_bounded_room_and_give_it_back() {
        let room = Room::default();
        let (mut one, mut other) = (RoomLease::default(), RoomLease::default());
        assert_eq!(one.grow(&room, MAX_BODIES_BYTES - 10), Some(()));
        assert_eq!(other.grow(&room, 11), None);
        assert_eq!(other.grow(&room, 10), Some(()));
        assert_eq!(one.grow(&room, 1), None);
        drop(one);
        assert_eq!(other.grow(&room, MAX_BODIES_BYTES - 10), Some(()));
        assert_eq!(other.grow(&room, usize::MAX), None);
    }
}
