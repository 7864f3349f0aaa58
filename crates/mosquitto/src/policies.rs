//! The policies in use, and the file that they come from.
//!
//! A bundle that is refused changes nothing: the last good one stays in use.
#![forbid(unsafe_code)]

use wardgate_bundle::limits::MAX_BUNDLE_BYTES;
use wardgate_bundle::{Conditions, Header, OpenError, Opened, Trust, TrustSet, open};
use wardgate_native::{AfterExpiry, Budget, Clock, Policies, Request, Timestamp};

use crate::limits::MAX_STEPS;
use crate::log::{Level, Line};
use crate::options::Options;
use crate::trust;
use crate::watch::Watched;

/// The policies in use.
#[derive(Debug)]
pub(crate) struct Current {
    file: Watched,
    terms: Terms,
    policies: Policies,
    header: Header,
    /// The time from which a bundle that was refused as too early is tried again.
    again: Option<u64>,
    /// True if the log says that the policies have expired.
    is_expiry_logged: bool,
}

/// The requirements on every bundle.
#[derive(Debug)]
struct Terms {
    trust: Option<TrustSet>,
    min_revision: u64,
    name: Option<String>,
    after_expiry: AfterExpiry,
}

impl Current {
    /// Opens the first bundle.
    ///
    /// # Errors
    /// There is none, in words for the operator.
    pub(crate) fn open(options: &Options, clock: &impl Clock) -> Result<Self, String> {
        let terms = Terms {
            trust: options.trust.as_ref().map(trust::read).transpose()?,
            min_revision: options.min_revision,
            name: options.name.clone(),
            after_expiry: options.after_expiry,
        };
        let mut file = Watched::new(options.bundle.clone(), MAX_BUNDLE_BYTES);
        let bytes = file.read()?;
        let opened = terms.open(&bytes, None, clock.now());
        let Opened { table, header, .. } = opened.map_err(|error| {
            format!("the bundle `{}` is refused: {error}", file.path().display())
        })?;
        let policies = Policies::of(table);
        Ok(Self { file, terms, policies, header, again: None, is_expiry_logged: false })
    }

    /// Looks for another bundle, and takes it into use.
    pub(crate) fn look(&mut self, clock: &impl Clock, lines: &mut Vec<Line>) {
        if self.again.is_some_and(|again| seconds(clock.now()) >= again) {
            self.again = None;
            self.file.forget();
        }
        if let Some(read) = self.file.look() {
            self.replace(read, clock, lines);
        }
        self.log_expiry(clock, lines);
    }

    /// Reads the bundle even if its file seems to be the same.
    pub(crate) fn reload(&mut self, clock: &impl Clock, lines: &mut Vec<Line>) {
        let read = self.file.read();
        self.replace(read, clock, lines);
    }

    /// Returns true if the policies allow an action. A decision with too many steps is a denial.
    pub(crate) fn allow(&self, request: &Request, action: &str, clock: &impl Clock) -> bool {
        self.policies.is_allowed_within(request, action, clock, &Budget::new(MAX_STEPS))
    }

    /// Returns a line that names the bundle in use.
    pub(crate) fn line(&self) -> Line {
        let (path, label) = (self.file.path().display(), &self.header.label);
        let name = if label.name.is_empty() { String::new() } else { format!(" `{}`", label.name) };
        let trust = if self.terms.trust.is_none() { ", signatures are not verified" } else { "" };
        let revision = label.revision;
        Line::new(
            Level::Info,
            format!("the bundle{name} of `{path}` is in use, revision {revision}{trust}"),
        )
    }

    fn replace(
        &mut self,
        read: Result<Vec<u8>, String>,
        clock: &impl Clock,
        lines: &mut Vec<Line>,
    ) {
        let now = clock.now();
        let opened = read.and_then(|bytes| {
            self.terms.open(&bytes, Some(&self.header), now).map_err(|error| {
                self.again = match error {
                    OpenError::NotYetValid { not_before, .. } => Some(not_before),
                    _ => None,
                };
                format!("the bundle `{}` is refused: {error}", self.file.path().display())
            })
        });
        match opened {
            Err(why) => {
                lines.push(Line::new(Level::Error, format!("{why}; the last one stays in use")))
            }
            Ok(opened) if opened.header == self.header => {}
            Ok(Opened { table, header, .. }) => {
                (self.policies, self.header) = (Policies::of(table), header);
                (self.again, self.is_expiry_logged) = (None, false);
                lines.push(self.line());
            }
        }
    }

    fn log_expiry(&mut self, clock: &impl Clock, lines: &mut Vec<Line>) {
        let has_expired = self.policies.table().is_expired(clock.now());
        if has_expired && !self.is_expiry_logged {
            let path = self.file.path().display();
            let message = format!("the bundle `{path}` has expired: everything is denied");
            lines.push(Line::new(Level::Error, message));
        }
        self.is_expiry_logged = has_expired;
    }
}

impl Terms {
    fn open(
        &self,
        bytes: &[u8],
        before: Option<&Header>,
        now: Timestamp,
    ) -> Result<Opened, OpenError> {
        let trust = self.trust.as_ref().map_or(Trust::Unsigned, Trust::Signed);
        let conditions = Conditions {
            now: Some(seconds(now)),
            min_revision: self.min_revision,
            name: self.name.as_deref(),
            after_expiry: self.after_expiry,
            ..Conditions::default()
        };
        let opened = open(bytes, trust, &conditions)?;
        if let Some(before) = before {
            trust.must_follow(before.label.revision, opened.header.label.revision)?;
        }
        Ok(opened)
    }
}

fn seconds(time: Timestamp) -> u64 {
    u64::try_from(time.seconds()).unwrap_or(0)
}
