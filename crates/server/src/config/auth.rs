//! `[auth]`: callers and administrators.

use std::path::PathBuf;

use wardgate_jwt::Recipient;

use super::{ConfigError, KeysAt, Section};

/// The callers, and the administrators among them.
#[derive(Clone, Debug, Default)]
pub struct Auth {
    /// True if anonymous callers get decisions.
    pub anonymous_queries: bool,
    /// Callers with a token of their own.
    pub tokens: Vec<TokenOf>,
    /// Callers with a certificate of their own.
    pub certificates: Vec<CertificateOf>,
    /// Callers with a signed token.
    pub jwt: Option<Jwt>,
}

/// A caller with a bearer token.
#[derive(Clone)]
pub struct TokenOf {
    /// The caller.
    pub name: String,
    /// The file of the token.
    pub file: PathBuf,
    /// True if the caller may see and change policies.
    pub is_admin: bool,
}

/// A caller with a certificate.
#[derive(Clone, Debug)]
pub struct CertificateOf {
    /// The caller.
    pub name: String,
    /// The SHA-256 of the certificate, in hexadecimal digits.
    pub sha256: String,
    /// True if the caller may see and change policies.
    pub is_admin: bool,
}

/// Callers with a signed token.
#[derive(Clone, Debug)]
pub struct Jwt {
    /// The source of the keys.
    pub keys: KeysAt,
    /// True if keys may lack their algorithm.
    pub optional_alg: bool,
    /// The issuer and the audience that tokens must name.
    pub recipient: Recipient,
    /// The subjects who may see and change policies.
    pub admins: Vec<String>,
}

impl Auth {
    pub(super) fn read(mut section: Section<'_>) -> Result<Self, ConfigError> {
        let tokens = section.sections("tokens")?.into_iter().map(TokenOf::read);
        let tokens = tokens.collect::<Result<Vec<_>, _>>()?;
        let certificates = section.sections("certificates")?.into_iter().map(CertificateOf::read);
        let certificates = certificates.collect::<Result<Vec<_>, _>>()?;
        let jwt = section.section("jwt")?;
        let auth = Self {
            anonymous_queries: section.flag("anonymous-queries")?.unwrap_or(false),
            tokens,
            certificates,
            jwt: if jwt.is_given() { Some(Jwt::read(jwt)?) } else { None },
        };
        section.finish()?;
        Ok(auth)
    }
}

impl TokenOf {
    fn read(mut section: Section<'_>) -> Result<Self, ConfigError> {
        let token = Self {
            file: section.required_path("file")?,
            name: section.required("name")?,
            is_admin: section.flag("admin")?.unwrap_or(false),
        };
        section.finish()?;
        Ok(token)
    }
}

impl CertificateOf {
    fn read(mut section: Section<'_>) -> Result<Self, ConfigError> {
        let certificate = Self {
            name: section.required("name")?,
            sha256: section.required("sha256")?.to_ascii_lowercase().replace(':', ""),
            is_admin: section.flag("admin")?.unwrap_or(false),
        };
        section.finish()?;
        let digits = certificate.sha256.as_bytes();
        if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
            let message = "`auth.certificates.sha256` must be 64 hexadecimal digits";
            return Err(ConfigError::new(message));
        }
        Ok(certificate)
    }
}

impl Jwt {
    fn read(mut section: Section<'_>) -> Result<Self, ConfigError> {
        let keys = KeysAt::read(&mut section, "keys");
        let optional_alg = section.flag("optional-alg")?.unwrap_or(false);
        let recipient = Recipient {
            issuer: section.required("issuer")?,
            audience: section.required("audience")?,
        };
        let admins = section.texts("admins")?;
        section.finish()?;
        Ok(Self { keys: keys?, optional_alg, recipient, admins })
    }
}

impl std::fmt::Debug for TokenOf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenOf").field("name", &self.name).finish_non_exhaustive()
    }
}
