//! AVX-512 as a proof, which permits the lanes of `lanes::avx512`.

use crate::lanes::Token;
use crate::lanes::detected::{AVX, AVX2, Answer, FMA, Needs};

/// Proof that this machine has AVX-512 with its F, BW, DQ and VL parts, and that its system saves
/// the registers.
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

impl Avx512 {
    /// Detects the features, once.
    #[must_use]
    #[inline]
    pub fn detect() -> Option<Self> {
        static ANSWER: Answer = Answer::unknown();
        ANSWER.keep(|| NEEDS.are_met(Self::TIER)).then_some(Self(()))
    }
}

const NEEDS: Needs =
    Needs { first: FMA | AVX, extended: AVX2 | F | DQ | BW | VL, saved: ALL_SAVED };

// CPUID leaf 7, EBX.
const F: u32 = 1 << 16;
const DQ: u32 = 1 << 17;
const BW: u32 = 1 << 30;
const VL: u32 = 1 << 31;
// XCR0: the registers of SSE and AVX, the masks, the upper halves, and the upper sixteen registers.
const ALL_SAVED: u64 = 0b1110_0110;
