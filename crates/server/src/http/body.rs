//! The body of a request, bounded while it is read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::{Body, Bytes, Incoming};
use tokio::time::sleep;

use super::reply::Problem;
use crate::limits::{MAX_BODIES_BYTES, MAX_PASSED_OVER, MAX_PIECES, ROOM_ATTEMPTS, ROOM_PAUSE};
use crate::net::connections::{Connection, Connections, Phase};

/// Reads it all. Most bodies come in one piece, which is then not copied. Those in several pieces share the room of `open`
/// with each other, and give it back when what is returned is dropped.
pub(crate) async fn read(
    body: Incoming,
    most: usize,
    (connection, open): (&Connection, &Connections),
) -> Result<(Bytes, RoomLease), Problem> {
    connection.enter_phase(Phase::Body);
    let read = gather(body, most, (connection, open)).await;
    connection.release_room();
    connection.enter_phase(Phase::Answer);
    read
}

/// Reads the frames of a body, and joins them where there are several.
async fn gather(
    mut body: Incoming,
    most: usize,
    (connection, open): (&Connection, &Connections),
) -> Result<(Bytes, RoomLease), Problem> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > most.saturating_add(MAX_PASSED_OVER) {
        return Err(too_large(most));
    }
    let mut whole = Bytes::new();
    let mut pieces: Vec<u8> = Vec::new();
    let (mut length, mut lease) = (0_usize, RoomLease::default());
    let mut frames = 0_usize;
    while let Some(frame) = body.frame().await {
        frames += 1;
        if frames > MAX_PIECES {
            return Err(torn());
        }
        let frame = frame.map_err(|_| broken())?;
        let Ok(piece) = frame.into_data() else { continue };
        length = length.saturating_add(piece.len());
        if length > most {
            pieces = Vec::new();
            lease = RoomLease::default();
            connection.release_room();
            if length > most.saturating_add(MAX_PASSED_OVER) {
                break;
            }
        } else if whole.is_empty() && pieces.is_empty() && body.is_end_stream() {
            whole = piece;
        } else {
            take_room(&mut lease, (connection, open), piece.len()).await?;
            connection.add_body_bytes(piece.len());
            pieces.extend_from_slice(&piece);
        }
    }
    if length > most {
        return Err(too_large(most));
    }
    let whole = if whole.is_empty() { Bytes::from(pieces) } else { whole };
    let has_mark = whole.starts_with(BYTE_ORDER_MARK);
    let whole = if has_mark { whole.slice(BYTE_ORDER_MARK.len()..) } else { whole };
    Ok((whole, lease))
}

/// Takes room for so many bytes more, from those that come too slowly if need be.
async fn take_room(
    lease: &mut RoomLease,
    (connection, open): (&Connection, &Connections),
    bytes: usize,
) -> Result<(), Problem> {
    if lease.grow(open.room(), bytes).is_some() {
        return Ok(());
    }
    let waiting = connection.pause_body();
    for _ in 0..ROOM_ATTEMPTS {
        open.make_room();
        sleep(ROOM_PAUSE).await;
        if lease.grow(open.room(), bytes).is_some() {
            connection.resume_body(waiting);
            return Ok(());
        }
    }
    Err(Problem::busy("there is no room for the body: too many others are being read"))
}

/// Room for bodies, of which there are many at once.
#[derive(Debug, Default)]
pub(crate) struct Room(Arc<AtomicUsize>);

/// What one body has taken of it, until it is dropped.
#[derive(Debug, Default)]
pub(crate) struct RoomLease {
    /// Nothing as long as it has taken none.
    room: Option<Arc<AtomicUsize>>,
    bytes: usize,
}

impl RoomLease {
    /// Takes so many bytes more, if they are there.
    fn grow(&mut self, room: &Room, bytes: usize) -> Option<()> {
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

fn torn() -> Problem {
    let message = format!("the body must come in at most {MAX_PIECES} pieces");
    Problem::new(StatusCode::BAD_REQUEST, "bad-request", message)
}

fn too_large(most: usize) -> Problem {
    let message = format!("the body must have at most {most} bytes");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", message)
}

fn broken() -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "bad-request", "the body ends early")
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

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
