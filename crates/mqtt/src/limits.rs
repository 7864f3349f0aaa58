//! The bounds on everything that others send.

/// The bounds on packets and topics. The default suits a broker that many can reach; a host may
/// raise each up to the constant of the standard.
///
/// # Examples
/// ```
/// use wardgate_mqtt::{Limits, Name};
///
/// let narrow = Limits { topic_levels: 2, ..Limits::default() };
/// assert!(Name::within("a/b", &narrow).is_ok());
/// assert!(Name::within("a/b/c", &narrow).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The bytes of a packet with its fixed header; at most [`Limits::PACKET_BYTES`].
    pub packet_bytes: u32,
    /// The bytes of a CONNECT with its fixed header.
    pub connect_bytes: u32,
    /// The bytes of a topic name or filter, with its `$share` part; at most 65,535.
    pub topic_bytes: u16,
    /// The levels of a topic name or filter, without its `$share` part; at most
    /// [`Limits::TOPIC_LEVELS`].
    pub topic_levels: u8,
    /// The filters of one SUBSCRIBE or UNSUBSCRIBE.
    pub filters: u16,
    /// The user properties of one packet; those of a will count separately.
    pub user_properties: u16,
    /// The bytes of the names and values of the user properties of one packet.
    pub user_property_bytes: u32,
    /// The topic aliases of each direction of a connection.
    pub aliases: u16,
    /// The messages of QoS 1 and 2 of a client of 5.0 that may be unacknowledged.
    pub receive_maximum: u16,
    /// The subscriptions of a client, and those that it may wait for.
    pub subscriptions: u16,
    /// The bytes of the filters of all subscriptions of a client.
    pub subscription_bytes: u32,
}

impl Limits {
    /// The largest packet that the standards allow, in bytes: a remaining length of 268,435,455
    /// (MQTT 5.0, section 1.5.5) and the five bytes before it.
    pub const PACKET_BYTES: u32 = 268_435_460;

    /// The most levels that a name or filter can have here. The standards have no bound.
    pub const TOPIC_LEVELS: u8 = 128;

    /// The defaults.
    pub const DEFAULT: Self = Self {
        packet_bytes: 256 * 1024,
        connect_bytes: 16 * 1024,
        topic_bytes: 1024,
        topic_levels: 32,
        filters: 64,
        user_properties: 32,
        user_property_bytes: 8 * 1024,
        aliases: 16,
        receive_maximum: 64,
        subscriptions: 1000,
        subscription_bytes: 256 * 1024,
    };

    /// The widest bounds.
    pub const WIDEST: Self = Self {
        packet_bytes: Self::PACKET_BYTES,
        connect_bytes: Self::PACKET_BYTES,
        topic_bytes: u16::MAX,
        topic_levels: Self::TOPIC_LEVELS,
        filters: u16::MAX,
        user_properties: u16::MAX,
        user_property_bytes: u32::MAX,
        aliases: u16::MAX,
        receive_maximum: u16::MAX,
        subscriptions: u16::MAX,
        subscription_bytes: u32::MAX,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The most filters that a set holds, so that counts and numbers fit into 29 bits.
pub(crate) const SET_FILTERS: usize = 1 << 28;

/// The most bytes of the texts of a set, so that offsets fit into 32 bits.
pub(crate) const SET_BYTES: usize = 1 << 31;

/// The bytes by which a packet of the server may exceed the bound on packets: a message that came
/// in with an alias may go out with its topic and the identifiers of subscriptions.
pub(crate) const SERVER_SLACK_BYTES: u32 = 4096;

/// The bytes of a buffer that a connection keeps while no packet is in it.
pub(crate) const IDLE_BUFFER_BYTES: usize = 4096;

/// The bytes of the answers to packets that a client sent before CONNACK.
pub(crate) const EARLY_BYTES: usize = 4096;
