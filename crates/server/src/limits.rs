//! Every bound on input and on waits of the server.

use std::time::Duration;

use wardgate_engine::limits::MAX_EXPLANATION_BYTES;

/// Bytes of the longest file of configuration.
pub(crate) const MAX_CONFIG_BYTES: u64 = 1 << 20;

/// Bytes of the longest certificate, key or token file.
pub(crate) const MAX_SECRET_BYTES: u64 = 1 << 20;

/// Addresses that one protocol may listen at.
pub(crate) const MAX_LISTENERS: usize = 16;

/// Bytes of the head of a request: its line and its headers. More is answered with 431.
pub(crate) const MAX_HEAD_BYTES: usize = 16 << 10;

/// Headers of a request.
pub(crate) const MAX_HEADERS: usize = 64;

/// The default interval between two looks for new policies.
pub(crate) const WATCH: Duration = Duration::from_secs(5);

/// Seconds before the expiry of a bundle at which the log warns of it: a day. For a shorter life it
/// is the last tenth.
pub(crate) const EXPIRY_NOTICE_SECONDS: u64 = 86_400;

/// The longest time between two looks at the expiry of a bundle. The clock may have been set
/// meanwhile.
pub(crate) const EXPIRY_PACE: Duration = Duration::from_secs(60);

/// Connections that wait to be accepted. The system may allow for fewer.
pub(crate) const BACKLOG: i32 = 4096;

/// The pause of accepting after the system had no file descriptor left.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The longest time of connecting to another server.
pub(crate) const CONNECT: Duration = Duration::from_secs(10);

/// The longest time in which another server sends a file.
pub(crate) const FETCH: Duration = Duration::from_secs(60);

/// Bytes of the longest set of keys that another server publishes.
pub(crate) const MAX_KEYS_BYTES: usize = 1 << 20;

/// The longest time in which another server sends its keys.
pub(crate) const KEYS_FETCH: Duration = Duration::from_secs(10);

/// The shortest time between two requests for keys: tokens with unknown key ids must not become
/// requests.
pub(crate) const KEYS_PAUSE: Duration = Duration::from_secs(10);

/// Bytes of the answer of a collector of spans that are read.
pub(crate) const MAX_COLLECTOR_ANSWER_BYTES: usize = 64 << 10;

/// The largest number of attempts to send the same spans.
pub(crate) const SPAN_ATTEMPTS: u32 = 5;

/// The pause before the second attempt to send spans; it doubles after each.
pub(crate) const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause that a collector may request.
pub(crate) const MAX_RETRY_PAUSE: Duration = Duration::from_secs(300);

/// The longest time for sending spans after the server has stopped.
pub(crate) const FLUSH: Duration = Duration::from_secs(5);

/// The longest TLS handshake.
pub(crate) const HANDSHAKE: Duration = Duration::from_secs(10);

/// Bytes of the shortest token of a caller or administrator: long enough not to be guessed.
pub(crate) const MIN_TOKEN_BYTES: usize = 16;

/// Bytes of the longest token of a caller.
pub(crate) const MAX_CALLER_TOKEN_BYTES: usize = 8192;

/// Tokens of one `auxData.jwts`. Each of them is verified; their bytes are bounded by the body.
pub(crate) const MAX_AUX_TOKENS: usize = 16;

/// Bytes of the longest body that is decided on by the thread of its connection. Longer ones have
/// threads of their own, whose switch costs less than the decision.
pub(crate) const MAX_BYTES_IN_PLACE: usize = 16 << 10;

/// Bytes of all bodies together that come in several pieces. A piece without room is answered with
/// 503.
pub(crate) const MAX_BODIES_BYTES: usize = 64 << 20;

/// Frames (pieces between two reads, or chunks) of one request body: each costs time, however short
/// it is.
pub(crate) const MAX_PIECES: usize = 1 << 18;

/// Bytes that a request body must bring in each millisecond, on average, to keep its room when
/// other bodies need it: 250 KiB a second.
pub(crate) const MIN_BYTES_A_MILLISECOND: u64 = 256;

/// Milliseconds for which a request body may fall behind that rate.
pub(crate) const BODY_GRACE_MILLIS: u64 = 1000;

/// Bytes of room that are enough for one search: no more connections are closed once as many are
/// free.
pub(crate) const MADE_AT_ONCE: usize = 1 << 20;

/// Milliseconds from one search for connections with late bodies to the next.
pub(crate) const LOOK_MILLIS: u64 = 10;

/// Attempts of a request body to get room before it is refused with 503.
pub(crate) const ROOM_ATTEMPTS: u32 = 20;

/// Time from one such attempt to the next.
pub(crate) const ROOM_PAUSE: Duration = Duration::from_millis(10);

/// Steps that the decisions on a request may take on the thread of its connection: about a
/// millisecond. Decisions that take more are begun anew on threads of their own.
pub(crate) const MAX_STEPS_IN_PLACE: u32 = 100_000;

/// Requests that wait for a thread that decides. More are answered with 503.
pub(crate) const MAX_WAITING_DECISIONS: usize = 256;

/// Bytes of a too long body that are read and dropped: a sender that is cut off does not see the
/// answer.
pub(crate) const MAX_PASSED_OVER: usize = 16 << 20;

/// Bytes of the longest answer that repeats the metadata of each decision.
pub(crate) const MAX_ANSWER_BYTES: usize = 16 << 20;

/// Bytes of the longest explanation of a call: that of one resource may have as many as the engine
/// writes.
pub(crate) const MAX_EXPLAINED_BYTES: usize = MAX_ANSWER_BYTES + MAX_EXPLANATION_BYTES;

/// Tokens that one request of AuthZEN may bring along to be verified.
pub(crate) const MAX_TOKENS: usize = 64;

/// Bytes of all the S-expressions that the questions of one request may become.
pub(crate) const MAX_QUERY_BYTES: usize = 4 << 20;

/// Steps of all decisions on one request by default. A step that looks up a role took 32 ns
/// (2026-11-22), one that writes an output of numbers up to 48 (2026-11-23, 2 cores, AMD EPYC): the
/// default takes 0.15 to 0.2 s.
pub(crate) const REQUEST_STEPS: u32 = 4_000_000;

/// Entities of one type in the index.
pub(crate) const MAX_ENTITIES: usize = 50_000;

/// Bytes of one file of the index.
pub(crate) const MAX_INDEX_FILE_BYTES: u64 = 8 << 20;

/// Bytes of all files of the index.
pub(crate) const MAX_INDEX_BYTES: u64 = 64 << 20;

/// Files of the index.
pub(crate) const MAX_INDEX_FILES: usize = 256;

/// The most results of one page of a search.
pub(crate) const MAX_RESULTS: usize = 1000;

/// The most decisions for one page. Where they do not suffice, the page is short and has a token.
pub(crate) const MAX_DECISIONS: usize = 10_000;

/// The most rules of SPOCP that a search without candidates looks through.
pub(crate) const MAX_NAMING_RULES: usize = 100_000;

/// The time for which input is read and dropped after the last answer to a client.
pub(crate) const LINGER: Duration = Duration::from_secs(1);

/// Connections of SPOCP at the same time by default.
pub(crate) const CONNECTIONS: usize = 1024;

/// Bytes of a message of SPOCP by default.
pub(crate) const MESSAGE_BYTES: usize = 64 << 10;

/// Bytes of a message that a configuration may allow: an expression of the greatest size, and its
/// frame.
pub(crate) const MAX_MESSAGE_BYTES: usize = wardgate_spocp::limits::MAX_BYTES + (64 << 10);

/// Connections of MQTT that have not been accepted yet. Of those beyond them, the one that has
/// waited longest is closed.
pub(crate) const MQTT_HALF_OPEN: usize = 1024;

/// Bytes that wait for a client or broker of MQTT before nothing more is read for it.
pub(crate) const MQTT_QUEUE_BYTES: usize = 256 << 10;

/// Bytes of one read of a connection of MQTT. The buffer is shared by all connections of a thread.
pub(crate) const MQTT_READ_BYTES: usize = 16 << 10;

/// The longest time of connecting to the broker.
pub(crate) const MQTT_UPSTREAM: Duration = Duration::from_secs(5);

/// The time from one look at the clock and the policies to the next, for each client of MQTT: rights
/// that are gone are noticed within a second.
pub(crate) const MQTT_TICK: Duration = Duration::from_millis(500);

/// The time between the moments at which looks begin: each thread then wakes for many clients at
/// once. Of 400 idle clients, looks at any moment took 1.2 % of a core (2026-11-24).
pub(crate) const MQTT_TICK_GRID: Duration = Duration::from_millis(50);

/// The longest time for the last bytes of a connection of MQTT.
pub(crate) const MQTT_LAST_WRITE: Duration = Duration::from_secs(2);

/// Attributes that a token gives to a client of a foreign broker.
pub(crate) const MAX_CLIENT_ATTRIBUTES: usize = 32;

/// Bytes of the name and the value of one of them.
pub(crate) const MAX_CLIENT_ATTRIBUTE_BYTES: usize = 1024;

/// Answers about messages that are kept for one client of MQTT.
pub(crate) const MQTT_ANSWERS: usize = 1024;

/// Bytes of those answers and their topics, for one client.
pub(crate) const MQTT_ANSWER_BYTES: usize = 128 << 10;

/// Bytes of those answers for all clients. Without room more is decided anew.
pub(crate) const MQTT_ALL_ANSWER_BYTES: usize = 64 << 20;

/// Bytes of the head of a frame of WebSocket (RFC 6455, section 5.2).
pub(crate) const MAX_FRAME_HEAD: usize = 14;

/// Payload bytes of a control frame of WebSocket (RFC 6455, section 5.5).
pub(crate) const MAX_CONTROL_BYTES: usize = 125;

/// Bytes of the path at which WebSocket is spoken.
pub(crate) const MAX_WEBSOCKET_PATH: usize = 256;

/// Origins of pages that may speak MQTT over WebSocket, or read answers.
pub(crate) const MAX_ORIGINS: usize = 64;

/// Headers of requests that pages of other origins may send.
pub(crate) const MAX_CORS_HEADERS: usize = 64;

/// Bytes of the answer of a server that is asked for its health.
pub(crate) const MAX_HEALTH_BYTES: usize = 64 << 10;

/// Steps of one decision on a packet of MQTT: about a millisecond on the thread of its connection.
pub(crate) const MQTT_STEPS: u32 = MAX_STEPS_IN_PLACE;

/// Changes between `BEGIN` and `COMMIT`.
pub(crate) const MAX_TRANSACTION: usize = 4096;

/// Bytes of the changes between `BEGIN` and `COMMIT`.
pub(crate) const MAX_TRANSACTION_BYTES: usize = 4 << 20;

/// The shortest interval between two syncs of the disk that a configuration may set.
pub(crate) const MIN_SYNC_INTERVAL: Duration = Duration::from_millis(1);

/// The longest one.
pub(crate) const MAX_SYNC_INTERVAL: Duration = Duration::from_secs(60);

/// Limits in the header fields of one answer; the fields of each take about 150 bytes.
pub(crate) const MAX_FIELD_LIMITS: usize = 16;

/// Bytes of the answer of a witness that are read: a few cosignatures.
pub(crate) const MAX_WITNESS_ANSWER_BYTES: usize = 64 << 10;

/// The longest pause after a witness has not cosigned; it doubles after each failure.
pub(crate) const MAX_WITNESS_PAUSE: Duration = Duration::from_secs(60);

/// The longest pause after syncs of the decision log that failed in a row; the log begins at most one segment a pause.
pub(crate) const MAX_DISK_PAUSE: Duration = Duration::from_secs(60);

/// Connections that a witness serves at once. More wait to be accepted.
pub(crate) const WITNESS_CONNECTIONS: usize = 256;

/// The longest time in which a client of a witness sends the head of its next request.
pub(crate) const WITNESS_HEAD: Duration = Duration::from_secs(30);

/// The longest time in which a client of a witness sends a request.
pub(crate) const WITNESS_BODY: Duration = Duration::from_secs(10);

/// Logs that a witness trusts.
pub(crate) const MAX_WITNESSED_LOGS: usize = 1024;
