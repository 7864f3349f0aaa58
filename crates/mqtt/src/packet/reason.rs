//! Reason codes of 5.0 and return codes of 3.1.1, and the packets that may have them.

use super::{Version, kind};

/// A reason code (5.0, section 2.4) or return code (3.1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reason(pub u8);

#[expect(missing_docs, reason = "the names are those of the standard")]
impl Reason {
    pub const SUCCESS: Self = Self(0x00);
    pub const NO_SUBSCRIPTION_EXISTED: Self = Self(0x11);
    pub const CONTINUE_AUTHENTICATION: Self = Self(0x18);
    pub const UNSPECIFIED_ERROR: Self = Self(0x80);
    pub const MALFORMED_PACKET: Self = Self(0x81);
    pub const PROTOCOL_ERROR: Self = Self(0x82);
    pub const UNSUPPORTED_PROTOCOL_VERSION: Self = Self(0x84);
    pub const CLIENT_ID_NOT_VALID: Self = Self(0x85);
    pub const BAD_USER_NAME_OR_PASSWORD: Self = Self(0x86);
    pub const NOT_AUTHORIZED: Self = Self(0x87);
    pub const SERVER_UNAVAILABLE: Self = Self(0x88);
    pub const SERVER_BUSY: Self = Self(0x89);
    pub const SERVER_SHUTTING_DOWN: Self = Self(0x8B);
    pub const BAD_AUTHENTICATION_METHOD: Self = Self(0x8C);
    pub const KEEP_ALIVE_TIMEOUT: Self = Self(0x8D);
    pub const SESSION_TAKEN_OVER: Self = Self(0x8E);
    pub const TOPIC_FILTER_INVALID: Self = Self(0x8F);
    pub const TOPIC_NAME_INVALID: Self = Self(0x90);
    pub const PACKET_IDENTIFIER_NOT_FOUND: Self = Self(0x92);
    pub const RECEIVE_MAXIMUM_EXCEEDED: Self = Self(0x93);
    pub const TOPIC_ALIAS_INVALID: Self = Self(0x94);
    pub const PACKET_TOO_LARGE: Self = Self(0x95);
    pub const QUOTA_EXCEEDED: Self = Self(0x97);
    pub const QOS_NOT_SUPPORTED: Self = Self(0x9B);
}

impl Reason {
    /// Returns true if the code tells of a failure.
    #[must_use]
    pub const fn is_failure(self) -> bool {
        self.0 >= 0x80
    }

    /// Returns the code as one that CONNACK of 5.0 may have.
    pub(crate) const fn of_connack(self) -> Self {
        if self.is_of_v5(kind::CONNACK) { self } else { Self::UNSPECIFIED_ERROR }
    }

    /// Returns the code as one that DISCONNECT of 5.0 may have.
    pub(crate) const fn of_disconnect(self) -> Self {
        if self.is_of_v5(kind::DISCONNECT) { self } else { Self::UNSPECIFIED_ERROR }
    }

    /// Returns the return code of CONNACK of 3.1.1, if one says the same (3.1.1, table 3.1).
    pub(crate) const fn return_code(self) -> Option<Self> {
        match self {
            Self::UNSUPPORTED_PROTOCOL_VERSION => Some(Self(1)),
            Self::CLIENT_ID_NOT_VALID => Some(Self(2)),
            Self::SERVER_UNAVAILABLE | Self::SERVER_BUSY => Some(Self(3)),
            Self::BAD_USER_NAME_OR_PASSWORD => Some(Self(4)),
            Self::NOT_AUTHORIZED => Some(Self(5)),
            _ => None,
        }
    }

    /// Returns true if a packet of that type may have the code.
    pub(super) const fn is_of(self, kind: u8, version: Version) -> bool {
        match version {
            Version::V311 => self.is_of_v311(kind),
            Version::V5 => self.is_of_v5(kind),
        }
    }

    /// 3.1.1, sections 3.2.2.3 and 3.9.3.
    const fn is_of_v311(self, kind: u8) -> bool {
        match kind {
            kind::CONNACK => self.0 <= 5,
            kind::SUBACK => matches!(self.0, 0..=2 | 0x80),
            _ => self.0 == 0,
        }
    }

    /// 5.0, the tables of sections 3.2 to 3.15.
    const fn is_of_v5(self, kind: u8) -> bool {
        match kind {
            kind::CONNACK => matches!(
                self.0,
                0 | 0x80..=0x8A | 0x8C | 0x90 | 0x95 | 0x97 | 0x99..=0x9D | 0x9F
            ),
            kind::PUBACK | kind::PUBREC => {
                matches!(self.0, 0 | 0x10 | 0x80 | 0x83 | 0x87 | 0x90 | 0x91 | 0x97 | 0x99)
            }
            kind::PUBREL | kind::PUBCOMP => matches!(self.0, 0 | 0x92),
            kind::SUBACK => matches!(
                self.0,
                0..=2 | 0x80 | 0x83 | 0x87 | 0x8F | 0x91 | 0x97 | 0x9E | 0xA1 | 0xA2
            ),
            kind::UNSUBACK => matches!(self.0, 0 | 0x11 | 0x80 | 0x83 | 0x87 | 0x8F | 0x91),
            kind::DISCONNECT => matches!(
                self.0,
                0 | 4 | 0x80..=0x83 | 0x87 | 0x89 | 0x8B | 0x8D..=0x90 | 0x93..=0xA2
            ),
            kind::AUTH => matches!(self.0, 0 | 0x18 | 0x19),
            _ => self.0 == 0,
        }
    }
}
