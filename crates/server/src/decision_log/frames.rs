//! Frames of a decision log as a journal finds their end again.

use wardgate_decision_log::frame::{Frame, HEAD_BYTES, Head, MAGIC, START};

use crate::journal::format::{Extent, Format};

/// The frames of a segment, of which the head is kept.
pub(super) struct Frames;

impl Format for Frames {
    const START: &'static [u8; 16] = START;
    const MAGIC: &'static [u8; 4] = MAGIC;
    const HEAD_BYTES: usize = HEAD_BYTES;

    type Content = Head;

    fn head(bytes: &[u8]) -> Option<Extent> {
        Head::read(bytes).ok().map(|head| extent(&head))
    }

    fn read(frame: &[u8]) -> Option<(Extent, Head)> {
        Frame::read(frame).ok().map(|frame| (extent(&frame.head), frame.head))
    }
}

fn extent(head: &Head) -> Extent {
    let (first, next, durable) = (head.first, head.next(), head.durable);
    Extent { bytes: head.frame_bytes(), first, next, durable }
}
