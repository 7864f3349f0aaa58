//! The measurements of one host.

use super::clock::Clock;
use super::samples::Samples;
use super::units::approximate;

/// The figures of a host.
pub(crate) struct Figures {
    pub(crate) host: Host,
    pub(crate) pace: Pace,
    pub(crate) clock: Clock,
    pub(crate) samples: Samples,
    pub(crate) memory: Memory,
}

/// The host that decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// In this program.
    Native,
    /// In WebAssembly in this version of Node.
    Node(String),
}

/// Decisions one after the other, and the seconds that they took together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) decisions: u64,
    pub(crate) seconds: f64,
}

/// The memory use of decisions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Memory {
    /// The average allocations of one decision.
    Allocated { times: f64, bytes: f64 },
    /// The figures that JavaScript provides.
    Grown(Growth),
}

/// The heap of JavaScript, and the linear memory of the module. All are bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    /// Taken from the heap by each decision, on average, until the collector takes it back.
    pub(crate) heap_per_decision: f64,
    /// The memory that the collector could not free after all decisions. It may be negative.
    pub(crate) heap: f64,
    /// The size of the linear memory at the end.
    pub(crate) linear_size: u64,
    /// By how much the linear memory grew.
    pub(crate) linear: u64,
}

impl Host {
    /// The name of the host, as `--host` takes it.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Node(_) => "node",
        }
    }
}

impl Pace {
    /// Returns the nanoseconds of one decision.
    pub(crate) fn nanoseconds(&self) -> f64 {
        self.seconds * 1e9 / approximate(self.decisions.max(1))
    }

    /// Returns how many decisions a second has room for.
    pub(crate) fn per_second(&self) -> f64 {
        approximate(self.decisions) / self.seconds.max(1e-9)
    }
}
