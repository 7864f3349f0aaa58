//! Bundles that some trust accepts, or must refuse: signed, sealed, replayed, damaged.
//!
//! The same bytes are handed to every host, and each must open or refuse them by the same name.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value as Json, json};
use wardgate_bundle::delta::{apply, delta};
use wardgate_bundle::sealed::{seal, unseal};
use wardgate_bundle::{
    Conditions, KeyId, Kind, Label, Level, OpenError, Opened, Quorum, Trust, TrustSet, TrustedKey,
    open, pack_as, sign,
};
use wardgate_compiler::{Options, compile_files};
use wardgate_crypto::ml_dsa::SigningKey;
use wardgate_engine::table::Parts;

use crate::random::Random;

/// Bytes to open, and the conditions for opening them.
pub(crate) struct Attempt {
    /// The name of the attempt.
    pub(crate) name: String,
    bytes: Vec<u8>,
    /// The bundle in use when the bytes arrive.
    base: Option<Vec<u8>>,
    /// The trusted signers by number; without one, unsigned bundles are trusted.
    trusted: Vec<usize>,
    at_least: usize,
    min_revision: u64,
    unseal: bool,
}

impl Attempt {
    /// Opens the bytes under the conditions.
    pub(crate) fn open(&self) -> Result<Opened, OpenError> {
        let conditions =
            Conditions { now: Some(NOW), min_revision: self.min_revision, ..Conditions::default() };
        let set = self.set();
        let trust = set.as_ref().map_or(Trust::Unsigned, Trust::Signed);
        let inside = |bytes: &[u8]| match self.unseal {
            true => unseal(bytes, &SECRET, &conditions),
            false => Ok(bytes.to_vec()),
        };
        let Some(base) = &self.base else {
            return open(&inside(&self.bytes)?, trust, &conditions);
        };
        let base = inside(base)?;
        let revision = open(&base, trust, &conditions)?.header.label.revision;
        let bytes = inside(&self.bytes)?;
        let whole = match Kind::of(&bytes) {
            Ok(Kind::Delta) => apply(&base, &bytes, trust, &conditions)?,
            _ => bytes,
        };
        let in_use = if self.trusted.is_empty() { 0 } else { revision };
        let min_revision = self.min_revision.max(in_use);
        open(&whole, trust, &Conditions { min_revision, ..conditions })
    }

    fn set(&self) -> Option<TrustSet> {
        let keys = self.trusted.iter().map(|number| {
            let (id, level, key) = signer(*number);
            TrustedKey::new(id, level, &key.public_key()).ok()
        });
        let quorum = Quorum { at_least: self.at_least, required: Vec::new() };
        TrustSet::new(keys.collect::<Option<_>>()?, quorum).ok()
    }

    /// Returns the attempt as a host in JavaScript takes it.
    pub(crate) fn json(&self) -> Json {
        let keys = self.trusted.iter().map(|number| {
            let (id, level, key) = signer(*number);
            json!({
                "kty": "AKP", "alg": name(level), "kid": id.to_string(),
                "pub": URL_SAFE_NO_PAD.encode(key.public_key()),
            })
        });
        let trust = match self.trusted.as_slice() {
            [] => json!("unsigned"),
            _ => json!({ "keys": keys.collect::<Vec<_>>(), "atLeast": self.at_least }),
        };
        let mut json = json!({
            "bundle": STANDARD.encode(&self.bytes), "trust": trust,
            "now": NOW * 1000, "minRevision": self.min_revision,
        });
        if let Some(fields) = json.as_object_mut() {
            fields
                .extend(self.base.iter().map(|base| ("base".into(), STANDARD.encode(base).into())));
            if self.unseal {
                fields.insert("unsealKey".into(), STANDARD.encode(SECRET).into());
            }
        }
        json
    }
}

/// Returns all attempts, with `damaged` corrupted ones of each kind among them.
pub(crate) fn attempts(damaged: u32) -> Result<Vec<Attempt>, String> {
    let made = Made::new()?;
    let plain = |name: &str, bytes: &[u8]| Attempt {
        name: name.to_owned(),
        bytes: bytes.to_vec(),
        base: None,
        trusted: vec![0],
        at_least: 1,
        min_revision: 0,
        unseal: false,
    };
    let signed = made.signed(&[0], &made.label(7))?;
    let next = made.signed(&[0], &made.label(8))?;
    let (both, by_other) =
        (made.signed(&[0, 1], &made.label(7))?, made.signed(&[1], &made.label(7))?);
    let early = made.signed(&[0], &Label { not_before: Some(NOW + 1), ..made.label(7) })?;
    let late = made.signed(&[0], &Label { expires: Some(NOW), ..made.label(7) })?;
    let unsigned = made.signed(&[], &made.label(7))?;
    let step = delta(&signed, &next).map_err(|error| error.to_string())?;
    let sealed = seal(&signed, &SECRET, &[7; 44]).map_err(|error| error.to_string())?;
    let mut attempts = vec![
        plain("signed", &signed),
        plain("by another", &by_other),
        plain("unsigned", &unsigned),
        plain("too early", &early),
        plain("too late", &late),
        plain("a delta", &step),
        plain("sealed", &sealed),
        plain("nothing", &[]),
        Attempt { trusted: vec![0, 1], at_least: 2, ..plain("one of two", &signed) },
        Attempt { trusted: vec![0, 1], at_least: 2, ..plain("two of two", &both) },
        Attempt { trusted: vec![2], ..plain("another key of the same id", &signed) },
        Attempt { trusted: vec![3], ..plain("another level of the same id", &signed) },
        Attempt { trusted: Vec::new(), ..plain("late for anybody", &late) },
        Attempt { trusted: Vec::new(), ..plain("anybody", &unsigned) },
        Attempt { min_revision: 8, ..plain("an old one", &signed) },
        Attempt { unseal: true, ..plain("not sealed", &signed) },
        Attempt { unseal: true, ..plain("unsealed", &sealed) },
        Attempt { base: Some(signed.clone()), ..plain("a step", &step) },
        Attempt { base: Some(next.clone()), ..plain("back", &signed) },
        Attempt { base: Some(next.clone()), ..plain("a step from elsewhere", &step) },
    ];
    let mut random = Random::new(29);
    for round in 0..damaged {
        let (name, bytes) = (format!("bundle {round}"), corrupted(&mut random, &both));
        attempts.push(Attempt { name, bytes, ..plain("", &[]) });
        let (name, bytes) = (format!("delta {round}"), corrupted(&mut random, &step));
        attempts.push(Attempt { name, bytes, base: Some(signed.clone()), ..plain("", &[]) });
        let (name, bytes) = (format!("sealed {round}"), corrupted(&mut random, &sealed));
        attempts.push(Attempt { name, bytes, unseal: true, ..plain("", &[]) });
    }
    Ok(attempts)
}

struct Made(Parts);

impl Made {
    fn new() -> Result<Self, String> {
        let files = [("photo.yaml".to_owned(), POLICY.as_bytes().to_vec())];
        let compiled = compile_files(&files, &Options::default());
        compiled.map(|compiled| Self(compiled.parts)).map_err(|_| "the policy is wrong".to_owned())
    }

    fn label(&self, revision: u64) -> Label {
        Label { name: "photo".to_owned(), revision, ..Label::default() }
    }

    fn signed(&self, signers: &[usize], label: &Label) -> Result<Vec<u8>, String> {
        let packed = pack_as(&self.0, label).map_err(|error| error.to_string())?;
        signers.iter().try_fold(packed, |bundle, number| {
            let (id, _, key) = signer(*number);
            sign(&bundle, &id, &key, None).map_err(|error| error.to_string())
        })
    }
}

/// Returns a signer by number: 0 and 1 are two, 2 and 3 use the id of the first.
fn signer(number: usize) -> (KeyId, Level, SigningKey) {
    let level = if number == 3 { Level::MlDsa44 } else { Level::MlDsa87 };
    let seed = u8::try_from(number).unwrap_or_default();
    let key = SigningKey::from_seed(level, &[seed; 32]);
    let name = if number == 1 { "second" } else { "first" };
    let id = KeyId::new(name.as_bytes()).unwrap_or_else(|| KeyId::of(level, &key.public_key()));
    (id, level, key)
}

pub(crate) const fn name(level: Level) -> &'static str {
    match level {
        Level::MlDsa44 => "ML-DSA-44",
        Level::MlDsa65 => "ML-DSA-65",
        Level::MlDsa87 => "ML-DSA-87",
    }
}

/// Returns a copy with one fault, in the lengths and names at the beginning as often as elsewhere.
fn corrupted(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let within = [64, bytes.len()];
    let within = within.get(below(random, 2)).copied().unwrap_or(64);
    let at = below(random, within);
    match below(random, 4) {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, 0),
        _ => {
            let bit = below(random, 8);
            bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << bit);
        }
    }
    bytes
}

/// Returns a number below `bound` from the low bits, which are the weakest of a xorshift: the
/// damaged bundles are pinned.
fn below(random: &mut Random, bound: usize) -> usize {
    usize::try_from(random.number() % u64::try_from(bound.max(1)).unwrap_or(1)).unwrap_or(0)
}

const POLICY: &str = "
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: photo
  rules:
    - actions: [view]
      effect: EFFECT_ALLOW
      roles: [member]
      condition: { match: { expr: R.attr.public == true } }
";

/// The time of every attempt, in seconds since 1970.
pub(crate) const NOW: u64 = 1_700_000_000;
const SECRET: [u8; 32] = [9; 32];
