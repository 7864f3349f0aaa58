//! Log events, metrics and traces.

pub(crate) mod collector;
pub(crate) mod log;
pub(crate) mod metrics;
pub(crate) mod mqtt;
pub(crate) mod traces;

#[cfg(test)]
#[path = "../tests/http/collector.rs"]
#[allow(dead_code, reason = "the tests over HTTP use the rest of it")]
pub(crate) mod scripted;
