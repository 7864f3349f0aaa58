//! Log events, metrics and traces.

pub(crate) mod log;
pub(crate) mod metrics;
pub(crate) mod traces;
