//! MQTT: a gate before any broker, or before the broker of this server.
//!
//! `wardgate_mqtt::gate` is the protocol; it knows no socket. `relay` moves the bytes and bounds the
//! time and memory of every client, `local` is the broker of this server, `judge` asks the policies,
//! and `endpoint` accepts. Clients over WebSocket come from the room `http` through a `Door`.

mod answers;
mod attributes;
mod endpoint;
mod judge;
mod local;
mod relay;
mod websocket;

pub(crate) use endpoint::{Door, Endpoint};
pub(crate) use judge::{CLIENT, Client, principal, resource};
