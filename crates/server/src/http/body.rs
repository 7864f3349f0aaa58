//! The body of a request, bounded while it is read.

use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::{Body, Bytes, Incoming};
use tokio::time::sleep;

use super::peer::Peer;
use super::reply::{Problem, Result};
use crate::limits::{MAX_PASSED_OVER, MAX_PIECES, ROOM_ATTEMPTS, ROOM_PAUSE};
use crate::net::connections::Phase;
use crate::net::room::RoomLease;

/// Reads a whole body. Most bodies come in one piece, which is not copied. Bodies in several pieces
/// share the room of `open`, and the returned lease gives it back when it is dropped.
pub(crate) async fn read(body: Incoming, most: usize, peer: &Peer) -> Result<(Bytes, RoomLease)> {
    let connection = &peer.connection;
    connection.enter_phase(Phase::Body);
    let read = gather(body, most, peer).await;
    connection.release_room();
    connection.enter_phase(Phase::Answer);
    read
}

/// Reads the frames of a body, and joins them where there are several.
async fn gather(mut body: Incoming, most: usize, peer: &Peer) -> Result<(Bytes, RoomLease)> {
    let connection = &peer.connection;
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
            take_room(&mut lease, peer, piece.len()).await?;
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

/// Takes room for `bytes` more bytes, from bodies that come too slowly if need be.
async fn take_room(
    lease: &mut RoomLease,
    Peer { connection, open, .. }: &Peer,
    bytes: usize,
) -> Result<()> {
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
