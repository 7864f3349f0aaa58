//! The session of one client: its state, and the replies to its input.
//!
//! No socket and no clock: bytes in, bytes out, and the next step of the connection. Replies are in
//! the order of the requests, also of those that come at once, and a query after a change sees the
//! change.

use wardgate_spocp::Normal;

use super::access::Access;
use super::codec::{self, Fault};
use super::limits::MAX_REPLIES;
use super::list::Conditions;
use super::recorded::{Asked, Recorded};
use super::reply::{Reply, write_capabilities};
use super::request::{self, Request};
use crate::limits::{MAX_TRANSACTION, MAX_TRANSACTION_BYTES};
use crate::rules::{Key, RuleChange, Rules};

/// The state of one client.
#[derive(Debug)]
pub struct Session {
    /// The longest message.
    most: usize,
    is_encrypted: bool,
    is_administrator: bool,
    /// The name of the administrator; empty if there is none, or if the certificate has none that was asked for.
    name: String,
    transaction: Option<Transaction>,
    /// Used again for every query.
    query: Normal,
}

/// The changes between `BEGIN` and `COMMIT`.
#[derive(Debug, Default)]
struct Transaction {
    changes: Vec<RuleChange>,
    bytes: usize,
}

/// The surroundings of a session.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'s> {
    /// The rules.
    pub rules: &'s Rules,
    /// The access rules.
    pub access: &'s Access,
    /// `STARTTLS` is offered.
    pub offers_tls: bool,
    /// Changes of this client are on their way.
    pub unsettled: bool,
    /// The record of decisions, if they are recorded.
    pub recorded: Option<&'s Recorded<'s>>,
}

/// The next step of the connection before the session goes on.
#[derive(Debug)]
pub enum Step {
    /// Read more.
    More,
    /// Write the replies.
    Pause,
    /// Write the outcome of the changes that are on their way.
    Settle,
    /// Hand over these changes, which the last reply is for if all are made.
    Change(Vec<RuleChange>, Reply),
    /// Write this reply behind those of the changes that are on their way.
    Later(Reply),
    /// List these rules.
    List(Conditions),
    /// Load the base rules anew.
    Reload,
    /// Write the replies, drop other input, and start TLS.
    StartTls,
    /// Write the replies and end.
    Close,
}

impl Session {
    /// Begins a session of messages of at most `most` bytes.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            most,
            is_encrypted: false,
            is_administrator: false,
            name: String::new(),
            transaction: None,
            query: Normal::default(),
        }
    }

    /// Continues after the TLS handshake, with the name of an administrator if the certificate proved one.
    pub fn encrypted(&mut self, administrator: Option<String>) {
        self.is_encrypted = true;
        if let Some(name) = administrator {
            self.is_administrator = true;
            self.name = name;
        }
    }

    /// Answers the requests in `input`. Returns the number of bytes that are done, and the next
    /// step.
    pub fn advance(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        around: Surroundings<'_>,
    ) -> (usize, Step) {
        let mut at = 0_usize;
        loop {
            let rest = input.get(at..).unwrap_or_default();
            let (used, step) = self.queries(rest, out, around);
            at = at.saturating_add(used);
            if let Some(step) = step {
                return (at, step);
            }
        }
    }

    /// Answers a bounded number of queries under one lock of the rules.
    fn queries(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        around: Surroundings<'_>,
    ) -> (usize, Option<Step>) {
        let mut at = 0_usize;
        let mut live = None;
        for _ in 0..QUERIES {
            if out.len() > MAX_REPLIES {
                return (at, Some(Step::Pause));
            }
            let rest = input.get(at..).unwrap_or_default();
            let message = match codec::message(rest, self.most) {
                Ok(Some(message)) => message,
                Ok(None) => return (at, Some(Step::More)),
                Err(_) if around.unsettled => return (at, Some(Step::Settle)),
                Err(fault) => {
                    because(fault).write(out);
                    return (input.len(), Some(Step::Close));
                }
            };
            let request = request::read(message.body);
            if around.unsettled && !matches!(request, Ok(Request::Add(_) | Request::Delete(_))) {
                return (at, Some(Step::Settle));
            }
            at = at.saturating_add(message.used);
            match request {
                Ok(Request::Query(text)) if self.may_query(around.access) => {
                    if self.query.read_canonical(text).is_err() {
                        Reply::SyntaxError.write(out);
                        continue;
                    }
                    let live = live.get_or_insert_with(|| around.rules.read());
                    let is_allowed = live.allows(&self.query);
                    match around.recorded {
                        None => Reply::to_query(is_allowed).write(out),
                        Some(recorded) => {
                            let asked = Asked { name: &self.name, text, query: &self.query };
                            recorded.answer(asked, is_allowed, out);
                        }
                    }
                }
                Ok(request) => {
                    // No wait happens under the lock of the rules.
                    drop(live.take());
                    if let Some(step) = self.other(request, out, around) {
                        return (at, Some(step));
                    }
                }
                Err(reply) => reply.write(out),
            }
        }
        (at, None)
    }

    fn may_query(&self, access: &Access) -> bool {
        access.anonymous_queries || self.is_administrator
    }

    fn other(
        &mut self,
        request: Request<'_>,
        out: &mut Vec<u8>,
        around: Surroundings<'_>,
    ) -> Option<Step> {
        let reply = match request {
            Request::Logout => {
                Reply::Bye.write(out);
                return Some(Step::Close);
            }
            Request::Capability => {
                let takes_tokens = around.access.takes_tokens(self.is_encrypted);
                write_capabilities(if takes_tokens { PLAIN } else { b"" }, out);
                return None;
            }
            Request::StartTls => return self.start_tls(out, around),
            Request::Auth(mechanism, token) => return self.auth(mechanism, token, out, around),
            _ if !self.is_administrator => Reply::AccessDenied,
            Request::Add(text) => return self.add(text, out, around),
            Request::Delete(id) => return self.delete(id, out, around),
            Request::List(conditions) => match Conditions::read(&conditions) {
                Ok(conditions) => return Some(Step::List(conditions)),
                Err(reply) => reply,
            },
            Request::Reload if self.transaction.is_some() => Reply::ProtocolError,
            Request::Reload => return Some(Step::Reload),
            Request::Begin if !around.rules.can_change() => Reply::NotSupported,
            Request::Begin if self.transaction.is_some() => Reply::AlreadyActive,
            Request::Begin => {
                self.transaction = Some(Transaction::default());
                Reply::Ok
            }
            Request::Rollback => {
                self.transaction.take().map_or(Reply::ProtocolError, |_| Reply::Ok)
            }
            Request::Commit => match self.transaction.take() {
                None => Reply::ProtocolError,
                Some(transaction) if transaction.changes.is_empty() => Reply::TransactionComplete,
                Some(transaction) => {
                    return Some(Step::Change(transaction.changes, Reply::TransactionComplete));
                }
            },
            // Only a client without the right to query gets here.
            Request::Query(_) => Reply::AccessDenied,
        };
        answer(reply, out, around)
    }

    fn add(&mut self, text: &[u8], out: &mut Vec<u8>, around: Surroundings<'_>) -> Option<Step> {
        // Every rule is a list, so that its elements can be named.
        if !text.starts_with(b"(") {
            return answer(Reply::ArgumentError, out, around);
        }
        match Normal::from_canonical(text) {
            Ok(rule) => self.change(RuleChange::Add(rule), text.len(), out, around),
            Err(_) => answer(Reply::SyntaxError, out, around),
        }
    }

    fn delete(&mut self, id: &[u8], out: &mut Vec<u8>, around: Surroundings<'_>) -> Option<Step> {
        match Key::read(id) {
            Some(key) => self.change(RuleChange::Delete(key), id.len(), out, around),
            None => answer(Reply::ArgumentError, out, around),
        }
    }

    fn change(
        &mut self,
        changes: RuleChange,
        bytes: usize,
        out: &mut Vec<u8>,
        around: Surroundings<'_>,
    ) -> Option<Step> {
        let Some(transaction) = &mut self.transaction else {
            if !around.rules.can_change() {
                return answer(Reply::NotSupported, out, around);
            }
            return Some(Step::Change(vec![changes], Reply::Ok));
        };
        let total = transaction.bytes.saturating_add(bytes);
        if transaction.changes.len() >= MAX_TRANSACTION || total > MAX_TRANSACTION_BYTES {
            return answer(Reply::SizeLimitExceeded, out, around);
        }
        transaction.bytes = total;
        transaction.changes.push(changes);
        answer(Reply::Ok, out, around)
    }

    fn start_tls(&self, out: &mut Vec<u8>, around: Surroundings<'_>) -> Option<Step> {
        let refusal = match () {
            () if self.is_encrypted => Reply::AlreadyInOperation,
            () if !around.offers_tls => Reply::NotSupported,
            () if self.transaction.is_some() => Reply::ProtocolError,
            () => {
                Reply::Ok.write(out);
                return Some(Step::StartTls);
            }
        };
        answer(refusal, out, around)
    }

    fn auth(
        &mut self,
        mechanism: &[u8],
        token: Option<&[u8]>,
        out: &mut Vec<u8>,
        around: Surroundings<'_>,
    ) -> Option<Step> {
        if self.is_administrator {
            return answer(Reply::AlreadyActive, out, around);
        }
        if mechanism != PLAIN || !around.access.takes_tokens(self.is_encrypted) {
            Reply::ArgumentError.write(out);
            return Some(Step::Close);
        }
        let Some(token) = token else {
            return answer(Reply::AuthenticationInProgress, out, around);
        };
        if let Some(name) = around.access.proves(token) {
            tracing::info!(administrator = %String::from_utf8_lossy(name), "an administrator is authenticated");
            self.is_administrator = true;
            self.name = String::from_utf8_lossy(name).into_owned();
            return answer(Reply::Ok, out, around);
        }
        tracing::warn!("a token is refused: it is not that of an administrator");
        Reply::AuthenticationError.write(out);
        Some(Step::Close)
    }
}

fn answer(reply: Reply, out: &mut Vec<u8>, around: Surroundings<'_>) -> Option<Step> {
    if around.unsettled {
        return Some(Step::Later(reply));
    }
    reply.write(out);
    None
}

const fn because(fault: Fault) -> Reply {
    match fault {
        Fault::Length => Reply::ProtocolError,
        Fault::TooLong => Reply::SizeLimitExceeded,
    }
}

/// The one mechanism of `AUTH`.
const PLAIN: &[u8] = b"SASL:PLAIN";

/// Messages that are answered before writers of rules get a turn.
const QUERIES: usize = 256;

#[cfg(test)]
mod tests;
