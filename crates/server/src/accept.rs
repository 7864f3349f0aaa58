//! Taking in the connections of one socket, whatever is spoken on them.

use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::http::connections::{Connections, Place};
use crate::limits::ACCEPT_PAUSE;
use crate::shared::Shared;

/// Accepts connections and serves each until the server stops, and then waits for those that are open.
pub(crate) async fn accept<F>(
    listener: TcpListener,
    shared: &Shared,
    open: &Arc<Connections>,
    serve: impl Fn(TcpStream, Place) -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut stopping = shared.stopping();
    let mut tasks = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    tasks.spawn(serve(stream, open.enter()));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection cannot be accepted");
                    sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(_) = tasks.join_next() => {}
            () = stopping.begun() => break,
        }
    }
    drop(listener);
    while tasks.join_next().await.is_some() {}
}
