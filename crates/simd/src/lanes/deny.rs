//! The switch that lets one machine test every tier: `WARDGATE_DENY=avx512,avx2`.
//!
//! It exists in test builds only. What ships reads no environment.

extern crate std;

use std::sync::OnceLock;

/// Tells whether the environment denies `tier`; it is read once.
pub(crate) fn denies(tier: &str) -> bool {
    static DENIED: OnceLock<std::string::String> = OnceLock::new();
    let denied = DENIED.get_or_init(|| std::env::var("WARDGATE_DENY").unwrap_or_default());
    denied.split(',').any(|name| name.trim() == tier)
}
