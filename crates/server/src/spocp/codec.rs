//! Lengths and values: `6:foobar`, the only form on the wire.
//!
//! A message is one such value, and its operand and arguments are such values inside it. A claimed
//! length allocates nothing, and a length is digits: no sign, no space, no leading zero.

use super::limits::MAX_DIGITS;

/// A fault in the framing of a connection, which ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A length is missing, or is something else than digits before a colon.
    Length,
    /// A length is greater than allowed.
    TooLong,
}

/// The first message of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'b> {
    /// The bytes that the length announced.
    pub body: &'b [u8],
    /// The bytes that the message takes with its length.
    pub used: usize,
}

/// Returns the first message of `buffer`, or `None` if it is incomplete.
///
/// # Errors
/// There is no length, or one of more than `most` bytes.
pub fn message(buffer: &[u8], most: usize) -> Result<Option<Message<'_>>, Fault> {
    let Some((length, digits)) = length(buffer, most)? else { return Ok(None) };
    let from = digits.saturating_add(1);
    let used = from.saturating_add(length);
    Ok(buffer.get(from..used).map(|body| Message { body, used }))
}

/// Reads the digits before a colon: their value and their number; returns `None` if the colon is
/// still to come.
fn length(buffer: &[u8], most: usize) -> Result<Option<(usize, usize)>, Fault> {
    let mut value = 0_usize;
    for (at, byte) in buffer.iter().take(MAX_DIGITS.saturating_add(1)).enumerate() {
        match byte {
            b':' if at > 0 => return Ok(Some((value, at))),
            b'0'..=b'9' if at == MAX_DIGITS => return Err(Fault::TooLong),
            b'0'..=b'9' if at == 1 && value == 0 => return Err(Fault::Length),
            b'0'..=b'9' => value = value * 10 + usize::from(byte - b'0'),
            _ => return Err(Fault::Length),
        }
        if value > most {
            return Err(Fault::TooLong);
        }
    }
    Ok(None)
}

/// The values inside a message, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Values<'b>(&'b [u8]);

impl<'b> Values<'b> {
    /// Looks into the body of a message.
    #[must_use]
    pub const fn of(body: &'b [u8]) -> Self {
        Self(body)
    }
}

impl<'b> Iterator for Values<'b> {
    type Item = Result<&'b [u8], Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let found = message(self.0, self.0.len());
        let rest = found.ok().flatten().map_or(self.0.len(), |value| value.used);
        self.0 = self.0.get(rest..).unwrap_or_default();
        Some(found.and_then(|value| value.map(|value| value.body).ok_or(Fault::Length)))
    }
}

/// Writes `value` behind its length.
pub fn write(value: &[u8], out: &mut Vec<u8>) {
    write_length(value.len(), out);
    out.extend_from_slice(value);
}

/// Writes one value that holds `values`.
pub fn write_all(values: &[&[u8]], out: &mut Vec<u8>) {
    let bytes = |value: &&[u8]| digits(value.len()).saturating_add(1).saturating_add(value.len());
    write_length(values.iter().map(bytes).sum(), out);
    for value in values {
        write(value, out);
    }
}

fn write_length(length: usize, out: &mut Vec<u8>) {
    let mut rest = length;
    let from = out.len();
    loop {
        out.push(b'0'.saturating_add(u8::try_from(rest % 10).unwrap_or(0)));
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if let Some(written) = out.get_mut(from..) {
        written.reverse();
    }
    out.push(b':');
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().map_or(1, |log| usize::try_from(log).unwrap_or(0).saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(buffer: &[u8]) -> Result<Option<&[u8]>, Fault> {
        message(buffer, 1000).map(|found| found.map(|found| found.body))
    }

    #[test]
    fn a_message_has_the_length_that_it_announces() {
        assert_eq!(message(b"6:foobarbaz", 1000), Ok(Some(Message { body: b"foobar", used: 8 })));
        assert_eq!(body(b"0:"), Ok(Some(&b""[..])));
        assert_eq!(body(b"1::"), Ok(Some(&b":"[..])));
    }

    #[test]
    fn incomplete_messages_are_waited_for() {
        for buffer in [&b""[..], b"6", b"6:", b"6:fooba", b"999", b"0"] {
            assert_eq!(body(buffer), Ok(None), "{buffer:?}");
        }
    }

    #[test]
    fn a_length_is_digits_only() {
        for buffer in [
            &b":"[..],
            b":x",
            b"-1:x",
            b"+1:x",
            b" 1:x",
            b"1 :x",
            b"01:x",
            b"00:",
            b"x",
            b"\xff",
            b"0x1:",
            b"1.0:x",
            b"\r\n",
            b"6;foobar",
            b"\xef\xbb\xbf6:foobar",
        ] {
            assert_eq!(body(buffer), Err(Fault::Length), "{buffer:?}");
        }
    }

    #[test]
    fn a_length_is_bounded_before_its_bytes_come() {
        assert_eq!(body(b"1000:"), Ok(None));
        for buffer in [
            &b"1001"[..],
            b"1001:",
            b"9999999",
            b"99999999",
            b"18446744073709551615:",
            b"18446744073709551617:",
            b"99999999999999999999999999999999",
        ] {
            assert_eq!(body(buffer), Err(Fault::TooLong), "{buffer:?}");
        }
    }

    #[test]
    fn values_end_with_the_message() {
        let values = |body| Values::of(body).collect::<Result<Vec<_>, _>>();
        assert_eq!(values(b"5:QUERY3:(a)"), Ok(vec![&b"QUERY"[..], b"(a)"]));
        assert_eq!(values(b""), Ok(vec![]));
        assert_eq!(values(b"5:QUERY0:"), Ok(vec![&b"QUERY"[..], b""]));
        for cut in [
            &b"5:QUERY3:(a"[..],
            b"5:QUERY3",
            b"5:QUERY-1:a",
            b"6:QUERY",
            b"QUERY",
            b"5:QUERY9999999999:",
        ] {
            assert!(values(cut).is_err(), "{cut:?}");
        }
    }

    #[test]
    fn written_bytes_are_read_again() {
        for length in [0, 1, 9, 10, 99, 100, 101, 999] {
            let value = vec![b'x'; length];
            let mut out = Vec::new();
            write(&value, &mut out);
            assert_eq!(message(&out, 1000), Ok(Some(Message { body: &value, used: out.len() })));
        }
        let mut out = Vec::new();
        write_all(&[b"201", b"/", b"0123456789"], &mut out);
        assert_eq!(out, b"21:3:2011:/10:0123456789");
    }
}
