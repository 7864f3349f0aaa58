//! `[policies]`: the source of policies, and the conditions for a bundle.

use std::path::PathBuf;
use std::time::Duration;

use wardgate_bundle::AfterExpiry;

use super::{ConfigError, Section};
use crate::limits::WATCH;

/// The source of the policies.
#[derive(Clone, Debug)]
pub struct Policies {
    /// The bundle, or the directory.
    pub location: Location,
    /// Files of public keys. One of them must have signed the bundle.
    pub trust: Vec<PathBuf>,
    /// True if the configuration accepts bundles without a signature.
    pub is_unsigned: bool,
    /// The number of trusted keys that must have signed.
    pub at_least: Option<usize>,
    /// Ids of keys that must be among them.
    pub require: Vec<String>,
    /// The lowest revision that is accepted.
    pub min_revision: Option<u64>,
    /// The name that the bundle must have.
    pub name: Option<String>,
    /// Options for compiling a directory.
    pub compile: Compile,
    /// The key that the bundle is sealed with.
    pub unseal: Option<PathBuf>,
    /// The decisions after the bundle in use has expired.
    pub after_expiry: AfterExpiry,
    /// The interval between looks for new policies; zero turns them off.
    pub watch: Duration,
}

/// Options for compiling a directory.
#[derive(Clone, Debug, Default)]
pub struct Compile {
    /// The meaning of an error in a condition: `strict` or `lenient`.
    pub is_lenient: bool,
    /// True if a request whose scope has no policy uses the nearest scope above it.
    pub lenient_scope_search: bool,
    /// The policy version that a request without one means.
    pub default_version: Option<String>,
    /// The treatment of attributes that do not fit their schema.
    pub schemas: Schemas,
    /// The values of `globals`: a JSON or YAML file.
    pub globals: Option<PathBuf>,
}

/// The treatment of attributes that do not fit their schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schemas {
    /// Schemas are ignored.
    #[default]
    None,
    /// Violations are reported.
    Warn,
    /// The request is denied.
    Reject,
}

impl Compile {
    fn read(mut section: Section<'_>) -> Result<Self, ConfigError> {
        let compile = Self {
            is_lenient: section.choice("evaluation", MODES)?.unwrap_or(false),
            lenient_scope_search: section.flag("lenient-scope-search")?.unwrap_or(false),
            default_version: section.text("default-version")?,
            schemas: section.choice("schema-enforcement", ENFORCEMENTS)?.unwrap_or_default(),
            globals: section.path("globals")?,
        };
        section.finish()?;
        Ok(compile)
    }
}

const MODES: &[(&str, bool)] = &[("strict", false), ("lenient", true)];
const ENFORCEMENTS: &[(&str, Schemas)] =
    &[("none", Schemas::None), ("warn", Schemas::Warn), ("reject", Schemas::Reject)];

/// The location of policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A bundle in a file.
    Bundle(PathBuf),
    /// A bundle on another server.
    Url(Remote),
    /// A directory of policies, compiled at each change. For development: it has no signature.
    Directory(PathBuf),
}

/// A file on another server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Its URL.
    pub url: String,
    /// The roots that the certificate of the server must lead to.
    pub ca: Option<PathBuf>,
    /// A bearer token that the server wants to see.
    pub token: Option<PathBuf>,
}

impl Policies {
    /// Reads the table; returns `None` if the file lacks it.
    pub(super) fn read(mut section: Section<'_>) -> Result<Option<Self>, ConfigError> {
        if !section.is_given() {
            return Ok(None);
        }
        let (location, compile) = (Location::read(&mut section), section.section("compile")?);
        let trust = section.paths_or("trust", "unsigned")?;
        let (at_least, require) = (section.number("at-least", 1..=64)?, section.texts("require")?);
        let min_revision = section.number("min-revision", 0..=(1 << 53) - 1)?;
        let (name, unseal) = (section.text("name")?, section.path("unseal")?);
        let after_expiry = section.choice("after-expiry", AFTER_EXPIRY)?;
        let watch = section.seconds("watch-seconds", 0..=86_400)?.unwrap_or(WATCH);
        section.finish()?;
        let location = location?;
        if compile.is_given() && !matches!(location, Location::Directory(_)) {
            let message =
                "`[policies.compile]` is for a directory, and a bundle was compiled already";
            return Err(ConfigError::new(message));
        }
        let policies = Self {
            location,
            compile: Compile::read(compile)?,
            is_unsigned: trust.is_none(),
            trust: trust.unwrap_or_default(),
            at_least,
            require,
            min_revision,
            name,
            unseal,
            after_expiry: after_expiry.unwrap_or_default(),
            watch,
        };
        if after_expiry.is_some() && matches!(policies.location, Location::Directory(_)) {
            return Err(for_a_bundle("after-expiry"));
        }
        policies.must_fit()?;
        Ok(Some(policies))
    }

    /// Refuses options that would have no effect.
    fn must_fit(&self) -> Result<(), ConfigError> {
        let asks = [
            ("trust", !self.trust.is_empty() || self.is_unsigned),
            ("min-revision", self.min_revision.is_some()),
            ("name", self.name.is_some()),
            ("unseal", self.unseal.is_some()),
        ];
        if let (Location::Directory(_), Some((key, _))) =
            (&self.location, asks.iter().find(|(_, known)| *known))
        {
            return Err(for_a_bundle(key));
        }
        if self.trust.is_empty()
            && !self.is_unsigned
            && matches!(self.location, Location::Bundle(_))
        {
            let message = "`bundle` in `[policies]` needs `trust`: the public keys of those who may sign it, \
                           or `\"unsigned\"`";
            return Err(ConfigError::new(message));
        }
        if self.trust.is_empty() && matches!(self.location, Location::Url(_)) {
            let message = "`url` in `[policies]` needs `trust`: bundles from a URL must be signed by a trusted key";
            return Err(ConfigError::new(message));
        }
        if self.trust.is_empty() && (self.at_least.is_some() || !self.require.is_empty()) {
            let message =
                "`at-least` and `require` in `[policies]` need `trust`, the keys to choose from";
            return Err(ConfigError::new(message));
        }
        Ok(())
    }
}

fn for_a_bundle(key: &str) -> ConfigError {
    ConfigError::new(format!("`{key}` in `[policies]` is for a bundle, not for a `directory`"))
}

const AFTER_EXPIRY: &[(&str, AfterExpiry)] =
    &[("deny", AfterExpiry::Deny), ("decide", AfterExpiry::Decide)];

impl Location {
    fn read(section: &mut Section<'_>) -> Result<Self, ConfigError> {
        let (bundle, directory) = (section.path("bundle")?, section.path("directory")?);
        let url = section.text("url")?;
        let (ca, token) = (section.path("url-ca")?, section.path("url-token")?);
        if url.is_none() && (ca.is_some() || token.is_some()) {
            let message = "`url-ca` and `url-token` in `[policies]` need `url`";
            return Err(ConfigError::new(message));
        }
        match (bundle, directory, url) {
            (Some(bundle), None, None) => Ok(Self::Bundle(bundle)),
            (None, Some(directory), None) => Ok(Self::Directory(directory)),
            (None, None, Some(url)) => Ok(Self::Url(Remote { url, ca, token })),
            _ => Err(ConfigError::new(
                "`[policies]` must have `bundle`, `url` or `directory`, and one of them only",
            )),
        }
    }
}
