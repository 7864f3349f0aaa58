//! Digests and signatures of messages, which hosts offer beside those of bundles.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};
use wardgate_bundle::Level;
use wardgate_crypto::blake3::hash;
use wardgate_crypto::ml_dsa::{PreparedKey, SigningKey};

use super::{Entry, Put, Suite};
use crate::parity::attempts;

pub(super) fn entries(put: &mut Put<'_>) -> Result<(), String> {
    for (name, lengths) in [("edges", edges()), ("every length", (0..=200).collect())] {
        put(digests(name, &lengths))?;
    }
    for level in [Level::MlDsa44, Level::MlDsa65, Level::MlDsa87] {
        put(signatures(level)?)?;
    }
    Ok(())
}

/// Returns lengths around those at which another way of hashing begins.
fn edges() -> Vec<usize> {
    let around = [64, 128, 1024, 2048, 3072, 4096, 8192, 16_384, 65_536, 131_072];
    let mut lengths: Vec<usize> =
        around.iter().flat_map(|length| [length - 1, *length, length + 1]).collect();
    lengths.push(400_000);
    lengths
}

fn digests(name: &str, lengths: &[usize]) -> Entry {
    let answers = lengths.iter().map(|length| hash(&message(*length)).to_vec()).collect();
    let question = json!({ "lengths": lengths });
    Entry { suite: Suite::Crypto, name: format!("digests of {name}"), question, answers }
}

/// Returns the message of this length; its bytes count from 0 to 250 again and again.
pub(super) fn message(length: usize) -> Vec<u8> {
    (0..=250_u8).cycle().take(length).collect()
}

/// A message, its context and its supposed signature.
struct Signed {
    message: Vec<u8>,
    context: Vec<u8>,
    signature: Vec<u8>,
}

fn signatures(level: Level) -> Result<Entry, String> {
    let secret = SigningKey::from_seed(level, &[23; 32]);
    let key = secret.public_key();
    let prepared = PreparedKey::new(level, &key).map_err(|error| error.to_string())?;
    let all = signed(&secret).ok_or("signing with the key failed")?;
    let verify = |one: &Signed| prepared.verify(&one.message, &one.context, &one.signature);
    let answers = all.iter().map(|one| verify(one).to_string().into_bytes()).collect();
    let json = |one: &Signed| -> Json {
        json!({
            "message": STANDARD.encode(&one.message),
            "context": STANDARD.encode(&one.context),
            "signature": STANDARD.encode(&one.signature),
        })
    };
    let question = json!({
        "alg": attempts::name(level),
        "key": STANDARD.encode(&key),
        "signatures": all.iter().map(json).collect::<Vec<_>>(),
    });
    let name = format!("signatures of {}", attempts::name(level));
    Ok(Entry { suite: Suite::Crypto, name, question, answers })
}

/// Returns right signatures, each followed by some wrong ones.
fn signed(secret: &SigningKey) -> Option<Vec<Signed>> {
    let mut all = Vec::new();
    for (length, context) in [(0, &b""[..]), (1, b"release"), (137, b""), (5000, &[7; 255])] {
        let (message, context) = (message(length), context.to_vec());
        let signature = secret.sign(&message, &context, None).ok()?;
        let right = || (message.clone(), context.clone(), signature.clone());
        let mut put = |(message, context, signature)| {
            all.push(Signed { message, context, signature });
        };
        put(right());
        let (mut longer, same, old) = right();
        longer.push(0);
        put((longer, same, old));
        let (same, mut other, old) = right();
        other.pop();
        other.insert(0, 1);
        put((same, other, old));
        let last = signature.len().checked_sub(1)?;
        for at in [0, 40, 1500, last] {
            let (message, context, mut changed) = right();
            *changed.get_mut(at)? ^= 1;
            put((message, context, changed));
        }
        for length in [0, last] {
            let (message, context, mut cut) = right();
            cut.truncate(length);
            put((message, context, cut));
        }
    }
    Some(all)
}
