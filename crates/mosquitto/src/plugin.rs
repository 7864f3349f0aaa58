//! The plugin: what it answers to each event of mosquitto.
//!
//! An answer is that of the policies in use. Trouble of any kind is a denial.
#![forbid(unsafe_code)]

use std::time::Instant;

use wardgate_native::{Clock, Request};

use crate::limits::LOOK;
use crate::log::{Level, Line};
use crate::options::{Identity, Options};
use crate::policies::Current;
use crate::request::{Access, Client};
use crate::tokens::{ROLE, Tokens};

/// The plugin of one mosquitto, or of one of its listeners.
#[derive(Debug)]
pub struct Plugin {
    policies: Current,
    /// None if mosquitto verifies its clients.
    tokens: Option<Tokens>,
    /// The time of the last look at the files.
    looked: Option<Instant>,
    lines: Vec<Line>,
}

/// The answer to CONNECT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The client is the principal with this name, which becomes its user name.
    Accept(String),
    /// The client is refused.
    Refuse,
    /// mosquitto verifies the client, or decides if anonymous clients may connect.
    Defer,
}

impl Plugin {
    /// Reads the files that the options name.
    ///
    /// # Errors
    /// One cannot be used, in words for the operator.
    pub fn open(options: &Options, clock: &impl Clock) -> Result<Self, String> {
        let policies = Current::open(options, clock)?;
        let tokens = match &options.identity {
            Identity::Broker => None,
            Identity::Tokens(tokens) => Some(Tokens::open(tokens)?),
        };
        let lines = vec![policies.line()];
        Ok(Self { policies, tokens, looked: None, lines })
    }

    /// Answers CONNECT. The user name of `client` proves nothing yet.
    pub fn authenticate(
        &mut self,
        client: &Client<'_>,
        password: Option<&str>,
        clock: &impl Clock,
    ) -> Answer {
        match self.proof(client, password, clock) {
            Ok(answer) => answer,
            Err(why) => {
                let message = format!("the client `{}` is refused: {why}", client.id);
                self.lines.push(Line::new(Level::Notice, message));
                Answer::Refuse
            }
        }
    }

    /// Returns true if a client may do something. Its user name is proven: the plugin set it, or
    /// mosquitto verified it.
    pub fn allows(&mut self, client: &Client<'_>, access: &Access<'_>, clock: &impl Clock) -> bool {
        let Some((action, resource)) = access.question(client) else { return false };
        let known = match (&mut self.tokens, client.name) {
            (Some(tokens), Some(name)) => match tokens.clients.get_mut(name, client.id) {
                Some(known) if known.is_timely(clock.now()) => known,
                _ => return false,
            },
            _ => {
                let request = Request { resource, ..by_name(client) };
                return self.policies.allow(&request, action, clock);
            }
        };
        known.request.resource = resource;
        self.policies.allow(&known.request, action, clock)
    }

    /// Lets time pass: looks at the files, at most once a second.
    pub fn tick(&mut self, now: Instant, clock: &impl Clock) {
        let is_due = self.looked.is_none_or(|last| now.saturating_duration_since(last) >= LOOK);
        if !is_due {
            return;
        }
        self.looked = Some(now);
        self.policies.look(clock, &mut self.lines);
        if let Some(tokens) = &mut self.tokens {
            tokens.look(&mut self.lines);
        }
    }

    /// Reads the files anew.
    pub fn reload(&mut self, clock: &impl Clock) {
        self.policies.reload(clock, &mut self.lines);
        if let Some(tokens) = &mut self.tokens {
            tokens.reload(&mut self.lines);
        }
    }

    /// Returns the lines for the log since the last call.
    pub fn take_lines(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.lines)
    }

    fn proof(
        &mut self,
        client: &Client<'_>,
        password: Option<&str>,
        clock: &impl Clock,
    ) -> Result<Answer, String> {
        match (&mut self.tokens, client.name, password) {
            // A claimed name must be good for a connection too; mosquitto refuses it if it is not
            // proven.
            (None, _, _) | (Some(_), None, None) => {
                let (action, resource) = client.connect();
                let request = Request { resource, ..by_name(client) };
                let is_allowed = self.policies.allow(&request, action, clock);
                if is_allowed { Ok(Answer::Defer) } else { Err(NOT_ALLOWED.to_owned()) }
            }
            (Some(_), Some(_), None) => Err("it has no token as its password".to_owned()),
            (Some(tokens), _, Some(token)) => {
                let (name, mut known) = tokens.prove(client, token, clock.now())?;
                let (action, resource) = client.connect();
                known.request.resource = resource;
                if !self.policies.allow(&known.request, action, clock) {
                    return Err(NOT_ALLOWED.to_owned());
                }
                if !tokens.clients.insert(&name, client.id, known, clock.now()) {
                    return Err("there are too many clients".to_owned());
                }
                Ok(Answer::Accept(name))
            }
        }
    }
}

/// Returns the request of a client by its user name, without resource. A client without one is
/// anonymous.
fn by_name(client: &Client<'_>) -> Request {
    let (name, role) = client.name.map_or((ANONYMOUS, ANONYMOUS), |name| (name, ROLE));
    Request { principal: client.principal(name, vec![role.to_owned()]), ..Request::default() }
}

const NOT_ALLOWED: &str = "the policies do not allow it";

/// The name and the role of clients that prove nothing.
const ANONYMOUS: &str = "anonymous";

#[cfg(test)]
mod tests;
