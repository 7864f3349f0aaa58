//! `wardgate keys`, and the keys of the other commands.
//!
//! A secret is written to a file that only its owner can read from the first instant, read only
//! from such a file, wiped from memory after its use, and never printed.

mod cose;
mod files;
mod generate;
mod inspect;
mod jwk;
mod public;

use std::path::Path;

use wardgate_bundle::{KeyId, Level};
use wardgate_crypto::ml_dsa::SigningKey;
use zeroize::Zeroizing;

use crate::arguments::{Keys, KeysCommand};
use crate::failure::{Failure, Result, Status};
use crate::output::{InOneLine, Output};
pub(crate) use files::{create, discard, hold_secret, never_overwritten, publish, random};

/// A key that was read.
pub(crate) enum Key {
    Private(PrivateKey),
    Public(PublicKey),
    /// Seals and unseals.
    Sealing(Secret),
}

/// A key that verifies.
#[derive(Clone)]
pub(crate) struct PublicKey {
    pub(crate) id: KeyId,
    pub(crate) level: Level,
    pub(crate) bytes: Vec<u8>,
}

/// A key that signs.
pub(crate) struct PrivateKey {
    seed: Secret,
    pub(crate) public: PublicKey,
    pub(crate) signing: SigningKey,
}

/// The secret part of a key.
pub(crate) type Secret = Zeroizing<[u8; 32]>;

impl PrivateKey {
    /// Derives the key from its seed.
    pub(crate) fn from_seed(level: Level, seed: Secret, id: Option<KeyId>) -> Self {
        let signing = SigningKey::from_seed(level, &seed);
        let bytes = signing.public_key();
        let id = id.unwrap_or_else(|| KeyId::of(level, &bytes));
        Self { seed, public: PublicKey { id, level, bytes }, signing }
    }
}

impl Key {
    /// Returns the kind of the key, for a message.
    const fn what(&self) -> &'static str {
        match self {
            Self::Private(_) => "a private key",
            Self::Public(_) => "a public key",
            Self::Sealing(_) => "a key for sealing",
        }
    }
}

pub(crate) fn run(keys: &Keys, out: &mut Output) -> Result<Status> {
    match &keys.command {
        KeysCommand::Generate(generate) => generate::run(generate, out),
        KeysCommand::Inspect(inspect) => inspect::run(inspect, out),
        KeysCommand::Public(public) => public::run(public, out),
    }
}

/// Reads the key that signs.
pub(crate) fn signing(path: &Path) -> Result<PrivateKey> {
    match one(path)? {
        Key::Private(key) => Ok(key),
        other => Err(wrong(path, &other, "expected a private key, to sign with")),
    }
}

/// Reads the key that seals.
pub(crate) fn sealing(path: &Path) -> Result<Secret> {
    match one(path)? {
        Key::Sealing(key) => Ok(key),
        other => Err(wrong(path, &other, "expected a key for sealing")),
    }
}

/// Reads keys that verify.
pub(crate) fn trusted(path: &Path) -> Result<Vec<PublicKey>> {
    let expect = "expected public keys: `wardgate keys public` writes them";
    let keys = files::read(path)?.into_iter().map(|key| match key {
        Key::Public(key) => Ok(key),
        other => Err(wrong(path, &other, expect)),
    });
    keys.collect()
}

/// Reads a file that holds one key.
fn one(path: &Path) -> Result<Key> {
    let mut keys = files::read(path)?;
    match (keys.pop(), keys.len()) {
        (Some(key), 0) => Ok(key),
        (_, others) => {
            let found = others + 1;
            let shown = path.in_one_line();
            Err(Failure::policies(format!("`{shown}` holds {found} keys, expected one")))
        }
    }
}

fn wrong(path: &Path, found: &Key, expect: &str) -> Failure {
    Failure::policies(format!("`{}` is {}; {expect}", path.in_one_line(), found.what()))
}

/// The registered name of the algorithm of a key.
pub(crate) const fn algorithm(level: Level) -> &'static str {
    match level {
        Level::MlDsa44 => "ML-DSA-44",
        Level::MlDsa65 => "ML-DSA-65",
        Level::MlDsa87 => "ML-DSA-87",
    }
}

const LEVELS: [Level; 3] = [Level::MlDsa44, Level::MlDsa65, Level::MlDsa87];
