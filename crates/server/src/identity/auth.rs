//! Authentication of callers: a bearer token of the configuration, a certificate, or a signed
//! token.
//!
//! Tokens are stored and compared as digests ([`crate::identity::token`]). None is logged.

use std::sync::Arc;
use std::time::Duration;

use wardgate_engine::attr::AttrMap;
use wardgate_native::{Clock, SystemClock};

use crate::config::{self, CertificateOf, TokenOf};
use crate::files::secret;
use crate::identity::jwt::{Keys, Lenience, RemoteKeySet, TokenTime};
use crate::identity::token::{self, Digest};
use crate::limits::{MAX_CALLER_TOKEN_BYTES, MIN_TOKEN_BYTES};

/// Identifies callers.
#[derive(Debug)]
pub struct Authenticator {
    anonymous_queries: bool,
    tokens: Vec<(Caller, Digest)>,
    certificates: Vec<(Caller, Digest)>,
    jwt: Option<(config::Jwt, Keys)>,
}

/// An identified caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The name in the configuration or in the token.
    pub name: Arc<str>,
    /// The kind of proof and its name. Two callers with one name and different proofs are
    /// different.
    pub identity: Arc<str>,
    /// True if the caller may see and change policies.
    pub is_admin: bool,
}

/// A caller with what their token says.
#[derive(Clone, Debug)]
pub(crate) struct Proven {
    pub(crate) caller: Caller,
    /// The verified claims of a signed token; `None` for a token of the configuration.
    pub(crate) claims: Option<AttrMap>,
}

/// The reason why a caller is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// They show nothing.
    Missing,
    /// The proof is not accepted.
    Unknown,
}

impl Authenticator {
    /// Reads the files that the configuration names.
    ///
    /// # Errors
    /// One cannot be read or used, in words for the operator.
    pub(crate) fn new(config: &config::Auth) -> Result<Self, String> {
        let tokens = config.tokens.iter().map(token).collect::<Result<_, _>>()?;
        let certificates = config.certificates.iter().map(certificate).collect();
        let jwt = match &config.jwt {
            None => None,
            Some(jwt) => {
                let lenience = Lenience { alg: jwt.optional_alg, kid: false };
                Some((jwt.clone(), Keys::open(&jwt.keys, "auth.jwt".to_owned(), lenience)?))
            }
        };
        Ok(Self { anonymous_queries: config.anonymous_queries, tokens, certificates, jwt })
    }

    /// The keys of another server, if they are.
    pub(crate) fn remote_key_set(&self) -> Option<&RemoteKeySet> {
        self.jwt.as_ref()?.1.remote()
    }

    /// Returns true if anonymous callers get decisions.
    #[must_use]
    pub const fn allows_anonymous_queries(&self) -> bool {
        self.anonymous_queries
    }

    /// Returns the caller with this header `Authorization`.
    ///
    /// # Errors
    /// The header is missing or is of no known caller.
    pub fn by_header(&self, header: Option<&str>) -> Result<Caller, Refusal> {
        let header = header.ok_or(Refusal::Missing)?;
        let (scheme, token) = header.split_once(' ').ok_or(Refusal::Unknown)?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(Refusal::Unknown);
        }
        self.by_token(token.trim()).ok_or(Refusal::Unknown)
    }

    /// Returns the caller with this token.
    #[must_use]
    pub fn by_token(&self, token: &str) -> Option<Caller> {
        self.proven(token).map(|proven| proven.caller)
    }

    /// Returns the caller with this token, and the claims of the token.
    pub(crate) fn proven(&self, token: &str) -> Option<Proven> {
        if token.len() > MAX_CALLER_TOKEN_BYTES {
            return None;
        }
        let known = find(&self.tokens, &Digest::of(token.as_bytes()));
        let known = known.map(|caller| Proven { caller, claims: None });
        known.or_else(|| self.by_jwt(token))
    }

    /// Returns the caller with this certificate; TLS has verified that its root is trusted. A
    /// certificate that the configuration does not name is that of an ordinary caller.
    #[must_use]
    pub fn by_certificate(&self, der: &[u8]) -> Caller {
        let digest = Digest::of(der);
        let unnamed = || Caller {
            name: "certificate".into(),
            identity: format!("unnamed certificate {digest:?}").into(),
            is_admin: false,
        };
        find(&self.certificates, &digest).unwrap_or_else(unnamed)
    }

    fn by_jwt(&self, token: &str) -> Option<Proven> {
        let (config, keys) = self.jwt.as_ref()?;
        let time = TokenTime { now: SystemClock.now(), skew: Duration::ZERO };
        let claims = keys.verified(token, time).ok()?;
        let subject = config.recipient.subject(&claims)?;
        let is_admin = config.admins.iter().any(|admin| admin == subject);
        let identity = format!("signed token {subject}").into();
        let caller = Caller { name: subject.into(), identity, is_admin };
        Some(Proven { caller, claims: Some(claims) })
    }
}

fn token(config: &TokenOf) -> Result<(Caller, Digest), String> {
    let bytes = secret(&config.file)?;
    let token = bytes.trim_ascii();
    // Others do not pass through a header.
    let is_fit = token.len() <= MAX_CALLER_TOKEN_BYTES && token.iter().all(u8::is_ascii_graphic);
    let digest = Digest::of_token(token).filter(|_| is_fit).ok_or_else(|| {
        let path = config.file.display();
        format!(
            "`{path}` must hold a token of at least {MIN_TOKEN_BYTES} letters, digits and signs"
        )
    })?;
    let identity = format!("token {}", config.name).into();
    Ok((Caller { name: config.name.as_str().into(), identity, is_admin: config.is_admin }, digest))
}

fn certificate(config: &CertificateOf) -> (Caller, Digest) {
    let mut bytes = [0; 32];
    for (byte, digits) in bytes.iter_mut().zip(config.sha256.as_bytes().chunks(2)) {
        // The configuration was found to have digits only.
        let digits = std::str::from_utf8(digits).unwrap_or_default();
        *byte = u8::from_str_radix(digits, 16).unwrap_or_default();
    }
    let identity = format!("certificate {}", config.name).into();
    let caller = Caller { name: config.name.as_str().into(), identity, is_admin: config.is_admin };
    (caller, Digest::from_bytes(bytes))
}

fn find(known: &[(Caller, Digest)], given: &Digest) -> Option<Caller> {
    token::find(known.iter().map(|(caller, digest)| (caller, digest)), given, |_| true).cloned()
}
