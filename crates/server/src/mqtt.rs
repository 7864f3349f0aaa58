//! MQTT: a gate before any broker, or before the broker of this server.
//!
//! `wardgate_mqtt::gate` is the protocol; it knows no socket. `relay` moves the bytes and bounds the
//! time and memory of every client, `local` is the broker of this server, `judge` asks the policies,
//! and `endpoint` accepts.

mod attributes;
mod endpoint;
mod judge;
mod local;
mod relay;

pub(crate) use endpoint::Endpoint;
