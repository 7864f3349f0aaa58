//! From nodes to text, in both forms.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::ops::Range;

use crate::expression::{Expression, Node, index};
use crate::limits::MAX_DEPTH;
use crate::read::is_word;

/// Writes the canonical form.
pub(crate) fn canonical(expression: &Expression) -> Vec<u8> {
    element(expression, 0)
}

/// Writes the canonical form of one element.
pub(crate) fn element(expression: &Expression, at: usize) -> Vec<u8> {
    let end = expression.after(at);
    let mut out = Vec::new();
    if at == 0 {
        out.reserve(expression.text.len());
    }
    walk(expression, at..end, &mut |part| match part {
        Part::Open => out.push(b'('),
        Part::Close => out.push(b')'),
        Part::Atom(bytes) => atom(bytes, &mut out),
    });
    out
}

/// Writes the advanced form: a blank between two atoms, and before a list that follows one.
pub(crate) fn advanced(expression: &Expression) -> Vec<u8> {
    let mut out = Vec::with_capacity(expression.text.len());
    walk(expression, 0..expression.nodes.len(), &mut |part| {
        let after_atom = out.last().is_some_and(|byte| !matches!(byte, b'(' | b')'));
        let follows = match part {
            Part::Open => after_atom,
            Part::Close => false,
            Part::Atom(_) => !matches!(out.last(), None | Some(b'(')),
        };
        if follows {
            out.push(b' ');
        }
        match part {
            Part::Open => out.push(b'('),
            Part::Close => out.push(b')'),
            Part::Atom(bytes) => readable(bytes, &mut out),
        }
    });
    out
}

/// Writes an atom with its length in front.
pub(crate) fn atom(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(bytes.len().to_string().as_bytes());
    out.push(b':');
    out.extend_from_slice(bytes);
}

/// Writes a prefix or a suffix.
pub(crate) fn affix(word: &[u8], bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"(1:*");
    atom(word, out);
    atom(bytes, out);
    out.push(b')');
}

enum Part<'p> {
    Open,
    Close,
    Atom(&'p [u8]),
}

/// Visits all parts of the text, in order.
fn walk(expression: &Expression, elements: Range<usize>, visit: &mut impl FnMut(Part<'_>)) {
    let mut ends = [0_usize; MAX_DEPTH];
    let mut depth: usize = 0;
    let end = elements.end;
    for (at, node) in elements.clone().zip(expression.nodes.get(elements).unwrap_or_default()) {
        depth = close(&ends, depth, at, visit);
        let end = match *node {
            Node::Atom(span) => {
                visit(Part::Atom(expression.bytes(span)));
                continue;
            }
            Node::List { end } => {
                visit(Part::Open);
                end
            }
            Node::Any => {
                star(None, visit);
                visit(Part::Close);
                continue;
            }
            Node::Set { end } => {
                star(Some(b"set"), visit);
                end
            }
            Node::Range { end, .. } => {
                star(Some(b"range"), visit);
                end
            }
            Node::Prefix(span) | Node::Suffix(span) => {
                let is_prefix = matches!(node, Node::Prefix(_));
                star(Some(if is_prefix { b"prefix" } else { b"suffix" }), visit);
                visit(Part::Atom(expression.bytes(span)));
                visit(Part::Close);
                continue;
            }
        };
        if let Some(position) = ends.get_mut(depth) {
            *position = index(end);
            depth = depth.saturating_add(1);
        }
    }
    close(&ends, depth, end, visit);
}

/// Closes the lists that end before `at`.
fn close(ends: &[usize], depth: usize, at: usize, visit: &mut impl FnMut(Part<'_>)) -> usize {
    let open = ends.get(..depth).unwrap_or_default();
    let closing = open.iter().rev().take_while(|end| **end <= at).count();
    for _ in 0..closing {
        visit(Part::Close);
    }
    depth.saturating_sub(closing)
}

fn star(word: Option<&[u8]>, visit: &mut impl FnMut(Part<'_>)) {
    visit(Part::Open);
    visit(Part::Atom(b"*"));
    if let Some(word) = word {
        visit(Part::Atom(word));
    }
}

/// Writes an atom as a word if it is one, quoted if it is text, and in hexadecimal otherwise.
fn readable(bytes: &[u8], out: &mut Vec<u8>) {
    let is_text = core::str::from_utf8(bytes).is_ok();
    if is_text && bytes.iter().all(|byte| is_word(*byte)) {
        return out.extend_from_slice(bytes);
    }
    if !is_text {
        out.push(b'#');
        for byte in bytes {
            hexadecimal(*byte, out);
        }
        return out.push(b'#');
    }
    out.push(b'"');
    for byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 | 0x7F => {
                out.extend_from_slice(b"\\x");
                hexadecimal(*byte, out);
            }
            _ => out.push(*byte),
        }
    }
    out.push(b'"');
}

fn hexadecimal(byte: u8, out: &mut Vec<u8>) {
    for digit in [byte >> 4, byte & 0xF] {
        out.push(if digit < 10 { b'0' + digit } else { b'a' + (digit - 10) });
    }
}
