//! Events as lines of JSON on standard error.
//!
//! One subscriber and no library for it: an event is a line, and there are no spans to keep.

use std::fmt::{Debug, Write as _};
use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use wardgate_engine::wire::Json;

/// Starts to log, unless another subscriber is set.
pub(crate) fn start(level: crate::config::Level) {
    let most = match level {
        crate::config::Level::Error => Level::ERROR,
        crate::config::Level::Warn => Level::WARN,
        crate::config::Level::Info => Level::INFO,
        crate::config::Level::Debug => Level::DEBUG,
    };
    let _ = tracing::subscriber::set_global_default(Lines { most });
}

struct Lines {
    most: Level,
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.most && metadata.target().starts_with("wardgate")
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        line.json.open('{');
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        line.json.key("time");
        line.json.number(now.as_secs_f64());
        line.json.field("level", event.metadata().level().as_str());
        event.record(&mut line);
        line.json.close('}');
        // A failure to write a log line cannot be logged.
        let _ = writeln!(std::io::stderr().lock(), "{}", line.json.finish());
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Line {
    json: Json,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let mut text = String::new();
        let _ = write!(text, "{value:?}");
        self.json.field(field.name(), &text);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.json.field(field.name(), value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.json.key(field.name());
        self.json.number(u32::try_from(value).map_or(f64::INFINITY, f64::from));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.json.key(field.name());
        self.json.boolean(value);
    }
}
