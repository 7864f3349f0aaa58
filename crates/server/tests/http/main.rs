//! The server over real HTTP, with clients that behave and clients that do not.
#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod alone;
mod answers;
mod authzen;
mod brokers;
mod callers;
mod collector;
mod cors;
mod decision_log;
mod documented;
mod evidence;
mod grants;
mod hostile;
mod keys;
mod log_brokers;
mod log_export;
mod log_filter;
mod log_searches;
mod mqtt;
mod mqtt_broker;
mod mqtt_deliveries;
mod mqtt_hostile;
mod mqtt_websocket;
#[path = "../../../mqtt/tests/gate/notation.rs"]
mod notation;
mod openapi;
mod publisher;
mod ratelimit;
#[path = "../../../ratelimit-store/tests/redis/server.rs"]
#[allow(dead_code, reason = "the tests of the store use more of it")]
mod redis_server;
mod reload;
mod remote;
mod rules;
mod rules_recorded;
mod running;
mod shipping;
mod traces;
mod witnesses;
