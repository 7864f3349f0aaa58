//! The proof by a signed token: the password of the client is one.
//!
//! The user name of CONNECT is a claim and is not read. The plugin replaces it by the subject of the
//! token.
#![forbid(unsafe_code)]

use std::time::Duration;

use wardgate_jwt::{KeySet, Lenience, Recipient, TokenTime, as_conditions_see, roles, verified};
use wardgate_native::{AuxData, Request, Timestamp};

use crate::clients::{Clients, Known};
use crate::limits::{MAX_KEY_FILE_BYTES, MAX_TOKEN_BYTES};
use crate::log::{Level, Line};
use crate::options::TokenOptions;
use crate::request::Client;
use crate::watch::Watched;

/// The keys of tokens, and the clients that had one.
#[derive(Debug)]
pub(crate) struct Tokens {
    file: Watched,
    keys: KeySet,
    recipient: Recipient,
    pub(crate) clients: Clients,
}

impl Tokens {
    /// Reads the keys.
    ///
    /// # Errors
    /// They cannot be used, in words for the operator.
    pub(crate) fn open(options: &TokenOptions) -> Result<Self, String> {
        let mut file = Watched::new(options.keys.clone(), MAX_KEY_FILE_BYTES);
        let read = file.read();
        let keys = keys(&file, read)?;
        let recipient = options.recipient.clone();
        Ok(Self { file, keys, recipient, clients: Clients::default() })
    }

    /// Looks for other keys. Those that cannot be used change nothing.
    pub(crate) fn look(&mut self, lines: &mut Vec<Line>) {
        if let Some(read) = self.file.look() {
            self.replace(read, lines);
        }
    }

    /// Reads the keys even if their file seems to be the same.
    pub(crate) fn reload(&mut self, lines: &mut Vec<Line>) {
        let read = self.file.read();
        self.replace(read, lines);
    }

    /// Returns the client with this token: its name is the subject.
    ///
    /// # Errors
    /// The reason to refuse it, which may go to the log.
    pub(crate) fn prove(
        &self,
        client: &Client<'_>,
        token: &str,
        now: Timestamp,
    ) -> Result<(String, Known), String> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err("its token is too long".to_owned());
        }
        let time = TokenTime { now, skew: Duration::ZERO };
        let claims = verified(token, &self.keys, time)
            .map_err(|error| format!("its password is refused as a token: {error}"))?;
        let name = self.recipient.subject(&claims).filter(|name| is_name(name));
        let name = name.ok_or("its token is of another issuer or for another audience, never expires, or has no subject")?;
        let roles = roles(&claims).unwrap_or_else(|| vec![ROLE.to_owned()]);
        let aux_data = AuxData { jwt: as_conditions_see(&claims), ..AuxData::default() };
        let principal = client.principal(name, roles);
        let name = name.to_owned();
        Ok((name, Known { request: Request { principal, aux_data, ..Request::default() }, claims }))
    }

    fn replace(&mut self, read: Result<Vec<u8>, String>, lines: &mut Vec<Line>) {
        match keys(&self.file, read) {
            Ok(keys) if keys == self.keys => {}
            Ok(keys) => {
                let message =
                    format!("{} keys of `{}` are in use", keys.len(), self.file.path().display());
                lines.push(Line::new(Level::Info, message));
                self.keys = keys;
            }
            Err(why) => {
                lines.push(Line::new(Level::Error, format!("{why}; the last keys stay in use")));
            }
        }
    }
}

fn keys(file: &Watched, read: Result<Vec<u8>, String>) -> Result<KeySet, String> {
    KeySet::read(&read?, Lenience::default())
        .map_err(|error| format!("the keys `{}` are refused: {error}", file.path().display()))
}

/// Returns true if mosquitto can take a text as a user name.
fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains('\0') && text.len() <= usize::from(u16::MAX)
}

/// The role of clients whose token names none, and of those that mosquitto has verified.
pub(crate) const ROLE: &str = "client";
