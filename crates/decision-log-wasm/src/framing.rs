//! Frames, written.

use wardgate_decision_log::frame::{Draft, FramePosition};
use wardgate_decision_log::record::{Body, Record, Records};
use wardgate_decision_log::redaction::{Field, LogSecret};

use crate::faults;

/// The bytes of the key of pseudonyms.
pub(crate) const KEY_BYTES: usize = 32;

/// Returns the digest of the head of a frame and the frame, made of the digest of the head before, the number
/// of the first record and the records; otherwise the number of a fault and its offset.
pub(crate) fn write(bytes: &[u8], now: i64) -> Result<Vec<u8>, (i32, usize)> {
    let place = bytes.split_first_chunk().and_then(|(before, rest)| {
        let (first, records) = rest.split_first_chunk()?;
        Some((*before, u64::from_le_bytes(*first), records))
    });
    let (before, first, records) = place.ok_or((faults::RECORD, 0))?;
    // A record without a time, such as that of a target, has that of the one before.
    let (mut draft, mut time, mut offset) = (Draft::default(), now, bytes.len() - records.len());
    for record in Records::new(records) {
        let record = record.ok_or((faults::RECORD, offset))?;
        let read = Record::read(record).ok_or((faults::RECORD, offset))?;
        time = micros(&read.body).unwrap_or(time);
        if !draft.add(record, time) {
            return Err((faults::FULL, offset));
        }
        offset = offset.saturating_add(record.len());
    }
    let mut frame = Vec::new();
    // No disk is known here, so no record is known to be on one.
    let head = draft.write(FramePosition { first, durable: 0, before }, now, &mut frame);
    Ok([head.digest().as_slice(), &frame].concat())
}

/// Returns the pseudonym of an id behind a key.
pub(crate) fn pseudonym(field: u32, bytes: &[u8]) -> Option<[u8; 16]> {
    let (key, id) = bytes.split_first_chunk::<KEY_BYTES>()?;
    let field = match field {
        1 => Field::Principal,
        2 => Field::Resource,
        _ => return None,
    };
    Some(LogSecret::new(*key).pseudonym(field, core::str::from_utf8(id).ok()?))
}

/// Returns the time of a record, if it has one.
const fn micros(body: &Body) -> Option<i64> {
    Some(match body {
        Body::Decision(one) => one.micros,
        Body::Policies(one) => one.micros,
        Body::Target(_) => return None,
        Body::Lost(one) => one.micros,
        Body::Clock(one) => one.now,
        Body::Process(one) => one.micros,
        Body::Erasure(one) => one.micros,
        Body::Settings(one) => one.micros,
        Body::Search(one) => one.micros,
        Body::Loss(one) => one.micros,
    })
}
