//! Log events, metrics and traces.

pub(crate) mod collector;
pub(crate) mod log;
pub(crate) mod metrics;
pub(crate) mod mqtt;
pub(crate) mod traces;
