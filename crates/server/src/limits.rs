//! Every bound on what the server reads, and how long it waits.

use std::time::Duration;

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

/// How long a look for new policies waits for the next, where the configuration does not say.
pub(crate) const WATCH: Duration = Duration::from_secs(5);

/// How long accepting waits after the system had no file descriptor left.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long a TLS handshake may take.
pub(crate) const HANDSHAKE: Duration = Duration::from_secs(10);
