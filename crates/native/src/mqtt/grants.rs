//! The lists of filters of one principal and one action.

use std::fmt;

use wardgate_engine::budget::Budget;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::{Request, Resource};
use wardgate_engine::table::PolicyTable;
use wardgate_mqtt::{Filter, Limits, Name};

use super::{lists, regions};

/// The topics that a principal may use for one action: those that a filter of `allow` matches and
/// no filter of `deny`, and with `internal` those that begin with `$` and no filter of `deny` matches.
///
/// What the lists allow, the policies allow. A broker may accept a subscription that several filters
/// of `allow` cover only together, where the policies deny it and allow each of its topics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// Filters of topics that are allowed, sorted.
    pub allow: Vec<String>,
    /// Filters of topics that are denied though a filter of `allow` matches them, sorted.
    pub deny: Vec<String>,
    /// True if topics that begin with `$` are allowed without being named: no filter stands for all of
    /// them.
    pub internal: bool,
    /// The reasons why topics that the policies allow, always or sometimes, are not in the lists.
    pub shortfalls: Vec<Shortfall>,
    /// True if a condition reads the time: the lists are those of the moment of the call.
    pub reads_time: bool,
}

/// A reason why lists allow less than the policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shortfall {
    /// The answer for some topics depends on attributes that are not known when a client connects,
    /// or schemas may reject the attributes.
    Attributes,
    /// Topics are allowed within filters that must be denied.
    Nested,
    /// Working out all lists would take too long.
    Limit,
}

impl Grants {
    /// Returns true if the lists allow exactly the topics that the policies allow, whatever the
    /// attributes of the resource are.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        self.shortfalls.is_empty()
    }

    /// Returns true if the lists allow the topic.
    #[must_use]
    pub fn allows(&self, name: Name<'_>) -> bool {
        let matches = |text: &String| {
            Filter::unshared_within(text, &Limits::WIDEST).is_ok_and(|filter| filter.matches(name))
        };
        let is_allowed = self.internal && name.is_internal() || self.allow.iter().any(matches);
        is_allowed && !self.deny.iter().any(matches)
    }
}

impl Shortfall {
    /// Returns its name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Attributes => "attributes",
            Self::Nested => "nested",
            Self::Limit => "limit",
        }
    }
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Attributes => {
                "some topics are allowed for some attributes of the resource only, and those are not known yet"
            }
            Self::Nested => "some topics are allowed within filters that are denied",
            Self::Limit => "there are too many filters to work out all of them",
        })
    }
}

/// Computes the lists of the principal of `request`.
pub(crate) fn of(
    table: &PolicyTable,
    (request, action): (&Request, &str),
    now: Timestamp,
    budget: &Budget,
) -> Grants {
    let resource = Resource { kind: TOPIC.to_owned(), ..request.resource.clone() };
    let request = Request { resource, ..request.clone() };
    let explored = regions::explore(table, (&request, action), now, budget);
    let listed = lists::of(&explored);
    let mut shortfalls = explored.shortfalls;
    shortfalls.extend(listed.shortfall);
    shortfalls.sort_unstable();
    shortfalls.dedup();
    Grants {
        allow: listed.allow,
        deny: listed.deny,
        internal: listed.internal,
        shortfalls,
        reads_time: explored.reads_time,
    }
}

/// The kind of resource whose attribute `topic` is a topic.
const TOPIC: &str = "mqtt:topic";
