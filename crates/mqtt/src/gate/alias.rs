//! Topic aliases of one direction (5.0, section 3.3.2.3.4).

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::close::{Cause, Stop};
use crate::packet::{Property, Publish, Reason};
use crate::topic::Name;

/// The topics that the aliases of a sender stand for.
#[derive(Debug)]
pub(super) struct Aliases {
    most: u16,
    places: Vec<Option<Place>>,
}

#[derive(Debug)]
struct Place {
    topic: Box<str>,
    /// The receiver knows it too: a message with both was passed on.
    is_known: bool,
}

/// The topic of a message.
pub(super) struct Resolved<'a> {
    pub(super) topic: Name<'a>,
    /// The message has an alias alone, which the receiver does not know.
    pub(super) lacks_topic: bool,
}

impl Aliases {
    pub(super) const fn new() -> Self {
        Self { most: 0, places: Vec::new() }
    }

    /// Sets the largest alias.
    pub(super) const fn allow(&mut self, most: u16) {
        self.most = most;
    }

    /// Returns the topic of a message, and notes what an alias in it stands for from now on.
    pub(super) fn resolve<'a>(&'a mut self, publish: &Publish<'a>) -> Result<Resolved<'a>, Stop> {
        let Some(alias) = alias(publish) else {
            let topic = publish.topic.ok_or(Stop::protocol(Cause::UnknownAlias))?;
            return Ok(Resolved { topic, lacks_topic: false });
        };
        if alias > self.most {
            return Err(Stop::new(Cause::AliasTooLarge, Reason::TOPIC_ALIAS_INVALID));
        }
        let at = usize::from(alias.saturating_sub(1));
        match publish.topic {
            Some(topic) => {
                self.set(at, topic.text());
                Ok(Resolved { topic, lacks_topic: false })
            }
            None => match self.places.get(at) {
                Some(Some(place)) => Ok(Resolved {
                    topic: Name::of_checked(&place.topic),
                    lacks_topic: !place.is_known,
                }),
                _ => Err(Stop::protocol(Cause::UnknownAlias)),
            },
        }
    }

    /// Notes that a message was passed on with its topic.
    pub(super) fn passed_on(&mut self, publish: &Publish<'_>) {
        let Some(alias) = alias(publish) else { return };
        if let Some(Some(place)) = self.places.get_mut(usize::from(alias.saturating_sub(1))) {
            place.is_known = true;
        }
    }

    fn set(&mut self, at: usize, topic: &str) {
        if self.places.len() <= at {
            self.places.resize_with(at.saturating_add(1), || None);
        }
        let Some(place) = self.places.get_mut(at) else { return };
        match place {
            Some(place) if *place.topic == *topic => place.is_known = false,
            place => *place = Some(Place { topic: topic.into(), is_known: false }),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let topics = self.places.iter().flatten().map(|place| place.topic.len()).sum::<usize>();
        let places = self.places.capacity().saturating_mul(size_of::<Option<Place>>());
        topics.saturating_add(places)
    }
}

fn alias(publish: &Publish<'_>) -> Option<u16> {
    publish.properties.iter().find_map(|property| match property {
        Property::TopicAlias(alias) => Some(alias),
        _ => None,
    })
}
