//! Spans of commands that change or show rules.
//!
//! A query is answered in less time than its span would take to write, and its client has no way to say which trace it
//! belongs to; so queries are not told.

use super::reply::Reply;
use crate::shared::Shared;
use crate::spocp::store::Wanted;
use crate::telemetry::traces::{Begun, Kind, Told, Value};

/// A command whose span has begun.
pub(super) struct Traced {
    begun: Begun,
    name: &'static str,
    changes: Option<u64>,
}

impl Traced {
    /// Begins the span of a command, if it is to be told.
    pub(super) fn begin(shared: Option<&Shared>, name: &'static str) -> Option<Box<Self>> {
        let begun = shared?.tracer()?.begins()?;
        Some(Box::new(Self { begun, name, changes: None }))
    }

    /// Begins the span of changes.
    pub(super) fn change(
        shared: Option<&Shared>,
        (wanted, reply): (&[Wanted], Reply),
    ) -> Option<Box<Self>> {
        let name = match (reply, wanted) {
            (Reply::TransactionComplete, _) => "SPOCP COMMIT",
            (_, [Wanted::Delete(_)]) => "SPOCP DELETE",
            _ => "SPOCP ADD",
        };
        let mut traced = Self::begin(shared, name)?;
        traced.changes = Some(u64::try_from(wanted.len()).unwrap_or(u64::MAX));
        Some(traced)
    }

    /// What has begun, for what is done within.
    pub(super) const fn begun(&self) -> &Begun {
        &self.begun
    }

    /// Ends the span with what the client is told.
    pub(super) fn end(self, shared: Option<&Shared>, reply: Reply) {
        let Some(tracer) = shared.and_then(Shared::tracer) else { return };
        let Self { begun, name, changes } = self;
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
        tracer.ends(begun, Told { name: name.into(), kind: Kind::Server, attributes, has_failed });
    }
}
