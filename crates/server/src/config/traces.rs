//! `[traces]`: where spans go, and how many of them.

use std::path::PathBuf;
use std::time::Duration;

use super::{ConfigError, Section};

/// The collector of spans, and the share sampled.
#[derive(Clone, Debug)]
pub struct Traces {
    /// The URL that takes them, as OTLP in JSON.
    pub endpoint: String,
    /// The roots that the certificate of that server must lead to.
    pub ca: Option<PathBuf>,
    /// A file of headers that that server wants to see.
    pub headers: Option<PathBuf>,
    /// The name of this server at the collector.
    pub service: String,
    /// The share of traces that are sampled. It holds for traces that begin here; a caller decides
    /// about its own.
    pub ratio: f64,
    /// Spans that may wait.
    pub queue: usize,
    /// Spans that are sent at once.
    pub batch: usize,
    /// The longest time spans wait for others to be sent with.
    pub interval: Duration,
    /// The longest time of an answer of that server.
    pub timeout: Duration,
}

impl Traces {
    /// Reads the table; returns `None` if the file lacks it.
    pub(super) fn read(mut section: Section<'_>) -> Result<Option<Self>, ConfigError> {
        if !section.is_given() {
            return Ok(None);
        }
        let traces = Self {
            endpoint: section.required("endpoint")?,
            ca: section.path("endpoint-ca")?,
            headers: section.path("headers")?,
            service: section.text("service-name")?.unwrap_or_else(|| SERVICE.to_owned()),
            ratio: section.share("sample-ratio")?.unwrap_or(1.0),
            queue: section.number("max-queue", 1..=MAX_QUEUE)?.unwrap_or(QUEUE),
            batch: section.number("max-batch", 1..=MAX_BATCH)?.unwrap_or(BATCH),
            interval: section.seconds("interval-seconds", 1..=3600)?.unwrap_or(INTERVAL),
            timeout: section.seconds("timeout-seconds", 1..=300)?.unwrap_or(TIMEOUT),
        };
        section.finish()?;
        if traces.batch > traces.queue {
            let message = "`max-batch` in `[traces]` must be at most `max-queue`";
            return Err(ConfigError::new(message));
        }
        Ok(Some(traces))
    }
}

// These are the numbers of the batch span processor in the specification of OpenTelemetry.
const SERVICE: &str = "wardgate";
const QUEUE: usize = 2048;
const BATCH: usize = 512;
const INTERVAL: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(10);

const MAX_QUEUE: usize = 1 << 20;
const MAX_BATCH: usize = 1 << 14;
