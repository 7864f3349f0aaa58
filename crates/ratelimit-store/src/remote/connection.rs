//! A connection to the server, and the script on it.

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, ErrorKind, RedisError, ServerErrorKind, Value};
use wardgate_ratelimit::CHARGE_SCRIPT;

use crate::store::Away;

/// A connection that is up as far as is known.
pub(super) struct Connection(MultiplexedConnection);

impl Connection {
    /// Connects. Whoever calls this bounds its time.
    pub(super) async fn open(client: &Client) -> Result<Self, Away> {
        let config =
            AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
        let connection = client.get_multiplexed_async_connection_with_config(&config).await;
        connection.map(Self).map_err(|error| away(&error))
    }

    /// Sends a call of the script, and loads the script if the server has it no more.
    pub(super) async fn call(&mut self, cmd: &Cmd) -> Result<Value, Away> {
        match self.0.send_packed_command(cmd).await.and_then(Value::extract_error) {
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {}
            reply => return reply.map_err(|error| away(&error)),
        }
        let mut load = redis::cmd("SCRIPT");
        load.arg("LOAD").arg(CHARGE_SCRIPT);
        self.send(&load).await?;
        self.send(cmd).await
    }

    async fn send(&mut self, cmd: &Cmd) -> Result<Value, Away> {
        let reply = self.0.send_packed_command(cmd).await;
        reply.and_then(Value::extract_error).map_err(|error| away(&error))
    }
}

fn away(error: &RedisError) -> Away {
    match error.code() {
        Some(code) => Away::Refused { code: code.to_owned() },
        None if error.is_io_error() => Away::Lost,
        None => Away::Garbled,
    }
}
