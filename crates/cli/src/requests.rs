//! Requests from a file or standard input: one JSON value, or one on each line.
//!
//! A bad line is reported with its number, and the others are still answered. Where each line is a
//! request of its own, it is answered before the next one is read.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use wardgate_compiler::reading;
use wardgate_engine::attr::Attr;
use wardgate_engine::limits::MAX_REQUEST_BYTES;

use crate::failure::{Failure, Result, Status};
use crate::json::{self, Document};
use crate::output::{InOneLine, complain, shown};
use crate::request::{self, Call};

/// A source of requests.
struct Requests<T> {
    input: Box<dyn BufRead>,
    name: String,
    /// The reader of one request.
    read: fn(&Attr) -> Result<T, String>,
    /// Lines read so far.
    lines: usize,
    /// Read but not handed out yet.
    waiting: VecDeque<Result<T, String>>,
}

/// Passes each call to `act`, complains of bad ones, and returns the status of the command.
pub(crate) fn each(path: &Path, act: impl FnMut(Call) -> Result<()>) -> Result<Status> {
    each_of(path, request::call, act)
}

/// Passes each request that `read` reads to `act`, complains of bad ones, and returns the status of
/// the command.
pub(crate) fn each_of<T>(
    path: &Path,
    read: fn(&Attr) -> Result<T, String>,
    mut act: impl FnMut(T) -> Result<()>,
) -> Result<Status> {
    let mut requests = Requests::open(path, read)?;
    let (mut count, mut status) = (0_usize, Status::Done);
    while let Some(request) = requests.next()? {
        count += 1;
        match request {
            Ok(call) => act(call)?,
            Err(message) => {
                complain(format_args!("wardgate: {}", shown(&shortened(&message))));
                status = Status::BadRequest;
            }
        }
    }
    if count == 0 {
        return Err(Failure::request(format!("{} holds no request", requests.name)));
    }
    Ok(status)
}

impl<T> Requests<T> {
    fn open(path: &Path, read: fn(&Attr) -> Result<T, String>) -> Result<Self> {
        let (input, name): (Box<dyn BufRead>, _) = if path == Path::new("-") {
            (Box::new(BufReader::new(io::stdin())), "standard input".to_owned())
        } else {
            let file = reading::open(path).map_err(|error| Failure::reading(path, &error))?;
            (Box::new(BufReader::new(file)), format!("`{}`", path.in_one_line()))
        };
        Ok(Self { input, name, read, lines: 0, waiting: VecDeque::new() })
    }

    fn next(&mut self) -> Result<Option<Result<T, String>>> {
        if let Some(request) = self.waiting.pop_front() {
            return Ok(Some(request));
        }
        let is_first = self.lines == 0;
        let Some(mut line) = self.line()? else { return Ok(None) };
        let number = self.lines;
        let read: Result<Document, _> = serde_json::from_slice(line.trim_ascii_end());
        match read {
            Ok(document) => Ok(Some(self.call(&document, number))),
            Err(_) if is_first => {
                self.rest(&mut line)?;
                self.documents(&line, number);
                Ok(self.waiting.pop_front())
            }
            Err(error) => Ok(Some(Err(self.malformed(&error, number)))),
        }
    }

    /// Reads the next line that is not blank.
    fn line(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            let mut line = Vec::new();
            let read = bounded(&mut self.input).read_until(b'\n', &mut line);
            if read.map_err(|error| self.unreadable(&error))? == 0 {
                return Ok(None);
            }
            self.lines += 1;
            if line.len() > MAX_REQUEST_BYTES {
                return Err(self.too_large());
            }
            if self.lines == 1 && line.starts_with(BYTE_ORDER_MARK) {
                line.drain(..BYTE_ORDER_MARK.len());
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Some(line));
            }
        }
    }

    /// Reads all that is left.
    fn rest(&mut self, text: &mut Vec<u8>) -> Result<()> {
        let read = bounded(&mut self.input).read_to_end(text);
        read.map_err(|error| self.unreadable(&error))?;
        if text.len() > MAX_REQUEST_BYTES { Err(self.too_large()) } else { Ok(()) }
    }

    /// Reads values that follow each other in `text`, whose first line has the number `first`.
    /// After a malformed one, the next line that starts with a brace starts a new one.
    fn documents(&mut self, text: &[u8], first: usize) {
        let (mut at, mut line) = (0, first);
        while let Some(rest) = text.get(at..) {
            let blank = rest.len() - rest.trim_ascii_start().len();
            line += newlines(rest.get(..blank).unwrap_or_default());
            at += blank;
            let rest = rest.get(blank..).unwrap_or_default();
            if rest.is_empty() {
                return;
            }
            let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<Document>();
            let (request, length) = match values.next() {
                Some(Ok(document)) => (self.call(&document, line), values.byte_offset()),
                Some(Err(error)) => (Err(self.malformed(&error, line)), next_brace(rest)),
                None => return,
            };
            self.waiting.push_back(request);
            line += newlines(rest.get(..length).unwrap_or_default());
            at += length;
        }
    }

    fn call(&self, document: &Document, line: usize) -> Result<T, String> {
        let at = |message| format!("{}, request at line {line}: {message}", self.name);
        (self.read)(&document.0).map_err(at)
    }

    fn malformed(&self, error: &serde_json::Error, first: usize) -> String {
        let line = (first + error.line()).saturating_sub(1);
        let position = format!("line {line}, column {}", error.column());
        format!("{}, {position}: invalid JSON: {}", self.name, json::message(error))
    }

    fn unreadable(&self, error: &io::Error) -> Failure {
        let reason = crate::failure::reason(error);
        Failure::system(format!("cannot read {}: {reason}", self.name))
    }

    fn too_large(&self) -> Failure {
        let name = &self.name;
        Failure::request(format!("{name}: a request has more than {MAX_REQUEST_BYTES} bytes"))
    }
}

/// Reads one byte more than is allowed, to detect longer input.
fn bounded(input: &mut Box<dyn BufRead>) -> io::Take<&mut Box<dyn BufRead>> {
    input.take(u64::try_from(MAX_REQUEST_BYTES).unwrap_or(u64::MAX).saturating_add(1))
}

/// Returns the offset of the next line that starts with a brace, or the end.
fn next_brace(text: &[u8]) -> usize {
    text.windows(2).position(|pair| pair == b"\n{").map_or(text.len(), |at| at + 1)
}

fn newlines(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte == b'\n').count()
}

/// Shortens a text of the user.
fn shortened(message: &str) -> String {
    let mut start: String = message.chars().take(MAX_SHOWN).collect();
    if start.len() < message.len() {
        start.push_str("...");
    }
    start
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Characters of the longest message about a request.
const MAX_SHOWN: usize = 500;
