//! The state that all answers of one moment are made from.
//!
//! A server that answers by rules of SPOCP alone has no policies, and neither have its states.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use wardgate_bundle::{
    AfterExpiry, Conditions, Header, OpenError, Trust, TrustSet, open_with_rules_and_limits,
};
use wardgate_native::protocol::authzen::{Directory, NoDirectory};
use wardgate_native::{Policies, Timestamp};
use wardgate_spocp::Normal;
use wardgate_spocp::packed::unpack;

use crate::config::Config;
use crate::policies::directory::FileDirectory;
use crate::policies::source::Source;
use crate::telemetry::traces::{Attribute, Value};

/// The policies in use. It stays as it is: a reload makes another one.
#[derive(Debug)]
pub struct State {
    bundle: Option<Arc<InBundle>>,
    directory: Option<Arc<FileDirectory>>,
    /// The number of states before it.
    serial: u64,
    since: SystemTime,
}

/// The origin of states: a source, and the conditions for its bundles.
#[derive(Default)]
pub struct Origin {
    /// The source of bundles, if there are policies.
    pub source: Option<Box<dyn Source>>,
    /// The keys that must have signed. Without them unsigned bundles are accepted.
    pub trust: Option<TrustSet>,
    /// The lowest revision that is accepted.
    pub min_revision: u64,
    /// The name that a bundle must have.
    pub name: Option<String>,
    /// The decisions after the bundle in use has expired.
    pub after_expiry: AfterExpiry,
    /// The folder of the index.
    pub directory: Option<PathBuf>,
}

/// The content of a bundle.
#[derive(Debug)]
struct InBundle {
    policies: Policies,
    header: Header,
    /// The rules of SPOCP, as the bundle has them.
    rules: Box<[u8]>,
}

impl State {
    /// The policies, if there are any.
    #[must_use]
    pub fn policies(&self) -> Option<&Policies> {
        self.bundle.as_deref().map(|bundle| &bundle.policies)
    }

    /// Returns the known subjects and resources.
    #[must_use]
    pub fn directory(&self) -> &dyn Directory {
        self.directory.as_deref().map_or(&NoDirectory, |directory| directory)
    }

    /// Refuses policies with rate limits that nobody would charge.
    pub(crate) fn must_suit(&self, config: &Config) -> Result<(), String> {
        let Some(table) = self.policies().map(Policies::table) else { return Ok(()) };
        let Some(limit) = table.limits().next() else { return Ok(()) };
        if config.ratelimit.is_none() {
            return Err(format!(
                "the policies have rate limits, such as `{}`, and the configuration has no section `[ratelimit]`, which says where they are charged",
                limit.name()
            ));
        }
        let kind = MQTT_KINDS.into_iter().find(|kind| table.may_limit(kind));
        match kind.filter(|_| config.mqtt.is_some()) {
            Some(kind) => Err(format!(
                "the policies have rate limits for `{kind}`, and the configuration has a section `[mqtt]`, which charges none"
            )),
            None => Ok(()),
        }
    }

    pub(crate) fn file_directory(&self) -> Option<&FileDirectory> {
        self.directory.as_deref()
    }

    /// The rules of SPOCP in the bundle. Where it denies everything by now, there are none.
    pub(crate) fn rules(&self, now: Timestamp) -> Vec<Normal> {
        let bundle = self.bundle.as_ref().filter(|_| !self.has_expired(now));
        let Some(bundle) = bundle else { return Vec::new() };
        // INVARIANT: they were read when the bundle was opened.
        let rules = unpack(&bundle.rules).unwrap_or_default();
        rules.iter().map(|(_, rule)| rule).collect()
    }

    /// Returns the header that the signers of the bundle have signed.
    #[must_use]
    pub fn header(&self) -> Option<&Header> {
        self.bundle.as_deref().map(|bundle| &bundle.header)
    }

    /// Returns true if the policies deny everything at `now`, because their time is over.
    #[must_use]
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.policies().is_some_and(|policies| policies.table().is_expired(now))
    }

    /// The revision of the policies, if there are any.
    #[must_use]
    pub fn revision(&self) -> Option<u64> {
        self.header().map(|header| header.label.revision)
    }

    /// Returns the number of states before it.
    #[must_use]
    pub const fn serial(&self) -> u64 {
        self.serial
    }

    /// Returns the attributes of the state for spans.
    pub(crate) fn span_attributes(&self) -> impl Iterator<Item = Attribute> {
        let revision = self.revision().map(|number| ("wardgate.policies.revision", number));
        let numbers = revision.into_iter().chain([("wardgate.policies.serial", self.serial)]);
        numbers.map(|(name, number)| (name, Value::Number(number)))
    }

    /// Since when it is in use.
    #[must_use]
    pub const fn since(&self) -> SystemTime {
        self.since
    }
}

impl Origin {
    /// Makes the state after `before`, of the bundle if it changed, and of the index. Returns
    /// `None` if both are unchanged, or if the source has no first bundle. A signed bundle must not
    /// be older than the one in use; without signatures revisions have no meaning.
    pub(crate) fn next(
        &self,
        found: Option<&[u8]>,
        before: Option<&State>,
    ) -> Result<Option<State>, String> {
        let since = SystemTime::now();
        let opened = found.map(|bytes| self.open(bytes, since, before)).transpose();
        let opened =
            opened.map_err(|error| format!("cannot open {}: {error}", self.name()))?.flatten();
        let directory = match &self.directory {
            None => None,
            Some(folder) => {
                FileDirectory::read(folder, before.and_then(State::file_directory))?.map(Arc::new)
            }
        };
        let serial = before.map_or(0, |before| before.serial + 1);
        let latest = |directory: Option<Arc<FileDirectory>>| {
            directory.or_else(|| before.and_then(|before| before.directory.clone()))
        };
        let bundle = match (opened, before, &directory) {
            (Some(bundle), ..) => Some(Arc::new(bundle)),
            (None, Some(before), Some(_)) => before.bundle.clone(),
            (None, None, _) if self.source.is_none() => None,
            (None, ..) => return Ok(None),
        };
        Ok(Some(State { bundle, directory: latest(directory), serial, since }))
    }

    /// Returns the name of the source for the operator.
    pub(crate) fn name(&self) -> String {
        self.source.as_ref().map_or_else(|| "no policies".to_owned(), |source| source.name())
    }

    /// Opens a bundle; returns `None` if it is the one in use.
    fn open(
        &self,
        bytes: &[u8],
        now: SystemTime,
        before: Option<&State>,
    ) -> Result<Option<InBundle>, OpenError> {
        let (opened, _) = open_with_rules_and_limits(bytes, self.trust(), &self.conditions(now))?;
        if let Some(before) = before.and_then(State::header) {
            if *before == opened.header {
                return Ok(None);
            }
            self.trust().must_follow(before.label.revision, opened.header.label.revision)?;
        }
        let rules = Box::from(bytes.get(opened.rules..).unwrap_or_default());
        Ok(Some(InBundle { policies: Policies::of(opened.table), header: opened.header, rules }))
    }

    fn trust(&self) -> Trust<'_> {
        self.trust.as_ref().map_or(Trust::Unsigned, Trust::Signed)
    }

    fn conditions(&self, now: SystemTime) -> Conditions<'_> {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Conditions {
            now: Some(now),
            min_revision: self.min_revision,
            name: self.name.as_deref(),
            after_expiry: self.after_expiry,
            ..Conditions::default()
        }
    }
}

/// The kinds that MQTT decides about.
const MQTT_KINDS: [&str; 2] = ["mqtt:client", "mqtt:topic"];

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Origin").field("source", &self.name()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use wardgate_bundle::{AfterExpiry, Label, pack_with_rules};
    use wardgate_compiler::{Options, compile_files};
    use wardgate_native::Timestamp;
    use wardgate_spocp::{Normal, RuleSet};

    use super::{Origin, State};

    const EXPIRES: u64 = 4_000_000_000;

    fn state(after_expiry: AfterExpiry) -> State {
        let files = [("album.yaml".to_owned(), POLICY.as_bytes().to_vec())];
        let parts = compile_files(&files, &Options::default()).unwrap().parts;
        let mut rules = RuleSet::new();
        rules.insert(&Normal::from_advanced(b"(read)").unwrap()).unwrap();
        let label = Label { expires: Some(EXPIRES), ..Label::default() };
        let bundle = pack_with_rules(&parts, &rules, &label).unwrap();
        let origin = Origin { after_expiry, ..Origin::default() };
        origin.next(Some(&bundle), None).unwrap().unwrap()
    }

    #[test]
    fn an_expired_bundle_denies_and_its_rules_are_gone() {
        let state = state(AfterExpiry::Deny);
        let at = |seconds: u64| Timestamp::new(i64::try_from(seconds).unwrap(), 0).unwrap();
        assert_eq!(
            (state.has_expired(at(EXPIRES - 1)), state.rules(at(EXPIRES - 1)).len()),
            (false, 1)
        );
        assert_eq!((state.has_expired(at(EXPIRES)), state.rules(at(EXPIRES)).len()), (true, 0));
    }

    #[test]
    fn an_expired_bundle_decides_if_configured() {
        let state = state(AfterExpiry::Decide);
        let later = Timestamp::new(5_000_000_000, 0).unwrap();
        assert_eq!((state.has_expired(later), state.rules(later).len()), (false, 1));
    }

    const POLICY: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  rules:
    - { actions: [view], effect: EFFECT_ALLOW, roles: [user] }
"#;
}
