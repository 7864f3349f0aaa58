//! Rules of SPOCP beside the policies: files that end in `.spoc`.
//!
//! `wardgate_spocp::file` defines the format. A rule that several files hold is one rule, with the
//! number of the first.

use std::cell::LazyCell;
use std::sync::Arc;

use wardgate_spocp::RuleSet;
use wardgate_spocp::file::{self, Line};

use crate::diagnostics::{Code, Diagnostic};
use crate::limits::MAX_FILE_BYTES;
use crate::source::{Location, Position, SourceError, SourceFile};

/// Returns true if a file holds rules.
pub(super) fn is_rules_name(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(EXTENSION)
}

/// Reads the rules of a file.
pub(super) fn read(path: &str, bytes: &[u8], rules: &mut RuleSet, errors: &mut Vec<Diagnostic>) {
    if bytes.len() > MAX_FILE_BYTES {
        let error = SourceError::TooLarge { bytes: bytes.len() };
        return errors.push(Diagnostic::refused_source(path, error));
    }
    let file = LazyCell::new(|| SourceFile::new(path, bytes).ok());
    let most = errors.len().saturating_add(MOST_ERRORS);
    for line in file::rules(bytes) {
        let (message, offset, code) = match &line.rule {
            Err(error) => (error.kind.to_string(), error.offset, Code::Syntax),
            Ok(rule) => match rules.insert(rule) {
                Ok(_) => continue,
                Err(refused) => (refused.to_string(), 0, Code::Limit),
            },
        };
        let position = position(bytes, &line, offset);
        errors.push(match file.as_ref().map(Arc::clone) {
            Some(file) => {
                let location = Location { file, position, path: Arc::from("") };
                Diagnostic::error(code, &location, message)
            }
            // Atoms may be any bytes; without a text there is no line to show.
            None => Diagnostic::in_file(code, path, message).at(position),
        });
        if errors.len() >= most {
            return;
        }
    }
}

/// Returns the position of a byte of a rule, in characters.
fn position(bytes: &[u8], line: &Line, offset: usize) -> Position {
    let end = line.offset.saturating_add(offset).min(bytes.len());
    let before = bytes.get(..end).unwrap_or_default();
    let begin = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at.saturating_add(1));
    let before = before.get(begin..).unwrap_or_default();
    let before = before.strip_prefix(BYTE_ORDER_MARK).unwrap_or(before);
    let columns = String::from_utf8_lossy(before).chars().count().saturating_add(1);
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Position { line: number(line.number), column: number(columns) }
}

/// The largest number of errors of one file; more of them repeat the first.
const MOST_ERRORS: usize = 100;

const EXTENSION: &str = ".spoc";
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
