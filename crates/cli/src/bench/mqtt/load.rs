//! One publisher and its readers: as many messages as all of them can take.
//!
//! All clients are on one thread, so that the server has the other processors. The publisher is never
//! further ahead of the slowest reader than a window: brokers drop messages of QoS 0 for readers
//! whose queues are full, and a message that was dropped was not delivered. Each reader compares
//! each message with the next one in order.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use wardgate_mqtt::Limits;
use wardgate_mqtt::packet::{Decoded, decode};

use super::client::{Client, LOAD, Numbered, PATIENCE};
use crate::bench::units::approximate;

/// Messages of one size for some readers.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) size: usize,
    pub(crate) readers: u32,
}

/// The result of a load.
#[derive(Clone, Copy)]
pub(crate) struct Delivered {
    /// Messages that readers got in a second, all readers together.
    pub(crate) per_second: f64,
    /// Seconds for each message, until it was with all readers.
    pub(crate) each: f64,
}

impl Load {
    /// Publishes for that long, and fails unless every message is delivered in order.
    pub(crate) fn run(self, address: SocketAddr, duration: Duration) -> Result<Delivered, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|error| error.to_string())?.block_on(self.publish(address, duration))
    }

    async fn publish(self, address: SocketAddr, duration: Duration) -> Result<Delivered, String> {
        let mut readers = Vec::new();
        for number in 0..self.readers {
            let mut client = Client::connect(address, LOAD, &format!("reader-{number}"))?;
            client.subscribe(TOPIC)?;
            readers.push(Reader::new(stream(client)?));
        }
        let publisher = stream(Client::connect(address, LOAD, "publisher")?)?;
        let mut messages = Numbered::new(TOPIC, self.size);
        let window = u64::try_from(WINDOW / messages.length()?).unwrap_or(1).max(1);
        let begin = Instant::now();
        let mut run = Run {
            publisher,
            readers,
            messages,
            window,
            end: begin + duration,
            made: 0,
            unsent: Vec::new(),
        };
        while !run.is_done() {
            let progress = poll_fn(|context| run.poll(context));
            match tokio::time::timeout(PATIENCE, progress).await {
                Ok(progress) => progress?,
                Err(_) => return Err(run.stuck()),
            }
        }
        let each = begin.elapsed().as_secs_f64() / approximate(run.made);
        Ok(Delivered { per_second: f64::from(self.readers) / each, each })
    }
}

/// The state of a load.
struct Run {
    publisher: TcpStream,
    readers: Vec<Reader>,
    messages: Numbered,
    window: u64,
    end: Instant,
    /// The number of messages that were made.
    made: u64,
    /// Bytes of them that the socket has not taken.
    unsent: Vec<u8>,
}

impl Run {
    /// Returns true once nothing more is published and all has been read.
    fn is_done(&self) -> bool {
        self.made > 0
            && Instant::now() >= self.end
            && self.unsent.is_empty()
            && self.slowest() == self.made
    }

    /// Reads and writes as much as is possible now; ready if anything was.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), String>> {
        let mut has_moved = false;
        for reader in &mut self.readers {
            has_moved |= reader.read(&self.messages, context)?;
        }
        has_moved |= self.write(context)?;
        if has_moved { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    fn write(&mut self, context: &mut Context<'_>) -> Result<bool, String> {
        if self.unsent.is_empty() && Instant::now() < self.end {
            let until = self.slowest() + self.window;
            while self.made < until && self.unsent.len() < BATCH {
                self.messages.write(self.made, &mut self.unsent)?;
                self.made += 1;
            }
        }
        let mut written = 0;
        while let Some(rest) = self.unsent.get(written..).filter(|rest| !rest.is_empty()) {
            match self.publisher.try_write(rest) {
                Ok(count) => written += count,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    if self.publisher.poll_write_ready(context).is_pending() {
                        break;
                    }
                }
                Err(error) => return Err(error.to_string()),
            }
        }
        self.unsent.drain(..written);
        Ok(written > 0)
    }

    /// Returns the number of messages that the slowest reader has got.
    fn slowest(&self) -> u64 {
        self.readers.iter().map(|reader| reader.next).min().unwrap_or(0)
    }

    fn stuck(&self) -> String {
        let (slowest, made) = (self.slowest(), self.made);
        format!("{slowest} of {made} messages were delivered, and then none")
    }
}

/// A reader, and the number of the message that it expects.
struct Reader {
    stream: TcpStream,
    next: u64,
    bytes: Vec<u8>,
    filled: usize,
}

impl Reader {
    fn new(stream: TcpStream) -> Self {
        Self { stream, next: 0, bytes: vec![0; ROOM], filled: 0 }
    }

    /// Reads what is there; returns true if it was anything.
    fn read(&mut self, messages: &Numbered, context: &mut Context<'_>) -> Result<bool, String> {
        loop {
            let room = self.bytes.get_mut(self.filled..).unwrap_or_default();
            match self.stream.try_read(room) {
                Ok(0) => return Err("the server has closed a reader".to_owned()),
                Ok(count) => {
                    // The publisher has its turn before more is read.
                    self.filled += count;
                    return self.take(messages).map(|()| true);
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    if self.stream.poll_read_ready(context).is_pending() {
                        return Ok(false);
                    }
                }
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    /// Takes all whole packets.
    fn take(&mut self, messages: &Numbered) -> Result<(), String> {
        let mut at = 0;
        loop {
            let rest = self.bytes.get(at..self.filled).unwrap_or_default();
            match decode(LOAD, rest, &Limits::WIDEST) {
                Ok(Decoded::Whole(packet, used)) => {
                    messages.check(&packet, self.next)?;
                    (self.next, at) = (self.next + 1, at + used);
                }
                Ok(Decoded::More(_)) => break,
                Err(error) => return Err(error.to_string()),
            }
        }
        self.bytes.copy_within(at..self.filled, 0);
        self.filled -= at;
        Ok(())
    }
}

fn stream(client: Client) -> Result<TcpStream, String> {
    let stream = client.into_stream()?;
    stream.set_nonblocking(true).map_err(|error| error.to_string())?;
    TcpStream::from_std(stream).map_err(|error| error.to_string())
}

const TOPIC: &str = "bench/load";

/// The bytes that the publisher may be ahead of the slowest reader.
const WINDOW: usize = 192 << 10;

/// The bytes of one write.
const BATCH: usize = 16 << 10;

/// The bytes that a reader holds at most.
const ROOM: usize = 256 << 10;
