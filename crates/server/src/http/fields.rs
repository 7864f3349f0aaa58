//! The fields of draft-ietf-httpapi-ratelimit-headers-10, `Retry-After`, and its problem types. The draft
//! may change; this file is the only one that knows it, as `npm/src/ratelimit/fields.ts` is in JavaScript.

use core::fmt::Write;
use std::sync::LazyLock;

use base64ct::{Base64, Encoding};
use hyper::StatusCode;
use hyper::header::{HeaderName, HeaderValue, RETRY_AFTER};
use wardgate_native::limited::{LimitState, MetLimit};
use wardgate_ratelimit_store::Key;

use crate::limits::MAX_FIELD_LIMITS;

/// The limits that one request met, each key of each limit once and up to a number of them: those
/// that refused come first.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<MetLimit>);

/// The problem of a check that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// A quota is used up.
    Exceeded,
    /// The store of a limit is away, and the limit denies then.
    Reduced,
}

impl Fields {
    /// Adds a limit that was met. Limits that never deny are in no field, nor is one whose key is
    /// unknown.
    pub(super) fn add(&mut self, limit: &MetLimit) {
        if limit.is_shadow || limit.key.is_none() {
            return;
        }
        let is_same = |known: &&mut MetLimit| known.name == limit.name && known.key == limit.key;
        if let Some(known) = self.0.iter_mut().find(is_same) {
            // A refusal is told, whatever else the request was granted.
            if !denies(known) || denies(limit) {
                known.clone_from(limit);
            }
            return;
        }
        if self.0.len() < MAX_FIELD_LIMITS {
            self.0.push(limit.clone());
        } else if denies(limit)
            && let Some(other) = self.0.iter_mut().find(|known| !denies(known))
        {
            other.clone_from(limit);
        }
    }

    /// Returns the fields of the response.
    ///
    /// `RateLimit-Policy` lists all limits. So does `RateLimit`, unless one refused: then it lists those
    /// that did, and its `t` is the time until the cost is there. `Retry-After` is the longest of them,
    /// so that no `t` is later; it is absent where a cost never will be there.
    pub(super) fn headers(&self, has_legacy: bool) -> Vec<(HeaderName, HeaderValue)> {
        let is_refused = self.0.iter().any(denies);
        let told = |limit: &&MetLimit| limit.remaining.is_some() && (denies(limit) || !is_refused);
        let mut fields = Vec::new();
        let mut add = |name: HeaderName, text: String| {
            // A name with other characters than the compiler accepts is in no bundle of it.
            fields.extend(HeaderValue::try_from(text).ok().map(|value| (name, value)));
        };
        if !self.0.is_empty() {
            add(POLICY, joined(self.0.iter(), policy));
        }
        if self.0.iter().any(|limit| told(&limit)) {
            add(LIMIT, joined(self.0.iter().filter(told), item));
        }
        if let Some(seconds) = self.retry_after() {
            add(RETRY_AFTER, seconds.to_string());
        }
        let nearest = self.0.iter().filter(told).min_by_key(|limit| limit.remaining);
        if let Some(limit) = nearest.filter(|_| has_legacy) {
            add(LEGACY_LIMIT, limit.quota.to_string());
            add(LEGACY_REMAINING, limit.remaining.unwrap_or(0).to_string());
            add(LEGACY_RESET, seconds(limit.reset.unwrap_or(0)).to_string());
        }
        fields
    }

    /// Returns the whole seconds until all that refused have their tokens, if they ever will.
    fn retry_after(&self) -> Option<u64> {
        let refused = self.0.iter().filter(|limit| limit.state.is_refused());
        let waits: Option<Vec<u64>> = refused.map(MetLimit::retry).collect();
        waits?.into_iter().max().map(seconds)
    }
}

impl Refusal {
    pub(super) const fn status(self) -> StatusCode {
        match self {
            Self::Exceeded => StatusCode::TOO_MANY_REQUESTS,
            Self::Reduced => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// Returns the address of the problem type.
    pub(super) const fn kind(self) -> &'static str {
        match self {
            Self::Exceeded => "https://iana.org/assignments/http-problem-types#quota-exceeded",
            Self::Reduced => {
                "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"
            }
        }
    }

    /// Returns the summary of the problem type.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Exceeded => "Request cannot be satisfied as assigned quota has been exceeded",
            Self::Reduced => {
                "Request cannot be satisfied due to temporary server capacity constraints"
            }
        }
    }

    /// Returns true if the limit is one for which the check was refused.
    pub(super) fn is_of(self, limit: &MetLimit) -> bool {
        !limit.is_shadow
            && match self {
                Self::Exceeded => limit.state.is_refused(),
                Self::Reduced => limit.state == LimitState::Away { is_allowed: false },
            }
    }
}

fn denies(limit: &MetLimit) -> bool {
    limit.state.is_refused() || limit.state == LimitState::Away { is_allowed: false }
}

/// Returns the items of a list, which `write` adds to its text.
fn joined<'l>(
    limits: impl Iterator<Item = &'l MetLimit>,
    write: impl Fn(&MetLimit, &mut String),
) -> String {
    let mut text = String::with_capacity(ITEM_BYTES);
    for limit in limits {
        if !text.is_empty() {
            text.push_str(", ");
        }
        write(limit, &mut text);
    }
    text
}

// Writing to a string cannot fail.
fn policy(limit: &MetLimit, out: &mut String) {
    name(&limit.name, out);
    let _ = write!(out, ";q={}", limit.quota);
    // A window of the calendar has no length, and one of less than a second no whole number.
    if let Some(micros) = limit.window.filter(|micros| micros.is_multiple_of(1_000_000)) {
        let _ = write!(out, ";w={}", micros / 1_000_000);
    }
    partition(limit, out);
}

fn item(limit: &MetLimit, out: &mut String) {
    let wait = match limit.state {
        LimitState::Refused { retry } => Some(retry),
        LimitState::Never => None,
        _ => limit.reset,
    };
    name(&limit.name, out);
    let _ = write!(out, ";r={}", limit.remaining.unwrap_or(0));
    if let Some(micros) = wait {
        let _ = write!(out, ";t={}", seconds(micros));
    }
    partition(limit, out);
}

/// Adds the digest of the key as a parameter; nothing for the one key of all requests.
fn partition(limit: &MetLimit, out: &mut String) {
    static OF_ALL: LazyLock<Key> = LazyLock::new(|| Key::new([]));
    let Some(key) = limit.key.filter(|key| key != OF_ALL.bytes()) else { return };
    let mut digits = [0; 24];
    // Sixteen bytes are 24 digits.
    let _ = write!(out, ";pk=:{}:", Base64::encode(&key, &mut digits).unwrap_or_default());
}

/// Adds a string of structured fields (RFC 9651, section 3.3.3).
fn name(name: &str, out: &mut String) {
    out.push('"');
    for c in name.chars() {
        if matches!(c, '\\' | '"') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
}

/// The usual length of a field with one limit.
const ITEM_BYTES: usize = 96;

/// Returns whole seconds, rounded up: at no earlier time are the tokens there.
const fn seconds(micros: u64) -> u64 {
    micros.div_ceil(1_000_000)
}

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const LEGACY_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const LEGACY_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const LEGACY_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

#[cfg(test)]
mod tests;
