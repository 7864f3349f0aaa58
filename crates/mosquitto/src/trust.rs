//! The keys that must have signed the bundle: public keys of ML-DSA as JSON Web Keys (RFC 9964).
//!
//! A file with a secret is refused: a broker needs none, and one that lies here is known to it.
#![forbid(unsafe_code)]

use base64ct::{Base64UrlUnpadded, Encoding};
use wardgate_jwt::text;
use wardgate_native::protocol::documents;
use wardgate_native::{Attr, AttrMap, KeyId, Level, Quorum, TrustSet, TrustedKey};

use crate::limits::MAX_KEY_FILE_BYTES;
use crate::options::TrustOptions;
use crate::watch;

/// Reads the files of keys.
///
/// # Errors
/// A file cannot be read or used, in words for the operator.
pub(crate) fn read(options: &TrustOptions) -> Result<TrustSet, String> {
    let mut keys = Vec::new();
    for path in &options.files {
        let (bytes, _) = watch::read(path, MAX_KEY_FILE_BYTES)?;
        let wrong = |why| format!("`{}` cannot be used as a key: {why}", path.display());
        keys.extend(keys_of(&bytes).map_err(wrong)?);
    }
    let quorum = Quorum { at_least: options.at_least, required: options.require.clone() };
    TrustSet::new(keys, quorum).map_err(|error| format!("`plugin_opt_trust`: {error}"))
}

/// Reads a key or a set of them.
fn keys_of(json: &[u8]) -> Result<Vec<TrustedKey>, String> {
    let document = documents::attribute(json).map_err(|_| EXPECTED)?;
    let Attr::Map(map) = &document else { return Err(EXPECTED.to_owned()) };
    match map.get("keys") {
        None => key(map).map(|key| vec![key]),
        Some(Attr::List(keys)) => {
            let keys = keys.iter().map(|one| match one {
                Attr::Map(map) => key(map),
                _ => Err(EXPECTED.to_owned()),
            });
            keys.collect()
        }
        Some(_) => Err("`keys` must be a list".to_owned()),
    }
}

fn key(map: &AttrMap) -> Result<TrustedKey, String> {
    if map.get("priv").is_some() || map.get("k").is_some() {
        return Err("it holds a secret: `wardgate keys public` writes the public half".to_owned());
    }
    let (kind, algorithm) = (text(map, "kty"), text(map, "alg").unwrap_or_default());
    let level = LEVELS.iter().find(|(name, _)| *name == algorithm && kind == Some("AKP"));
    let (_, level) = level.ok_or(EXPECTED)?;
    let public = text(map, "pub").ok_or("`pub` is missing")?;
    let public = Base64UrlUnpadded::decode_vec(public)
        .map_err(|_| "`pub` must be base64url without padding")?;
    let id = match text(map, "kid") {
        None => KeyId::of(*level, &public),
        Some(id) => KeyId::new(id.as_bytes()).ok_or("the id of a key must have 1 to 64 bytes")?,
    };
    TrustedKey::new(id, *level, &public).map_err(|error| error.to_string())
}

const LEVELS: &[(&str, Level)] =
    &[("ML-DSA-44", Level::MlDsa44), ("ML-DSA-65", Level::MlDsa65), ("ML-DSA-87", Level::MlDsa87)];

const EXPECTED: &str =
    "expected a JSON Web Key of the type AKP with the algorithm ML-DSA-44, ML-DSA-65 or ML-DSA-87";

#[cfg(test)]
mod tests {
    use super::*;

    fn jwk(more: &str) -> String {
        let public = Base64UrlUnpadded::encode_string(&[7; 1312]);
        format!(r#"{{"kty":"AKP","alg":"ML-DSA-44","pub":"{public}"{more}}}"#)
    }

    #[test]
    fn keys_have_their_ids() {
        let check = |json: &str, expected: &[&str]| {
            let ids = keys_of(json.as_bytes()).unwrap();
            let ids: Vec<String> = ids.iter().map(|key| key.id().to_string()).collect();
            assert_eq!(ids, expected);
        };
        let own = KeyId::of(Level::MlDsa44, &[7; 1312]).to_string();
        check(&jwk(""), &[&own]);
        let named = jwk(r#","kid":"ann""#);
        check(&named, &["ann"]);
        check(&format!(r#"{{"keys":[{named},{}]}}"#, jwk(r#","kid":"bob""#)), &["ann", "bob"]);
        check(r#"{"keys":[]}"#, &[]);
    }

    #[test]
    fn wrong_keys_are_refused_with_the_reason() {
        let check = |json: &str, expected: &str| {
            assert_eq!(keys_of(json.as_bytes()).map(drop).unwrap_err(), expected, "{json}");
        };
        for json in
            ["", "[]", "7", "{", "{}", r#"{"kty":"AKP"}"#, r#"{"kty":"EC","alg":"ML-DSA-44"}"#]
        {
            check(json, EXPECTED);
        }
        check(r#"{"keys":7}"#, "`keys` must be a list");
        check(r#"{"keys":[7]}"#, EXPECTED);
        check(r#"{"kty":"AKP","alg":"ML-DSA-87"}"#, "`pub` is missing");
        check(
            r#"{"kty":"AKP","alg":"ML-DSA-87","pub":"AA=="}"#,
            "`pub` must be base64url without padding",
        );
        check(&jwk(r#","kid":"""#), "the id of a key must have 1 to 64 bytes");
        for secret in [r#","priv":"AAAA""#, r#","k":"AAAA""#] {
            check(&jwk(secret), "it holds a secret: `wardgate keys public` writes the public half");
        }
        let short = r#"{"kty":"AKP","alg":"ML-DSA-44","pub":"AAAA"}"#;
        assert!(keys_of(short.as_bytes()).is_err());
    }
}
