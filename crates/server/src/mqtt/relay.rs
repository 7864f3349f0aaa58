//! One client: bytes between it, the gate and the broker, and every wait bounded.
//!
//! A connection holds what could not be written yet, and parts of packets. It is read only while
//! little waits for the other side, so that a slow reader slows its sender down instead of growing.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io::ErrorKind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Duration, Instant, MissedTickBehavior, interval_at, timeout};
use wardgate_mqtt::gate::{Cause, Close, Gate, Side, Steps};
use wardgate_mqtt::packet::Reason;

use super::endpoint::Hub;
use super::judge::PolicyJudge;
use super::local::{Link, Local};
use crate::config::Behind;
use crate::limits::{
    LINGER, MQTT_LAST_WRITE, MQTT_QUEUE_BYTES, MQTT_READ_BYTES, MQTT_TICK, MQTT_TICK_GRID,
    MQTT_UPSTREAM,
};
use crate::net::busy_poll;
use crate::net::connections::OpenConnection;
use crate::shared::Shared;
use crate::telemetry::mqtt::Ended;

/// A client, its gate and its broker.
pub(super) struct Relay<'r, S> {
    client: S,
    server: Option<TcpStream>,
    /// The session at the broker of this server, which has no connection.
    link: Option<Link>,
    gate: Gate,
    judge: PolicyJudge,
    steps: Steps,
    hub: &'r Hub,
    /// The place among the connections that were not accepted yet.
    opened: Option<OpenConnection>,
    begin: Instant,
    /// What the decisions so far were made from.
    basis: (u64, bool, bool),
    to_client: Writing,
    to_server: Writing,
    /// The class of the end, where the broker of this server or a slow reader is the cause.
    ended: Option<Ended>,
}

/// The progress of writing to one side.
struct Writing {
    /// Bytes were written that may wait in the stream.
    is_unflushed: bool,
    /// When it last took bytes, or had none to take.
    moved: Instant,
}

/// The result of an attempt to read or write.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moved {
    Nothing,
    Some,
    /// The other end has gone.
    Lost,
    /// The other end sent what its transport forbids.
    Broken,
}

impl<'r, S: AsyncRead + AsyncWrite + Unpin> Relay<'r, S> {
    pub(super) fn new(client: S, judge: PolicyJudge, hub: &'r Hub, opened: OpenConnection) -> Self {
        let begin = Instant::now();
        let basis = judge.basis();
        Self {
            client,
            server: None,
            link: hub.local.as_ref().map(Local::link),
            gate: Gate::new(hub.settings, 0),
            judge,
            steps: Steps::default(),
            hub,
            opened: Some(opened),
            begin,
            basis,
            to_client: Writing::new(begin),
            to_server: Writing::new(begin),
            ended: None,
        }
    }

    /// Relays until one side leaves, the gate closes, or the server stops.
    ///
    /// The relay is borrowed and rare waits are boxed, because the state of this function is what a
    /// client that does nothing takes.
    pub(super) async fn run(&mut self, shared: &Arc<Shared>) {
        let mut stopping = shared.stopping();
        let connection = self.opened.as_ref().map(|opened| Arc::clone(&opened.connection));
        let Some(connection) = connection else { return };
        let mut tick = interval_at(on_grid(self.hub.begin, self.begin), MQTT_TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut is_pushed_out = false;
        let close = loop {
            let held_until = self.held_until();
            // Time comes first: a busy client must not keep its rights by being busy.
            tokio::select! {
                biased;
                () = stopping.begun() => {
                    self.gate.close(Reason::SERVER_SHUTTING_DOWN, &mut self.steps);
                }
                () = connection.closing() => {
                    is_pushed_out = true;
                    self.gate.close(Reason::SERVER_BUSY, &mut self.steps);
                }
                _ = tick.tick() => self.tick(),
                () = wait_until(held_until), if held_until.is_some() => self.try_again(),
                () = poll_fn(|context| self.poll(held_until, context)) => {}
            }
            if let Some(close) = self.steps.close {
                break close;
            }
            if self.judge.has_accepted() {
                self.opened = None;
            }
            if self.needs_server() {
                Box::pin(self.dial()).await;
            }
        };
        self.note(&close, shared);
        if let Some(link) = &mut self.link {
            Box::pin(link.leave(&mut self.judge, &mut self.steps.to_server)).await;
        }
        if is_pushed_out {
            poll_fn(|context| Poll::Ready(self.poll_last(context).is_ready())).await;
            return;
        }
        // A stranger without a place lingers no longer: its socket would be one beyond the bound.
        tokio::select! {
            () = connection.closing() => {}
            () = Box::pin(self.finish()) => {}
        }
    }

    fn needs_server(&self) -> bool {
        self.link.is_none() && self.server.is_none() && !self.steps.to_server.is_empty()
    }

    fn held_until(&self) -> Option<Instant> {
        self.link.as_ref().and_then(Link::held_until)
    }

    fn try_again(&mut self) {
        if let Some(link) = &mut self.link {
            link.try_again();
        }
    }

    async fn dial(&mut self) {
        let Behind::Other { upstream, .. } = &self.hub.config.broker else { return };
        let dialed = timeout(MQTT_UPSTREAM, TcpStream::connect(upstream)).await;
        match dialed {
            Ok(Ok(server)) => {
                let _ = server.set_nodelay(true);
                self.to_server.moved = Instant::now();
                self.server = Some(server);
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "the broker cannot be reached");
                self.gate.server_lost(&mut self.steps);
            }
            Err(_) => {
                tracing::warn!("the broker did not accept a connection in time");
                self.gate.server_lost(&mut self.steps);
            }
        }
    }

    fn tick(&mut self) {
        let now = Instant::now();
        let millis = now.duration_since(self.begin).as_millis();
        self.gate.tick(u64::try_from(millis).unwrap_or(u64::MAX), &mut self.steps);
        if self.judge.has_accepted() {
            let basis = self.judge.basis();
            if basis != self.basis {
                self.basis = basis;
                self.gate.reconsider(&mut self.judge, &mut self.steps);
            }
        }
        let write = self.hub.config.write;
        if self.to_client.is_stuck(&self.steps.to_client, now, write) {
            self.ended = Some(Ended::Slow);
            self.gate.close(Reason::QUOTA_EXCEEDED, &mut self.steps);
        } else if self.link.is_none() && self.to_server.is_stuck(&self.steps.to_server, now, write)
        {
            self.gate.server_lost(&mut self.steps);
        }
    }

    /// Writes and reads until nothing moves, or something is to be done that waits.
    fn poll(&mut self, held_until: Option<Instant>, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let is_other = self.held_until() != held_until;
            if self.steps.close.is_some() || self.needs_server() || is_other {
                return Poll::Ready(());
            }
            let was_accepted = self.opened.is_none() || !self.judge.has_accepted();
            if !was_accepted {
                return Poll::Ready(());
            }
            if !self.write(context) && !self.read(context) {
                return Poll::Pending;
            }
        }
    }

    /// Writes what waits; returns true if some of it went or a side was lost.
    fn write(&mut self, context: &mut Context<'_>) -> bool {
        let client = self.to_client.write(&mut self.client, &mut self.steps.to_client, context);
        let has_exchanged = self.exchange(context);
        let server = match &mut self.server {
            Some(server) => self.to_server.write(server, &mut self.steps.to_server, context),
            None => Moved::Nothing,
        };
        self.lose(client, server) || has_exchanged
    }

    /// Exchanges packets with the broker of this server; returns true if any moved.
    fn exchange(&mut self, context: &Context<'_>) -> bool {
        let Self { link: Some(link), gate, judge, steps, .. } = self else { return false };
        let (end, has_moved) = link.exchange(context, gate, judge, steps);
        if let Some(reason) = end {
            self.ended = Some(match reason {
                Reason::QUOTA_EXCEEDED => Ended::Slow,
                Reason::SESSION_TAKEN_OVER => Ended::TakenOver,
                _ => Ended::Fault,
            });
            gate.close(reason, steps);
        }
        has_moved || end.is_some()
    }

    /// Reads where little waits; returns true if bytes came or a side was lost.
    ///
    /// A client that breaks the rules of its transport is lost as if it had gone: its will is published.
    fn read(&mut self, context: &mut Context<'_>) -> bool {
        let is_held = self.link.is_some() && !self.steps.to_server.is_empty();
        let has_room = |steps: &Steps| {
            !is_held
                && steps.to_client.len() < MQTT_QUEUE_BYTES
                && steps.to_server.len() < MQTT_QUEUE_BYTES
        };
        let Self { gate, judge, steps, .. } = self;
        let mut moved = (Moved::Nothing, Moved::Nothing);
        if has_room(steps) {
            moved.0 = read(&mut self.client, context, |bytes| {
                gate.from_client(bytes, judge, steps);
            });
        }
        if let Some(server) = self.server.as_mut().filter(|_| has_room(steps)) {
            moved.1 = read(server, context, |bytes| gate.from_server(bytes, judge, steps));
        }
        if moved.0 == Moved::Broken {
            self.ended = Some(Ended::Fault);
            moved.0 = Moved::Lost;
        }
        self.lose(moved.0, moved.1)
    }

    /// Tells the gate of sides that have gone; returns true if anything moved.
    fn lose(&mut self, client: Moved, server: Moved) -> bool {
        if client == Moved::Lost {
            self.gate.client_lost(&mut self.judge, &mut self.steps);
        }
        if server == Moved::Lost {
            self.gate.server_lost(&mut self.steps);
        }
        client != Moved::Nothing || server != Moved::Nothing
    }

    /// Writes the last bytes, and waits until both ends have read them, for a while.
    async fn finish(&mut self) {
        // A client may connect, publish and leave in one breath.
        if self.needs_server() {
            self.dial().await;
        }
        let last = timeout(MQTT_LAST_WRITE, poll_fn(|context| self.poll_last(context)));
        if last.await.is_err() {
            return;
        }
        let _ = timeout(MQTT_LAST_WRITE, self.client.shutdown()).await;
        if let Some(server) = &mut self.server {
            let _ = server.shutdown().await;
        }
        // Input that is not read makes the system drop what was written last.
        let _ = timeout(LINGER, poll_fn(|context| self.poll_ends(context))).await;
    }

    fn poll_last(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let client = self.to_client.flush(&mut self.client, &mut self.steps.to_client, context);
        let server = match &mut self.server {
            Some(server) => self.to_server.flush(server, &mut self.steps.to_server, context),
            None => true,
        };
        if client && server { Poll::Ready(()) } else { Poll::Pending }
    }

    fn poll_ends(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let client = ends(&mut self.client, context);
        let server = self.server.as_mut().is_none_or(|server| ends(server, context));
        if client && server { Poll::Ready(()) } else { Poll::Pending }
    }

    fn note(&self, close: &Close, shared: &Shared) {
        let ended = self.ended.unwrap_or_else(|| ended(close));
        shared.metrics().mqtt().ended(ended);
        let (reason, principal) = (close.reason.0, self.judge.principal());
        if close.is_regular() && self.ended.is_none() || !self.judge.has_accepted() {
            tracing::debug!(%close, reason, principal, "a client of MQTT has gone");
        } else {
            tracing::info!(%close, reason, principal, "a client of MQTT was closed");
        }
    }
}

impl Writing {
    const fn new(begin: Instant) -> Self {
        Self { is_unflushed: false, moved: begin }
    }

    /// Writes as much as the stream takes.
    fn write<S: AsyncWrite + Unpin>(
        &mut self,
        stream: &mut S,
        bytes: &mut Vec<u8>,
        context: &mut Context<'_>,
    ) -> Moved {
        let mut written = 0_usize;
        while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
            match Pin::new(&mut *stream).poll_write(context, rest) {
                Poll::Ready(Ok(0) | Err(_)) => return Moved::Lost,
                Poll::Ready(Ok(more)) => written = written.saturating_add(more),
                Poll::Pending => break,
            }
        }
        if written > 0 {
            self.is_unflushed = true;
            self.moved = Instant::now();
            busy_poll::note_answer();
            if written >= bytes.len() {
                bytes.clear();
                bytes.shrink_to(IDLE_BUFFER);
            } else {
                bytes.drain(..written);
            }
        }
        if self.is_unflushed && bytes.is_empty() {
            match Pin::new(stream).poll_flush(context) {
                Poll::Ready(Ok(())) => self.is_unflushed = false,
                Poll::Ready(Err(_)) => return Moved::Lost,
                Poll::Pending => {}
            }
        }
        if written > 0 { Moved::Some } else { Moved::Nothing }
    }

    /// Writes all; returns true once it is done or cannot be done.
    fn flush<S: AsyncWrite + Unpin>(
        &mut self,
        stream: &mut S,
        bytes: &mut Vec<u8>,
        context: &mut Context<'_>,
    ) -> bool {
        let moved = self.write(stream, bytes, context);
        moved == Moved::Lost || bytes.is_empty() && !self.is_unflushed
    }

    /// Returns true if bytes have waited for too long.
    fn is_stuck(&mut self, bytes: &[u8], now: Instant, most: Duration) -> bool {
        if bytes.is_empty() {
            self.moved = now;
        }
        now.saturating_duration_since(self.moved) >= most
    }
}

/// Returns the first moment of the grid after `now`.
fn on_grid(begin: Instant, now: Instant) -> Instant {
    let steps = now.duration_since(begin).as_millis() / MQTT_TICK_GRID.as_millis();
    let steps = u32::try_from(steps).unwrap_or(u32::MAX).saturating_add(1);
    begin.checked_add(MQTT_TICK_GRID.saturating_mul(steps)).unwrap_or(now)
}

/// Reads once into the buffer of this thread.
fn read<S: AsyncRead + Unpin>(
    stream: &mut S,
    context: &mut Context<'_>,
    take: impl FnOnce(&[u8]),
) -> Moved {
    BUFFER.with_borrow_mut(|buffer| {
        let mut buffer = ReadBuf::new(buffer);
        match Pin::new(stream).poll_read(context, &mut buffer) {
            Poll::Pending => Moved::Nothing,
            Poll::Ready(Err(error)) if error.kind() == ErrorKind::InvalidData => {
                tracing::debug!(%error, "a client broke the rules of its transport");
                Moved::Broken
            }
            Poll::Ready(Err(_)) => Moved::Lost,
            Poll::Ready(Ok(())) if buffer.filled().is_empty() => Moved::Lost,
            Poll::Ready(Ok(())) => {
                take(buffer.filled());
                Moved::Some
            }
        }
    })
}

/// Drops input; returns true once the other end has gone.
fn ends<S: AsyncRead + Unpin>(stream: &mut S, context: &mut Context<'_>) -> bool {
    loop {
        match read(stream, context, |_| {}) {
            Moved::Some => {}
            Moved::Lost | Moved::Broken => return true,
            Moved::Nothing => return false,
        }
    }
}

async fn wait_until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// Returns the class of an end, for the counters.
const fn ended(close: &Close) -> Ended {
    match (close.cause, close.side) {
        (Cause::Denied(_), _) => Ended::Denied,
        (Cause::Withdrawn(_), _) => Ended::Withdrawn,
        (Cause::ConnectTimeout | Cause::KeepAlive, _) => Ended::Silent,
        (Cause::Host, _) => Ended::Stopped,
        (Cause::ConnackTimeout, _) | (_, Side::Server) => Ended::Broker,
        (Cause::Disconnect | Cause::Lost, _) => Ended::Left,
        _ => Ended::Fault,
    }
}

thread_local! {
    /// What is read is taken at once, so all connections of a thread share it.
    static BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; MQTT_READ_BYTES].into());
}

/// Room that a connection keeps while nothing waits.
const IDLE_BUFFER: usize = 4 << 10;
