//! The switch that lets one machine test every tier: `WARDGATE_DENY=avx512,avx2`.
//!
//! It exists in test builds only. Released builds read no environment.

extern crate std;

use std::sync::OnceLock;

/// Returns true if the environment denies `tier`; the environment is read once.
pub(crate) fn denies(tier: &str) -> bool {
    static DENIED: OnceLock<std::string::String> = OnceLock::new();
    let denied = DENIED.get_or_init(|| std::env::var("WARDGATE_DENY").unwrap_or_default());
    denied.split(',').any(|name| name.trim() == tier)
}
