//! A client of MQTT for tests and load: it connects, subscribes, publishes and reads, and no more.
//!
//! Its sockets keep their thread waiting, with a bound on the time.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::num::NonZeroU16;
use std::time::Duration;

use wardgate_mqtt::packet::{
    Connack, Connect, Decoded, Delivery, End, List, Packet, Properties, Publish, Qos, Reason,
    RetainHandling, Suback, Subscribe, Subscription, Version, decode, encode,
};
use wardgate_mqtt::{Filter, Limits, Name};

/// A client that a server has accepted.
pub(crate) struct Client {
    stream: TcpStream,
    version: Version,
    /// Bytes that were read and not taken.
    bytes: Vec<u8>,
}

impl Client {
    /// Connects.
    pub(crate) fn connect(
        address: SocketAddr,
        version: Version,
        client_id: &str,
    ) -> Result<Self, String> {
        let stream = TcpStream::connect(address).map_err(|error| error.to_string())?;
        let prepared =
            stream.set_nodelay(true).and_then(|()| stream.set_read_timeout(Some(PATIENCE)));
        prepared.map_err(|error| error.to_string())?;
        let mut client = Self { stream, version, bytes: Vec::new() };
        client.send(&Packet::Connect(Connect {
            version,
            clean_start: true,
            keep_alive: 0,
            properties: Properties::EMPTY,
            client_id,
            will: None,
            user_name: None,
            password: None,
        }))?;
        client.next(|packet| match packet {
            Packet::Connack(Connack { reason: Reason::SUCCESS, .. }) => Ok(()),
            other => Err(format!("CONNECT is answered with {other:?}")),
        })?;
        Ok(client)
    }

    /// Subscribes with QoS 0, and waits for the answer.
    pub(crate) fn subscribe(&mut self, filter: &str) -> Result<(), String> {
        self.ask(NonZeroU16::MIN, &[filter.to_owned()])?;
        self.next(|packet| match packet {
            Packet::Suback(Suback { reasons, .. }) if reasons.iter().eq([Reason::SUCCESS]) => {
                Ok(())
            }
            other => Err(format!("SUBSCRIBE is answered with {other:?}")),
        })
    }

    /// Sends a SUBSCRIBE with QoS 0.
    pub(crate) fn ask(&mut self, id: NonZeroU16, filters: &[String]) -> Result<(), String> {
        let subscriptions = filters.iter().map(|filter| subscription(filter));
        let subscriptions = subscriptions.collect::<Result<Vec<_>, _>>()?;
        let (properties, subscriptions) = (Properties::EMPTY, List::of(&subscriptions));
        self.send(&Packet::Subscribe(Subscribe { id, properties, subscriptions }))
    }

    /// Says goodbye.
    pub(crate) fn leave(mut self) -> Result<(), String> {
        let end = End { reason: Reason::SUCCESS, properties: Properties::EMPTY };
        self.send(&Packet::Disconnect(end))
    }

    /// Writes bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.stream.write_all(bytes).map_err(|error| error.to_string())
    }

    /// Takes the next packet.
    pub(crate) fn next<T>(
        &mut self,
        take: impl FnOnce(&Packet<'_>) -> Result<T, String>,
    ) -> Result<T, String> {
        let used = loop {
            match self.decoded()? {
                Some(used) => break used,
                None => self.read()?,
            }
        };
        let taken = match decode(self.version, &self.bytes, &Limits::WIDEST) {
            Ok(Decoded::Whole(packet, _)) => take(&packet),
            _ => Err("a packet has changed".to_owned()),
        };
        self.bytes.drain(..used);
        taken
    }

    /// Returns the socket, once nothing is left that was read.
    pub(crate) fn into_stream(self) -> Result<TcpStream, String> {
        match self.bytes.is_empty() {
            true => Ok(self.stream),
            false => Err("a packet came that nobody expected".to_owned()),
        }
    }

    /// Returns the length of the packet at the front, if it is there in full.
    fn decoded(&self) -> Result<Option<usize>, String> {
        match decode(self.version, &self.bytes, &Limits::WIDEST) {
            Ok(Decoded::Whole(_, used)) => Ok(Some(used)),
            Ok(Decoded::More(_)) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    fn read(&mut self) -> Result<(), String> {
        let mut buffer = [0; 16 << 10];
        let count = self.stream.read(&mut buffer).map_err(|error| error.to_string())?;
        self.bytes.extend_from_slice(buffer.get(..count).unwrap_or_default());
        if count == 0 { Err("the server has closed the connection".to_owned()) } else { Ok(()) }
    }

    fn send(&mut self, packet: &Packet<'_>) -> Result<(), String> {
        let mut bytes = Vec::new();
        encode(packet, self.version, &mut bytes).map_err(|error| error.to_string())?;
        self.write(&bytes)
    }
}

fn subscription(filter: &str) -> Result<Subscription<'_>, String> {
    Ok(Subscription {
        filter: Filter::new(filter).map_err(|error| error.to_string())?,
        qos: Qos::AtMostOnce,
        no_local: false,
        retain_as_published: false,
        retain_handling: RetainHandling::Send,
    })
}

/// Messages that have their number in the first eight bytes of the payload.
#[derive(Clone)]
pub(crate) struct Numbered {
    topic: &'static str,
    payload: Vec<u8>,
}

impl Numbered {
    /// Makes messages of `size` bytes, at least eight.
    pub(crate) fn new(topic: &'static str, size: usize) -> Self {
        Self { topic, payload: vec![b'x'; size.max(8)] }
    }

    /// Writes the message with that number behind the bytes of `out`.
    pub(crate) fn write(&mut self, number: u64, out: &mut Vec<u8>) -> Result<(), String> {
        if let Some(place) = self.payload.first_chunk_mut() {
            *place = number.to_be_bytes();
        }
        let topic = Name::new(self.topic).map_err(|error| error.to_string())?;
        let publish = Publish {
            topic: Some(topic),
            delivery: Delivery::AtMostOnce,
            retain: false,
            properties: Properties::EMPTY,
            payload: &self.payload,
        };
        encode(&Packet::Publish(publish), LOAD, out).map_err(|error| error.to_string())
    }

    /// Fails unless the packet is the message with that number.
    pub(crate) fn check(&self, packet: &Packet<'_>, number: u64) -> Result<(), String> {
        let Packet::Publish(publish) = packet else {
            return Err(format!("message {number} was expected, {packet:?} came"));
        };
        let found = publish.payload.first_chunk().map(|bytes| u64::from_be_bytes(*bytes));
        let is_same = publish.payload.len() == self.payload.len()
            && publish.payload.get(8..) == self.payload.get(8..)
            && publish.topic.is_some_and(|topic| topic.text() == self.topic);
        match found == Some(number) && is_same {
            true => Ok(()),
            false => Err(format!("message {number} was expected, another came ({found:?})")),
        }
    }

    /// Returns the bytes of a packet.
    pub(crate) fn length(&mut self) -> Result<usize, String> {
        let mut bytes = Vec::new();
        self.write(0, &mut bytes).map(|()| bytes.len())
    }
}

/// The version of clients that publish and read.
pub(crate) const LOAD: Version = Version::V311;

/// The longest wait for an answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
