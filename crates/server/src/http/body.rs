//! The body of a request, bounded while it is read.

use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::{Body, Bytes, Incoming};

use super::connections::{Connection, Phase};
use super::reply::Problem;
use crate::limits::MAX_PASSED_OVER;

/// Reads it all. Most bodies come in one piece, which is then not copied.
pub(crate) async fn read(
    mut body: Incoming,
    most: usize,
    connection: &Connection,
) -> Result<Bytes, Problem> {
    let said = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if said > most.saturating_add(MAX_PASSED_OVER) {
        return Err(too_large(most));
    }
    connection.enters(Phase::Body);
    let mut whole = Bytes::new();
    let mut pieces: Vec<u8> = Vec::new();
    let mut length = 0_usize;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| broken())?;
        let Ok(piece) = frame.into_data() else { continue };
        length = length.saturating_add(piece.len());
        if length > most {
            pieces = Vec::new();
            if length > most.saturating_add(MAX_PASSED_OVER) {
                break;
            }
        } else if whole.is_empty() && pieces.is_empty() && body.is_end_stream() {
            whole = piece;
        } else {
            pieces.extend_from_slice(&piece);
        }
    }
    connection.enters(Phase::Answer);
    if length > most {
        return Err(too_large(most));
    }
    let whole = if whole.is_empty() { Bytes::from(pieces) } else { whole };
    Ok(if whole.starts_with(BYTE_ORDER_MARK) {
        whole.slice(BYTE_ORDER_MARK.len()..)
    } else {
        whole
    })
}

fn too_large(most: usize) -> Problem {
    let message = format!("the body must have at most {most} bytes");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", message)
}

fn broken() -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "bad-request", "the body ends early")
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
