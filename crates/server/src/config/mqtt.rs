//! `[mqtt]`, `[mqtt.tls]`, `[mqtt.gate]` and `[mqtt.broker]`.

use std::time::Duration;

use wardgate_mqtt::Limits;
use wardgate_mqtt::broker::{self, Slow};
use wardgate_mqtt::gate::{Deliver, Denied};

use super::http::listen;
use super::{Auth, ConfigError, Section, Tls};

/// MQTT: a gate before a broker, or a broker.
#[derive(Clone, Debug)]
pub struct Mqtt {
    /// Addresses to listen at.
    pub listen: Vec<String>,
    /// The broker behind the gate.
    pub broker: Behind,
    /// True if clients may connect that prove nothing.
    pub anonymous: bool,
    /// Tokens may cross without TLS, also from another machine.
    pub auth_without_tls: bool,
    /// The largest number of clients.
    pub max_clients: usize,
    /// The largest packet of a client.
    pub max_packet_bytes: u32,
    /// The longest time until CONNECT is there.
    pub connect: Duration,
    /// The longest time in which a client or the broker takes nothing of what waits for it.
    pub write: Duration,
    /// The answer to a denied PUBLISH of 3.1.1.
    pub denied: Denied,
    /// The deliveries that are judged.
    pub deliver: Deliver,
    /// Certificate and key, if MQTT is spoken over TLS.
    pub tls: Option<Tls>,
}

/// The broker behind the gate.
#[derive(Clone, Debug)]
pub enum Behind {
    /// Another one.
    Other {
        /// Its address.
        upstream: String,
        /// True if it gets the passwords of clients.
        pass_password: bool,
    },
    /// That of this server.
    Own {
        /// What becomes of readers that do not read.
        slow: Slow,
        /// The number of retained messages.
        retained_messages: usize,
        /// The bytes of all retained messages.
        retained_bytes: usize,
    },
}

impl Mqtt {
    /// Reads the table; returns `None` if the file lacks it.
    pub(super) fn read(mut section: Section<'_>) -> Result<Option<Self>, ConfigError> {
        if !section.is_given() {
            return Ok(None);
        }
        let (tls, gate) = (section.section("tls")?, section.section("gate")?);
        let own = section.section("broker")?;
        if gate.is_given() && own.is_given() {
            return Err(ConfigError::new("`[mqtt.gate]` and `[mqtt.broker]` exclude each other"));
        }
        let mut behind = if gate.is_given() { gate } else { own };
        let denied = behind.choice("denied", DENIED)?.unwrap_or_default();
        let deliver = behind.choice("deliver", DELIVER)?.unwrap_or_default();
        let broker = match behind.name() {
            "mqtt.gate" => Behind::of_gate(&mut behind)?,
            _ => Behind::of_broker(&mut behind)?,
        };
        behind.finish()?;
        let mqtt = Self {
            listen: listen(&mut section, "127.0.0.1:1883")?,
            broker,
            anonymous: section.flag("anonymous")?.unwrap_or(false),
            auth_without_tls: section.flag("auth-without-tls")?.unwrap_or(false),
            max_clients: section.number("max-clients", 1..=1_000_000)?.unwrap_or(CLIENTS),
            max_packet_bytes: section
                .number("max-packet-bytes", 64..=Limits::PACKET_BYTES)?
                .unwrap_or(Limits::DEFAULT.packet_bytes),
            connect: section.seconds("connect-seconds", 1..=60)?.unwrap_or(CONNECT),
            write: section.seconds("write-seconds", 1..=3600)?.unwrap_or(WRITE),
            denied,
            deliver,
            tls: Tls::read(tls)?,
        };
        section.finish()?;
        Ok(Some(mqtt))
    }

    /// Refuses a gate without policies, and one that no client could pass.
    pub(super) fn must_fit(&self, has_policies: bool, auth: &Auth) -> Result<(), ConfigError> {
        if !has_policies {
            return Err(ConfigError::new("`[mqtt]` needs `[policies]`, which decide its requests"));
        }
        let shows_certificates = self.tls.as_ref().is_some_and(|tls| tls.client_ca.is_some());
        let has_tokens = !auth.tokens.is_empty() || auth.jwt.is_some();
        if !self.anonymous && !shows_certificates && !has_tokens {
            return Err(ConfigError::new(
                "no client may connect: `[mqtt]` must have `anonymous` or `client-ca`, or `[auth]` tokens",
            ));
        }
        Ok(())
    }
}

impl Behind {
    fn of_gate(gate: &mut Section<'_>) -> Result<Self, ConfigError> {
        let upstream = gate.required("upstream")?;
        Ok(Self::Other { upstream, pass_password: gate.flag("pass-password")?.unwrap_or(false) })
    }

    fn of_broker(broker: &mut Section<'_>) -> Result<Self, ConfigError> {
        let usual = broker::Settings::DEFAULT;
        let messages = broker.number("retained-messages", 0..=1_000_000)?;
        let bytes = broker.number("retained-bytes", 0..=4_294_967_295)?;
        Ok(Self::Own {
            slow: broker.choice("slow", SLOW)?.unwrap_or_default(),
            retained_messages: messages.unwrap_or(usual.retained_messages),
            retained_bytes: bytes.unwrap_or(usual.retained_bytes),
        })
    }
}

const SLOW: &[(&str, Slow)] = &[("close", Slow::Close), ("drop", Slow::Drop)];
const DENIED: &[(&str, Denied)] = &[("close", Denied::Close), ("drop", Denied::Drop)];
const DELIVER: &[(&str, Deliver)] = &[("subscribed", Deliver::Subscribed), ("each", Deliver::Each)];
const CLIENTS: usize = 10_000;
const CONNECT: Duration = Duration::from_secs(5);
const WRITE: Duration = Duration::from_secs(30);
