//! Spans: open ones, and those that have ended.

use std::borrow::Cow;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::context::Context;

/// A span that has ended.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(super) context: Context,
    pub(super) name: Cow<'static, str>,
    pub(super) kind: Kind,
    /// Nanoseconds since 1970.
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) attributes: Vec<Attribute>,
    pub(super) has_failed: bool,
}

/// The kind of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A step within.
    Internal,
    /// The answer to another process.
    Server,
}

/// A name and a value.
pub(crate) type Attribute = (&'static str, Value);

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(Cow<'static, str>),
    Number(u64),
    Flag(bool),
}

/// A span that has not ended.
#[derive(Clone, Debug)]
pub(crate) struct OpenSpan {
    context: Context,
    time: SystemTime,
    /// Clocks may be set, so that times between are taken of another one.
    clock: Instant,
}

/// The fields of a span that are known at its end.
#[derive(Clone, Debug)]
pub(crate) struct SpanFields {
    pub(crate) name: Cow<'static, str>,
    pub(crate) kind: Kind,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) has_failed: bool,
}

impl OpenSpan {
    pub(super) fn now(context: Context) -> Self {
        Self { context, time: SystemTime::now(), clock: Instant::now() }
    }

    /// Begins a child. It takes its time from the parent, so that it is within it by every clock.
    pub(super) fn begin_child(&self, span: [u8; 8]) -> Self {
        let clock = Instant::now();
        let passed = clock.saturating_duration_since(self.clock);
        let outer = &self.context;
        let context = Context {
            trace: outer.trace,
            span,
            parent: Some(outer.span),
            is_remote: false,
            state: outer.state.clone(),
        };
        Self { context, time: self.time.checked_add(passed).unwrap_or(self.time), clock }
    }

    pub(super) fn end(self, fields: SpanFields) -> Span {
        let begin = self.time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let begin = u64::try_from(begin).unwrap_or(u64::MAX);
        let took = u64::try_from(self.clock.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let SpanFields { name, kind, attributes, has_failed } = fields;
        let end = begin.saturating_add(took);
        Span { context: self.context, name, kind, begin, end, attributes, has_failed }
    }
}

impl Value {
    /// Returns the beginning of a foreign text.
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(Cow::Owned(text.chars().take(MAX_TEXT).collect()))
    }

    pub(crate) const fn word(word: &'static str) -> Self {
        Self::Text(Cow::Borrowed(word))
    }
}

/// Characters of a text in an attribute.
const MAX_TEXT: usize = 256;
