//! Entries of a decision log of Cerbos (`DecisionLogEntry` as JSON), read to be decided again.
//!
//! The usual entry is noted by the positions of its parts, in one pass, and its questions are answered by fast
//! paths from the text. Any other entry is read as a whole. Both readers give the same questions. What is not about
//! decisions, such as the peer and the audit trail, is checked to be JSON and skipped.

mod noted;
mod plain;

use wardgate_engine::cel::Timestamp;
use wardgate_engine::cel::time::parse_timestamp;
use wardgate_engine::decide::{Attribute, Owner};
use wardgate_engine::request::Request;

use crate::error::RequestError;
use crate::fast::input::FastInput;
use crate::fast::json::checked;
use crate::fast::json::input::{JsonInput, Stop};
use crate::fast::json::scan::Scanner;
use crate::fast::json::tape::{Tape, with_tape};
use crate::policies::Policies;
use crate::protocol::documents;
use noted::Noted;
pub use plain::{PlainEntry, PlainInput, plain};

/// A line of a log.
pub enum Line<'l> {
    /// Checks of resources, as positions in the text.
    Noted(Checks<'l>),
    /// Checks of resources, read as a whole.
    Plain(PlainEntry),
    /// An entry without decisions of checks.
    Other(Other),
}

/// An entry that is no check of resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Other {
    /// A query plan.
    Plan,
    /// An access to the API.
    Access,
    /// A check that ended in an error, without decisions.
    Failed,
    /// An entry that was too large, of which only the head was logged.
    Oversized,
    /// Something else.
    Unknown,
}

/// The checks of one entry.
pub struct Checks<'l> {
    text: &'l str,
    tape: &'l Tape,
    time: Timestamp,
    inputs: &'l [Noted<'l>],
}

/// One principal and one resource, and the actions that were decided.
#[derive(Clone, Copy)]
pub struct Input<'l> {
    checks: &'l Checks<'l>,
    noted: &'l Noted<'l>,
}

/// A question of the log about one action.
pub struct LoggedQuestion<'l> {
    input: JsonInput<'l>,
    /// The effect that was logged; `None` if there is none.
    pub was_allowed: Option<bool>,
}

/// Reads a line, and calls `act` with it.
///
/// # Errors
/// The line is not JSON, has a member twice in what is read, is longer than a request may be, or has no time.
pub fn read<R>(line: &[u8], act: impl FnOnce(Line<'_>) -> R) -> Result<R, Unread> {
    let text = checked(line)?;
    with_tape(|tape| {
        let mut scanner = Scanner::new(text);
        tape.begin(text);
        let noted = match noted::entry(&mut scanner, tape) {
            Ok(noted) => noted,
            Err(Stop::Unsupported) => return plain(line).map(act),
            Err(Stop::Fault(fault)) => return Err(scanner.error(fault).into()),
        };
        let inputs = match &noted.inputs {
            Err(other) => return Ok(act(Line::Other(*other))),
            Ok(inputs) => inputs,
        };
        let time = time(noted.time)?;
        Ok(act(Line::Noted(Checks { text, tape, time, inputs })))
    })
}

/// Why a line cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It is no JSON, or exceeds a bound.
    Json(RequestError),
    /// It is no entry; the text says why.
    Entry(String),
}

impl<'l> Checks<'l> {
    /// Returns the time of the entry.
    #[must_use]
    pub const fn time(&self) -> Timestamp {
        self.time
    }

    /// Returns the inputs, in their order.
    pub fn inputs(&'l self) -> impl ExactSizeIterator<Item = Input<'l>> {
        self.inputs.iter().map(move |noted| Input { checks: self, noted })
    }
}

impl<'l> Input<'l> {
    /// Returns the kind of the resource.
    #[must_use]
    pub fn kind(&self) -> &'l str {
        self.noted.resource.kind.unwrap_or("")
    }

    /// Returns the principal, its attributes included, and the resource and the auxiliary data, as they are in the
    /// text: inputs with equal texts are equal, but for their actions and the id of the call.
    #[must_use]
    pub fn texts(&self) -> [&'l str; 3] {
        self.noted.spans.clone().map(|span| self.checks.text.get(span).unwrap_or(""))
    }

    /// Returns the questions, one for each action.
    pub fn asked(self) -> impl ExactSizeIterator<Item = LoggedQuestion<'l>> {
        let actions = self.checks.tape.range(&self.noted.actions);
        actions.iter().enumerate().map(move |(at, action)| {
            let parties = (self.noted.principal.clone(), self.noted.resource.clone());
            let action = action.name_in(self.checks.text).unwrap_or("");
            let input = JsonInput::new((self.checks.text, self.checks.tape), action, parties, None);
            let input = input.with_aux_data(self.noted.aux_data.clone());
            let has = |mask: u64| mask >> at & 1 == 1;
            let was_allowed = match (has(self.noted.allowed), has(self.noted.denied)) {
                (true, false) => Some(true),
                (false, true) => Some(false),
                _ => None,
            };
            LoggedQuestion { input, was_allowed }
        })
    }

    /// Calls `visit` with each attribute that the input has.
    pub fn each_attribute(&self, mut visit: impl FnMut(Attribute<'l>)) {
        let Noted { principal, resource, aux_data: [claims, tokens], .. } = self.noted;
        let parts = [
            (Owner::Principal, &principal.attributes),
            (Owner::Resource, &resource.attributes),
            (Owner::Claims, claims),
            (Owner::Tokens, tokens),
        ];
        for (owner, range) in parts {
            for member in self.checks.tape.range(range) {
                let name = member.name_in(self.checks.text);
                name.into_iter().for_each(|name| visit(Attribute { owner, name }));
            }
        }
    }

    /// Returns the whole request, with all its actions.
    ///
    /// # Errors
    /// The input is no request.
    pub fn request(&self) -> Result<Request, RequestError> {
        let text = self.checks.text.get(self.noted.whole.clone()).unwrap_or("");
        documents::check(text.as_bytes())
    }
}

impl LoggedQuestion<'_> {
    /// Returns the action.
    #[must_use]
    pub fn action(&self) -> &str {
        self.input.target().action
    }

    /// Returns version and scope of the resource, as they are in the request.
    #[must_use]
    pub fn version_and_scope(&self) -> [&str; 2] {
        let target = self.input.target();
        [target.policy_version, target.scope]
    }

    /// Decides by a fast path; `None` if there is none or it is unsure.
    #[inline]
    #[must_use]
    pub fn try_fast(&self, policies: &Policies, now: Timestamp) -> Option<bool> {
        policies.try_fast(&self.input, &now)
    }

    /// Returns the attributes that the fast path of the question reads, sorted; `None` if it has none.
    #[must_use]
    pub fn attributes_of_fast_path<'p>(
        &self,
        policies: &'p Policies,
    ) -> Option<Vec<Attribute<'p>>> {
        policies.attributes_of_fast_path(&self.input)
    }
}

fn time(text: Option<&str>) -> Result<Timestamp, Unread> {
    let text = text.ok_or_else(|| Unread::Entry("it has no timestamp".to_owned()))?;
    parse_timestamp(text).map_err(|_| Unread::Entry("its timestamp is none of RFC 3339".to_owned()))
}

impl From<RequestError> for Unread {
    fn from(error: RequestError) -> Self {
        Self::Json(error)
    }
}

impl std::fmt::Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Json(error) => error.fmt(f),
            Self::Entry(why) => f.write_str(why),
        }
    }
}
