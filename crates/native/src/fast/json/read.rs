//! JSON as attributes: the plain reader, for requests that are not usual.

use std::collections::BTreeSet;

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::limits::MAX_VALUE_DEPTH;

use super::scan::{Fault, Scanned, Scanner, Start, Text, value_of};

/// Reads a whole document.
pub(crate) fn document(scanner: &mut Scanner<'_>) -> Scanned<Attr> {
    whole(scanner, MAX_DOCUMENT_DEPTH)
}

/// Reads a whole document whose attributes are in lists of other objects.
pub(crate) fn call(scanner: &mut Scanner<'_>) -> Scanned<Attr> {
    whole(scanner, MAX_CALL_DEPTH)
}

/// Reads a whole entry of a decision log, whose attributes are in lists of its checks.
#[cfg(feature = "replay")]
pub(crate) fn entry(scanner: &mut Scanner<'_>) -> Scanned<Attr> {
    whole(scanner, MAX_ENTRY_DEPTH)
}

fn whole(scanner: &mut Scanner<'_>, depth: usize) -> Scanned<Attr> {
    let value = value(scanner, depth)?;
    scanner.end()?;
    Ok(value)
}

/// Reads one value with at most `depth` levels of values in it.
pub(crate) fn value(scanner: &mut Scanner<'_>, depth: usize) -> Scanned<Attr> {
    Ok(match scanner.start()? {
        Start::Text => {
            let text = scanner.text()?;
            Attr::String(unescaped(scanner, text))
        }
        Start::Number => Attr::Number(value_of(scanner.number()?)),
        Start::Literal => scanner.literal()?.map_or(Attr::Null, Attr::Bool),
        Start::List => Attr::List(list(scanner, inside(depth)?)?),
        Start::Object => Attr::Map(object(scanner, inside(depth)?)?),
    })
}

fn list(scanner: &mut Scanner<'_>, depth: usize) -> Scanned<Vec<Attr>> {
    let mut items = Vec::new();
    scanner.enter();
    while scanner.element(items.is_empty())? {
        items.push(value(scanner, depth)?);
    }
    Ok(items)
}

fn object(scanner: &mut Scanner<'_>, depth: usize) -> Scanned<AttrMap> {
    let (mut entries, mut begin) = (Vec::new(), scanner.clone());
    scanner.enter();
    while let Some(name) = scanner.member(entries.is_empty())? {
        let name = unescaped(scanner, name);
        entries.push((name, value(scanner, depth)?));
    }
    let count = entries.len();
    let map: AttrMap = entries.into_iter().collect();
    if map.entries().len() == count { Ok(map) } else { Err(doubled(&mut begin)) }
}

/// Returns the first member of the object that begins here whose name an earlier one has.
#[cold]
fn doubled(scanner: &mut Scanner<'_>) -> Fault {
    let found = first_doubled(scanner);
    // INVARIANT: the object was read to its end, and has such a member.
    found.unwrap_or_else(|fault| fault)
}

fn first_doubled(scanner: &mut Scanner<'_>) -> Scanned<Fault> {
    let mut names = BTreeSet::new();
    scanner.enter();
    while let Some(name) = scanner.member(names.is_empty())? {
        if !names.insert(unescaped(scanner, name)) {
            return Ok(Fault::Doubled(name.start));
        }
        value(scanner, MAX_ENTRY_DEPTH)?;
    }
    Ok(Fault::Expected("an object with each name once"))
}

fn inside(depth: usize) -> Scanned<usize> {
    depth.checked_sub(1).ok_or(Fault::TooDeep)
}

/// Returns the content of a string, whose escapes the scanner has checked.
pub(crate) fn unescaped(scanner: &Scanner<'_>, text: Text) -> Box<str> {
    let mut rest = scanner.raw(text);
    if !text.is_escaped {
        return rest.into();
    }
    let mut out = String::with_capacity(rest.len());
    while let Some((plain, escape)) = rest.split_once('\\') {
        out.push_str(plain);
        let (said, length) = escaped(escape);
        out.push(said);
        rest = escape.get(length..).unwrap_or("");
    }
    out.push_str(rest);
    out.into()
}

/// Returns the character of an escape, and its length without the first backslash.
fn escaped(escape: &str) -> (char, usize) {
    let said = match escape.bytes().next() {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode(escape),
        Some(same) => char::from(same),
        None => char::REPLACEMENT_CHARACTER,
    };
    (said, 1)
}

fn unicode(escape: &str) -> (char, usize) {
    let unit = |at: usize| escape.get(at..at + 4).and_then(|hex| u32::from_str_radix(hex, 16).ok());
    let high = unit(1).unwrap_or(0);
    if let Some(alone) = char::from_u32(high) {
        return (alone, 5);
    }
    let low = unit(7).unwrap_or(0);
    let code = 0x1_0000 + ((high & 0x3ff) << 10 | low & 0x3ff);
    (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 11)
}

/// The depth of a document: itself, the principal or resource, `attr`, and the values in it.
const MAX_DOCUMENT_DEPTH: usize = 3 + MAX_VALUE_DEPTH;

/// The depth of a call: the document, its list, an entry, the principal or resource, `attr`, and
/// the values in it.
const MAX_CALL_DEPTH: usize = 5 + MAX_VALUE_DEPTH;

/// The depth of an entry: an envelope, the entry, its checks, their list, an input, the principal or resource, `attr`,
/// and the values in it.
const MAX_ENTRY_DEPTH: usize = 7 + MAX_VALUE_DEPTH;
