//! Events on standard error: lines of JSON, or words for the person at a terminal.
//!
//! One subscriber and no library for it: an event is a line, and there are no spans to keep.

use std::fmt::{Debug, Write as _};
use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use wardgate_engine::wire::Json;

use crate::config::{self, LogFormat};

/// Starts to log, unless another subscriber is set.
pub(crate) fn start(level: config::Level, format: LogFormat) {
    let most = match level {
        config::Level::Error => Level::ERROR,
        config::Level::Warn => Level::WARN,
        config::Level::Info => Level::INFO,
        config::Level::Debug => Level::DEBUG,
    };
    let _ = tracing::subscriber::set_global_default(Lines { most, format });
}

struct Lines {
    most: Level,
    format: LogFormat,
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.most && metadata.target().starts_with("wardgate")
    }

    fn event(&self, event: &Event<'_>) {
        let line = match self.format {
            LogFormat::Json => json(event),
            LogFormat::Text => {
                let mut words = Words::default();
                event.record(&mut words);
                words.line(event.metadata().level())
            }
        };
        // A failure to write a log line cannot be logged.
        let _ = writeln!(std::io::stderr().lock(), "{line}");
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn json(event: &Event<'_>) -> String {
    let mut line = Line::default();
    line.json.open('{');
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    line.json.key("time");
    line.json.number(now.as_secs_f64());
    line.json.field("level", event.metadata().level().as_str());
    event.record(&mut line);
    line.json.close('}');
    line.json.finish()
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

/// An event in words: the message, the other fields behind it, and fields of several lines below.
#[derive(Default)]
struct Words {
    message: String,
    fields: String,
    below: String,
}

impl Words {
    fn line(self, level: &Level) -> String {
        let level = level.as_str().to_ascii_lowercase();
        let Self { message, fields, below } = self;
        format!("{level}: {message}{fields}{below}")
    }
}

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let text = visible(value);
        match field.name() {
            "message" => self.message = text,
            "problem" => self.below = format!("\n{text}"),
            name => self.fields.push_str(&format!(", {name} {text}")),
        }
    }
}

/// Writes control characters as escapes, but for the ends of lines: texts of files and clients must
/// not move the cursor.
fn visible(text: &str) -> String {
    let mut visible = String::new();
    for c in text.chars() {
        match c {
            '\n' => visible.push(c),
            c if c.is_control() => visible.extend(c.escape_default()),
            c => visible.push(c),
        }
    }
    visible
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn words_of_others_do_not_move_the_cursor() {
        assert_eq!(visible("a\u{1b}[2Jb\r\nc"), "a\\u{1b}[2Jb\\r\nc");
    }
}
