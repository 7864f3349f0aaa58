//! Reads the questions again, as a host that has only the file.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::Value as Json;
use wardgate_bundle::{KeyId, Level, Quorum, TrustSet, TrustedKey};
use wardgate_crypto::blake3::Digest;
use wardgate_engine::cel::Timestamp;

use super::Suite;
use super::crypto::message;
use crate::conformance::vectors::level;

/// One line of the file.
pub(super) struct Line {
    pub(super) suite: Suite,
    pub(super) name: String,
    pub(super) questions: Questions,
    /// The digest of each answer.
    pub(super) digests: Vec<Digest>,
}

/// The questions of a line.
pub(super) enum Questions {
    Decisions {
        opening: Opening,
        requests: Vec<Json>,
        /// For some of the requests: true for each action that is allowed.
        allowed: Vec<Vec<bool>>,
    },
    Crypto(Crypto),
    /// A segment of a decision log, the bundle that decided, and one that differs by a rule.
    Replays {
        bundle: Vec<u8>,
        segment: Vec<u8>,
        with: Vec<u8>,
        /// The answer of the other bundle to each recorded decision that has an evidence.
        changed: Vec<Option<bool>>,
    },
    /// Queries to the rules of a bundle.
    Rules {
        bundle: Vec<u8>,
        queries: Vec<Vec<u8>>,
    },
}

/// Questions about messages.
pub enum Crypto {
    /// The digest of each.
    Digests(Vec<Vec<u8>>),
    /// Asks for each message, context and signature if this key has signed it.
    Signatures {
        /// The level of the key.
        level: Level,
        /// The public key.
        key: Vec<u8>,
        /// The messages, contexts and supposed signatures.
        all: Vec<[Vec<u8>; 3]>,
    },
}

/// A bundle, the trusted signers, and the other conditions for opening it.
pub struct Opening {
    /// The bundle to open, or to apply or reload if there is a base.
    pub bundle: Vec<u8>,
    /// The bundle to open first.
    pub base: Option<Vec<u8>>,
    /// The trusted signers; without them, unsigned bundles are opened.
    pub trust: Option<Trusted>,
    /// The time of the opening and of every decision.
    pub now: Timestamp,
    /// The lowest revision.
    pub min_revision: u64,
    /// The key of sealed bundles.
    pub unseal_key: Option<[u8; 32]>,
}

/// The trusted signers.
pub struct Trusted {
    /// The set with which a native host opens bundles.
    pub set: TrustSet,
    /// The keys in it: their ids in signatures, their levels, their bytes.
    pub keys: Vec<(Vec<u8>, Level, Vec<u8>)>,
    /// The number of them that must have signed.
    pub at_least: u8,
}

impl Opening {
    /// Returns the conditions for an unsigned bundle at the time 0.
    pub(super) fn unsigned() -> Self {
        Self {
            bundle: Vec::new(),
            base: None,
            trust: None,
            now: Timestamp::default(),
            min_revision: 0,
            unseal_key: None,
        }
    }
}

/// Reads one line.
pub(super) fn line(text: &str) -> Option<Line> {
    let json: Json = serde_json::from_str(text).ok()?;
    let suite = json.get("suite")?.as_str()?;
    let digests = bytes(json.get("digests")?)?;
    Some(Line {
        suite: Suite::ALL.into_iter().find(|known| known.name() == suite)?,
        name: json.get("name")?.as_str()?.to_owned(),
        questions: questions(&json)?,
        digests: digests.as_chunks().0.to_vec(),
    })
}

fn questions(json: &Json) -> Option<Questions> {
    if let Some(lengths) = json.get("lengths") {
        let message = |length: &Json| Some(message(length.as_u64()?.try_into().ok()?));
        return Some(Questions::Crypto(Crypto::Digests(each(lengths, message)?)));
    }
    if let Some(all) = json.get("signatures") {
        let part = |of: &Json, name| bytes(of.get(name)?);
        let one =
            |of: &Json| Some([part(of, "message")?, part(of, "context")?, part(of, "signature")?]);
        let (level, key) = (level(json.get("alg")?.as_str()?)?, bytes(json.get("key")?)?);
        let all = each(all, one)?;
        return Some(Questions::Crypto(Crypto::Signatures { level, key, all }));
    }
    if let Some(queries) = json.get("queries") {
        let bundle = bytes(json.get("bundle")?)?;
        return Some(Questions::Rules { bundle, queries: each(queries, bytes)? });
    }
    if let Some(segment) = json.get("segment") {
        let [bundle, with] = ["bundle", "with"].map(|name| json.get(name).and_then(bytes));
        let (bundle, with, segment) = (bundle?, with?, bytes(segment)?);
        let changed = each(json.get("changed")?, |answer| Some(answer.as_bool()))?;
        return Some(Questions::Replays { bundle, segment, with, changed });
    }
    let action = |allowed: &Json| allowed.as_bool();
    let allowed = json.pointer("/right/allowed");
    Some(Questions::Decisions {
        opening: opening(json)?,
        requests: json.get("requests")?.as_array()?.clone(),
        allowed: allowed.map_or(Some(Vec::new()), |all| each(all, |one| each(one, action)))?,
    })
}

fn opening(json: &Json) -> Option<Opening> {
    let key = json.get("unsealKey").map(|key| bytes(key)?.try_into().ok());
    Some(Opening {
        bundle: bytes(json.get("bundle")?)?,
        base: json.get("base").map(bytes).map_or(Some(None), |base| base.map(Some))?,
        trust: json.get("trust").map_or(Some(None), trust)?,
        now: now(json)?,
        min_revision: json.get("minRevision").map_or(Some(0), Json::as_u64)?,
        unseal_key: key.map_or(Some(None), |key| key.map(Some))?,
    })
}

fn now(json: &Json) -> Option<Timestamp> {
    if let Some([seconds, nanos]) = json.get("time").and_then(Json::as_array).map(Vec::as_slice) {
        return Timestamp::new(seconds.as_i64()?, nanos.as_u64()?.try_into().ok()?);
    }
    Timestamp::new(json.get("now")?.as_i64()? / 1000, 0)
}

/// Returns `None` inside where unsigned bundles are trusted.
fn trust(json: &Json) -> Option<Option<Trusted>> {
    if json == "unsigned" {
        return Some(None);
    }
    let at_least: u8 = json.get("atLeast")?.as_u64()?.try_into().ok()?;
    let keys = each(json.get("keys")?, |jwk| {
        let id = jwk.get("kid")?.as_str()?.as_bytes().to_vec();
        let key = URL_SAFE_NO_PAD.decode(jwk.get("pub")?.as_str()?).ok()?;
        Some((id, level(jwk.get("alg")?.as_str()?)?, key))
    })?;
    let key = |(id, level, key): &(Vec<u8>, Level, Vec<u8>)| {
        TrustedKey::new(KeyId::new(id)?, *level, key).ok()
    };
    let quorum = Quorum { at_least: at_least.into(), required: Vec::new() };
    let set = TrustSet::new(keys.iter().map(key).collect::<Option<_>>()?, quorum).ok()?;
    Some(Some(Trusted { set, keys, at_least }))
}

fn each<T>(list: &Json, read: impl FnMut(&Json) -> Option<T>) -> Option<Vec<T>> {
    list.as_array()?.iter().map(read).collect()
}

fn bytes(text: &Json) -> Option<Vec<u8>> {
    STANDARD.decode(text.as_str()?).ok()
}
