//! Accepting connections of one socket, for any protocol.

use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::limits::ACCEPT_PAUSE;
use crate::net::connections::{Connections, OpenConnection};
use crate::net::stopping::Stopping;
use crate::net::workers::Workers;

/// The connections of one protocol, and the threads that serve them.
#[derive(Clone)]
pub(crate) struct Pool {
    pub(crate) open: Arc<Connections>,
    pub(crate) workers: Arc<Workers>,
}

/// Accepts connections and serves each until the server stops, and then waits for the open ones.
pub(crate) async fn accept<F>(
    listener: TcpListener,
    mut stopping: Stopping,
    Pool { open, workers }: Pool,
    serve: impl Fn(TcpStream, OpenConnection) -> F + Clone + Send + 'static,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut tasks = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    // The runtime that answers must receive its events, so the stream changes from
                    // one runtime to the other.
                    let (Ok(stream), Some(guard)) = (stream.into_std(), workers.assign()) else {
                        continue;
                    };
                    let thread = guard.thread.clone();
                    let (serve, connection) = (serve.clone(), open.enter());
                    let serving = async move {
                        match TcpStream::from_std(stream) {
                            Ok(stream) => serve(stream, connection).await,
                            Err(error) => tracing::warn!(%error, "an accepted connection cannot be used"),
                        }
                        drop(guard);
                    };
                    tasks.spawn_on(serving, &thread);
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
