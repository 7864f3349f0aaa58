//! The options of the plugin: the lines `plugin_opt_...` of `mosquitto.conf`.
//!
//! A plugin with an option that is wrong or unknown does not load, and mosquitto does not start: an
//! option that is accepted and ignored is a silent downgrade.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use wardgate_jwt::Recipient;
use wardgate_native::{AfterExpiry, KeyId};

use crate::limits::MAX_OPTIONS;

/// The options.
#[derive(Debug, PartialEq)]
pub struct Options {
    /// The file of the bundle.
    pub bundle: PathBuf,
    /// The required signatures; None accepts any bundle.
    pub trust: Option<TrustOptions>,
    /// The lowest revision that is accepted.
    pub min_revision: u64,
    /// The name that the bundle must have.
    pub name: Option<String>,
    /// The decisions after the bundle in use has expired.
    pub after_expiry: AfterExpiry,
    /// The proof by which clients have their names.
    pub identity: Identity,
}

/// The required signatures of a bundle.
#[derive(Debug, PartialEq)]
pub struct TrustOptions {
    /// Files of public keys.
    pub files: Vec<PathBuf>,
    /// The number of keys that must have signed.
    pub at_least: usize,
    /// Keys that must be among them.
    pub require: Vec<KeyId>,
}

/// The proof by which clients have their names.
#[derive(Debug, PartialEq)]
pub enum Identity {
    /// mosquitto has verified the user name, by its password file or by a certificate.
    Broker,
    /// The password is a signed token.
    Tokens(TokenOptions),
}

/// The tokens that are accepted.
#[derive(Debug, PartialEq)]
pub struct TokenOptions {
    /// The file of the keys: a JSON Web Key or a set of them.
    pub keys: PathBuf,
    /// The issuer and the audience that tokens must name.
    pub recipient: Recipient,
}

impl Options {
    /// Reads the options, which are pairs of a name without `plugin_opt_` and a value.
    ///
    /// # Errors
    /// The first one that is wrong, in words for the operator.
    pub fn read<'o>(pairs: impl Iterator<Item = (&'o str, &'o str)>) -> Result<Self, String> {
        let mut given = Given(Vec::new());
        for (name, value) in pairs.take(MAX_OPTIONS + 1) {
            given.add(name, value)?;
        }
        if given.0.len() > MAX_OPTIONS {
            return Err(format!("more than {MAX_OPTIONS} options are given"));
        }
        let bundle = given
            .one("bundle")
            .ok_or("`plugin_opt_bundle` is missing: the file of the policies")?;
        Ok(Self {
            bundle: PathBuf::from(bundle),
            trust: TrustOptions::read(&given)?,
            min_revision: given.number("min_revision", MAX_REVISION)?.unwrap_or(0),
            name: given.one("name").map(str::to_owned),
            after_expiry: after_expiry(&given)?,
            identity: Identity::read(&given)?,
        })
    }
}

impl TrustOptions {
    fn read(given: &Given<'_>) -> Result<Option<Self>, String> {
        let values: Vec<&str> = given.all("trust").collect();
        let at_least = given.number("at_least", MAX_SIGNERS)?;
        let require: Vec<&str> = given.all("require").collect();
        if values.is_empty() {
            return Err(
                "`plugin_opt_trust` is missing: a file with the public keys of those who may sign \
                 the bundle, or `unsigned`"
                    .to_owned(),
            );
        }
        if !values.contains(&UNSIGNED) {
            let ids = require.into_iter().map(|id| {
                KeyId::new(id.as_bytes())
                    .ok_or("`plugin_opt_require` must be the id of a key: 1 to 64 bytes")
            });
            return Ok(Some(Self {
                files: values.into_iter().map(PathBuf::from).collect(),
                at_least: at_least
                    .map_or(Ok(1), usize::try_from)
                    .map_err(|error| error.to_string())?,
                require: ids.collect::<Result<_, _>>()?,
            }));
        }
        if values.len() > 1 {
            return Err(
                "`plugin_opt_trust` names keys and `unsigned`, expected one of them".to_owned()
            );
        }
        if at_least.is_some() || !require.is_empty() {
            return Err(
                "`plugin_opt_at_least` and `plugin_opt_require` need keys in `plugin_opt_trust`"
                    .to_owned(),
            );
        }
        Ok(None)
    }
}

impl Identity {
    fn read(given: &Given<'_>) -> Result<Self, String> {
        match ["keys", "issuer", "audience"].map(|name| given.one(name)) {
            [None, None, None] => Ok(Self::Broker),
            [Some(keys), Some(issuer), Some(audience)] => {
                let recipient =
                    Recipient { issuer: issuer.to_owned(), audience: audience.to_owned() };
                Ok(Self::Tokens(TokenOptions { keys: PathBuf::from(keys), recipient }))
            }
            _ => Err("`plugin_opt_keys`, `plugin_opt_issuer` and `plugin_opt_audience` belong together: \
                      give all of them or none"
                .to_owned()),
        }
    }
}

fn after_expiry(given: &Given<'_>) -> Result<AfterExpiry, String> {
    match given.one("after_expiry") {
        None | Some("deny") => Ok(AfterExpiry::Deny),
        Some("decide") => Ok(AfterExpiry::Decide),
        Some(other) => {
            Err(format!("`plugin_opt_after_expiry` must be `deny` or `decide`, found `{other}`"))
        }
    }
}

/// The options as they are given.
struct Given<'o>(Vec<(&'o str, &'o str)>);

impl<'o> Given<'o> {
    fn add(&mut self, name: &'o str, value: &'o str) -> Result<(), String> {
        if !ONCE.contains(&name) && !OFTEN.contains(&name) {
            let known: Vec<&str> = OFTEN.iter().chain(ONCE).copied().collect();
            return Err(format!(
                "there is no option `plugin_opt_{name}`, expected one of {}",
                known.join(", ")
            ));
        }
        if ONCE.contains(&name) && self.one(name).is_some() {
            return Err(format!("`plugin_opt_{name}` is given twice"));
        }
        let value = value.trim();
        if value.is_empty() {
            return Err(format!("`plugin_opt_{name}` has no value"));
        }
        self.0.push((name, value));
        Ok(())
    }

    fn all(&self, name: &str) -> impl Iterator<Item = &'o str> {
        self.0.iter().filter(move |(known, _)| *known == name).map(|(_, value)| *value)
    }

    fn one(&self, name: &str) -> Option<&'o str> {
        self.all(name).next()
    }

    fn number(&self, name: &str, most: u64) -> Result<Option<u64>, String> {
        let Some(text) = self.one(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| *number <= most);
        let wrong = || format!("`plugin_opt_{name}` must be a number up to {most}, found `{text}`");
        number.map(Some).ok_or_else(wrong)
    }
}

/// The value of `trust` that accepts any bundle.
const UNSIGNED: &str = "unsigned";

/// Options that may be given several times.
const OFTEN: &[&str] = &["trust", "require"];

const ONCE: &[&str] =
    &["bundle", "at_least", "min_revision", "name", "after_expiry", "keys", "issuer", "audience"];

/// The largest revision of a bundle.
const MAX_REVISION: u64 = wardgate_bundle::limits::MAX_NUMBER;

const MAX_SIGNERS: u64 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Options, String> {
        Options::read(text.lines().filter_map(|line| line.trim().split_once(' ')))
    }

    fn refused(text: &str, expected: &str) {
        assert_eq!(read(text).unwrap_err(), expected, "{text}");
    }

    #[test]
    fn the_least_options_are_a_bundle_and_its_trust() {
        let options = read("bundle /p.bundle\ntrust unsigned").unwrap();
        assert_eq!(options.bundle, PathBuf::from("/p.bundle"));
        assert_eq!((options.trust, options.identity), (None, Identity::Broker));
        assert_eq!((options.min_revision, options.after_expiry), (0, AfterExpiry::Deny));
    }

    #[test]
    fn all_options_are_read() {
        let options = read(
            "bundle /a b.bundle
             trust /one.jwk
             trust /two.jwk
             at_least 2
             require ann
             min_revision 7
             name gate
             after_expiry decide
             keys /keys.json
             issuer https://issuer
             audience broker",
        )
        .unwrap();
        let trust = options.trust.unwrap();
        assert_eq!(options.bundle, PathBuf::from("/a b.bundle"));
        assert_eq!(trust.files, [PathBuf::from("/one.jwk"), PathBuf::from("/two.jwk")]);
        assert_eq!((trust.at_least, trust.require.len()), (2, 1));
        assert_eq!((options.min_revision, options.name.as_deref()), (7, Some("gate")));
        assert_eq!(options.after_expiry, AfterExpiry::Decide);
        let Identity::Tokens(tokens) = options.identity else { panic!("no tokens") };
        assert_eq!(tokens.recipient.audience, "broker");
    }

    #[test]
    fn wrong_options_are_named() {
        refused("", "`plugin_opt_bundle` is missing: the file of the policies");
        refused(
            "bundle /p",
            "`plugin_opt_trust` is missing: a file with the public keys of those who may sign the bundle, or `unsigned`",
        );
        refused(
            "bundle /p\ntrust unsigned\nbundel /q",
            "there is no option `plugin_opt_bundel`, expected one of trust, require, bundle, at_least, min_revision, name, after_expiry, keys, issuer, audience",
        );
        refused("bundle /p\nbundle /q", "`plugin_opt_bundle` is given twice");
        refused(
            "bundle /p\ntrust unsigned\ntrust /k",
            "`plugin_opt_trust` names keys and `unsigned`, expected one of them",
        );
        refused(
            "bundle /p\ntrust unsigned\nat_least 1",
            "`plugin_opt_at_least` and `plugin_opt_require` need keys in `plugin_opt_trust`",
        );
        refused(
            "bundle /p\ntrust /k\nat_least many",
            "`plugin_opt_at_least` must be a number up to 64, found `many`",
        );
        refused(
            "bundle /p\ntrust unsigned\nmin_revision -1",
            "`plugin_opt_min_revision` must be a number up to 9007199254740991, found `-1`",
        );
        refused(
            "bundle /p\ntrust unsigned\nafter_expiry never",
            "`plugin_opt_after_expiry` must be `deny` or `decide`, found `never`",
        );
        let together = "`plugin_opt_keys`, `plugin_opt_issuer` and `plugin_opt_audience` belong together: give all of them or none";
        refused("bundle /p\ntrust unsigned\nkeys /k", together);
        refused("bundle /p\ntrust unsigned\nissuer i\naudience a", together);
        let empty = Options::read([("bundle", " ")].into_iter());
        assert_eq!(empty.unwrap_err(), "`plugin_opt_bundle` has no value");
        let long = "x".repeat(65);
        refused(
            &format!("bundle /p\ntrust /k\nrequire {long}"),
            "`plugin_opt_require` must be the id of a key: 1 to 64 bytes",
        );
    }

    #[test]
    fn the_number_of_options_is_bounded() {
        let many = (0..1000).map(|_| ("trust", "/k"));
        assert_eq!(Options::read(many).unwrap_err(), "more than 256 options are given");
    }
}
