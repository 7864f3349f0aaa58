//! A set of keys that tokens are verified with, wherever it is.

use wardgate_engine::attr::AttrMap;

use super::jwks::RemoteKeySet;
use super::{KeySet, Lenience, TokenError, TokenTime, verified};
use crate::config::KeysAt;
use crate::files::secret;

/// Keys of a file, or of another server.
#[derive(Debug)]
pub(crate) enum Keys {
    File(KeySet),
    Url(RemoteKeySet),
}

impl Keys {
    /// Reads the file, or prepares the fetches from the other server. `name` is the name of the set
    /// in the log.
    ///
    /// # Errors
    /// The keys cannot be used or fetched, in words for the operator.
    pub(crate) fn open(at: &KeysAt, name: String, lenience: Lenience) -> Result<Self, String> {
        match at {
            KeysAt::File(path) => KeySet::read(&secret(path)?, lenience)
                .map(Self::File)
                .map_err(|error| format!("`{}`: {error}", path.display())),
            KeysAt::Url(at) => RemoteKeySet::open(at, name, lenience).map(Self::Url),
        }
    }

    /// Returns the claims of a token that one of the keys has signed. It does not block.
    pub(crate) fn verified(&self, token: &str, time: TokenTime) -> Result<AttrMap, TokenError> {
        match self {
            Self::File(keys) => verified(token, keys, time),
            Self::Url(keys) => keys.verified(token, time),
        }
    }

    /// The keys of another server, if they are.
    pub(crate) const fn remote(&self) -> Option<&RemoteKeySet> {
        match self {
            Self::File(_) => None,
            Self::Url(remote) => Some(remote),
        }
    }
}
