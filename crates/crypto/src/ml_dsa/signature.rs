//! The parts of a signature (FIPS 204, Algorithm 27), checked before any computation with them.

use super::level::{Level, Parameters};

/// A signature whose length and hints are those of its level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signature<'a> {
    /// The challenge, c tilde.
    pub(super) challenge: &'a [u8],
    /// The response, z; the bytes after it in the signature may be read with it.
    pub(super) response: &'a [u8],
    hints: Hints<'a>,
}

impl<'a> Signature<'a> {
    /// Splits the bytes of a signature; returns `None` if they are malformed.
    pub(super) fn decode(level: Level, bytes: &'a [u8]) -> Option<Self> {
        if bytes.len() != level.signature_bytes() {
            return None;
        }
        let set = level.parameters();
        let (challenge, response) = bytes.split_at_checked(set.challenge_bytes)?;
        let hints = response.get(set.columns * set.response_bytes()..)?;
        Some(Self { challenge, response, hints: Hints::decode(&set, hints)? })
    }

    /// Returns the hints, polynomial after polynomial.
    pub(super) fn hints(&self) -> impl Iterator<Item = (usize, u8)> {
        let mut begin = 0;
        self.hints.ends.iter().enumerate().flat_map(move |(row, end)| {
            let positions = self.hints.positions.get(begin..usize::from(*end)).unwrap_or_default();
            begin = usize::from(*end);
            positions.iter().map(move |position| (row, *position))
        })
    }
}

/// The coefficients that have a hint: the positions of all polynomials, and where those of each
/// end.
#[derive(Clone, Copy, Debug)]
struct Hints<'a> {
    positions: &'a [u8],
    ends: &'a [u8],
}

impl<'a> Hints<'a> {
    /// FIPS 204, Algorithm 21: positions rise strictly within a polynomial, ends never fall, and
    /// unused bytes are zero. Otherwise one signature could be written in several ways.
    fn decode(set: &Parameters, bytes: &'a [u8]) -> Option<Self> {
        let (positions, ends) = bytes.split_at_checked(set.max_hints)?;
        let mut begin = 0;
        for end in ends.iter().copied().map(usize::from) {
            let own = positions.get(begin..end)?;
            if !own.is_sorted_by(|left, right| left < right) {
                return None;
            }
            begin = end;
        }
        let unused = positions.get(begin..)?;
        unused.iter().all(|position| *position == 0).then_some(Self { positions, ends })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use std::vec;

    #[test]
    fn hints_have_one_spelling() {
        check(&[], &[0, 0, 0, 0], Some(&[]));
        check(&[0], &[1, 1, 1, 1], Some(&[(0, 0)]));
        check(&[3, 9, 1], &[2, 2, 3, 3], Some(&[(0, 3), (0, 9), (2, 1)]));
        check(&[9, 3], &[2, 2, 2, 2], None);
        check(&[3, 3], &[2, 2, 2, 2], None);
        check(&[3, 3], &[1, 2, 2, 2], Some(&[(0, 3), (1, 3)]));
        check(&[3, 9], &[2, 1, 2, 2], None);
        check(&[3, 9], &[1, 1, 1, 1], None);
        check(&[3], &[1, 1, 1, 0], None);
        check(&[], &[0, 0, 0, 81], None);
        check(&[], &[255, 255, 255, 255], None);
    }

    #[test]
    fn as_many_hints_as_the_level_allows() {
        let positions: Vec<u8> = (0..80).collect();
        let hints: Vec<(usize, u8)> = (0..80).map(|position| (3, position)).collect();
        check(&positions, &[0, 0, 0, 80], Some(&hints));
    }

    #[test]
    fn a_wrong_length_is_no_signature() {
        for level in [Level::MlDsa44, Level::MlDsa65, Level::MlDsa87] {
            let right = level.signature_bytes();
            for (length, accepted) in
                [(0, false), (right - 1, false), (right, true), (right + 1, false)]
            {
                assert_eq!(Signature::decode(level, &vec![0; length]).is_some(), accepted);
            }
        }
    }

    /// Decodes a signature of ML-DSA-44 with these positions, padded with zeros, and these ends.
    fn check(positions: &[u8], ends: &[u8], expected: Option<&[(usize, u8)]>) {
        let mut bytes = vec![0; Level::MlDsa44.signature_bytes()];
        let begin = bytes.len() - 84;
        bytes[begin..begin + positions.len()].copy_from_slice(positions);
        bytes[begin + 80..].copy_from_slice(ends);
        let found = Signature::decode(Level::MlDsa44, &bytes);
        let found = found.map(|signature| signature.hints().collect::<Vec<_>>());
        assert_eq!(found.as_deref(), expected, "{positions:?} {ends:?}");
    }
}
