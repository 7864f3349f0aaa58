//! Endpoints for operators: health, metrics, reload, and the description for programs.

use hyper::StatusCode;
use wardgate_native::protocol::json::document;
use wardgate_native::{Clock, SystemClock, Timestamp};

use super::context::Head;
use super::reply::{Problem, Reply, Result};
use super::traced::Traced;
use crate::decision_log::Recorder;
use crate::policies::state::State;
use crate::shared::Shared;
use crate::telemetry::metrics::{Gauges, KeyGauges, Metrics};

/// Answers that the server runs.
pub(super) fn health() -> Reply {
    Reply::json(r#"{"status":"SERVING"}"#)
}

/// Answers with the OpenAPI document.
pub(super) fn open_api() -> Reply {
    Reply::json(OPEN_API)
}

/// Answers whether the server takes requests now.
///
/// # Errors
/// The server is stopping, its policies have expired, or nothing is decided since the decision log cannot be written.
pub(super) fn readiness(head: &Head<'_>) -> Result<Reply> {
    if head.shared.recorder().is_some_and(Recorder::denies) {
        let message = "the decision log cannot be written, and nothing is decided without a record";
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "log-full", message));
    }
    ready(head.shared.is_stopping(), &head.shared.state(), SystemClock.now())
}

pub(super) fn ready(is_stopping: bool, state: &State, now: Timestamp) -> Result<Reply> {
    let refuse =
        |code, message: &str| Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, code, message));
    if is_stopping {
        return refuse("stopping", "the server is stopping");
    }
    if state.has_expired(now) {
        return refuse("expired", "the policies have expired, and everything is denied");
    }
    Ok(Reply::json(r#"{"status":"ready"}"#))
}

/// Answers with the metrics as text of Prometheus.
pub(super) fn metrics(Head { shared, peer, .. }: &Head<'_>) -> Reply {
    let state = shared.state();
    let mut text = shared.metrics().text(Gauges {
        connections: peer.open.count(),
        revision: state.revision(),
        serial: state.serial(),
        expiry: expiry(&state, SystemClock.now()),
        spans: shared.tracer().map(|tracer| (tracer.counts().sent(), tracer.counts().lost())),
    });
    if shared.config().mqtt.is_some() {
        shared.metrics().mqtt().write(&mut text);
    }
    if let Some(limits) = shared.limits() {
        limits.write(&mut text);
    }
    if let Some(recorder) = shared.recorder() {
        recorder.write_metrics(&mut text);
    }
    if let Some(exporter) = shared.exporter() {
        exporter.write_metrics(&mut text);
    }
    if let Some(shipper) = shared.shipper() {
        shipper.write_metrics(&mut text);
    }
    if let Some(witnessing) = shared.witnessing() {
        witnessing.write_metrics(&mut text);
    }
    let sets = shared.remote_key_sets();
    let sets =
        sets.map(|set| KeyGauges { name: set.name(), age: set.age(), failures: set.failures() });
    Metrics::keys(&mut text, &sets.collect::<Vec<_>>());
    Reply::of(StatusCode::OK, "text/plain; version=0.0.4", text)
}

/// Returns when the policies expire, and whether they have at `now`.
fn expiry(state: &State, now: Timestamp) -> Option<(u64, bool)> {
    let expires = state.header()?.label.expires?;
    Some((expires, u64::try_from(now.seconds()).unwrap_or(0) >= expires))
}

/// Loads policies and rules now. The log has the errors.
pub(super) async fn reload(shared: &Shared, traced: Option<&Traced<'_>>) -> Result<Reply> {
    let within = traced.map(|traced| traced.span().clone());
    if shared.reload_within(within).await.is_err() {
        let message = "the new policies or rules cannot be used, and the old ones stay in use: the log has the cause";
        return Err(Problem::new(StatusCode::CONFLICT, "not-reloaded", message));
    }
    let state = shared.state();
    Ok(Reply::json(document(|json| {
        if let Some(revision) = state.revision() {
            json.field("revision", &revision.to_string());
        }
        json.field("serial", &state.serial().to_string());
    })))
}

const OPEN_API: &str = include_str!("openapi.json");
