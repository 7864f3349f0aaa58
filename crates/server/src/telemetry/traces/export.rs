//! The thread that sends spans.
//!
//! It is the only one that waits for a collector. Spans that a collector does not take within a few
//! attempts are dropped; meanwhile spans gather in the queue up to its bound.

use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use hyper::body::Bytes;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{sleep, timeout};

use super::otlp;
use super::queue::Queue;
use super::span::Span;
use crate::config::Traces;
use crate::limits::{FLUSH, MAX_RETRY_PAUSE, RETRY_PAUSE, SPAN_ATTEMPTS};
use crate::net::client::connect::late;
use crate::telemetry::collector::{Answer, Collector, Signal};

/// The sender of queued spans.
pub(super) struct Exporter {
    collector: Collector,
    config: Traces,
    queue: Arc<Queue>,
    /// The last problem, so that it is logged once.
    problem: Option<String>,
}

/// The next step for a batch of spans.
enum Outcome {
    Taken(usize),
    Dropped(String),
    Again(Option<Duration>, String),
}

impl Exporter {
    pub(super) fn new(config: Traces, queue: Arc<Queue>) -> Result<Self, String> {
        let (ca, headers) = (config.ca.as_deref(), config.headers.as_deref());
        let collector = Collector::new(Signal::SPANS, &config.endpoint, ca, headers)?;
        Ok(Self { collector, config, queue, problem: None })
    }

    /// Starts the thread. Nothing is ever received: the other end is dropped when all is sent.
    pub(super) fn start(self) -> std::io::Result<Receiver<()>> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (ends, ended) = mpsc::channel();
        let work = move || {
            self.work(runtime);
            drop(ends);
        };
        thread::Builder::new().name("traces".into()).spawn(work)?;
        Ok(ended)
    }

    fn work(mut self, runtime: Runtime) {
        let queue = Arc::clone(&self.queue);
        runtime.block_on(async {
            let mut late = pin!(async {
                queue.closed().await;
                sleep(FLUSH).await;
            });
            tokio::select! {
                () = self.run() => {}
                () = late.as_mut() => {}
            }
        });
        let left = queue.left();
        if left > 0 {
            queue.ended(0, left);
            tracing::warn!(left, "spans are dropped, because the server ends");
        }
        // A name that is being looked up is not waited for.
        runtime.shutdown_background();
    }

    /// Sends until there will be no more.
    async fn run(&mut self) {
        loop {
            let is_last = self.queue.is_closed();
            if !is_last {
                self.queue.enough(self.config.interval).await;
            }
            for batch in self.queue.take().chunks(self.config.batch) {
                self.deliver(batch).await;
            }
            if is_last {
                return;
            }
        }
    }

    /// Sends spans until they are taken, or given up.
    async fn deliver(&mut self, batch: &[Span]) {
        let body = Bytes::from(otlp::request(&self.config.service, batch));
        let mut pause = RETRY_PAUSE;
        for attempt in 1..=SPAN_ATTEMPTS {
            match self.attempt(body.clone()).await {
                Outcome::Taken(refused) => {
                    let refused = refused.min(batch.len());
                    self.report(refused > 0, || format!("it refuses {refused} spans"));
                    return self.queue.ended(batch.len().saturating_sub(refused), refused);
                }
                Outcome::Dropped(problem) => {
                    self.report(true, || problem);
                    break;
                }
                Outcome::Again(retry_after, problem) => {
                    self.report(true, || problem);
                    if self.queue.is_closed() || attempt == SPAN_ATTEMPTS {
                        break;
                    }
                    let wait = retry_after.unwrap_or(pause).min(MAX_RETRY_PAUSE);
                    pause = pause.saturating_mul(2);
                    // Once there will be no more spans, these are sent once more.
                    let _ = timeout(wait, self.queue.closed()).await;
                }
            }
        }
        self.queue.ended(0, batch.len());
    }

    async fn attempt(&mut self, body: Bytes) -> Outcome {
        let limit = self.config.timeout;
        match timeout(limit, self.collector.send(body)).await {
            Ok(Ok(Answer::Taken { refused })) => Outcome::Taken(refused),
            Ok(Ok(Answer::Never(status))) => Outcome::Dropped(format!("it answers {status}")),
            Ok(Ok(Answer::Later(status, retry_after))) => {
                Outcome::Again(retry_after, format!("it answers {status}"))
            }
            Ok(Err(error)) => Outcome::Again(None, error),
            Err(_) => Outcome::Again(None, late(limit)),
        }
    }

    /// Tells the operator of a problem when it begins, and when it is over.
    fn report(&mut self, is_wrong: bool, problem: impl FnOnce() -> String) {
        let problem = is_wrong.then(problem);
        if problem == self.problem {
            return;
        }
        match &problem {
            Some(problem) => tracing::warn!(problem, "the collector does not take spans"),
            None => tracing::info!("the collector takes spans again"),
        }
        self.problem = problem;
    }
}
