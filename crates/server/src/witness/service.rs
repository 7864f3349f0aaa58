//! The answers of a witness over HTTP.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};
use wardgate_decision_log::limits::MAX_ADD_CHECKPOINT_BYTES;
use wardgate_decision_log::witness::{ADD_CHECKPOINT, AddCheckpoint, Refusal, SIZE_TYPE};

use super::states::{Failure, States};
use crate::limits::{
    ACCEPT_PAUSE, MAX_HEAD_BYTES, MAX_HEADERS, WITNESS_BODY, WITNESS_CONNECTIONS, WITNESS_HEAD,
};

/// Accepts connections for ever, a bounded number of them at once.
pub(super) async fn accept(listener: TcpListener, states: Arc<Mutex<States>>) {
    let places = Arc::new(Semaphore::new(WITNESS_CONNECTIONS));
    loop {
        // It cannot fail: nobody closes it.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let states = Arc::clone(&states);
                tokio::spawn(async move {
                    serve(stream, states).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection cannot be accepted");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn serve(stream: TcpStream, states: Arc<Mutex<States>>) {
    // Answers are small and are not batched.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let states = Arc::clone(&states);
        async move { Ok::<_, Infallible>(answer(request, states).await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(WITNESS_HEAD);
    builder.max_headers(MAX_HEADERS).max_buf_size(MAX_HEAD_BYTES);
    if let Err(error) = builder.serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(%error, "a connection ended early");
    }
}

async fn answer(request: Request<Incoming>, states: Arc<Mutex<States>>) -> Response<Full<Bytes>> {
    let path = request.uri().path();
    if path == ADD_CHECKPOINT {
        return match *request.method() {
            Method::POST => add_checkpoint(request.into_body(), states).await,
            _ => text(StatusCode::METHOD_NOT_ALLOWED, "expected POST\n".to_owned()),
        };
    }
    let hash = path.strip_prefix('/').and_then(|path| path.strip_suffix("/checkpoint"));
    let hash = hash.filter(|_| request.method() == Method::GET).map(str::to_owned);
    let found = match hash {
        Some(hash) => apart(states, move |states| states.checkpoint(&hash)).await.flatten(),
        None => None,
    };
    match found {
        Some(note) => text(StatusCode::OK, note),
        None => text(StatusCode::NOT_FOUND, "there is nothing here\n".to_owned()),
    }
}

/// Calls a function on the thread that may wait for the disk. Returns `None` after a panic, which was reported by itself.
async fn apart<T: Send + 'static>(
    states: Arc<Mutex<States>>,
    work: impl FnOnce(&mut States) -> T + Send + 'static,
) -> Option<T> {
    let locked = move || work(&mut states.lock().unwrap_or_else(PoisonError::into_inner));
    spawn_blocking(locked).await.ok()
}

async fn add_checkpoint(body: Incoming, states: Arc<Mutex<States>>) -> Response<Full<Bytes>> {
    let body = Limited::new(body, MAX_ADD_CHECKPOINT_BYTES).collect();
    let Ok(body) = timeout(WITNESS_BODY, body).await else {
        return text(StatusCode::REQUEST_TIMEOUT, "the request came too slowly\n".to_owned());
    };
    let request = body.ok().and_then(|body| AddCheckpoint::read(&body.to_bytes()));
    let Some(request) = request else { return refused(Refusal::Malformed) };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    match apart(states, move |states| states.add(&request, now)).await {
        Some(Ok(cosignature)) => text(StatusCode::OK, format!("{cosignature}\n")),
        Some(Err(Failure::Refused(refusal))) => refused(refusal),
        Some(Err(Failure::Broken(problem))) => {
            tracing::error!(problem, "a checkpoint is not cosigned, since it cannot be kept");
            broken()
        }
        None => broken(),
    }
}

fn refused(refusal: Refusal) -> Response<Full<Bytes>> {
    let status = StatusCode::from_u16(refusal.status());
    let mut response =
        text(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), refusal.to_string());
    if matches!(refusal, Refusal::Conflict { .. }) {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(SIZE_TYPE));
    }
    response
}

fn broken() -> Response<Full<Bytes>> {
    let body = "the witness cannot keep the checkpoint\n".to_owned();
    text(StatusCode::INTERNAL_SERVER_ERROR, body)
}

fn text(status: StatusCode, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response
}
