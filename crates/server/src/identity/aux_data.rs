//! Tokens of requests, verified so that conditions may read their claims.

use std::time::Duration;

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::AuxData;
pub(crate) use wardgate_jwt::as_conditions_see;
use wardgate_native::protocol::cerbos::Message;
use wardgate_native::{Clock, SystemClock};

use crate::config;
use crate::identity::jwt::{self, Keys, Lenience, RemoteKeySet, TokenTime};
use crate::limits::MAX_AUX_TOKENS;

/// Reads `auxData`.
#[derive(Debug)]
pub(crate) struct Tokens {
    is_verifying: bool,
    skew: Duration,
    sets: Vec<(String, Keys)>,
}

impl Tokens {
    /// Reads the keys that the configuration names.
    pub(crate) fn new(config: &config::AuxData) -> Result<Self, String> {
        let sets = config.key_sets.iter().map(|set| {
            let lenience = Lenience { alg: set.optional_alg, kid: set.optional_kid };
            Ok((set.id.clone(), Keys::open(&set.keys, format!("aux-data.{}", set.id), lenience)?))
        });
        let sets = sets.collect::<Result<_, String>>()?;
        Ok(Self { is_verifying: !config.disable_verification, skew: config.skew, sets })
    }

    /// The sets of keys of other servers.
    pub(crate) fn remote_key_sets(&self) -> impl Iterator<Item = &RemoteKeySet> {
        self.sets.iter().filter_map(|(_, keys)| keys.remote())
    }

    /// Verifies every token of `auxData`.
    pub(crate) fn read(&self, value: &Attr) -> Result<AuxData, String> {
        let fields = Message::read(value, "auxData".to_owned(), &["jwt", "jwts"])?;
        if let (Some(_), Some(_)) = (fields.field("jwt"), fields.field("jwts")) {
            return Err("`auxData` has both `jwt` and `jwts`, expected one of them".to_owned());
        }
        let jwt = match fields.field("jwt") {
            None => AttrMap::new(),
            Some(token) => self.claims(token, fields.at("jwt"))?,
        };
        let named = fields.attributes("jwts")?;
        let count = named.entries().len();
        if count > MAX_AUX_TOKENS {
            return Err(format!(
                "`{}` has {count} tokens, at most {MAX_AUX_TOKENS} are read",
                fields.at("jwts")
            ));
        }
        let named = named.entries().iter().map(|(name, token)| {
            let claims = self.claims(token, format!("{}.{name}", fields.at("jwts")))?;
            let token: AttrMap = [("claims".into(), Attr::Map(claims))].into_iter().collect();
            Ok((name.clone(), Attr::Map(token)))
        });
        Ok(AuxData { jwt, jwts: named.collect::<Result<AttrMap, String>>()? })
    }

    fn claims(&self, token: &Attr, path: String) -> Result<AttrMap, String> {
        let fields = Message::read(token, path.clone(), &["token", "keySetId"])?;
        let token = fields.name("token")?;
        let time = TokenTime { now: SystemClock.now(), skew: self.skew };
        let claims = match self.is_verifying {
            false => jwt::unverified(&token, time),
            true => self.set(fields.text("keySetId")?, &path)?.verified(&token, time),
        };
        let claims =
            claims.map_err(|error| format!("the token of `{path}` is refused: {error}"))?;
        Ok(as_conditions_see(&claims))
    }

    /// The set that is named; the only one if none is.
    fn set(&self, id: &str, path: &str) -> Result<&Keys, String> {
        let found = match (id, self.sets.as_slice()) {
            ("", [(_, only)]) => Some(only),
            ("", _) => None,
            _ => self.sets.iter().find(|(known, _)| known == id).map(|(_, set)| set),
        };
        found.ok_or_else(|| format!("no set of keys is known for the token of `{path}`"))
    }
}
