//! The numbers of faults, whose words the host has: as text in the module they would be a tenth of
//! it. The mirror is `npm/src/mqtt/mqtt-faults.ts`.

use wardgate_mqtt::TopicError;
use wardgate_mqtt::gate::{Action, Cause};
use wardgate_mqtt::packet::{Fault, Reason};

/// A fault for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The offset in the bytes.
    pub(crate) offset: usize,
    pub(crate) reason: Reason,
    /// The number of its words.
    pub(crate) number: u8,
    /// The value that belongs into its words.
    pub(crate) value: usize,
}

/// Returns number and value of a fault of a packet.
pub(crate) fn of_packet(fault: Fault) -> (u8, usize) {
    let number = match fault {
        Fault::Type => 1,
        Fault::HeaderFlags => 2,
        Fault::Length => 3,
        Fault::TooLarge => 4,
        Fault::Short => 5,
        Fault::Trailing => 6,
        Fault::Utf8 => 7,
        Fault::Nul => 8,
        Fault::PacketId => 9,
        Fault::Qos => 10,
        Fault::Dup => 11,
        Fault::ProtocolName => 12,
        Fault::ProtocolLevel => 13,
        Fault::ConnectFlags => 14,
        Fault::WillFlags => 15,
        Fault::PasswordAlone => 16,
        Fault::ClientId => 17,
        Fault::ConnackFlags => 18,
        Fault::NoTopic => 19,
        Fault::Alias => 20,
        Fault::NoMethod => 21,
        Fault::UserProperties => 22,
        Fault::Empty => 23,
        Fault::TooManyFilters => 24,
        Fault::Options => 25,
        Fault::RetainHandling => 26,
        Fault::NoLocalShared => 27,
        Fault::ReasonCode(code) => return (28, code.into()),
        Fault::UnknownProperty(id) => return (29, id.into()),
        Fault::MisplacedProperty(id) => return (30, id.into()),
        Fault::RepeatedProperty(id) => return (31, id.into()),
        Fault::PropertyValue(id) => return (32, id.into()),
        Fault::Name(error) | Fault::Filter(error) => return of_topic(error),
        _ => UNKNOWN,
    };
    (number, 0)
}

/// Returns number and value of a fault of a topic.
pub(crate) fn of_topic(error: TopicError) -> (u8, usize) {
    match error {
        TopicError::Empty => (40, 0),
        TopicError::TooLong { bytes, .. } => (41, bytes),
        TopicError::TooManyLevels { levels, .. } => (42, levels),
        TopicError::Nul { at } => (43, at),
        TopicError::WildcardInName { at } => (44, at),
        TopicError::PlusInWord { at } => (45, at),
        TopicError::HashNotLast { at } => (46, at),
        TopicError::EmptyGroup => (47, 0),
        TopicError::WildcardInGroup { at } => (48, at),
        TopicError::GroupWithoutFilter => (49, 0),
        _ => (UNKNOWN, 0),
    }
}

/// Returns number and value of the cause of an end.
pub(crate) fn of_close(cause: Cause) -> (u8, usize) {
    let number = match cause {
        Cause::Packet(fault) => return of_packet(fault),
        Cause::NotConnect => 60,
        Cause::SecondConnect => 61,
        Cause::NotConnack => 62,
        Cause::SecondConnack => 63,
        Cause::WrongSide => 64,
        Cause::NoMethod => 65,
        Cause::Unauthenticated => 66,
        Cause::SubscriptionIdentifier => 67,
        Cause::AliasTooLarge => 68,
        Cause::UnknownAlias => 69,
        Cause::ReceiveMaximum => 70,
        Cause::IdentifierInUse => 71,
        Cause::Unasked => 72,
        Cause::ReasonCount => 73,
        Cause::TooLarge => 74,
        Cause::TooManyWaiting => 75,
        Cause::ConnectTimeout => 76,
        Cause::ConnackTimeout => 77,
        Cause::KeepAlive => 78,
        Cause::Disconnect => 79,
        Cause::Refused => 80,
        Cause::Lost => 81,
        Cause::Host => 82,
        Cause::Denied(action) => return (83, of_action(action)),
        Cause::Withdrawn(action) => return (84, of_action(action)),
        _ => UNKNOWN,
    };
    (number, 0)
}

const fn of_action(action: Action) -> usize {
    match action {
        Action::Connect => 0,
        Action::Will => 1,
        Action::Publish => 2,
        Action::Subscribe => 3,
    }
}

/// The number of a fault without words.
const UNKNOWN: u8 = 0;

/// The number of a set that is full.
pub(crate) const FULL: u8 = 50;

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: &str = include_str!("../../../npm/src/mqtt/mqtt-faults.ts");

    /// Checks that the host has the words of a fault.
    fn check(number: u8, words: &str) {
        assert_ne!(number, UNKNOWN, "{words}");
        let row = format!("[{number}, \"{words}\"]");
        assert!(WORDS.contains(&row), "{row}");
    }

    #[test]
    fn the_host_has_the_words_of_faults() {
        let faults = [
            Fault::Type,
            Fault::HeaderFlags,
            Fault::Length,
            Fault::TooLarge,
            Fault::Short,
            Fault::Trailing,
            Fault::Utf8,
            Fault::Nul,
            Fault::PacketId,
            Fault::Qos,
            Fault::Dup,
            Fault::ProtocolName,
            Fault::ProtocolLevel,
            Fault::ConnectFlags,
            Fault::WillFlags,
            Fault::PasswordAlone,
            Fault::ClientId,
            Fault::ConnackFlags,
            Fault::NoTopic,
            Fault::Alias,
            Fault::NoMethod,
            Fault::UserProperties,
            Fault::Empty,
            Fault::TooManyFilters,
            Fault::Options,
            Fault::RetainHandling,
            Fault::NoLocalShared,
            Fault::ReasonCode(0x3F),
            Fault::UnknownProperty(0x3F),
            Fault::MisplacedProperty(0x3F),
            Fault::RepeatedProperty(0x3F),
            Fault::PropertyValue(0x3F),
        ];
        for fault in faults {
            let words = fault.to_string().replace("0x3f", "{hex}");
            check(of_packet(fault).0, &words);
        }
    }

    #[test]
    fn the_host_has_the_words_of_topics() {
        let errors = [
            TopicError::Empty,
            TopicError::Nul { at: 7 },
            TopicError::WildcardInName { at: 7 },
            TopicError::PlusInWord { at: 7 },
            TopicError::HashNotLast { at: 7 },
            TopicError::EmptyGroup,
            TopicError::WildcardInGroup { at: 7 },
            TopicError::GroupWithoutFilter,
        ];
        for error in errors {
            let words = error.to_string().replace('7', "{}");
            check(of_topic(error).0, &words);
        }
        let long = TopicError::TooLong { bytes: 7, most: 1 };
        check(of_topic(long).0, &format!("{}: {{}} bytes", long.reason()));
        let deep = TopicError::TooManyLevels { levels: 7, most: 1 };
        check(of_topic(deep).0, &format!("{}: {{}}", deep.reason()));
        check(FULL, &wardgate_mqtt::Full.to_string());
    }

    #[test]
    fn the_host_has_the_words_of_ends() {
        let causes = [
            Cause::NotConnect,
            Cause::SecondConnect,
            Cause::NotConnack,
            Cause::SecondConnack,
            Cause::WrongSide,
            Cause::NoMethod,
            Cause::Unauthenticated,
            Cause::SubscriptionIdentifier,
            Cause::AliasTooLarge,
            Cause::UnknownAlias,
            Cause::ReceiveMaximum,
            Cause::IdentifierInUse,
            Cause::Unasked,
            Cause::ReasonCount,
            Cause::TooLarge,
            Cause::TooManyWaiting,
            Cause::ConnectTimeout,
            Cause::ConnackTimeout,
            Cause::KeepAlive,
            Cause::Disconnect,
            Cause::Refused,
            Cause::Lost,
            Cause::Host,
        ];
        for cause in causes {
            check(of_close(cause).0, &cause.to_string());
        }
        for action in [Action::Connect, Action::Will, Action::Publish, Action::Subscribe] {
            let words = |cause: Cause| cause.to_string().replace(&action.to_string(), "{action}");
            check(of_close(Cause::Denied(action)).0, &words(Cause::Denied(action)));
            check(of_close(Cause::Withdrawn(action)).0, &words(Cause::Withdrawn(action)));
            assert!(WORDS.contains(&format!("\"{action}\"")));
        }
    }
}
