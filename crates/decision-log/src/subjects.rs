//! Keys of subjects as the file `keys.wgk` has them, one entry behind the other.
//!
//! | bytes | entry |
//! |---|---|
//! | 16 | the name of the subject, from which the id cannot be read |
//! | 32 | its key: a secret |
//! | 8 | the beginning of the BLAKE3 digest of both, which finds damage and proves nothing |

use core::array;

use wardgate_crypto::blake3;

/// The name under which the key of a subject is kept: see [`LogSecret::subject`](crate::redaction::LogSecret::subject).
pub type SubjectName = [u8; 16];

/// The random bytes of which the key of a subject is made: a secret.
pub type SubjectSecret = [u8; 32];

/// The bytes of an entry.
pub const ENTRY_BYTES: usize = COVERED_BYTES + 8;

const COVERED_BYTES: usize = 48;

/// Returns the entry of a subject.
#[must_use]
pub fn entry(name: &SubjectName, secret: &SubjectSecret) -> [u8; ENTRY_BYTES] {
    let mut covered = name.iter().chain(secret).copied();
    let covered: [u8; COVERED_BYTES] = array::from_fn(|_| covered.next().unwrap_or_default());
    let mut all = covered.into_iter().chain(blake3::hash(&covered));
    array::from_fn(|_| all.next().unwrap_or_default())
}

/// Reads an entry, or returns `None` if it is damaged.
#[must_use]
pub fn read_entry(bytes: &[u8; ENTRY_BYTES]) -> Option<(SubjectName, SubjectSecret)> {
    let (name, rest) = bytes.split_first_chunk()?;
    let secret = rest.first_chunk()?;
    (entry(name, secret) == *bytes).then_some((*name, *secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_as_it_was_written_or_not_at_all() {
        let written = entry(&[1; 16], &[2; 32]);
        assert_eq!(read_entry(&written), Some(([1; 16], [2; 32])));
        for at in 0..ENTRY_BYTES {
            let mut changed = written;
            changed[at] ^= 1;
            assert_eq!(read_entry(&changed), None, "{at}");
        }
    }
}
