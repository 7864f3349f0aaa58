//! The trace context of requests: the headers of W3C Trace Context.
//!
//! A malformed header is ignored, and the trace begins here.

use std::sync::Arc;

use hyper::HeaderMap;

/// The context of a span: its trace, its id, and its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Context {
    pub(super) trace: [u8; 16],
    pub(super) span: [u8; 8],
    pub(super) parent: Option<[u8; 8]>,
    /// True if the parent is in another process.
    pub(super) is_remote: bool,
    /// The `tracestate` to pass on.
    pub(super) state: Option<Arc<str>>,
}

/// The parent that a request names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parent {
    pub(super) trace: [u8; 16],
    pub(super) span: [u8; 8],
    pub(super) is_sampled: bool,
    pub(super) state: Option<Arc<str>>,
}

impl Parent {
    /// Reads the headers of a request.
    pub(super) fn read(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all("traceparent").iter();
        let (value, None) = (values.next()?, values.next()) else { return None };
        let parent = Self::of(value.as_bytes())?;
        Some(Self { state: if parent.is_sampled { state(headers) } else { None }, ..parent })
    }

    /// Reads `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`. A later version may be
    /// longer.
    fn of(text: &[u8]) -> Option<Self> {
        let (known, more) = text.split_at_checked(LENGTH)?;
        let mut parts = known.split(|byte| *byte == b'-');
        let [version]: [u8; 1] = digits(parts.next()?)?;
        let (trace, span) = (digits(parts.next()?)?, digits(parts.next()?)?);
        let [flags]: [u8; 1] = digits(parts.next()?)?;
        let is_fine = match version {
            0 => more.is_empty(),
            0xff => false,
            _ => matches!(more, [] | [b'-', ..]),
        };
        let is_zero = trace == [0; 16] || span == [0; 8];
        (is_fine && !is_zero && parts.next().is_none()).then_some(Self {
            trace,
            span,
            is_sampled: flags & 1 == 1,
            state: None,
        })
    }
}

/// Reads exactly `N` bytes as hexadecimal digits, in lower case.
fn digits<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != N.checked_mul(2)? {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

const fn digit(letter: u8) -> Option<u8> {
    match letter {
        b'0'..=b'9' => Some(letter - b'0'),
        b'a'..=b'f' => Some(letter - b'a' + 10),
        _ => None,
    }
}

/// The state that others want to be passed on, unless it is too long or no text.
fn state(headers: &HeaderMap) -> Option<Arc<str>> {
    let mut all = String::new();
    for value in headers.get_all("tracestate") {
        let text = value.to_str().ok()?.trim();
        if !all.is_empty() && !text.is_empty() {
            all.push(',');
        }
        all.push_str(text);
        if all.len() > MAX_STATE_BYTES {
            return None;
        }
    }
    (!all.is_empty()).then(|| Arc::from(all))
}

/// Bytes of a `traceparent`.
const LENGTH: usize = 55;

/// Bytes of a `tracestate` that must be passed on.
const MAX_STATE_BYTES: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_parent_is_read_as_it_is_written() {
        let parent = Parent::of(GOOD.as_bytes()).unwrap();
        assert_eq!(parent.trace[..3], [0x4b, 0xf9, 0x2f]);
        assert_eq!(parent.span, [0, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 2, 0xb7]);
        assert!(parent.is_sampled);
        for (flags, expected) in [("00", false), ("02", false), ("03", true), ("ff", true)] {
            let parent = Parent::of(format!("{}{flags}", &GOOD[..53]).as_bytes()).unwrap();
            assert_eq!(parent.is_sampled, expected, "{flags}");
        }
        let later = GOOD.replacen("00", "cc", 1);
        for more in ["", "-", "-what the future will be like"] {
            assert!(Parent::of(format!("{later}{more}").as_bytes()).is_some(), "{more}");
        }
    }

    #[test]
    fn malformed_headers_are_ignored() {
        for text in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e47360-0f067aa0ba902b7-01",
            "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-600f067aa0ba902b7-01",
            "0--4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473\u{e9}00f067aa0ba902b7-01",
        ] {
            assert_eq!(Parent::of(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn state_is_passed_on_unless_it_is_too_long() {
        let read = |headers: &[(&'static str, &str)]| {
            let mut all = HeaderMap::new();
            for (name, value) in headers {
                all.append(*name, value.parse().unwrap());
            }
            Parent::read(&all)
        };
        assert_eq!(read(&[("traceparent", GOOD), ("traceparent", GOOD)]), None);
        assert_eq!(read(&[("tracestate", "a=1")]), None);
        let state =
            |value: &str| read(&[("traceparent", GOOD), ("tracestate", value)]).unwrap().state;
        assert_eq!(state("a=1,b=2").as_deref(), Some("a=1,b=2"));
        assert_eq!(state(" ").as_deref(), None);
        assert_eq!(state(&"a".repeat(513)), None);
        let two = read(&[("traceparent", GOOD), ("tracestate", "a=1"), ("tracestate", "b=2")]);
        assert_eq!(two.unwrap().state.as_deref(), Some("a=1,b=2"));
    }
}
