//! Answers about messages to one client, by topic.
//!
//! An answer is kept where the decision depended on the topic alone, and holds for the policies that gave it. The
//! caller looks at the clock each time: an answer says nothing about the expiry of the policies or of a
//! token. Keys are topics in full, so that no two topics share an answer.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::limits::{MQTT_ALL_ANSWER_BYTES, MQTT_ANSWER_BYTES, MQTT_ANSWERS};

/// The answers of one client.
pub(super) struct Answers {
    /// The answers, by the policies with this serial number; a client without messages has none.
    known: Option<Box<Known>>,
    room: AnswerRoom,
}

/// The room for the answers of all clients.
#[derive(Clone, Default)]
pub(super) struct AnswerRoom(Arc<AtomicUsize>);

/// What is known about a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Allow,
    Deny,
    /// It depends on more than the topic.
    Open,
}

struct Known {
    serial: u64,
    topics: HashMap<Box<str>, Answer>,
    bytes: usize,
}

impl Answers {
    pub(super) const fn new(room: AnswerRoom) -> Self {
        Self { known: None, room }
    }

    /// Returns the answer of the policies with a serial number.
    pub(super) fn find(&self, serial: u64, topic: &str) -> Option<Answer> {
        let known = self.known.as_ref().filter(|known| known.serial == serial)?;
        known.topics.get(topic).copied()
    }

    /// Keeps an answer, if there is room.
    pub(super) fn keep(&mut self, serial: u64, topic: &str, answer: Answer) {
        let size = topic.len().saturating_add(PLACE_BYTES);
        let fits = |known: &Known| {
            known.serial == serial
                && known.topics.len() < MQTT_ANSWERS
                && known.bytes.saturating_add(size) <= MQTT_ANSWER_BYTES
        };
        // Topics in use come again soon, so all places are given up at once: no order is kept.
        if !self.known.as_deref().is_some_and(fits) {
            self.clear();
        }
        if !self.room.grow(size) {
            return self.clear();
        }
        let empty = || Box::new(Known { serial, topics: HashMap::new(), bytes: 0 });
        let known = self.known.get_or_insert_with(empty);
        known.bytes = known.bytes.saturating_add(size);
        if known.topics.insert(topic.into(), answer).is_some() {
            known.bytes = known.bytes.saturating_sub(size);
            self.room.shrink(size);
        }
    }

    /// Drops all answers.
    pub(super) fn clear(&mut self) {
        if let Some(known) = self.known.take() {
            self.room.shrink(known.bytes);
        }
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        self.clear();
    }
}

impl AnswerRoom {
    fn grow(&self, bytes: usize) -> bool {
        let fits = |all: usize| all.checked_add(bytes).filter(|all| *all <= MQTT_ALL_ANSWER_BYTES);
        self.0.try_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
    }

    fn shrink(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Bytes of a place in a table that is half full, and of the allocation of its topic.
const PLACE_BYTES: usize = 64;

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::{Answer, AnswerRoom, Answers, PLACE_BYTES};
    use crate::limits::{MQTT_ALL_ANSWER_BYTES, MQTT_ANSWER_BYTES, MQTT_ANSWERS};

    #[test]
    fn answers_hold_for_their_topic_and_policies() {
        let mut answers = Answers::new(AnswerRoom::default());
        assert_eq!(answers.find(1, "a"), None);
        answers.keep(1, "a", Answer::Allow);
        answers.keep(1, "b", Answer::Deny);
        answers.keep(1, "c", Answer::Open);
        let found = ["a", "b", "c", "d"].map(|topic| answers.find(1, topic));
        assert_eq!(found, [Some(Answer::Allow), Some(Answer::Deny), Some(Answer::Open), None]);
        assert_eq!(answers.find(2, "a"), None);
        answers.keep(2, "b", Answer::Allow);
        assert_eq!([1, 2].map(|serial| answers.find(serial, "b")), [None, Some(Answer::Allow)]);
        assert_eq!(answers.find(2, "a"), None);
        answers.clear();
        assert_eq!(answers.find(2, "b"), None);
    }

    #[test]
    fn places_and_bytes_are_bounded() {
        let room = AnswerRoom::default();
        let used = || room.0.load(Ordering::Relaxed);
        let mut answers = Answers::new(room.clone());
        for n in 0..10 * MQTT_ANSWERS {
            let topic = n.to_string();
            answers.keep(1, &topic, Answer::Allow);
            // The same again takes no more.
            answers.keep(1, &topic, Answer::Allow);
            assert_eq!(answers.find(1, &topic), Some(Answer::Allow));
            let known = answers.known.as_ref().unwrap();
            assert!(known.topics.len() <= MQTT_ANSWERS);
            let bytes: usize = known.topics.keys().map(|topic| topic.len() + PLACE_BYTES).sum();
            assert_eq!((known.bytes, used()), (bytes, bytes));
        }
        let long = "x".repeat(60_000);
        for n in 0..10 {
            answers.keep(1, &format!("{n}{long}"), Answer::Deny);
            assert!(used() <= MQTT_ANSWER_BYTES);
        }
        drop(answers);
        assert_eq!(used(), 0);
    }

    #[test]
    fn clients_share_a_bounded_room() {
        let room = AnswerRoom::default();
        let long = "x".repeat(60_000);
        let mut all: Vec<Answers> = Vec::new();
        for n in 0..2_000 {
            let mut answers = Answers::new(room.clone());
            answers.keep(1, &format!("{n}{long}"), Answer::Allow);
            all.push(answers);
            assert!(room.0.load(Ordering::Relaxed) <= MQTT_ALL_ANSWER_BYTES);
        }
        let kept = all.iter().filter(|answers| answers.known.is_some()).count();
        assert!(kept > 1_000 && kept < 1_200, "{kept}");
        drop(all);
        assert_eq!(room.0.load(Ordering::Relaxed), 0);
    }
}
