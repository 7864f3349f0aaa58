//! Vectors of ML-DSA: verification, and signing from a seed or from an expanded key.

use std::rc::Rc;

use serde_json::Value as Json;
use wardgate_crypto::ml_dsa::{Level, PreparedKey, SigningKey};

use super::super::Outcome;
use super::super::vectors::{bytes, level, optional_bytes, same};
use super::{Run, is_valid};

/// Returns the function that decides the vectors of a file if its algorithm is one of ours. Schemas
/// are recognised by the part of their names that versions leave as it is.
pub(super) fn recognize(algorithm: &str, schema: &str) -> Option<Result<Run, String>> {
    let level = level(algorithm)?;
    if !schema.starts_with("mldsa_") && !schema.starts_with("ml_dsa_") {
        return Some(Err(format!("unknown schema `{schema}` for {algorithm}")));
    }
    Some(if schema.contains("_verify") {
        Ok(Rc::new(move |group, test| verify(level, group, test)))
    } else if schema.contains("_sign") {
        Ok(Rc::new(move |group, test| sign(level, group, test)))
    } else {
        Err(format!("unknown schema `{schema}` for {algorithm}"))
    })
}

/// The signed input: a message in a context, or its hash made elsewhere.
struct Signed {
    message: Option<Vec<u8>>,
    context: Vec<u8>,
    mu: Option<Vec<u8>>,
}

impl Signed {
    fn of(test: &Json) -> Result<Self, String> {
        let signed = Self {
            message: optional_bytes(test, "msg")?,
            context: optional_bytes(test, "ctx")?.unwrap_or_default(),
            mu: optional_bytes(test, "mu")?,
        };
        let complete = signed.message.is_some() || signed.mu.is_some();
        complete.then_some(signed).ok_or_else(|| "neither `msg` nor `mu`".to_owned())
    }

    /// Returns true if every way to verify accepts the signature; fails if they disagree.
    fn verified(&self, key: &PreparedKey, signature: &[u8]) -> Result<bool, String> {
        let message = self.message.as_deref();
        let whole = message.map(|message| key.verify(message, &self.context, signature));
        let hashed = match &self.mu {
            Some(mu) => mu.as_array().map(|mu| key.verify_mu(mu, signature)),
            None => None,
        };
        match (whole, hashed) {
            (Some(whole), Some(hashed)) if whole != hashed => {
                Err(format!("`msg` is verified: {whole}, `mu`: {hashed}"))
            }
            (Some(answer), _) | (None, Some(answer)) => Ok(answer),
            (None, None) => Ok(false),
        }
    }

    /// Signs as far as this project does; `None` is a refusal.
    fn sign(&self, key: &SigningKey, randomness: Option<&[u8; 32]>) -> Option<Vec<u8>> {
        match (&self.message, &self.mu) {
            (Some(message), _) => key.sign(message, &self.context, randomness).ok(),
            (None, Some(mu)) => key.sign_mu(mu.as_array()?, randomness.unwrap_or(&[0; 32])).ok(),
            (None, None) => None,
        }
    }
}

fn verify(level: Level, group: &Json, test: &Json) -> Result<Outcome, String> {
    let key = PreparedKey::new(level, &public_key(group, test)?);
    let signed = Signed::of(test)?;
    let signature = bytes(test, "sig")?;
    let accepted = key.map_or(Ok(false), |key| signed.verified(&key, &signature))?;
    Ok(same(&is_valid(test)?, &accepted))
}

/// Signs, deterministically unless the vector brings randomness, and verifies the signature.
fn sign(level: Level, group: &Json, test: &Json) -> Result<Outcome, String> {
    let signed = Signed::of(test)?;
    let randomness = match randomness(group, test)? {
        Some(bytes) => Some(*bytes.as_array().ok_or("the randomness has not 32 bytes")?),
        None => None,
    };
    let key = signing_key(level, group, test)?;
    let found = key.as_ref().and_then(|key| signed.sign(key, randomness.as_ref()));
    let expected = if is_valid(test)? { Some(bytes(test, "sig")?) } else { None };
    if let (Some(key), Some(signature)) = (&key, &expected) {
        let prepared = PreparedKey::new(level, &key.public_key()).map_err(|e| e.to_string())?;
        if !signed.verified(&prepared, signature)? {
            return Ok(Outcome::failed("a signature that verifies", "one that does not"));
        }
        if let Some(public) = either(group, test, "publicKey")?
            && public != key.public_key()
        {
            return Ok(Outcome::failed("the public key of the vector", "another"));
        }
    }
    Ok(same(&expected, &found))
}

/// Returns the randomness of a hedged vector, under the name of FIPS 204 or in full.
fn randomness(group: &Json, test: &Json) -> Result<Option<Vec<u8>>, String> {
    Ok(either(group, test, "rnd")?.or(either(group, test, "randomness")?))
}

/// Returns the key, or `None` if the vector brings an invalid one. An expanded key must be
/// consistent with its parts: the same bytes come out that went in, and its coefficients are in
/// range. This project offers keys from seeds only, and tests expanded ones with its library.
fn signing_key(level: Level, group: &Json, test: &Json) -> Result<Option<SigningKey>, String> {
    if let Some(seed) = either(group, test, "privateSeed")? {
        return Ok(seed.as_array().map(|seed| SigningKey::from_seed(level, seed)));
    }
    let expanded = either(group, test, "privateKey")?.ok_or("no private key")?;
    let in_range = is_expanded_key(level, &expanded);
    let key = in_range.then(|| SigningKey::from_expanded(level, &expanded)).flatten();
    Ok(key.filter(|key| key.to_expanded() == expanded))
}

/// Returns true if the small polynomials of an expanded key (FIPS 204, Algorithm 24) have
/// coefficients from -eta to eta, which Algorithm 25 leaves to its callers.
fn is_expanded_key(level: Level, bytes: &[u8]) -> bool {
    let (bits, most, polynomials) = match level {
        Level::MlDsa44 => (3, 4, 8),
        Level::MlDsa65 => (4, 8, 11),
        Level::MlDsa87 => (3, 4, 15),
    };
    let Some(small) = bytes.get(128..128 + polynomials * 32 * bits) else { return false };
    let bit = |at: usize| small.get(at / 8).map_or(0, |byte| byte >> (at % 8) & 1);
    (0..polynomials * 256).all(|coefficient| {
        let value = (0..bits).rev().fold(0, |value, at| value << 1 | bit(coefficient * bits + at));
        value <= most
    })
}

fn public_key(group: &Json, test: &Json) -> Result<Vec<u8>, String> {
    either(group, test, "publicKey")?.ok_or_else(|| "no `publicKey`".to_owned())
}

/// Returns a field of the vector or of its group.
fn either(group: &Json, test: &Json, field: &str) -> Result<Option<Vec<u8>>, String> {
    Ok(optional_bytes(test, field)?.or(optional_bytes(group, field)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::conformance::vectors::hexadecimal;

    #[test]
    fn a_vector_with_randomness_is_signed_with_it() {
        let (level, seed, rnd) = (Level::MlDsa44, [7; 32], [9; 32]);
        let key = SigningKey::from_seed(level, &seed);
        let check = |field: &str, is_hedged: bool| {
            let randomness = is_hedged.then_some(&rnd);
            let signature = key.sign(b"text", b"", randomness).unwrap();
            let group = json!({ "privateSeed": hexadecimal(&seed) });
            let mut test = json!({ "msg": hexadecimal(b"text"), "sig": hexadecimal(&signature), "result": "valid" });
            test[field] = hexadecimal(&rnd).into();
            matches!(sign(level, &group, &test), Ok(Outcome::Passed))
        };
        assert!(check("rnd", true) && check("randomness", true));
        assert!(!check("rnd", false) && !check("randomness", false));
        assert!(!check("salt", true) && check("salt", false));
    }
}
