//! Verification (FIPS 204, Algorithms 3 and 8), of one signature or of several side by side.
//!
//! Hashing uses one lane for each of several signatures. The arithmetic needs only one: it fills
//! the lanes with the polynomials of a single signature.

use wardgate_simd::lanes::{Kernel, Lanes64, Tier};

use super::commitment::{self, Packed};
use super::field::{Rows, ZEROS};
use super::level::MAX_HIGH_BYTES;
use super::signature::Signature;
use super::{PreparedKey, challenge, ntt, response};
use crate::shake::{self, Message, RATE_256};

/// A signature to verify, and either the message that is hashed to its mu, or mu itself.
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub(super) key: &'a PreparedKey,
    pub(super) signed: Signed<'a>,
    pub(super) signature: Signature<'a>,
}

/// The message that a signature claims to be over.
#[derive(Clone, Copy)]
pub(super) enum Signed<'a> {
    /// M', in pieces.
    Message([&'a [u8]; 3]),
    /// The hash of tr and M'.
    Mu(&'a [u8; MU_BYTES]),
}

/// Verifies one signature.
pub(super) struct Single<'a>(pub(super) Job<'a>);

impl Kernel for Single<'_> {
    type Output = bool;

    fn run<T: Tier>(self, tier: T) -> bool {
        let mut works = [Work::NEW];
        answer(tier, tier.narrow(), &[Some(self.0)], &mut works);
        works.iter().all(|work| work.accepted)
    }
}

/// Verifies up to [`SIDE_BY_SIDE`] signatures; `answers[i]` is the result for `jobs[i]`, and
/// `false` where there is no job.
pub(super) struct Several<'a, 'b> {
    pub(super) jobs: &'b [Option<Job<'a>>],
    pub(super) answers: &'b mut [bool],
}

impl Kernel for Several<'_, '_> {
    type Output = ();

    fn run<T: Tier>(self, tier: T) {
        let mut works = [Work::NEW; SIDE_BY_SIDE];
        answer(tier, tier, self.jobs, &mut works);
        self.answers.iter_mut().zip(&works).for_each(|(answer, work)| *answer = work.accepted);
    }
}

/// The most signatures that are verified side by side.
pub(super) const SIDE_BY_SIDE: usize = 8;

/// The intermediate results for one signature.
#[derive(Clone, Copy)]
struct Work {
    mu: [u8; MU_BYTES],
    /// The block that the challenge is sampled from.
    ball: [u8; RATE_256],
    high: Packed,
    /// True if the response is within its bound.
    bounded: bool,
    accepted: bool,
}

impl Work {
    const NEW: Self = Self {
        mu: [0; MU_BYTES],
        ball: [0; RATE_256],
        high: [0; MAX_HIGH_BYTES],
        bounded: false,
        accepted: false,
    };
}

/// Hashes with `hashing` and computes with `tier`. A slot without a job is not accepted.
#[inline(always)]
fn answer<T: Tier, H: Lanes64, const N: usize>(
    tier: T,
    hashing: H,
    jobs: &[Option<Job<'_>>],
    works: &mut [Work; N],
) {
    hash_inputs(hashing, jobs, works);
    let mut rows = ZEROS;
    for (one, work) in jobs.iter().zip(&mut *works) {
        let Some(one) = one else { continue };
        work.bounded = recompute(tier, one, work, &mut rows).is_some();
    }
    hash_commitments(hashing, jobs, works);
}

/// Hashes mu and the randomness of the challenge: both depend on the input alone.
fn hash_inputs<H: Lanes64, const N: usize>(
    hashing: H,
    jobs: &[Option<Job<'_>>],
    works: &mut [Work; N],
) {
    let mut messages = [[Message::default(); N]; 2];
    let [mus, balls] = &mut messages;
    for ((one, mu), ball) in jobs.iter().zip(mus).zip(balls) {
        let Some(one) = one else { continue };
        *mu = one.signed_message();
        *ball = Message([one.signature.challenge, &[], &[], &[]]);
    }
    let mut blocks = [[[0; RATE_256]; N]; 2];
    hash_all(hashing, messages.as_flattened(), blocks.as_flattened_mut());
    let [mus, balls] = &blocks;
    for (((one, work), mu), ball) in jobs.iter().zip(works).zip(mus).zip(balls) {
        let Some(one) = one else { continue };
        work.mu = one.mu(mu);
        work.ball = *ball;
    }
}

/// Computes the high bits of the commitment, w1 of FIPS 204; returns `None` if z is out of bounds.
fn recompute<T: Tier>(tier: T, one: &Job<'_>, work: &mut Work, rows: &mut Rows) -> Option<()> {
    let set = one.key.level.parameters();
    if !response::unpack(tier, &set, one.signature.response, rows) {
        return None;
    }
    challenge::sample(&set, (one.signature.challenge, &work.ball), set.columns, rows)?;
    ntt::forward(tier, rows);
    one.key.matrix.multiply(tier, rows);
    ntt::inverse(tier, rows);
    commitment::pack(tier, &set, rows, &mut work.high);
    for hint in one.signature.hints() {
        commitment::use_hint(&set, hint, rows, &mut work.high);
    }
    Some(())
}

/// Returns the recomputed commitment, for comparison with the oracle.
#[cfg(test)]
pub(super) fn commitment<T: Tier>(
    tier: T,
    key: &PreparedKey,
    signature: Signature<'_>,
) -> Option<alloc::vec::Vec<u8>> {
    let set = key.level.parameters();
    let mut works = [Work::NEW];
    let one = Job { key, signed: Signed::Message([&[]; 3]), signature };
    hash_inputs(tier.narrow(), &[Some(one)], &mut works);
    let [mut work] = works;
    recompute(tier, &one, &mut work, &mut ZEROS.clone())?;
    work.high.get(..set.rows * set.high_bytes()).map(Into::into)
}

/// Accepts each signature whose challenge is the hash of mu and of the commitment.
fn hash_commitments<H: Lanes64, const N: usize>(
    hashing: H,
    jobs: &[Option<Job<'_>>],
    works: &mut [Work; N],
) {
    let mut messages = [Message::default(); N];
    for ((one, work), message) in jobs.iter().zip(&*works).zip(&mut messages) {
        let Some(one) = one else { continue };
        let set = one.key.level.parameters();
        let high = work.high.get(..set.rows * set.high_bytes()).unwrap_or_default();
        *message = Message([&work.mu, high, &[], &[]]);
    }
    let mut blocks = [[0; RATE_256]; N];
    hash_all(hashing, &messages, &mut blocks);
    for ((one, work), block) in jobs.iter().zip(works).zip(&blocks) {
        let Some(one) = one else { continue };
        let challenge = one.signature.challenge;
        work.accepted = work.bounded && block.get(..challenge.len()) == Some(challenge);
    }
}

/// Hashes as many messages at a time as there are lanes.
fn hash_all<H: Lanes64>(hashing: H, messages: &[Message<'_>], blocks: &mut [[u8; RATE_256]]) {
    for (messages, blocks) in messages.chunks(H::LANES).zip(blocks.chunks_mut(H::LANES)) {
        shake::first_blocks(hashing, messages, blocks);
    }
}

impl Job<'_> {
    fn signed_message(&self) -> Message<'_> {
        match self.signed {
            Signed::Message([first, second, third]) => {
                Message([&self.key.digest, first, second, third])
            }
            Signed::Mu(_) => Message::default(),
        }
    }

    fn mu(&self, block: &[u8; RATE_256]) -> [u8; MU_BYTES] {
        match self.signed {
            Signed::Message(_) => block.first_chunk().copied().unwrap_or([0; MU_BYTES]),
            Signed::Mu(mu) => *mu,
        }
    }
}

/// The length of mu, and of tr, in bytes.
pub(super) const MU_BYTES: usize = 64;
