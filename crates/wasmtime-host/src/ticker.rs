//! The clock that ends calls.
//!
//! wasmtime compares a counter while it runs; this thread increments it. The thread ends when the
//! code is dropped.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use wasmtime::Engine;

use crate::error::{HostError, Result};

/// A thread that ticks until this is dropped.
#[derive(Debug)]
pub(crate) struct Ticker {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    pub(crate) fn start(engine: &Engine, tick: Duration) -> Result<Self> {
        let engine = engine.weak();
        let (stop, stopped) = channel();
        let run = move || {
            while stopped.recv_timeout(tick) == Err(RecvTimeoutError::Timeout) {
                let Some(engine) = engine.upgrade() else { return };
                engine.increment_epoch();
            }
        };
        let thread = Builder::new().name("wardgate-ticker".to_owned()).spawn(run);
        let thread = thread.map_err(|error| HostError::Thread { message: error.to_string() })?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // The thread cannot panic, and there is no caller to report to.
            let _ = thread.join();
        }
    }
}
