//! Keys as JSON Web Keys: RFC 7517, with the key type AKP of RFC 9964 for ML-DSA and `oct` for
//! sealing.
//!
//! A private key is its seed of 32 bytes. Unknown members are ignored, as the standard requires.
//! Messages of the JSON reader are not repeated: they could quote a secret.

use base64ct::{Base64UrlUnpadded, Encoding};
use serde::{Deserialize, Serialize};
use wardgate_bundle::{KeyId, Level};
use zeroize::Zeroizing;

use super::{Key, LEVELS, PrivateKey, PublicKey, Secret, algorithm};

/// A set of keys.
#[derive(Deserialize)]
struct Set {
    keys: Vec<Jwk>,
}

#[derive(Default, Deserialize, Serialize)]
struct Jwk {
    kty: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    alg: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kid: Option<String>,
    #[serde(rename = "pub", skip_serializing_if = "Option::is_none")]
    public: Option<String>,
    #[serde(rename = "priv", skip_serializing_if = "Option::is_none")]
    private: Option<Hidden>,
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<Hidden>,
}

/// The text of a secret, wiped when it is dropped.
#[derive(Deserialize, Serialize)]
#[serde(transparent)]
struct Hidden(String);

impl Drop for Hidden {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.0);
    }
}

/// Reads a key or a set of them: one after the other, because a reader of both at once would keep a
/// copy of its input that is not wiped.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Key>, String> {
    match serde_json::from_slice(bytes) {
        Ok(Set { keys }) if keys.is_empty() => Err("it is an empty set".to_owned()),
        Ok(Set { keys }) => keys.into_iter().map(key).collect(),
        Err(_) => match serde_json::from_slice(bytes) {
            Ok(one) => key(one).map(|key| vec![key]),
            Err(_) => Err("expected a JSON Web Key with `kty`, `alg` and `pub`".to_owned()),
        },
    }
}

/// Writes a key, with its secret.
pub(super) fn write(key: &Key) -> Result<Zeroizing<String>, String> {
    let jwk = match key {
        Key::Public(key) => public(key)?,
        Key::Private(key) => Jwk { private: Some(encode(&key.seed)), ..public(&key.public)? },
        Key::Sealing(key) => Jwk { kty: OCTETS.to_owned(), k: Some(encode(key)), ..Jwk::default() },
    };
    let text = serde_json::to_string(&jwk).map_err(|error| error.to_string())?;
    Ok(Zeroizing::new(text + "\n"))
}

fn public(key: &PublicKey) -> Result<Jwk, String> {
    let id = str::from_utf8(key.id.as_bytes());
    let id =
        id.map_err(|_| format!("the id `{}` is not text, which a JSON Web Key requires", key.id))?;
    Ok(Jwk {
        kty: AKP.to_owned(),
        alg: Some(algorithm(key.level).to_owned()),
        kid: Some(id.to_owned()),
        public: Some(Base64UrlUnpadded::encode_string(&key.bytes)),
        ..Jwk::default()
    })
}

fn key(jwk: Jwk) -> Result<Key, String> {
    match jwk.kty.as_str() {
        AKP => signing(jwk),
        OCTETS => {
            let text = jwk.k.as_ref().ok_or("`k` is missing")?;
            secret("k", text).map(Key::Sealing)
        }
        other => Err(format!("expected the key type `{AKP}` or `{OCTETS}`, found `{other}`")),
    }
}

fn signing(jwk: Jwk) -> Result<Key, String> {
    let name = jwk.alg.as_deref().ok_or("`alg` is missing")?;
    let level = LEVELS.into_iter().find(|level| algorithm(*level) == name);
    let level = level.ok_or_else(|| {
        format!("expected the algorithm ML-DSA-44, ML-DSA-65 or ML-DSA-87, found `{name}`")
    })?;
    let id = jwk.kid.as_deref().map(id).transpose()?;
    let public = jwk.public.as_deref().map(|text| bytes("pub", text)).transpose()?;
    match (jwk.private, public) {
        (Some(seed), public) => private(level, secret("priv", &seed)?, id, public.as_deref()),
        (None, Some(bytes)) => verifying(level, bytes, id),
        (None, None) => Err("`pub` is missing".to_owned()),
    }
}

/// Makes a private key, which must fit the public half beside it.
pub(super) fn private(
    level: Level,
    seed: Secret,
    id: Option<KeyId>,
    public: Option<&[u8]>,
) -> Result<Key, String> {
    let key = PrivateKey::from_seed(level, seed, id);
    if public.is_some_and(|public| public != key.public.bytes) {
        return Err("its private and its public half do not belong together".to_owned());
    }
    Ok(Key::Private(key))
}

/// Makes a public key, which must have the length of its algorithm.
pub(super) fn verifying(level: Level, bytes: Vec<u8>, id: Option<KeyId>) -> Result<Key, String> {
    let (expected, found) = (level.public_key_bytes(), bytes.len());
    if expected != found {
        return Err(format!("expected a public key of {expected} bytes, found {found}"));
    }
    let id = id.unwrap_or_else(|| KeyId::of(level, &bytes));
    Ok(Key::Public(PublicKey { id, level, bytes }))
}

/// Reads the id of a key.
pub(super) fn id(id: &str) -> Result<KeyId, String> {
    KeyId::new(id.as_bytes()).ok_or_else(|| "the id of a key must have 1 to 64 bytes".to_owned())
}

fn secret(name: &str, text: &Hidden) -> Result<Secret, String> {
    let mut seed = Zeroizing::new([0; 32]);
    match Base64UrlUnpadded::decode(&text.0, &mut *seed) {
        Ok(bytes) if bytes.len() == 32 => Ok(seed),
        _ => Err(format!("`{name}` must be 32 bytes in base64url without padding")),
    }
}

fn bytes(name: &str, text: &str) -> Result<Vec<u8>, String> {
    Base64UrlUnpadded::decode_vec(text)
        .map_err(|_| format!("`{name}` must be base64url without padding"))
}

fn encode(secret: &Secret) -> Hidden {
    Hidden(Base64UrlUnpadded::encode_string(&**secret))
}

const AKP: &str = "AKP";
const OCTETS: &str = "oct";

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let found =
            read(text.as_bytes()).map(|keys| keys.iter().map(Key::what).collect::<Vec<_>>());
        match found {
            Ok(keys) => assert_eq!(keys.join(", "), expected, "{text}"),
            Err(why) => assert_eq!(why, expected, "{text}"),
        }
    }

    #[test]
    fn written_keys_are_read_again() {
        let key = PrivateKey::from_seed(Level::MlDsa44, Zeroizing::new([7; 32]), None);
        let public = key.public.clone();
        let cases = [
            (Key::Public(public), "a public key"),
            (Key::Private(key), "a private key"),
            (Key::Sealing(Zeroizing::new([9; 32])), "a key for sealing"),
        ];
        for (key, expected) in &cases {
            check(&write(key).unwrap(), expected);
        }
    }

    #[test]
    fn malformed_keys_are_refused_with_the_reason() {
        let missing = "expected a JSON Web Key with `kty`, `alg` and `pub`";
        check("{}", missing);
        check("{\"kty\"", missing);
        check(r#"{"keys": []}"#, "it is an empty set");
        check(r#"{"kty": "EC"}"#, "expected the key type `AKP` or `oct`, found `EC`");
        check(r#"{"kty": "AKP"}"#, "`alg` is missing");
        let algorithms = "expected the algorithm ML-DSA-44, ML-DSA-65 or ML-DSA-87, found `ES256`";
        check(r#"{"kty": "AKP", "alg": "ES256"}"#, algorithms);
        check(r#"{"kty": "AKP", "alg": "ML-DSA-87"}"#, "`pub` is missing");
        let short = "expected a public key of 2592 bytes, found 3";
        check(r#"{"kty": "AKP", "alg": "ML-DSA-87", "pub": "AAAA"}"#, short);
        let padded = "`pub` must be base64url without padding";
        check(r#"{"kty": "AKP", "alg": "ML-DSA-87", "pub": "AA=="}"#, padded);
        let named = "the id of a key must have 1 to 64 bytes";
        check(r#"{"kty": "AKP", "alg": "ML-DSA-87", "pub": "AAAA", "kid": ""}"#, named);
        let secret = "`k` must be 32 bytes in base64url without padding";
        check(r#"{"kty": "oct", "k": "AAAA"}"#, secret);
        check(r#"{"kty": "oct"}"#, "`k` is missing");
    }

    #[test]
    fn halves_must_belong_together() {
        let keys = [1, 2]
            .map(|byte| PrivateKey::from_seed(Level::MlDsa44, Zeroizing::new([byte; 32]), None));
        let [one, other] = keys;
        let mixed = Key::Private(PrivateKey { public: other.public, ..one });
        check(&write(&mixed).unwrap(), "its private and its public half do not belong together");
    }
}
