//! A connection to the server, and the script on it.

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, Pipeline, RedisError, ServerErrorKind, Value};
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

    /// Sends calls of the script in one write, and loads the script if the server has it no more.
    /// Returns a reply for each, or the loss of the connection.
    pub(super) async fn call(&mut self, calls: &[Cmd]) -> Result<Vec<Reply>, Away> {
        let mut replies = self.send(calls).await?;
        if !replies.iter().any(is_unknown) {
            return Ok(replies.into_iter().map(reply).collect());
        }
        let mut load = redis::cmd("SCRIPT");
        load.arg("LOAD").arg(CHARGE_SCRIPT);
        self.send(&[load]).await?.into_iter().try_for_each(|value| reply(value).map(drop))?;
        for (call, value) in calls.iter().zip(&mut replies) {
            if is_unknown(value)
                && let [again] = &mut self.send(core::slice::from_ref(call)).await?[..]
            {
                *value = core::mem::replace(again, Value::Nil);
            }
        }
        Ok(replies.into_iter().map(reply).collect())
    }

    async fn send(&mut self, calls: &[Cmd]) -> Result<Vec<Value>, Away> {
        let sent = match calls {
            [one] => self.0.send_packed_command(one).await.map(|value| vec![value]),
            several => {
                let mut pipeline = Pipeline::with_capacity(several.len());
                for call in several {
                    pipeline.add_command(call.clone());
                }
                self.0.send_packed_commands(&pipeline, 0, several.len()).await
            }
        };
        match sent {
            Ok(values) if values.len() == calls.len() => Ok(values),
            Ok(_) => Err(Away::Garbled),
            Err(error) => Err(away(&error)),
        }
    }
}

/// The reply to one call.
type Reply = Result<Value, Away>;

/// Returns true if the server does not have the script, and so did nothing.
fn is_unknown(value: &Value) -> bool {
    let Value::ServerError(error) = value else { return false };
    error.kind() == Some(ServerErrorKind::NoScript)
}

fn reply(value: Value) -> Reply {
    value.extract_error().map_err(|error| away(&error))
}

fn away(error: &RedisError) -> Away {
    match error.code() {
        Some(code) => Away::Refused { code: code.to_owned() },
        None if error.is_io_error() => Away::Lost,
        None => Away::Garbled,
    }
}
