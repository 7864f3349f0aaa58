//! MQTT: a gate before any broker.
//!
//! `wardgate_mqtt::gate` is the protocol; it knows no socket. `relay` moves the bytes and bounds the
//! time and memory of every client, `judge` asks the policies, and `endpoint` accepts.

mod attributes;
mod endpoint;
mod judge;
mod relay;

pub(crate) use endpoint::Endpoint;
