//! Decisions about a set of topics at once, whatever the other attributes of the resource are.
//!
//! A host that writes lists for a broker asks about sets that no filter describes, such as `a/#`
//! without `+/secret`. It describes a set by answers to `matchesTopic`. Everything else about the
//! resource is unknown, except its kind, version and scope and the attributes that the request has:
//! an expression that reads it, or the topic in another way, *may have failed*, as in a decision
//! about all topics of a filter. So what is allowed is allowed for every topic of the set, whatever
//! the rest of the resource is.
//!
//! A denial may be one for the unknown alone. The walk notes a doubt wherever another resource
//! could lead it to an allow: at an allow rule that is partly met, at a partial denial in the place
//! of an allow or before a failure, and at a failure that another resource might not have. A denial
//! without doubt is one for every topic and resource.

use super::record::Record;
use super::session::{Failure, Session};
use super::verdict::Verdict;
use super::verdict::Why;
use crate::budget::Budget;
use crate::cel::activation::{TOPICS, Topics};
use crate::cel::pool::Root;
use crate::cel::{Error, Timestamp, Value};
use crate::decision::Effect;
use crate::request::Request;
use crate::table::{PolicyTable, Section, at, word};

/// The decision on an action for a set of topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopicsDecision {
    /// The effect for every topic of the set and every resource; `None` if it may not be the same.
    pub effect: Option<Effect>,
    /// True if an expression has read `now`.
    pub reads_time: bool,
}

impl PolicyTable {
    /// Decides `action` of the principal of `request` for all of `topics`. The topic of the
    /// resource and its id are not read; its other attributes are those of every resource of the
    /// set, and attributes that it does not have are unknown.
    #[must_use]
    pub fn decide_topics(
        &self,
        (request, action): (&Request, &str),
        topics: &dyn Topics,
        now: Timestamp,
        budget: &Budget,
    ) -> TopicsDecision {
        let pool = self.pool();
        // Like a check, which takes more steps than the short form.
        let record = Some(Record::default());
        let mut session = Session::new(self, &pool, (request, now), record, budget);
        session.topics = Some(topics);
        let effect = session.effect_for_all(action);
        session.settle(budget);
        TopicsDecision { effect, reads_time: session.depends_on_time.get() }
    }
}

impl<'a> Session<'a> {
    fn effect_for_all(&self, action: &'a str) -> Option<Effect> {
        if self.has_expired() {
            return Some(Effect::Deny);
        }
        if self.may_reject_resources(action) {
            return None;
        }
        if self.validate(&[action]).rejects {
            return Some(Effect::Deny);
        }
        let verdict = self.decide(action);
        if verdict.effect == Some(Effect::Allow) {
            return Some(Effect::Allow);
        }
        if self.has_doubt.get() || verdict.has_reached_a_limit() {
            return None;
        }
        Some(Effect::Deny)
    }

    /// Notes that another topic or resource might have led to an allow.
    pub(crate) fn doubt(&self) {
        self.has_doubt.set(true);
    }

    /// Returns the part of a slot that is unknown; `None` if it is as in the request.
    pub(super) fn unknown(&self, id: u32) -> Option<Unknown> {
        self.topics?;
        let words = self.table.section(Section::Slots).get(at(id)..)?;
        let path = words.get(2..)?.get(..at(word(words, 1)))?;
        match Root::from_code(word(words, 0))? {
            Root::ResourceId | Root::Resource | Root::Request => Some(Unknown::Rest),
            Root::ResourceAttr => self.unknown_attribute(path),
            _ => None,
        }
    }

    fn unknown_attribute(&self, path: &[u32]) -> Option<Unknown> {
        let name = path.first().map(|id| self.table.string(*id));
        match name {
            Some("topic") if path.len() == 1 => Some(Unknown::Topic),
            Some(name) if name != "topic" => {
                let known = self.request.resource.attr.get(name);
                if known.is_some() { None } else { Some(Unknown::Rest) }
            }
            _ => Some(Unknown::Rest),
        }
    }
}

/// What a slot reads about the resources of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    /// The topic, which every resource has.
    Topic,
    /// Something that a resource may have.
    Rest,
}

impl Unknown {
    /// Returns the value of the slot.
    pub(super) fn value<'a>(self) -> Value<'a> {
        match self {
            Self::Topic => Value::Error(Error::Partly(TOPICS.into())),
            Self::Rest => Value::Error(Error::PartlyFailed("".into())),
        }
    }

    /// Returns true if the resources have the slot.
    pub(super) fn exists<'a>(self) -> Result<bool, Error<'a>> {
        match self {
            Self::Topic => Ok(true),
            Self::Rest => Err(Error::PartlyFailed("".into())),
        }
    }
}

impl Verdict<'_> {
    const fn has_reached_a_limit(&self) -> bool {
        matches!(self.why, Why::Exhausted | Why::Failed(Failure::Limit, _))
    }
}
