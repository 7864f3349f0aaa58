//! Frames of WebSocket as a server reads them (RFC 6455, section 5).
//!
//! Frames are taken off where they lie: the payload of messages moves to the front of the bytes that were
//! read, and no part of it is held here, whatever a frame announces. So a client over WebSocket holds no more
//! memory than one over TCP. What is held is one head and the payload of one control frame.

use crate::limits::{MAX_CONTROL_BYTES, MAX_FRAME_HEAD};

/// The reader of the frames of one client.
#[derive(Debug)]
pub(super) struct Frames {
    /// The bytes of the longest frame of a message.
    most: u64,
    /// The head of a frame, as far as it has come.
    head: [u8; MAX_FRAME_HEAD],
    head_len: usize,
    /// The payload bytes that the frame lacks; in a head there are none.
    left: u64,
    /// The mask of the next bytes.
    mask: [u8; 4],
    /// The control frame that has begun; `None` in frames of messages.
    control: Option<Opcode>,
    /// Its payload.
    control_payload: Vec<u8>,
    /// A message has begun, and its last frame has not.
    in_message: bool,
    /// The payload of the last PING that has no answer.
    ping: Option<Vec<u8>>,
    end: Option<End>,
}

/// The end of what is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The client has closed, with this status code if it gave one.
    Closed(Option<u16>),
    /// The client broke a rule.
    Fault(Fault),
}

/// A rule that a client broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A message of text [MQTT-6.0.0-1].
    Text,
    /// A frame without a mask.
    Unmasked,
    /// Reserved bits, or an opcode that has no meaning.
    Reserved,
    /// A frame of another message within a message, or the continuation of none.
    Order,
    /// A control frame in pieces, or longer than 125 bytes.
    Control,
    /// A length that is not in its shortest form.
    Length,
    /// A frame longer than the longest packet.
    TooLong,
    /// A status code that must not be sent, or a reason that is not UTF-8.
    Close,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opcode {
    Close,
    Ping,
    Pong,
}

impl Frames {
    /// Makes a reader that takes frames of at most `most` bytes.
    pub(super) const fn new(most: u64) -> Self {
        Self {
            most,
            head: [0; MAX_FRAME_HEAD],
            head_len: 0,
            left: 0,
            mask: [0; 4],
            control: None,
            control_payload: Vec::new(),
            in_message: false,
            ping: None,
            end: None,
        }
    }

    /// Returns the end, once all that came before it was read.
    pub(super) const fn end(&self) -> Option<End> {
        self.end
    }

    /// Takes the payload of the last PING without answer.
    pub(super) const fn take_ping(&mut self) -> Option<Vec<u8>> {
        self.ping.take()
    }

    /// Reads bytes of the client, and moves the payload of its messages to their front. Returns the
    /// number of these.
    pub(super) fn read(&mut self, bytes: &mut [u8]) -> usize {
        let (mut at, mut written) = (0_usize, 0_usize);
        while self.end.is_none() && at < bytes.len() {
            if self.left == 0 {
                at = self.read_head(bytes, at);
                continue;
            }
            let left = usize::try_from(self.left).unwrap_or(usize::MAX);
            let until = at.saturating_add(left).min(bytes.len());
            let piece = bytes.get_mut(at..until).unwrap_or_default();
            self.mask = unmask(piece, self.mask);
            if self.control.is_some() {
                self.control_payload.extend_from_slice(piece);
            } else {
                bytes.copy_within(at..until, written);
                written = written.saturating_add(until.saturating_sub(at));
            }
            self.left = self.left.saturating_sub(wide(until.saturating_sub(at)));
            at = until;
            if self.left == 0 {
                self.finish_control();
            }
        }
        written
    }

    /// Reads bytes of a head from `at` on, and returns the place behind them.
    fn read_head(&mut self, bytes: &[u8], mut at: usize) -> usize {
        while let Some(byte) = bytes.get(at) {
            at = at.saturating_add(1);
            if let Some(place) = self.head.get_mut(self.head_len) {
                *place = *byte;
            }
            self.head_len = self.head_len.saturating_add(1);
            if self.head_len == 2
                && let Err(fault) = self.check_start()
            {
                self.end = Some(End::Fault(fault));
                return at;
            }
            if self.head_len >= 2 && self.head_len == head_len(self.head[1]) {
                if let Err(fault) = self.begin() {
                    self.end = Some(End::Fault(fault));
                }
                return at;
            }
        }
        at
    }

    /// Checks the first two bytes of a head, before more of it is waited for.
    fn check_start(&mut self) -> Result<(), Fault> {
        let [first, second, ..] = self.head;
        let (is_last, opcode, len) = (first & FIN != 0, first & OPCODE, second & LENGTH);
        if first & RESERVED != 0 {
            return Err(Fault::Reserved);
        }
        if second & MASK == 0 {
            return Err(Fault::Unmasked);
        }
        self.control = match (opcode, self.in_message) {
            (CONTINUATION, true) | (BINARY, false) => {
                self.in_message = !is_last;
                return Ok(());
            }
            (CONTINUATION | BINARY, _) | (TEXT, true) => return Err(Fault::Order),
            (TEXT, false) => return Err(Fault::Text),
            (CLOSE, _) => Some(Opcode::Close),
            (PING, _) => Some(Opcode::Ping),
            (PONG, _) => Some(Opcode::Pong),
            _ => return Err(Fault::Reserved),
        };
        if is_last && usize::from(len) <= MAX_CONTROL_BYTES { Ok(()) } else { Err(Fault::Control) }
    }

    /// Begins the payload of a frame whose head is there.
    fn begin(&mut self) -> Result<(), Fault> {
        let [_, second, a, b, c, d, e, f, g, h, ..] = self.head;
        let (len, least) = match second & LENGTH {
            LENGTH_16 => (u64::from(u16::from_be_bytes([a, b])), 126),
            LENGTH_64 => (u64::from_be_bytes([a, b, c, d, e, f, g, h]), 1 << 16),
            len => (u64::from(len), 0),
        };
        if len < least || len >> 63 != 0 {
            return Err(Fault::Length);
        }
        if len > self.most && self.control.is_none() {
            return Err(Fault::TooLong);
        }
        let mask = self.head.get(self.head_len.saturating_sub(4)..self.head_len);
        self.mask = mask.and_then(|mask| mask.try_into().ok()).unwrap_or_default();
        (self.head_len, self.left) = (0, len);
        if len == 0 {
            self.finish_control();
        }
        Ok(())
    }

    /// Deals with a control frame that is there in full.
    fn finish_control(&mut self) {
        let Some(control) = self.control.take() else { return };
        let payload = std::mem::take(&mut self.control_payload);
        match control {
            // Only the last of several needs an answer (section 5.5.3).
            Opcode::Ping => self.ping = Some(payload),
            Opcode::Pong => {}
            Opcode::Close => {
                self.end = Some(status(&payload).map_or(End::Fault(Fault::Close), End::Closed));
            }
        }
    }
}

impl Fault {
    /// Returns the status code for it (section 7.4.1).
    pub(super) const fn status(self) -> u16 {
        match self {
            Self::Text => 1003,
            Self::TooLong => 1009,
            _ => 1002,
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Text => "a WebSocket message of text",
            Self::Unmasked => "a WebSocket frame without a mask",
            Self::Reserved => "reserved bits or an unknown opcode in a WebSocket frame",
            Self::Order => "a WebSocket frame out of order",
            Self::Control => "a WebSocket control frame in pieces or too long",
            Self::Length => "a WebSocket length that is not in its shortest form",
            Self::TooLong => "a WebSocket frame that is longer than the longest packet",
            Self::Close => "a WebSocket close with a wrong status code or reason",
        })
    }
}

/// Returns the head of a frame of the server, which has no mask, and its length. Longer payloads than
/// `u16::MAX` go in several frames.
pub(super) fn head(opcode: u8, len: u16) -> ([u8; 4], usize) {
    let [high, low] = len.to_be_bytes();
    match u8::try_from(len) {
        Ok(len) if len < LENGTH_16 => ([FIN | opcode, len, 0, 0], 2),
        _ => ([FIN | opcode, LENGTH_16, high, low], 4),
    }
}

/// Returns the length of a head by its second byte.
const fn head_len(second: u8) -> usize {
    match second & LENGTH {
        LENGTH_16 => 8,
        LENGTH_64 => 14,
        _ => 6,
    }
}

fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Takes a mask off, and returns that of the bytes behind.
fn unmask(payload: &mut [u8], mut mask: [u8; 4]) -> [u8; 4] {
    let key = u32::from_ne_bytes(mask);
    let (words, rest) = payload.as_chunks_mut::<4>();
    for word in words {
        *word = (u32::from_ne_bytes(*word) ^ key).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(mask) {
        *byte ^= key;
    }
    mask.rotate_left(rest.len());
    mask
}

/// Returns the status code of a close frame; `None` if it is wrong.
fn status(payload: &[u8]) -> Option<Option<u16>> {
    let Some((code, reason)) = payload.split_first_chunk::<2>() else {
        return payload.is_empty().then_some(None);
    };
    let code = u16::from_be_bytes(*code);
    // Those that a peer may send: section 7.4, and the registry of IANA.
    let is_known = matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999);
    (is_known && std::str::from_utf8(reason).is_ok()).then_some(Some(code))
}

const FIN: u8 = 0x80;
const RESERVED: u8 = 0x70;
const OPCODE: u8 = 0x0F;
const MASK: u8 = 0x80;
const LENGTH: u8 = 0x7F;
const LENGTH_16: u8 = 126;
const LENGTH_64: u8 = 127;

const CONTINUATION: u8 = 0x0;
const TEXT: u8 = 0x1;
pub(super) const BINARY: u8 = 0x2;
pub(super) const CLOSE: u8 = 0x8;
const PING: u8 = 0x9;
pub(super) const PONG: u8 = 0xA;

#[cfg(test)]
mod tests;
