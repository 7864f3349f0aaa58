//! `[mqtt]`, `[mqtt.tls]`, `[mqtt.gate]` and `[mqtt.broker]`.

use std::num::NonZeroU16;
use std::time::Duration;

use wardgate_mqtt::Limits;
use wardgate_mqtt::broker::{self, Slow};
use wardgate_mqtt::gate::{Deliver, Denied};

use super::http::listen;
use super::origin::must_be_origins;
use super::{Auth, ConfigError, Http, Section, Tls};
use crate::limits::MAX_WEBSOCKET_PATH;

/// MQTT: a gate before a broker, or a broker.
#[derive(Clone, Debug)]
pub struct Mqtt {
    /// Addresses to listen at. There may be none where WebSocket is spoken.
    pub listen: Vec<String>,
    /// WebSocket at the listener of HTTP, if it is spoken.
    pub websocket: Option<WebSocket>,
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
    /// The topics of a filter that must be allowed.
    pub subscribe: Subscribe,
    /// Certificate and key, if MQTT is spoken over TLS.
    pub tls: Option<Tls>,
}

/// The topics of a filter that must be allowed, so that a client may subscribe to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subscribe {
    /// All of them.
    #[default]
    Whole,
    /// Some of them. Each message is then decided.
    Part,
}

/// MQTT over WebSocket at the listener of HTTP.
#[derive(Clone, Debug)]
pub struct WebSocket {
    /// The path of its requests.
    pub path: String,
    /// The origins of pages that may connect. Without a list it is pages of the host that they
    /// connect to.
    pub origins: Option<Vec<String>>,
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
        /// The longest keep-alive of a client of 5.0, in seconds.
        keep_alive: Option<NonZeroU16>,
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
        let deliver = behind.choice("deliver", DELIVER)?;
        let subscribe = behind.choice("subscribe", SUBSCRIBE)?.unwrap_or_default();
        let deliver = subscribe.deliver(deliver)?;
        let broker = match behind.name() {
            "mqtt.gate" => Behind::of_gate(&mut behind)?,
            _ => Behind::of_broker(&mut behind)?,
        };
        behind.finish()?;
        let websocket = WebSocket::read(&mut section)?;
        let listens_nowhere = section.texts_if_given("listen")?.is_some_and(|all| all.is_empty());
        let listen = match websocket {
            Some(_) if listens_nowhere => Vec::new(),
            _ => listen(&mut section, "127.0.0.1:1883")?,
        };
        let mqtt = Self {
            listen,
            websocket,
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
            subscribe,
            tls: Tls::read(tls)?,
        };
        section.finish()?;
        Ok(Some(mqtt))
    }

    /// Refuses a gate without policies, and one that no client could pass.
    pub(super) fn must_fit(
        &self,
        has_policies: bool,
        http: &Http,
        auth: &Auth,
    ) -> Result<(), ConfigError> {
        if !has_policies {
            return Err(ConfigError::new("`[mqtt]` needs `[policies]`, which decide its requests"));
        }
        let websocket = self.websocket.as_ref().and(http.tls.as_ref());
        let mut listeners = self.tls.iter().chain(websocket);
        let shows_certificates = listeners.any(|tls| tls.client_ca.is_some());
        let has_tokens = !auth.tokens.is_empty() || auth.jwt.is_some();
        if !self.anonymous && !shows_certificates && !has_tokens {
            return Err(ConfigError::new(
                "no client may connect: `[mqtt]` must have `anonymous` or `client-ca`, or `[auth]` tokens",
            ));
        }
        Ok(())
    }
}

impl Subscribe {
    /// Returns the deliveries that must be judged.
    fn deliver(self, given: Option<Deliver>) -> Result<Deliver, ConfigError> {
        match (self, given) {
            (Self::Whole, given) => Ok(given.unwrap_or_default()),
            (Self::Part, None | Some(Deliver::Each)) => Ok(Deliver::Each),
            (Self::Part, Some(Deliver::Subscribed)) => Err(ConfigError::new(
                "`subscribe = \"part\"` decides each message, so `deliver` must be `each` or absent",
            )),
        }
    }
}

impl WebSocket {
    /// Reads its keys; returns `None` if it is not spoken.
    fn read(section: &mut Section<'_>) -> Result<Option<Self>, ConfigError> {
        let path = section.text("websocket")?;
        let origins = section.texts_if_given("origins")?;
        let Some(path) = path else {
            return match origins {
                Some(_) => Err(ConfigError::new(
                    "`mqtt.origins` needs `mqtt.websocket`, the path of WebSocket",
                )),
                None => Ok(None),
            };
        };
        if !is_path(&path) {
            let message =
                "`mqtt.websocket` must be a path such as `/mqtt`, of letters, digits and `-._~/`";
            return Err(ConfigError::new(message));
        }
        must_be_origins("mqtt.origins", origins.as_deref().unwrap_or_default())?;
        Ok(Some(Self { path, origins }))
    }
}

/// Returns true for a path that is written in one way only.
fn is_path(path: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.starts_with('/') && path.len() <= MAX_WEBSOCKET_PATH && path.bytes().all(is_plain)
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
            keep_alive: broker.number("keep-alive-seconds", NonZeroU16::MIN..=NonZeroU16::MAX)?,
        })
    }
}

const SLOW: &[(&str, Slow)] = &[("close", Slow::Close), ("drop", Slow::Drop)];
const DENIED: &[(&str, Denied)] = &[("close", Denied::Close), ("drop", Denied::Drop)];
const DELIVER: &[(&str, Deliver)] = &[("subscribed", Deliver::Subscribed), ("each", Deliver::Each)];
const SUBSCRIBE: &[(&str, Subscribe)] = &[("whole", Subscribe::Whole), ("part", Subscribe::Part)];
const CLIENTS: usize = 10_000;
const CONNECT: Duration = Duration::from_secs(5);
const WRITE: Duration = Duration::from_secs(30);
