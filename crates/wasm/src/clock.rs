//! The time that the host passes in, as the type of the engine.

use alloc::format;

use wardgate_engine::cel::Timestamp;
use wardgate_engine::number::decimal;

use crate::failure::{Failure, Result};

/// Converts the milliseconds since 1970 that `Date.now()` returns.
pub(crate) fn timestamp(milliseconds: f64) -> Result<Timestamp> {
    if !milliseconds.is_finite() {
        return Err(Failure::Range(format!(
            "the clock must return a finite number, found {}",
            decimal::text(milliseconds)
        )));
    }
    let whole = floor(milliseconds);
    u32::try_from(whole.rem_euclid(1000))
        .ok()
        .and_then(|rest| Timestamp::new(whole.div_euclid(1000), rest.saturating_mul(1_000_000)))
        .ok_or_else(|| {
            let milliseconds = decimal::text(milliseconds);
            Failure::Range(format!("the clock is outside the years 1 to 9999: {milliseconds}"))
        })
}

#[expect(clippy::as_conversions, reason = "saturates, and what saturates is out of range")]
fn floor(milliseconds: f64) -> i64 {
    let whole = milliseconds as i64;
    if (whole as f64) > milliseconds { whole.saturating_sub(1) } else { whole }
}
