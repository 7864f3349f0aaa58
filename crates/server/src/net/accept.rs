//! Taking in the connections of one socket, whatever is spoken on them.

use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::limits::ACCEPT_PAUSE;
use crate::net::connections::{Connections, Place};
use crate::net::crew::Crew;
use crate::shared::Shared;

/// Accepts connections and serves each until the server stops, and then waits for those that are open.
pub(crate) async fn accept<F>(
    listener: TcpListener,
    shared: &Shared,
    (open, crew): (&Arc<Connections>, &Crew),
    serve: impl Fn(TcpStream, Place) -> F + Clone + Send + 'static,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut stopping = shared.stopping();
    let mut tasks = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    // Its events are heard where it is answered, so it changes from one runtime to the other.
                    let (Ok(stream), Some(seat)) = (stream.into_std(), crew.seat()) else {
                        continue;
                    };
                    let thread = seat.thread.clone();
                    let (serve, place) = (serve.clone(), open.enter());
                    let serving = async move {
                        match TcpStream::from_std(stream) {
                            Ok(stream) => serve(stream, place).await,
                            Err(error) => tracing::warn!(%error, "a connection cannot be heard"),
                        }
                        drop(seat);
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
