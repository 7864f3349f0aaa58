//! JSON Web Keys, RFC 7517, and the verification with each of them.

use base64ct::{Base64UrlUnpadded, Encoding};
use ring::hmac;
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm};
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_native::protocol::documents;

use crate::TokenError;
use crate::claims::text;
use crate::limits::{MAX_KEYS, MIN_HS256_BYTES, MIN_HS384_BYTES, MIN_HS512_BYTES};

/// Keys that tokens may be signed with.
#[derive(Debug, PartialEq, Eq)]
pub struct KeySet {
    keys: Vec<Key>,
    lenience: Lenience,
}

/// The members that keys and tokens may lack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lenience {
    /// Keys may lack their algorithm.
    pub alg: bool,
    /// Keys and tokens need no id.
    pub kid: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct Key {
    id: Option<String>,
    algorithm: Option<String>,
    material: Material,
}

#[derive(PartialEq, Eq)]
enum Material {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
    Secret(Vec<u8>),
}

impl KeySet {
    /// Reads one key, or a set of them.
    ///
    /// # Errors
    /// There is a key that cannot be used, in words for the operator.
    pub fn read(json: &[u8], lenience: Lenience) -> Result<Self, String> {
        let document = documents::attribute(json).map_err(|error| error.to_string())?;
        let Attr::Map(map) = &document else { return Err("it is not a JSON Web Key".to_owned()) };
        let keys: Vec<&Attr> = match map.get("keys") {
            Some(Attr::List(keys)) if keys.len() <= MAX_KEYS => keys.iter().collect(),
            Some(_) => return Err(format!("`keys` must be a list of at most {MAX_KEYS}")),
            None => vec![&document],
        };
        let keys = keys.into_iter().enumerate().map(|(at, key)| {
            Key::read(key, lenience).map_err(|error| format!("key {at}: {error}"))
        });
        Ok(Self { keys: keys.collect::<Result<_, _>>()?, lenience })
    }

    /// Reads a set that another server publishes for several uses. As RFC 7517 requires, keys that
    /// cannot be used are skipped; the reasons are returned too. An empty set means that the server
    /// has withdrawn all keys.
    ///
    /// # Errors
    /// The text is no set of keys, or has too many, in words for the operator.
    pub fn read_remote(json: &[u8], lenience: Lenience) -> Result<(Self, Vec<String>), String> {
        let document = documents::attribute(json).map_err(|error| error.to_string())?;
        let Attr::Map(map) = &document else { return Err("it is not a set of keys".to_owned()) };
        let keys = match map.get("keys") {
            Some(Attr::List(keys)) if keys.len() <= MAX_KEYS => keys,
            _ => return Err(format!("`keys` must be a list of at most {MAX_KEYS}")),
        };
        let (mut usable, mut skipped) = (Vec::new(), Vec::new());
        for (at, key) in keys.iter().enumerate() {
            match Key::read_remote(key, lenience) {
                Ok(key) => usable.push(key),
                Err(error) => skipped.push(format!("key {at}: {error}")),
            }
        }
        Ok((Self { keys: usable, lenience }, skipped))
    }

    /// Returns the number of keys.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns true if no token can be verified.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Checks that one of the keys has signed.
    pub(crate) fn verify(
        &self,
        header: &AttrMap,
        signed: &[u8],
        given: &[u8],
    ) -> Result<(), TokenError> {
        let algorithm = text(header, "alg").ok_or(TokenError::Malformed)?;
        let id = text(header, "kid");
        if id.is_none() && !self.lenience.kid {
            return Err(TokenError::NoKey);
        }
        let mut fitting = self.keys.iter().filter(|key| key.fits(algorithm, id)).peekable();
        if fitting.peek().is_none() {
            return Err(TokenError::NoKey);
        }
        if fitting.any(|key| key.material.verify(algorithm, signed, given)) {
            return Ok(());
        }
        Err(TokenError::WrongSignature)
    }
}

impl Key {
    fn read(key: &Attr, lenience: Lenience) -> Result<Self, String> {
        let Attr::Map(map) = key else { return Err("it is not an object".to_owned()) };
        let given = |name: &str| text(map, name).filter(|text| !text.is_empty()).map(str::to_owned);
        let (id, algorithm) = (given("kid"), given("alg"));
        if id.is_none() && !lenience.kid {
            return Err("`kid` is missing".to_owned());
        }
        if algorithm.is_none() && !lenience.alg {
            return Err("`alg` is missing".to_owned());
        }
        let material = Material::read(map)?;
        material.must_be_long_enough(algorithm.as_deref())?;
        let is_ours = |algorithm: &String| !material.algorithms().contains(&algorithm.as_str());
        if let Some(other) = algorithm.as_ref().filter(|algorithm| is_ours(algorithm)) {
            return Err(format!("`{other}` is not an algorithm for a key of this kind"));
        }
        Ok(Self { id, algorithm, material })
    }

    fn read_remote(key: &Attr, lenience: Lenience) -> Result<Self, String> {
        if let Attr::Map(map) = key
            && !is_for_signatures(map)
        {
            return Err("it is not for signatures".to_owned());
        }
        if let Attr::Map(map) = key
            && text(map, "kty") == Some("oct")
        {
            return Err("a published key must not be a secret: `kty` is `oct`".to_owned());
        }
        Self::read(key, lenience)
    }

    fn fits(&self, algorithm: &str, id: Option<&str>) -> bool {
        let is_named = match (id, &self.id) {
            (Some(id), Some(own)) => id == own,
            (None, _) | (_, None) => true,
        };
        let is_for = self.algorithm.as_ref().is_none_or(|own| own == algorithm);
        is_named && is_for && self.material.algorithms().contains(&algorithm)
    }
}

impl Material {
    fn read(map: &AttrMap) -> Result<Self, String> {
        let bytes = |name: &str| {
            let text = text(map, name).ok_or_else(|| format!("`{name}` is missing"))?;
            Base64UrlUnpadded::decode_vec(text).map_err(|_| format!("`{name}` is not base64url"))
        };
        let point = |length: usize| {
            let (x, y) = (bytes("x")?, bytes("y")?);
            if x.len() != length || y.len() != length {
                return Err(format!("`x` and `y` must have {length} bytes"));
            }
            Ok([vec![4], x, y].concat())
        };
        match (text(map, "kty"), text(map, "crv")) {
            (Some("RSA"), _) => Ok(Self::Rsa { n: bytes("n")?, e: bytes("e")? }),
            (Some("EC"), Some("P-256")) => point(32).map(Self::P256),
            (Some("EC"), Some("P-384")) => point(48).map(Self::P384),
            (Some("OKP"), Some("Ed25519")) => bytes("x").map(Self::Ed25519),
            (Some("oct"), _) => bytes("k").map(Self::Secret),
            (kind, curve) => Err(format!(
                "keys of the kind `{}{}` are not known, expected RSA, EC with P-256 or P-384, OKP with Ed25519, or oct",
                kind.unwrap_or(""),
                curve.map(|curve| format!(" {curve}")).unwrap_or_default(),
            )),
        }
    }

    /// Refuses a secret that is too short for the algorithm that it names, or for all of them.
    fn must_be_long_enough(&self, algorithm: Option<&str>) -> Result<(), String> {
        let Self::Secret(secret) = self else { return Ok(()) };
        // One without an algorithm must be good for some.
        let least = match algorithm {
            None => SECRETS.first(),
            Some(name) => SECRETS.iter().find(|(known, _)| *known == name),
        };
        match least {
            Some((name, least)) if secret.len() < *least => Err(format!(
                "a secret for `{name}` must have at least {least} bytes (RFC 7518, section 3.2), this one has {}",
                secret.len()
            )),
            _ => Ok(()),
        }
    }

    /// Returns the algorithms that the key verifies. A secret must be as long as their digests.
    fn algorithms(&self) -> &'static [&'static str] {
        match self {
            Self::Rsa { .. } => &["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
            Self::P256(_) => &["ES256"],
            Self::P384(_) => &["ES384"],
            Self::Ed25519(_) => &["EdDSA", "Ed25519"],
            Self::Secret(secret) => match secret.len() {
                MIN_HS512_BYTES.. => &["HS256", "HS384", "HS512"],
                MIN_HS384_BYTES.. => &["HS256", "HS384"],
                MIN_HS256_BYTES.. => &["HS256"],
                _ => &[],
            },
        }
    }

    fn verify(&self, algorithm: &str, signed: &[u8], given: &[u8]) -> bool {
        let by = |key: &[u8], how: &'static dyn VerificationAlgorithm| {
            UnparsedPublicKey::new(how, key).verify(signed, given).is_ok()
        };
        match self {
            Self::P256(key) => by(key, &signature::ECDSA_P256_SHA256_FIXED),
            Self::P384(key) => by(key, &signature::ECDSA_P384_SHA384_FIXED),
            Self::Ed25519(key) => by(key, &signature::ED25519),
            Self::Rsa { n, e } => {
                let how = match algorithm {
                    "RS256" => &signature::RSA_PKCS1_2048_8192_SHA256,
                    "RS384" => &signature::RSA_PKCS1_2048_8192_SHA384,
                    "RS512" => &signature::RSA_PKCS1_2048_8192_SHA512,
                    "PS256" => &signature::RSA_PSS_2048_8192_SHA256,
                    "PS384" => &signature::RSA_PSS_2048_8192_SHA384,
                    _ => &signature::RSA_PSS_2048_8192_SHA512,
                };
                RsaPublicKeyComponents { n, e }.verify(how, signed, given).is_ok()
            }
            Self::Secret(key) => {
                let how = match algorithm {
                    "HS256" => hmac::HMAC_SHA256,
                    "HS384" => hmac::HMAC_SHA384,
                    _ => hmac::HMAC_SHA512,
                };
                // Compares in constant time.
                hmac::verify(&hmac::Key::new(how, key), signed, given).is_ok()
            }
        }
    }
}

impl std::fmt::Debug for Material {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.algorithms()).finish()
    }
}

/// Returns true if the key names no other use than signatures.
fn is_for_signatures(map: &AttrMap) -> bool {
    let verifies = match map.get("key_ops") {
        Some(Attr::List(uses)) => uses.contains(&Attr::String("verify".into())),
        _ => true,
    };
    verifies && text(map, "use").is_none_or(|meant| meant == "sig")
}

/// Algorithms with secrets, and the bytes of the shortest secret for each.
const SECRETS: [(&str, usize); 3] =
    [("HS256", MIN_HS256_BYTES), ("HS384", MIN_HS384_BYTES), ("HS512", MIN_HS512_BYTES)];
