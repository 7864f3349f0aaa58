//! Checks that their callers send themselves, one at a time over a connection of its own.

use std::sync::{Mutex, PoisonError};

use tokio::time::timeout;

use super::batch::{self, Batch};
use super::connection::{Commands, Connection};
use super::fault::Fault;
use super::{Answer, Check, Redis};
use crate::few::Few;
use crate::store::Away;

/// The connection for a check that is alone, while no caller has it.
#[derive(Debug)]
pub(super) struct Alone(Mutex<State>);

#[derive(Debug)]
enum State {
    Taken,
    Free(Option<Connection>),
}

/// The right to send a check alone.
#[derive(Debug, Default)]
pub(super) struct Turn<'a> {
    /// The place to which the connection goes back; None for a turn besides the one.
    place: Option<&'a Alone>,
    connection: Option<Connection>,
}

impl Default for Alone {
    fn default() -> Self {
        Self(Mutex::new(State::Free(None)))
    }
}

impl Alone {
    /// Returns the right to send a check alone, if nobody has it.
    pub(super) fn turn(&self) -> Option<Turn<'_>> {
        match core::mem::replace(&mut *self.state(), State::Taken) {
            State::Free(connection) => Some(Turn { place: Some(self), connection }),
            State::Taken => None,
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        // No code between two writes can panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn<'_> {
    /// Does checks in one call. After a failure, or if the caller gives up, the connection is closed: a late
    /// reply must meet no other call.
    pub(super) async fn run(
        mut self,
        store: &Redis,
        checks: &[Check],
        is_asking: bool,
    ) -> Result<Few<Answer>, Fault> {
        let mut connection = self.connection.take();
        let call = call(&mut connection, store, checks, is_asking);
        let found = timeout(store.deadline, call).await.unwrap_or(Err(Away::Late.into()));
        if found.as_ref().is_err_and(|fault| !fault.is_of_slot()) {
            store.shared.failed();
        } else {
            self.connection = connection;
            store.shared.succeeded(checks.len());
        }
        found
    }
}

/// Whatever becomes of the check, the next one may have its turn.
impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            *place.state() = State::Free(self.connection.take());
        }
    }
}

async fn call(
    connection: &mut Option<Connection>,
    store: &Redis,
    checks: &[Check],
    is_asking: bool,
) -> Result<Few<Answer>, Fault> {
    let connection = match connection {
        Some(connection) => connection,
        none => none.insert(Connection::open(&store.address).await?),
    };
    let call = Batch::default().call(&store.shared.digest, checks.iter());
    let call = if is_asking { Commands::asking(call) } else { call };
    let reply = connection.call(&[call]).await?.pop().ok_or(Away::Garbled)?;
    let counts = checks.iter().map(|check| check.demands.each().len());
    Ok(batch::answers(&reply?, counts)?)
}
