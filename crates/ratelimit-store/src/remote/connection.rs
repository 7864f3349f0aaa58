//! A connection to the server, and the script on it.
//!
//! One task at a time writes commands and reads their replies itself: a task between it and the
//! socket would cost a check two wake-ups.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use wardgate_ratelimit::CHARGE_SCRIPT;

use super::address::{Address, Stream};
use super::fault::Fault;
use super::reply::{self, Reply};
use crate::limits::MAX_REPLIES_BYTES;
use crate::store::Away;

/// A connection that is up as far as is known.
pub(super) struct Connection {
    stream: Box<dyn Stream>,
    /// The bytes that were read and are no whole reply yet.
    unread: Vec<u8>,
}

impl core::fmt::Debug for Connection {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Connection")
    }
}

/// Commands as bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Commands {
    bytes: Vec<u8>,
    count: usize,
}

impl Connection {
    /// Connects, and says who calls. Whoever calls this bounds its time.
    pub(super) async fn open(address: &Address) -> Result<Self, Away> {
        let stream = address.connect().await?;
        let mut connection = Self { stream, unread: Vec::new() };
        let greeting = address.greeting();
        if greeting.count > 0 {
            connection.send(&greeting).await?.into_iter().try_for_each(fine)?;
        }
        Ok(connection)
    }

    /// Sends calls of the script in one write, and loads the script if the server has it no more.
    /// Returns the last reply to each, or the loss of the connection.
    pub(super) async fn call(&mut self, calls: &[Commands]) -> Result<Vec<Called>, Away> {
        let all = self.send(&Commands::joined(calls)).await?;
        let mut rest = all.into_iter();
        let mut replies: Vec<Reply> =
            calls.iter().filter_map(|call| call.last(&mut rest)).collect();
        if replies.iter().any(is_unknown) {
            let load = Commands::of(&[b"SCRIPT", b"LOAD", CHARGE_SCRIPT.as_bytes()]);
            self.send(&load).await?.into_iter().try_for_each(fine)?;
            for (call, reply) in calls.iter().zip(&mut replies) {
                if is_unknown(reply) {
                    let again = self.send(call).await?;
                    *reply = call.last(&mut again.into_iter()).unwrap_or(Reply::Nil);
                }
            }
        }
        Ok(replies.into_iter().map(called).collect())
    }

    /// Sends commands in one write, and returns a reply for each.
    pub(super) async fn send(&mut self, commands: &Commands) -> Result<Vec<Reply>, Away> {
        self.stream.write_all(&commands.bytes).await.map_err(|_| Away::Lost)?;
        self.stream.flush().await.map_err(|_| Away::Lost)?;
        let mut replies = Vec::with_capacity(commands.count);
        while replies.len() < commands.count {
            self.read_some().await?;
            let mut read: usize = 0;
            while replies.len() < commands.count {
                let bytes = self.unread.get(read..).unwrap_or_default();
                let Some((reply, length)) = reply::read(bytes)? else { break };
                read = read.saturating_add(length);
                replies.push(reply);
            }
            self.unread.drain(..read);
        }
        // A reply that nobody asked for would be taken for another one.
        if self.unread.is_empty() { Ok(replies) } else { Err(Away::Garbled) }
    }

    async fn read_some(&mut self) -> Result<(), Away> {
        match self.stream.read_buf(&mut self.unread).await {
            Ok(1..) if self.unread.len() <= MAX_REPLIES_BYTES => Ok(()),
            Ok(1..) => Err(Away::Garbled),
            Ok(0) | Err(_) => Err(Away::Lost),
        }
    }
}

impl Commands {
    /// Makes one command.
    pub(super) fn of(words: &[&[u8]]) -> Self {
        let mut commands = Self::default();
        commands.add(words.len());
        words.iter().for_each(|word| commands.word(word));
        commands
    }

    /// Returns a call of a slot that is on its way to the server of this connection.
    pub(super) fn asking(call: Self) -> Self {
        Self::joined(&[Self::of(&[b"ASKING"]), call])
    }

    /// Begins a command of so many words, which must follow.
    pub(super) fn add(&mut self, words: usize) {
        self.count = self.count.saturating_add(1);
        self.head(b'*', words);
    }

    pub(super) fn word(&mut self, word: &[u8]) {
        self.head(b'$', word.len());
        self.bytes.extend_from_slice(word);
        self.bytes.extend_from_slice(b"\r\n");
    }

    pub(super) fn number(&mut self, number: u64) {
        let mut digits = [0; 20];
        self.word(decimal(number, &mut digits));
    }

    fn head(&mut self, kind: u8, number: usize) {
        let mut digits = [0; 20];
        self.bytes.push(kind);
        let number = u64::try_from(number).unwrap_or(u64::MAX);
        self.bytes.extend_from_slice(decimal(number, &mut digits));
        self.bytes.extend_from_slice(b"\r\n");
    }

    fn joined(all: &[Self]) -> Self {
        match all {
            [one] => one.clone(),
            several => several.iter().fold(Self::default(), |mut joined, one| {
                joined.bytes.extend_from_slice(&one.bytes);
                joined.count = joined.count.saturating_add(one.count);
                joined
            }),
        }
    }

    /// Takes the replies to these commands, and returns the last one.
    fn last(&self, replies: &mut impl Iterator<Item = Reply>) -> Option<Reply> {
        replies.take(self.count).last()
    }
}

/// The reply to one call, or why it has none.
type Called = Result<Reply, Fault>;

fn called(reply: Reply) -> Called {
    match reply {
        Reply::Error(text) => Err(Fault::of(&text)),
        reply => Ok(reply),
    }
}

fn fine(reply: Reply) -> Result<(), Away> {
    called(reply).map(drop).map_err(Away::from)
}

/// Returns true if the server does not have the script, and so did nothing.
fn is_unknown(reply: &Reply) -> bool {
    matches!(reply, Reply::Error(text) if text.split(' ').next() == Some("NOSCRIPT"))
}

/// Writes a number in decimal digits.
fn decimal(mut number: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut at = digits.len();
    for digit in digits.iter_mut().rev() {
        *digit = b'0'.saturating_add(u8::try_from(number % 10).unwrap_or(0));
        number /= 10;
        at = at.saturating_sub(1);
        if number == 0 {
            break;
        }
    }
    digits.get(at..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_bytes_of_the_protocol() {
        let mut commands = Commands::of(&[b"GET", b"a\r\n"]);
        commands.add(2);
        commands.number(0);
        commands.number(u64::MAX);
        let expected =
            "*2\r\n$3\r\nGET\r\n$3\r\na\r\n\r\n*2\r\n$1\r\n0\r\n$20\r\n18446744073709551615\r\n";
        assert_eq!(String::from_utf8(commands.bytes).unwrap(), expected);
        assert_eq!(commands.count, 2);
    }
}
