//! `[mqtt]`, `[mqtt.tls]` and `[mqtt.gate]`.

use std::time::Duration;

use wardgate_mqtt::Limits;
use wardgate_mqtt::gate::{Deliver, Denied};

use super::http::listen;
use super::{Auth, ConfigError, Section, Tls};

/// A gate before a broker of MQTT.
#[derive(Clone, Debug)]
pub struct Mqtt {
    /// Addresses to listen at.
    pub listen: Vec<String>,
    /// The address of the broker.
    pub upstream: String,
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
    /// True if the broker gets the passwords of clients.
    pub pass_password: bool,
    /// Certificate and key, if MQTT is spoken over TLS.
    pub tls: Option<Tls>,
}

impl Mqtt {
    /// Reads the table; returns `None` if the file lacks it.
    pub(super) fn read(mut section: Section<'_>) -> Result<Option<Self>, ConfigError> {
        if !section.is_given() {
            return Ok(None);
        }
        let (tls, mut gate) = (section.section("tls")?, section.section("gate")?);
        let upstream = gate.required("upstream")?;
        let denied = gate.choice("denied", DENIED)?.unwrap_or_default();
        let pass_password = gate.flag("pass-password")?.unwrap_or(false);
        let deliver = gate.choice("deliver", DELIVER)?.unwrap_or_default();
        let mqtt = Self {
            listen: listen(&mut section, "127.0.0.1:1883")?,
            upstream,
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
            pass_password,
            tls: Tls::read(tls)?,
        };
        section.finish()?;
        if !gate.is_given() {
            return Err(ConfigError::new("`[mqtt]` needs `[mqtt.gate]`, which names the broker"));
        }
        gate.finish()?;
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

const DENIED: &[(&str, Denied)] = &[("close", Denied::Close), ("drop", Denied::Drop)];
const DELIVER: &[(&str, Deliver)] = &[("subscribed", Deliver::Subscribed), ("each", Deliver::Each)];
const CLIENTS: usize = 10_000;
const CONNECT: Duration = Duration::from_secs(5);
const WRITE: Duration = Duration::from_secs(30);
