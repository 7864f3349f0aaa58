//! Lists in the forms of brokers, each by the rules of that broker.
//!
//! No broker reads a list as it is meant here. Where it would let through more, the filter is left
//! out (`Translated::dropped`), or stands behind a rule that closes the door; so a translation may
//! allow less than the lists, and never more. What the brokers do, from their sources and documents:
//!
//! - `#` and `+` at the front match topics that begin with `$` (EMQX, HiveMQ, NATS).
//! - A subscription is compared with a filter word by word, where `#` is a word like any other: `a/+`
//!   lets a subscription to `a/#` pass, and so does `a/+/#`, although it does not match `a`.
//! - A subscription to `a/#` passes a filter that denies `a/secret`: it is not compared with the
//!   topics that come of it, and nothing is asked at delivery (EMQX, HiveMQ; NATS for QoS 0 only).

mod emqx;
mod hivemq;
mod nats;

use std::fmt;

use serde_json::{Value, json};
use wardgate_mqtt::{Cover, Filter, Level, Limits, cover, overlap};

use super::grants::Grants;

/// What a client may publish, wills included, and subscribe to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientGrants {
    /// The lists for `publish`.
    pub publish: Grants,
    /// The lists for `subscribe`.
    pub subscribe: Grants,
}

/// A form of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// `acl` in the answer of an HTTP authenticator, or in a token, of EMQX 5.5 and newer.
    Emqx,
    /// Default permissions of a client in an extension for HiveMQ.
    HiveMq,
    /// A claim with the lists as they are.
    Jwt,
    /// `pub` and `sub` of the claims of a NATS user.
    Nats,
}

/// Lists in the form of a broker.
#[derive(Clone, Debug, PartialEq)]
pub struct Translated {
    /// The lists.
    pub lists: Value,
    /// The filters of topics that are allowed and that are left out.
    pub dropped: Vec<Dropped>,
    /// True if the broker allows exactly the topics that the policies allow.
    pub exact: bool,
}

/// A filter that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// `publish` or `subscribe`.
    pub action: &'static str,
    /// The filter.
    pub filter: String,
    /// The reason.
    pub reason: Door,
}

/// The topics that a broker would allow by a filter, and the policies do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// Topics that begin with `$`.
    InternalTopics,
    /// Topics that a subscription has beside allowed ones.
    DeniedPart,
    /// Topics of a subscription with `#` in the place of the last `+`.
    WiderSubscription,
    /// Topics of another filter, which the text means to the broker.
    OtherMeaning,
}

/// A filter that a broker cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untranslatable {
    /// The filter.
    pub filter: String,
    /// What the broker cannot have in it.
    pub reason: &'static str,
}

impl ClientGrants {
    /// Writes the lists in a form.
    ///
    /// # Errors
    /// A filter has no spelling there.
    pub fn translate(&self, target: Target) -> Result<Translated, Untranslatable> {
        let mut dropped = Vec::new();
        let lists = match target {
            Target::Emqx => emqx::lists(self, &mut dropped),
            Target::HiveMq => hivemq::lists(self, &mut dropped),
            Target::Nats => nats::lists(self, &mut dropped)?,
            Target::Jwt => {
                let [publish, subscribe] = [&self.publish, &self.subscribe].map(Grants::json);
                json!({ "mqtt": { "publish": publish, "subscribe": subscribe } })
            }
        };
        let is_kept = dropped.is_empty() && self.each().iter().all(|side| side.is_kept(target));
        let exact = is_kept && self.publish.is_exact() && self.subscribe.is_exact();
        Ok(Translated { lists, dropped, exact })
    }

    /// Returns the lists and the actions that they are about.
    fn each(&self) -> [Side<'_>; 2] {
        [Side::new("publish", &self.publish), Side::new("subscribe", &self.subscribe)]
    }
}

impl Grants {
    /// Returns the lists as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({ "allow": self.allow, "deny": self.deny, "internal": self.internal })
    }
}

impl Target {
    /// All forms by their names.
    pub const ALL: [(&str, Self); 4] =
        [("emqx", Self::Emqx), ("hivemq", Self::HiveMq), ("jwt", Self::Jwt), ("nats", Self::Nats)];
}

/// The lists of one action, as filters.
struct Side<'g> {
    action: &'static str,
    allow: Vec<Filter<'g>>,
    deny: Vec<Filter<'g>>,
    internal: bool,
}

impl<'g> Side<'g> {
    fn new(action: &'static str, grants: &'g Grants) -> Self {
        let filters = |texts: &'g [String]| -> Vec<Filter<'g>> {
            let filter = |text: &'g String| Filter::unshared_within(text, &Limits::WIDEST).ok();
            texts.iter().filter_map(filter).collect()
        };
        let (allow, deny) = (filters(&grants.allow), filters(&grants.deny));
        Self { action, allow, deny, internal: grants.internal }
    }

    /// Returns the first door that a broker, which compares word by word, would open for `filter`.
    fn door(&self, filter: Filter<'g>) -> Option<Door> {
        if begins_with_wildcard(filter) && !self.internal {
            return Some(Door::InternalTopics);
        }
        if self.action == "publish" {
            return None;
        }
        if self.deny.iter().any(|deny| is_open(filter, *deny)) {
            return Some(Door::DeniedPart);
        }
        let wider = widened(filter)?;
        let wider = Filter::unshared_within(&wider, &Limits::WIDEST).ok()?;
        let is_allowed = cover(wider, &self.allow) == Cover::All
            && !self.deny.iter().any(|deny| is_open(wider, *deny));
        if is_allowed { None } else { Some(Door::WiderSubscription) }
    }

    /// Returns true if the rules of the broker for filters that are not left out do not make it deny
    /// topics that the lists allow.
    fn is_kept(&self, target: Target) -> bool {
        let has_slashes = |filter: &Filter<'_>| target == Target::HiveMq && !filter.has_wildcard();
        let is_wide = |filter: &Filter<'_>| self.internal && begins_with_wildcard(*filter);
        let is_all = |filter: &Filter<'_>| matches!(filter.text(), "#" | "+/#");
        target == Target::Jwt
            || (!self.internal || self.allow.iter().any(is_all))
                && !self.deny.iter().any(|deny| has_slashes(deny) || is_wide(deny))
    }

    /// Returns true if the broker may take topics of `filter` for topics of `other`.
    fn shares(filter: Filter<'_>, other: Filter<'_>) -> bool {
        begins_with_wildcard(filter) && other.text().starts_with('$') || overlap(filter, other)
    }

    fn dropped(&self, filter: Filter<'_>, reason: Door) -> Dropped {
        Dropped { action: self.action, filter: filter.text().to_owned(), reason }
    }
}

/// Returns true if a subscription that `filter` lets pass may have topics of `deny` and pass `deny`.
fn is_open(filter: Filter<'_>, deny: Filter<'_>) -> bool {
    if begins_with_wildcard(filter) && deny.text().starts_with('$') {
        // A subscription to topics of `$a/#` begins with `$a`, so all of it is denied.
        let mut levels = deny.levels().skip(1);
        return levels.next() != Some(Level::Rest);
    }
    overlap(filter, deny)
}

/// Returns the filter with `#` in the place of a last `+` or `+/#`, if it has one.
fn widened(filter: Filter<'_>) -> Option<String> {
    let text = filter.text();
    let short = text.strip_suffix("/#").unwrap_or(text).strip_suffix('+')?;
    Some(format!("{short}#"))
}

fn begins_with_wildcard(filter: Filter<'_>) -> bool {
    filter.text().starts_with(['+', '#'])
}

impl Door {
    /// Returns its name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::InternalTopics => "internal-topics",
            Self::DeniedPart => "denied-part",
            Self::WiderSubscription => "wider-subscription",
            Self::OtherMeaning => "other-meaning",
        }
    }
}

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InternalTopics => "the broker would allow topics that begin with `$` too",
            Self::DeniedPart => {
                "the broker would accept subscriptions that have topics which are denied"
            }
            Self::WiderSubscription => {
                "the broker would accept a subscription with `#` in the place of the last `+`"
            }
            Self::OtherMeaning => "the broker would read the filter in another way",
        })
    }
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`: {}", self.action, self.filter, self.reason)
    }
}

impl fmt::Display for Untranslatable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the filter `{}` has {}", self.filter.escape_debug(), self.reason)
    }
}

impl std::error::Error for Untranslatable {}
