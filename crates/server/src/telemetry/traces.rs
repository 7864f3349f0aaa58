//! Traces: the times of requests and reloads, as spans for a collector of OpenTelemetry.
//!
//! No thread that answers waits for a collector: a span that does not fit into a bounded queue is
//! dropped and counted. No span holds a name of a principal or a resource, an attribute, a token or
//! a query.

mod context;
mod export;
mod ids;
pub(crate) mod otlp;
mod queue;
mod span;
pub(crate) mod tally;

use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};

use hyper::HeaderMap;

use crate::config::Traces;
use crate::limits::FLUSH;
use context::{Context, Parent};
use export::Exporter;
use ids::Ids;
pub(crate) use queue::Counts;
use queue::Queue;
pub(crate) use span::{Attribute, Kind, OpenSpan, SpanFields, Value};

/// Begins spans, and hands them over at their end.
pub(crate) struct Tracer {
    ids: Ids,
    queue: Arc<Queue>,
    /// The exporter, until its thread has begun.
    exporter: Mutex<Option<Exporter>>,
    /// Says when it has ended.
    ended: Mutex<Option<Receiver<()>>>,
}

impl Tracer {
    /// Reads the files that the configuration names.
    ///
    /// # Errors
    /// They cannot be used, in words for the operator.
    pub(crate) fn new(config: &Traces) -> Result<Self, String> {
        let queue = Arc::new(Queue::new(config.queue, config.batch));
        let exporter = Exporter::new(config.clone(), Arc::clone(&queue))
            .map_err(|error| format!("`[traces]`: {error}"))?;
        Ok(Self {
            ids: Ids::new(config.ratio)?,
            queue,
            exporter: Mutex::new(Some(exporter)),
            ended: Mutex::default(),
        })
    }

    /// Starts to send. Until then spans wait.
    ///
    /// # Errors
    /// The system has no thread for it.
    pub(crate) fn start(&self) -> std::io::Result<()> {
        let exporter = self.exporter.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(exporter) = exporter {
            let ended = exporter.start()?;
            *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
        }
        Ok(())
    }

    /// Begins the span of a request, if its trace is sampled; a caller's trace was sampled or not
    /// by the caller.
    pub(crate) fn begin_request(&self, headers: &HeaderMap) -> Option<OpenSpan> {
        match Parent::read(headers) {
            None => self.begin_trace(),
            Some(parent) => parent.is_sampled.then(|| {
                let Parent { trace, span, state, .. } = parent;
                let (parent, is_remote) = (Some(span), true);
                OpenSpan::now(Context { trace, span: self.ids.span(), parent, is_remote, state })
            }),
        }
    }

    /// Begins a trace, if it is sampled.
    pub(crate) fn begin_trace(&self) -> Option<OpenSpan> {
        let trace = self.ids.trace()?;
        let span = self.ids.span();
        Some(OpenSpan::now(Context { trace, span, parent: None, is_remote: false, state: None }))
    }

    /// Begins a span within another one.
    pub(crate) fn begin_child(&self, outer: &OpenSpan) -> OpenSpan {
        outer.begin_child(self.ids.span())
    }

    /// Ends a span.
    pub(crate) fn end(&self, span: OpenSpan, fields: SpanFields) {
        self.queue.put(span.end(fields));
    }

    /// Returns the counts of spans.
    pub(crate) fn counts(&self) -> &Counts {
        self.queue.counts()
    }

    /// Sends the spans that still wait, as far as a bounded time allows. No span may follow.
    pub(crate) fn close(&self) {
        self.queue.close();
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The thread has the same time, and a little more is left for its last message.
        let waited = ended.map(|ended| ended.recv_timeout(FLUSH.saturating_mul(2)));
        if waited == Some(Err(RecvTimeoutError::Timeout)) {
            tracing::warn!("spans are still being sent, and are not waited for");
        }
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl fmt::Debug for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tracer").field("counts", self.counts()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
