//! The conditions for a bundle before the command uses it: keys, revision, name, time.

use std::path::Path;

use wardgate_bundle::limits::{MAX_BUNDLE_BYTES, MAX_SEAL_BYTES};
use wardgate_bundle::{Conditions, KeyId, OpenError, Opened, Quorum, Trust, TrustSet, TrustedKey};
use wardgate_bundle::{describe, is_container, open, open_with_limits, sealed};
use wardgate_compiler::reading;
use wardgate_engine::cel::Timestamp;

use crate::arguments::Opening;
use crate::failure::{Failure, Result};
use crate::keys;
use crate::label::time;
use crate::output::InOneLine;
use crate::pages;

/// The conditions for a bundle.
pub(crate) struct Terms<'o> {
    trusted: Option<TrustSet>,
    conditions: Conditions<'o>,
}

impl<'o> Terms<'o> {
    /// Reads the keys and the other conditions, for the time `now`.
    pub(crate) fn read(opening: &'o Opening, now: Timestamp) -> Result<Self> {
        let conditions = Conditions {
            now: Some(u64::try_from(now.seconds()).unwrap_or(0)),
            min_revision: opening.min_revision.unwrap_or(0),
            name: opening.expect_name.as_deref(),
            ..Conditions::default()
        };
        Ok(Self { trusted: trusted(opening)?, conditions })
    }

    pub(crate) fn trust(&self) -> Trust<'_> {
        self.trusted.as_ref().map_or(Trust::Unsigned, Trust::Signed)
    }

    pub(crate) fn into_trusted(self) -> Option<TrustSet> {
        self.trusted
    }

    pub(crate) const fn conditions(&self) -> &Conditions<'o> {
        &self.conditions
    }

    pub(crate) fn open(&self, bytes: &[u8]) -> Result<Opened, OpenError> {
        open(bytes, self.trust(), &self.conditions)
    }

    /// Opens a bundle that may have rate limits, for a command that enforces nothing.
    pub(crate) fn open_with_limits(&self, bytes: &[u8]) -> Result<Opened, OpenError> {
        open_with_limits(bytes, self.trust(), &self.conditions)
    }
}

/// Reads a bundle of at most the largest size, and unseals it if there is a key for that.
pub(crate) fn bytes(path: &Path, opening: &Opening) -> Result<Vec<u8>> {
    let bytes = read(path)?;
    match &opening.unseal {
        None => Ok(bytes),
        Some(key) => {
            let key = keys::sealing(key)?;
            sealed::unseal(&bytes, &key, &Conditions::default())
                .map_err(|error| refused(path, &bytes, &error))
        }
    }
}

/// Reads a file of at most the size of the largest bundle.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let most = MAX_BUNDLE_BYTES.saturating_add(MAX_SEAL_BYTES);
    let read = reading::open(path).and_then(|file| reading::bounded(file, most));
    read.map_err(|error| Failure::reading(path, &error))
}

/// Says why the bundle of `path`, which holds these bytes, cannot be used.
pub(crate) fn refused(path: &Path, bytes: &[u8], error: &OpenError) -> Failure {
    let shown = path.display();
    let message = match error {
        OpenError::NotABundle => not_a_bundle(path, bytes),
        OpenError::WrongName { expected, found } if found.is_empty() => {
            format!("the bundle `{shown}` has no name, expected `{expected}`")
        }
        OpenError::WrongName { expected, found } => {
            format!("the bundle `{shown}` is called `{found}`, expected `{expected}`")
        }
        OpenError::UnknownSigner => {
            let keys: Vec<_> =
                claimed_signers(bytes).iter().map(|key| format!("`{key}`")).collect();
            let keys = keys.join(", ");
            format!("cannot open the bundle `{shown}`: {error}, it is signed by {keys}")
        }
        OpenError::Sealed => {
            format!("`{shown}` is sealed: give the key with `--unseal`, or `wardgate unseal` it")
        }
        OpenError::Delta => {
            format!("`{shown}` is a delta: make a bundle of it with `wardgate delta apply`")
        }
        OpenError::Expired { expires, now } => {
            let (end, now) = (time(*expires), time(*now));
            format!("the bundle `{shown}` expired at {end}, and it is {now}")
        }
        OpenError::NotYetValid { not_before, now } => {
            let (begin, now) = (time(*not_before), time(*now));
            format!("the bundle `{shown}` is valid from {begin} on, and it is {now}")
        }
        error => format!("cannot open the bundle `{shown}`: {error}"),
    };
    explained(&message, error)
}

/// Returns the ids of the keys that a bundle names as its signers. Nothing verifies them.
pub(crate) fn claimed_signers(bytes: &[u8]) -> Vec<String> {
    let signers = describe(bytes).map(|about| about.signers).unwrap_or_default();
    signers.iter().map(|signer| signer.key.to_string()).collect()
}

/// Says that a file is no bundle, and what it is instead where its beginning tells.
pub(crate) fn not_a_bundle(path: &Path, bytes: &[u8]) -> String {
    let start = bytes.get(..START).unwrap_or(bytes);
    format!("`{}` is not a bundle{}", path.in_one_line(), what(start))
}

fn what(start: &[u8]) -> &'static str {
    // The last character may be cut.
    let is_text = str::from_utf8(start).map_or_else(|error| error.error_len().is_none(), |_| true)
        && !start.contains(&0);
    let has = |part: &[u8]| start.windows(part.len()).any(|window| window == part);
    match start.trim_ascii_start().first() {
        _ if start.is_empty() => ": it is empty",
        _ if is_container(start) => ": it is the beginning of one, and the rest is missing",
        _ if !is_text => "",
        _ if has(b"api.cerbos.dev/") => {
            ": it is a policy, which `wardgate compile` makes a bundle of"
        }
        Some(b'<') => ": it is HTML or XML",
        Some(b'{' | b'[') => ": it is JSON",
        _ => ": it is text",
    }
}

/// Returns the failure of a refused bundle, with the command that explains it.
pub(crate) fn explained(message: &str, error: &OpenError) -> Failure {
    Failure::policies(pages::with_help(message, error.code()))
}

fn trusted(opening: &Opening) -> Result<Option<TrustSet>> {
    if opening.trust.is_empty() {
        return Ok(None);
    }
    let mut trusted = Vec::new();
    for path in &opening.trust {
        for key in keys::trusted(path)? {
            let key = TrustedKey::new(key.id, key.level, &key.bytes);
            trusted.push(key.map_err(|error| Failure::policies(error.to_string()))?);
        }
    }
    let required = opening.require.iter().map(|id| id_of(id)).collect::<Result<_, _>>()?;
    let quorum = Quorum { at_least: opening.at_least.unwrap_or(1), required };
    let set = TrustSet::new(trusted, quorum);
    set.map(Some).map_err(|error| Failure::usage(format!("`--trust`: {error}")))
}

fn id_of(id: &str) -> Result<KeyId> {
    KeyId::new(id.as_bytes())
        .ok_or_else(|| Failure::usage("`--require` must be the id of a key: 1 to 64 bytes"))
}

/// The bytes of a file that tell what it is.
const START: usize = 512;
