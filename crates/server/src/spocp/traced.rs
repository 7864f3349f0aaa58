//! Spans of commands that change or show rules.
//!
//! A query is answered in less time than its span would take to write, and its client cannot name
//! the trace that it belongs to; so queries have no spans.

use super::reply::Reply;
use crate::rules::RuleChange;
use crate::shared::Shared;
use crate::telemetry::traces::{Kind, OpenSpan, SpanFields, Value};

/// A command with an open span.
pub(super) struct Traced {
    span: OpenSpan,
    name: &'static str,
    changes: Option<u64>,
}

impl Traced {
    /// Begins the span of a command, if it is sampled.
    pub(super) fn begin(shared: Option<&Shared>, name: &'static str) -> Option<Box<Self>> {
        let span = shared?.tracer()?.begin_trace()?;
        Some(Box::new(Self { span, name, changes: None }))
    }

    /// Begins the span of changes.
    pub(super) fn change(
        shared: Option<&Shared>,
        changes: &[RuleChange],
        reply: Reply,
    ) -> Option<Box<Self>> {
        let name = match (reply, changes) {
            (Reply::TransactionComplete, _) => "SPOCP COMMIT",
            (_, [RuleChange::Delete(_)]) => "SPOCP DELETE",
            _ => "SPOCP ADD",
        };
        let mut traced = Self::begin(shared, name)?;
        traced.changes = Some(u64::try_from(changes.len()).unwrap_or(u64::MAX));
        Some(traced)
    }

    /// Returns the open span, as the parent of others.
    pub(super) const fn span(&self) -> &OpenSpan {
        &self.span
    }

    /// Ends the span with the reply to the client.
    pub(super) fn end(self, shared: Option<&Shared>, reply: Reply) {
        let Some(tracer) = shared.and_then(Shared::tracer) else { return };
        let Self { span, name, changes } = self;
        let mut attributes = vec![
            ("network.protocol.name", Value::word("spocp")),
            ("wardgate.spocp.code", Value::word(reply.code())),
        ];
        attributes
            .extend(changes.map(|changes| ("wardgate.spocp.changes", Value::Number(changes))));
        let has_failed = reply == Reply::OperationsError;
        if has_failed {
            attributes.push(("error.type", Value::word(reply.code())));
        }
        tracer.end(
            span,
            SpanFields { name: name.into(), kind: Kind::Server, attributes, has_failed },
        );
    }
}
