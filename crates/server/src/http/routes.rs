//! Which endpoint answers a request.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Method, Request};

use super::connections::Connection;
use super::reply::{Problem, Reply};
use crate::shared::Shared;

/// Answers a request.
pub(crate) async fn answer(
    request: Request<Incoming>,
    shared: &Arc<Shared>,
    connection: &Connection,
) -> Reply {
    respond(request, shared, connection).await.unwrap_or_else(Reply::from)
}

async fn respond(
    request: Request<Incoming>,
    _shared: &Arc<Shared>,
    _connection: &Connection,
) -> Result<Reply, Problem> {
    match request.uri().path() {
        "/healthz" | "/_cerbos/health" => {
            must_be(request.method(), &Method::GET)?;
            Ok(Reply::json(r#"{"status":"SERVING"}"#))
        }
        _ => Err(Problem::not_found()),
    }
}

fn must_be(method: &Method, expected: &'static Method) -> Result<(), Problem> {
    let is_fine = method == expected || (method == Method::HEAD && expected == Method::GET);
    if is_fine { Ok(()) } else { Err(Problem::wrong_method(expected.as_str())) }
}
