//! Rules: checked once, when they are made.

use core::fmt;
use core::num::NonZeroU64;

use crate::fixed::Fixed;
use crate::gcra::Gcra;
use crate::limits::{MAX_BURST_TICKS, MAX_TOKENS, MAX_WINDOW, PARTS, TICKS};
use crate::outcome::{Operation, Outcome};
use crate::sliding::Sliding;
use crate::state::{State, bounded};
use crate::transition::apply;

/// A rate limit that can be computed with: at most 10^12 tokens, a window of at most 366 days, and
/// at most one token a microsecond.
///
/// # Examples
/// ```
/// use wardgate_ratelimit::{Admission, Algorithm, Operation, Rule, State, Window};
///
/// let rule = Rule::new(Algorithm::Gcra { burst: Some(2) }, 60, Window::MINUTE)?;
/// let (mut state, mut outcome) = rule.apply(State::NONE, 0, Operation::Charge(2));
/// assert_eq!((outcome.is_allowed(), outcome.remaining), (true, 0));
/// (state, outcome) = rule.apply(state, 0, Operation::Charge(1));
/// assert_eq!(outcome.admission, Admission::After { micros: 1_000_000 });
/// (_, outcome) = rule.apply(state, 1_000_000, Operation::Charge(1));
/// assert!(outcome.is_allowed());
/// # Ok::<(), wardgate_ratelimit::RuleError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Gcra(Gcra),
    Fixed(Fixed),
    Sliding(Sliding),
}

/// The algorithm by which a rule counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// The generic cell rate algorithm: tokens come back one by one.
    Gcra {
        /// The tokens of a full key; the quota if None.
        burst: Option<u64>,
    },
    /// A count for each window, aligned to UTC.
    Fixed,
    /// The counts of this window and of the one before, weighted by the part of it that a window
    /// ending now would contain.
    Sliding,
}

/// The duration for which a quota holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// That many microseconds. Fixed and sliding windows begin at multiples of it since 1970.
    Micros(u64),
    /// A month of the calendar in UTC, of fixed windows only.
    Month,
}

impl Window {
    /// A minute.
    pub const MINUTE: Self = Self::Micros(60_000_000);
    /// An hour.
    pub const HOUR: Self = Self::Micros(3_600_000_000);
    /// A day of 24 hours, in UTC.
    pub const DAY: Self = Self::Micros(86_400_000_000);
}

impl Rule {
    /// Makes a rule that admits `quota` tokens in a window.
    ///
    /// # Errors
    /// Returns the first bound that the numbers exceed.
    pub const fn new(algorithm: Algorithm, quota: u64, window: Window) -> Result<Self, RuleError> {
        if quota == 0 {
            return Err(RuleError::NoQuota);
        }
        if quota > MAX_TOKENS {
            return Err(RuleError::QuotaTooLarge { quota });
        }
        let micros = match window {
            Window::Month if matches!(algorithm, Algorithm::Fixed) => {
                return Ok(Self(Kind::Fixed(Fixed::month(quota))));
            }
            Window::Month => return Err(RuleError::MonthNotFixed),
            Window::Micros(micros) => micros,
        };
        let Some(length) = NonZeroU64::new(micros) else { return Err(RuleError::NoWindow) };
        if micros > MAX_WINDOW {
            return Err(RuleError::WindowTooLong { micros });
        }
        if quota > micros {
            return Err(RuleError::TooFast { quota, micros });
        }
        match algorithm {
            Algorithm::Gcra { burst } => Self::gcra(quota, micros, burst),
            Algorithm::Fixed => Ok(Self(Kind::Fixed(Fixed::new(quota, length)))),
            Algorithm::Sliding => Self::sliding(quota, length),
        }
    }

    const fn gcra(quota: u64, micros: u64, burst: Option<u64>) -> Result<Self, RuleError> {
        let burst = match burst {
            Some(0) => return Err(RuleError::NoBurst),
            Some(burst) if burst > MAX_TOKENS => return Err(RuleError::BurstTooLarge { burst }),
            Some(burst) => burst,
            None => quota,
        };
        let interval = micros.saturating_mul(TICKS).div_ceil(quota);
        let Some(interval) = NonZeroU64::new(interval) else { return Err(RuleError::NoWindow) };
        if burst.saturating_mul(interval.get()) > MAX_BURST_TICKS {
            return Err(RuleError::BurstTooLong { burst });
        }
        Ok(Self(Kind::Gcra(Gcra::new(interval, burst))))
    }

    const fn sliding(quota: u64, length: NonZeroU64) -> Result<Self, RuleError> {
        // Two counts below the radix fit below the parts of one window.
        let radix = length.get().saturating_mul(PARTS).isqrt();
        let Some(radix) = NonZeroU64::new(radix) else { return Err(RuleError::NoWindow) };
        if quota >= radix.get() {
            let most = radix.get().saturating_sub(1);
            return Err(RuleError::QuotaNotSliding { quota, most });
        }
        Ok(Self(Kind::Sliding(Sliding::new(quota, length, radix))))
    }

    /// Applies an operation to a state at a time in microseconds, which for fixed and sliding windows
    /// count from 1970. Returns the state after it, which is the state before where a charge is
    /// refused.
    #[inline]
    pub fn apply(&self, state: State, now: u64, operation: Operation) -> (State, Outcome) {
        let now = bounded(now);
        match &self.0 {
            Kind::Gcra(rule) => apply(rule, state, now, operation),
            Kind::Fixed(rule) => apply(rule, state, now, operation),
            Kind::Sliding(rule) => apply(rule, state, now, operation),
        }
    }

    /// Returns the tokens of a full key, which no cost may exceed.
    pub const fn capacity(&self) -> u64 {
        match &self.0 {
            Kind::Gcra(rule) => rule.burst(),
            Kind::Fixed(rule) => rule.quota(),
            Kind::Sliding(rule) => rule.quota(),
        }
    }
}

/// A bound that a rule exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleError {
    /// The quota is 0: such a rule would admit nothing, which is for a policy to say.
    NoQuota,
    /// The quota is above [`MAX_TOKENS`].
    QuotaTooLarge {
        /// The quota.
        quota: u64,
    },
    /// The window is 0.
    NoWindow,
    /// The window is above [`MAX_WINDOW`].
    WindowTooLong {
        /// The window.
        micros: u64,
    },
    /// The rule admits more than one token a microsecond.
    TooFast {
        /// The quota.
        quota: u64,
        /// The window.
        micros: u64,
    },
    /// The burst is 0.
    NoBurst,
    /// The burst is above [`MAX_TOKENS`].
    BurstTooLarge {
        /// The burst.
        burst: u64,
    },
    /// An empty key would need more than 407 days to be full.
    BurstTooLong {
        /// The burst.
        burst: u64,
    },
    /// The window is a month, and the algorithm has no windows of the calendar.
    MonthNotFixed,
    /// The counts of two sliding windows do not fit into a state.
    QuotaNotSliding {
        /// The quota.
        quota: u64,
        /// The largest one for this window.
        most: u64,
    },
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoQuota => f.write_str("expected a quota of at least 1, found 0"),
            Self::QuotaTooLarge { quota } => {
                write!(f, "expected a quota of at most {MAX_TOKENS}, found {quota}")
            }
            Self::NoWindow => f.write_str("expected a window of at least 1 microsecond, found 0"),
            Self::WindowTooLong { micros } => {
                write!(f, "expected a window of at most 366 days, found {micros} microseconds")
            }
            Self::TooFast { quota, micros } => {
                write!(f, "expected at most 1 token a microsecond, found {quota} in {micros}")
            }
            Self::NoBurst => f.write_str("expected a burst of at least 1, found 0"),
            Self::BurstTooLarge { burst } => {
                write!(f, "expected a burst of at most {MAX_TOKENS}, found {burst}")
            }
            Self::BurstTooLong { burst } => {
                write!(f, "expected a burst that comes back within 407 days, found {burst}")
            }
            Self::MonthNotFixed => f.write_str("a month is a window of the algorithm `fixed` only"),
            Self::QuotaNotSliding { quota, most } => {
                write!(
                    f,
                    "expected a quota of at most {most} for this sliding window, found {quota}"
                )
            }
        }
    }
}

impl core::error::Error for RuleError {}
