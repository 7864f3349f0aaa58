//! `[aux-data]`: tokens of requests, whose claims conditions may read.

use std::time::Duration;

use super::{ConfigError, KeysAt, Section};

/// Tokens that come with a request.
#[derive(Clone, Debug, Default)]
pub struct AuxData {
    /// Takes the claims of tokens without verifying their signature.
    pub disable_verification: bool,
    /// The largest difference between clocks.
    pub skew: Duration,
    /// The keys that tokens may be signed with.
    pub key_sets: Vec<KeySetAt>,
}

/// A set of keys.
#[derive(Clone, Debug)]
pub struct KeySetAt {
    /// The id of the set in requests.
    pub id: String,
    /// The source of the keys.
    pub keys: KeysAt,
    /// True if keys may lack their algorithm.
    pub optional_alg: bool,
    /// True if keys and tokens may lack an id.
    pub optional_kid: bool,
}

impl AuxData {
    pub(super) fn read(mut section: Section<'_>) -> Result<Self, ConfigError> {
        let key_sets = section.sections("key-sets")?.into_iter().map(KeySetAt::read);
        let key_sets = key_sets.collect::<Result<Vec<_>, _>>()?;
        let aux_data = Self {
            disable_verification: section.flag("disable-verification")?.unwrap_or(false),
            skew: section.seconds("acceptable-skew-seconds", 0..=3600)?.unwrap_or_default(),
            key_sets,
        };
        section.finish()?;
        let ids = aux_data.key_sets.iter().map(|set| set.id.as_str());
        if let Some(twice) =
            ids.clone().enumerate().find(|(at, id)| ids.clone().take(*at).any(|other| other == *id))
        {
            let message = format!("two `aux-data.key-sets` have the id `{}`", twice.1);
            return Err(ConfigError::new(message));
        }
        if aux_data.disable_verification && !aux_data.key_sets.is_empty() {
            let message = "`aux-data.key-sets` have no effect with `disable-verification`";
            return Err(ConfigError::new(message));
        }
        Ok(aux_data)
    }
}

impl KeySetAt {
    fn read(mut section: Section<'_>) -> Result<Self, ConfigError> {
        let (id, keys) = (section.required("id")?, KeysAt::read(&mut section, "file"));
        let optional_alg = section.flag("optional-alg")?.unwrap_or(false);
        let optional_kid = section.flag("optional-kid")?.unwrap_or(false);
        section.finish()?;
        Ok(Self { id, keys: keys?, optional_alg, optional_kid })
    }
}
