//! Proofs and frames, verified.

use wardgate_decision_log::checkpoint::LogKey;
use wardgate_decision_log::frame::{Frame, FrameError, HEAD_BYTES, Head};
use wardgate_decision_log::merkle;
use wardgate_decision_log::proof::Proof;
use wardgate_decision_log::record::{Record, Records};
use wardgate_decision_log::tree::Digest;

use crate::faults;

/// The key of the last proof: preparing one takes longer than verifying with it.
pub(crate) struct Verifier {
    key: Option<(Vec<u8>, LogKey)>,
}

/// A record that was proved.
pub(crate) struct Proved {
    /// The bytes of the record, and its number in the log.
    pub(crate) record: Vec<u8>,
    pub(crate) number: u64,
    /// The number of the frame in the log.
    pub(crate) index: u64,
    pub(crate) origin: String,
    /// The size and root of the log at the checkpoint.
    pub(crate) head: merkle::Head,
    /// The time of the checkpoint.
    pub(crate) seconds: u64,
}

impl Verifier {
    pub(crate) const fn new() -> Self {
        Self { key: None }
    }

    /// Verifies a proof with a key, each as text.
    pub(crate) fn prove(&mut self, proof: &[u8], key: &[u8]) -> Result<Proved, i32> {
        let key = self.prepared(key).ok_or(faults::KEY)?;
        let proof = Proof::read(proof).map_err(faults::of_proof)?;
        let proved = proof.verify(key).map_err(faults::of_proof)?;
        let (opened, number) = (proved.checkpoint, proved.number);
        let (origin, head) = (opened.checkpoint.origin, opened.checkpoint.head);
        let Proof { record, index, .. } = proof;
        Ok(Proved { record, number, index, origin, head, seconds: opened.seconds })
    }

    fn prepared(&mut self, text: &[u8]) -> Option<&LogKey> {
        if self.key.as_ref().is_none_or(|(known, _)| known != text) {
            let key = LogKey::read(core::str::from_utf8(text).ok()?.trim_end())?;
            self.key = Some((text.to_vec(), key));
        }
        self.key.as_ref().map(|(_, key)| key)
    }
}

/// Verifies the frame at the front of some bytes, and returns its length and the digest of its head;
/// otherwise the number of a fault and its offset.
pub(crate) fn frame(bytes: &[u8]) -> Result<(usize, Digest), (i32, usize)> {
    let frame = Frame::read(bytes).map_err(|error| {
        let offset = if error == FrameError::Records { end_of_records(bytes) } else { 0 };
        (faults::of_frame(error), offset)
    })?;
    let mut offset = HEAD_BYTES;
    for record in &frame.records {
        if Record::read(record).is_none() {
            return Err((faults::RECORD, offset));
        }
        offset = offset.saturating_add(record.len());
    }
    Ok((offset, frame.head.digest()))
}

/// Returns the offset up to which the records of a frame have their lengths.
fn end_of_records(bytes: &[u8]) -> usize {
    let length = Head::read(bytes).map_or(0, |head| head.frame_bytes());
    let records = bytes.get(HEAD_BYTES..length).unwrap_or_default();
    Records::new(records)
        .map_while(|record| record)
        .fold(HEAD_BYTES, |end, record| end.saturating_add(record.len()))
}
