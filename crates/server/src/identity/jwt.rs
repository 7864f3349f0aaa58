//! JSON Web Tokens: the sources of their keys.

mod jwks;
mod static_keys;

pub(crate) use jwks::RemoteKeySet;
pub(crate) use static_keys::Keys;
use wardgate_jwt::{KeySet, TokenError, verified};
pub(crate) use wardgate_jwt::{Lenience, TokenTime, timely, unverified};
