//! Requests that are JSON text.
//!
//! The usual request is read in one pass: the positions of the parts that the fast path may need
//! are noted, and the rest is checked to be JSON. Any other request is read as a whole.

mod doubles;
pub(crate) mod input;
mod read;
pub(crate) mod scan;
pub(crate) mod tape;

use std::str::from_utf8;

use wardgate_engine::attr::Attr;
use wardgate_engine::limits::{MAX_REQUEST_BYTES, MAX_VALUE_DEPTH};
use wardgate_engine::request::Request;

use crate::error::RequestError;
use crate::limits::{MAX_SEARCHED, MAX_SEARCHED_BYTES};
use crate::names::Wanted;
use crate::request::of_document;
use input::{JsonInput, Stop};
use scan::{Scanner, Start};
use tape::with_tape;

/// Calls `answer` with a usual request. Returns `None` for other requests, and if `answer` does.
///
/// # Errors
/// The text is not JSON.
#[inline]
pub(crate) fn with_input(
    request: &[u8],
    answer: impl FnOnce(&JsonInput<'_>) -> Option<bool>,
) -> Result<Option<bool>, RequestError> {
    let text = checked(request)?;
    with_tape(|tape| {
        let mut scanner = Scanner::new(text);
        match JsonInput::read(&mut scanner, tape) {
            Ok(input) => Ok(answer(&input)),
            Err(Stop::Unsupported) => Ok(None),
            Err(Stop::Fault(fault)) => Err(scanner.error(fault)),
        }
    })
}

/// Reads a request of any form.
///
/// # Errors
/// The text is not JSON, or not a request.
pub(crate) fn request(request: &[u8]) -> Result<Request, RequestError> {
    of_document(document(request)?)
}

/// Reads any text.
///
/// # Errors
/// The text is not JSON, or exceeds the bounds of a request.
pub(crate) fn document(json: &[u8]) -> Result<Attr, RequestError> {
    let mut scanner = Scanner::new(checked(json)?);
    read::document(&mut scanner).map_err(|fault| scanner.error(fault))
}

/// Reads any text whose attributes are in lists of other objects.
///
/// # Errors
/// The text is not JSON, or exceeds the bounds of a request.
pub(crate) fn call_document(json: &[u8]) -> Result<Attr, RequestError> {
    let mut scanner = Scanner::new(checked(json)?);
    read::call(&mut scanner).map_err(|fault| scanner.error(fault))
}

/// Reads an entry of a decision log, which may be in an envelope.
///
/// # Errors
/// The text is not JSON, or exceeds the bounds of a request.
#[cfg(feature = "replay")]
pub(crate) fn entry_document(json: &[u8]) -> Result<Attr, RequestError> {
    let mut scanner = Scanner::new(checked(json)?);
    read::entry(&mut scanner).map_err(|fault| scanner.error(fault))
}

/// Reads a value that was checked to be JSON and no deeper than an attribute may be.
pub(crate) fn value(json: &str) -> Option<Attr> {
    #[cfg(test)]
    reread::note(json);
    read::value(&mut Scanner::new(json), MAX_VALUE_DEPTH).ok()
}

/// Searches a list that was checked to be JSON for a text. Returns `None` if an element is no text without
/// escapes, or if there are more than a test may look at.
pub(crate) fn search(json: &str, text: &str) -> Option<bool> {
    let wanted = Wanted::new(text);
    let mut is_found = false;
    each_text(json, |element| is_found |= wanted.is(element))?;
    Some(is_found)
}

/// Returns the elements of a list that was checked to be JSON; `None` where [`search`] does.
pub(crate) fn texts(json: &str) -> Option<Vec<&str>> {
    let mut texts = Vec::new();
    each_text(json, |element| texts.push(element))?;
    Some(texts)
}

fn each_text<'t>(json: &'t str, mut visit: impl FnMut(&'t str)) -> Option<()> {
    // A list that turns out to be unusual is read again as a whole.
    if json.len() > MAX_SEARCHED_BYTES {
        return None;
    }
    #[cfg(test)]
    reread::note(json);
    let mut scanner = Scanner::new(json);
    if scanner.start().ok()? != Start::List {
        return None;
    }
    scanner.enter();
    let mut count = 0;
    while scanner.element(count == 0).ok()? {
        if scanner.start().ok()? != Start::Text {
            return None;
        }
        let text = scanner.text().ok()?;
        count += 1;
        if text.is_escaped || count > MAX_SEARCHED {
            return None;
        }
        visit(scanner.raw(text));
    }
    Some(())
}

#[inline]
pub(crate) fn checked(request: &[u8]) -> Result<&str, RequestError> {
    if request.len() > MAX_REQUEST_BYTES {
        return Err(RequestError::TooLarge { bytes: request.len() });
    }
    from_utf8(request)
        .map_err(|error| RequestError::Malformed { offset: error.valid_up_to(), expected: "UTF-8" })
}

/// Counts the bytes of values that are read again, for tests.
#[cfg(test)]
pub(crate) mod reread {
    use std::cell::Cell;

    thread_local! {
        static BYTES: Cell<usize> = const { Cell::new(0) };
    }

    pub(crate) fn note(json: &str) {
        BYTES.with(|bytes| bytes.set(bytes.get() + json.len()));
    }

    /// Returns the number of bytes read again since the last call.
    pub(crate) fn take() -> usize {
        BYTES.with(|bytes| bytes.replace(0))
    }
}
