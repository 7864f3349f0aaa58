//! `[decision-log.otlp]`: the collector that gets the records of the decision log.

use std::path::PathBuf;
use std::time::Duration;

use super::{ConfigError, Section};

/// The export of records of the decision log to a collector.
#[derive(Clone, Debug)]
pub struct LogExport {
    /// The URL that takes them, as OTLP in JSON.
    pub endpoint: String,
    /// The roots that the certificate of that server must lead to.
    pub ca: Option<PathBuf>,
    /// A file of headers that that server wants to see.
    pub headers: Option<PathBuf>,
    /// The name of this server at the collector.
    pub service: String,
    /// Records that are sent at once.
    pub batch: usize,
    /// The time between two looks for records to send.
    pub interval: Duration,
    /// The longest time of an answer of that server.
    pub timeout: Duration,
}

impl LogExport {
    /// Reads the table; returns `None` if the file lacks it.
    pub(super) fn read(mut section: Section<'_>) -> Result<Option<Self>, ConfigError> {
        if !section.is_given() {
            return Ok(None);
        }
        let export = Self {
            endpoint: section.required("endpoint")?,
            ca: section.path("endpoint-ca")?,
            headers: section.path("headers")?,
            service: section.text("service-name")?.unwrap_or_else(|| "wardgate".to_owned()),
            batch: section.number("max-batch", 1..=1 << 14)?.unwrap_or(512),
            interval: section.seconds("interval-seconds", 1..=3600)?.unwrap_or(INTERVAL),
            timeout: section.seconds("timeout-seconds", 1..=300)?.unwrap_or(TIMEOUT),
        };
        section.finish()?;
        Ok(Some(export))
    }
}

// These are the numbers of the batch processors in the specification of OpenTelemetry.
const INTERVAL: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(10);
