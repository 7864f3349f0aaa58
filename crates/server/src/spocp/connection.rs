//! One connection: bytes in, bytes out, and every wait bounded.
//!
//! A slow client delays no other and holds little memory: its requests are read only when its
//! replies are written, and both a message and the writing of replies have a time limit.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout, timeout_at};

use super::access::Access;
use super::limits::{LIST_CHUNK, MAX_REPLIES, MAX_UNSETTLED};
use super::list::Conditions;
use super::recorded::Recorded;
use super::reply::{Reply, write_line};
use super::session::{Session, Step, Surroundings};
use super::traced::Traced;
use crate::config::Bounds;
use crate::net::busy_poll;
use crate::net::connections::{Connection, Phase};
use crate::rules::{Outcome, Refusal, Rules};
use crate::shared::Shared;

/// The service of one client.
#[derive(Clone, Copy)]
pub(crate) struct Service<'s> {
    /// The rules.
    pub(crate) rules: &'s Rules,
    /// The server that reloads policies and rules, if there is one.
    pub(crate) shared: Option<&'s Shared>,
    /// The access rules.
    pub(crate) access: &'s Access,
    /// The bounds of the client.
    pub(crate) bounds: &'s Bounds,
    /// `STARTTLS` is offered.
    pub(crate) offers_tls: bool,
    /// The place of the client, which another one may need.
    pub(crate) connection: &'s Connection,
}

/// The end of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The conversation is over.
    Closed,
    /// Both go on encrypted.
    StartTls,
}

/// A reply that must wait for those before it.
enum Pending {
    Outcome(Outcome, Reply, Option<Box<Traced>>),
    Reply(Reply),
}

/// One side of a conversation.
struct Conversation<'t, S, F> {
    stream: &'t mut S,
    service: Service<'t>,
    /// Ends when the server stops.
    stopping: Pin<&'t mut F>,
    input: Vec<u8>,
    /// The size of the next read. It grows with clients that send much at once.
    chunk: usize,
    /// When the message began that is not there in full.
    began: Option<Instant>,
    out: Vec<u8>,
    pending: VecDeque<Pending>,
    /// The record of decisions, if they are recorded.
    recorded: Option<Recorded<'t>>,
}

/// Answers until the client ends, takes too long, or starts TLS, or the server stops. Requests that
/// came before the stop are answered.
///
/// # Errors
/// Those of the stream.
pub(crate) async fn converse<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    session: &mut Session,
    service: Service<'_>,
    stopping: Pin<&mut impl Future<Output = ()>>,
) -> io::Result<End> {
    let (input, out, pending) = (Vec::new(), Vec::new(), VecDeque::new());
    let recorded = service.shared.and_then(Shared::recorder).map(Recorded::new);
    let (chunk, began) = (CHUNK, None);
    let mut conversation =
        Conversation { stream, service, stopping, input, chunk, began, out, pending, recorded };
    loop {
        match conversation.step(session) {
            Step::More => {
                conversation.settle().await;
                conversation.flush().await?;
                if !conversation.read().await? {
                    break;
                }
            }
            Step::Pause => conversation.flush().await?,
            Step::Settle => conversation.settle().await,
            Step::Change(changes, reply) => {
                let traced = Traced::change(service.shared, &changes, reply);
                let outcome = service.rules.change(changes).await;
                conversation.later(Pending::Outcome(outcome, reply, traced)).await;
            }
            Step::Later(reply) => conversation.later(Pending::Reply(reply)).await,
            Step::List(conditions) => conversation.list(&conditions).await?,
            Step::Reload => conversation.reload().await,
            Step::StartTls => {
                conversation.flush().await?;
                return Ok(End::StartTls);
            }
            Step::Close => {
                conversation.flush().await?;
                break;
            }
        }
    }
    Ok(End::Closed)
}

impl<S: AsyncRead + AsyncWrite + Unpin, F: Future<Output = ()>> Conversation<'_, S, F> {
    /// Answers complete requests, and returns the next step.
    fn step(&mut self, session: &mut Session) -> Step {
        let Service { rules, access, offers_tls, .. } = self.service;
        let unsettled = !self.pending.is_empty();
        let recorded = self.recorded.as_ref();
        let around = Surroundings { rules, access, offers_tls, unsettled, recorded };
        let (used, step) = session.advance(&self.input, &mut self.out, around);
        self.done(used);
        step
    }

    /// Drops answered input.
    fn done(&mut self, used: usize) {
        if used == 0 {
            return;
        }
        self.began = None;
        if used >= self.input.len() {
            self.input.clear();
        } else {
            self.input.drain(..used);
        }
    }

    /// Reads more. Tells whether there can be anything to answer.
    async fn read(&mut self) -> io::Result<bool> {
        if self.input.is_empty() && self.input.capacity() > IDLE_BUFFER && self.chunk == CHUNK {
            self.input = Vec::new();
        }
        self.input.reserve(self.chunk);
        let bounds = self.service.bounds;
        let until = match self.began {
            Some(began) => began + bounds.message,
            None if self.input.is_empty() => Instant::now() + bounds.idle,
            None => *self.began.insert(Instant::now()) + bounds.message,
        };
        let phase = if self.input.is_empty() { Phase::Idle } else { Phase::Head };
        self.service.connection.enter_phase(phase);
        let mut limited = (&mut *self.stream).take(u64::try_from(self.chunk).unwrap_or(u64::MAX));
        let read = tokio::select! {
            biased;
            read = timeout_at(until, limited.read_buf(&mut self.input)) => read,
            () = self.stopping.as_mut() => return self.leave(Reply::ServiceNotAvailable).await,
        };
        self.service.connection.enter_phase(Phase::Answer);
        match read {
            Ok(read) => Ok(self.adapts_to(read?)),
            // A silent client gets no reply.
            Err(_) if self.input.is_empty() => Ok(false),
            Err(_) => self.leave(Reply::TimeLimitExceeded).await,
        }
    }

    /// Adapts the size of reads to the client. Returns true if it sent something.
    fn adapts_to(&mut self, read: usize) -> bool {
        if read == self.chunk {
            self.chunk = read.saturating_mul(4).min(MAX_CHUNK);
        } else if read < CHUNK {
            self.chunk = CHUNK;
        }
        read > 0
    }

    /// Says why there is no more to read.
    async fn leave(&mut self, reply: Reply) -> io::Result<bool> {
        reply.write(&mut self.out);
        self.flush().await?;
        Ok(false)
    }

    /// Writes all replies, once the decisions among them are kept.
    async fn flush(&mut self) -> io::Result<()> {
        if self.out.is_empty() {
            return Ok(());
        }
        if let Some(recorded) = &mut self.recorded {
            recorded.keep(&mut self.out).await;
        }
        let writing = async {
            self.stream.write_all(&self.out).await?;
            self.stream.flush().await
        };
        let written = timeout(self.service.bounds.write, writing).await;
        written.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        busy_poll::note_answer();
        self.out.clear();
        self.out.shrink_to(IDLE_BUFFER);
        Ok(())
    }

    async fn later(&mut self, pending: Pending) {
        self.pending.push_back(pending);
        if self.pending.len() >= MAX_UNSETTLED {
            self.settle().await;
        }
    }

    /// Waits for the pending changes, and writes their replies.
    async fn settle(&mut self) {
        while let Some(pending) = self.pending.pop_front() {
            let reply = match pending {
                Pending::Reply(reply) => reply,
                Pending::Outcome(outcome, reply, traced) => {
                    let reply = match outcome.wait().await {
                        Ok(()) => reply,
                        Err(Refusal::Exists) => Reply::AlreadyExists,
                        Err(Refusal::Unknown) => Reply::UnknownId,
                        Err(Refusal::Failed) => Reply::OperationsError,
                    };
                    self.end_span(traced, reply);
                    reply
                }
            };
            reply.write(&mut self.out);
        }
    }

    /// Lists rules in the order of their ids, a part at a time: writers do not wait for the client,
    /// and a rule that is added or deleted meanwhile may be listed or not.
    async fn list(&mut self, conditions: &Conditions) -> io::Result<()> {
        let traced = Traced::begin(self.service.shared, "SPOCP LIST");
        let mut after = None;
        loop {
            let before = after;
            for (key, rule) in self.service.rules.read().after(before).take(LIST_CHUNK) {
                after = Some(key);
                let text = rule.expression().to_canonical();
                if conditions.hold(&text) {
                    write_line([b"/", &key.text(), &text], &mut self.out);
                }
                if self.out.len() > MAX_REPLIES {
                    break;
                }
            }
            if after == before {
                break;
            }
            if self.out.len() > MAX_REPLIES {
                self.flush().await?;
            }
            tokio::task::yield_now().await;
        }
        Reply::Ok.write(&mut self.out);
        self.end_span(traced, Reply::Ok);
        Ok(())
    }

    async fn reload(&mut self) {
        let traced = Traced::begin(self.service.shared, "SPOCP RELOAD");
        let within = traced.as_ref().map(|traced| traced.span().clone());
        let reply = match self.service.shared {
            Some(shared) if shared.reload_within(within).await.is_ok() => Reply::Ok,
            _ => Reply::OperationsError,
        };
        self.end_span(traced, reply);
        reply.write(&mut self.out);
    }

    fn end_span(&self, traced: Option<Box<Traced>>, reply: Reply) {
        if let Some(traced) = traced {
            traced.end(self.service.shared, reply);
        }
    }
}

/// The size of a first read, and of all reads from a client that sends little.
const CHUNK: usize = 1 << 10;

/// The largest size of a read.
const MAX_CHUNK: usize = 64 << 10;

/// Room that a connection keeps while it waits.
const IDLE_BUFFER: usize = 4 << 10;

#[cfg(test)]
mod tests;
