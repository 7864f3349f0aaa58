//! The tree over the records of a frame, of BLAKE3 digests.
//!
//! The digest of a leaf is that of the record, and of a node that of its two digests, 64 bytes. No
//! prefix tells leaves from nodes: the head of the frame has the number of records beside the root, so the
//! depth of each leaf is known, and a node cannot pass for one.
//!
//! # Examples
//! ```
//! use wardgate_decision_log::tree;
//!
//! let records: [&[u8]; 3] = [b"one", b"two", b"three"];
//! let path = tree::path(&records, 1).unwrap();
//! assert_eq!(tree::climb(b"two", 1, 3, &path), Some(tree::root(&records)));
//! assert_ne!(tree::climb(b"two", 0, 3, &path), Some(tree::root(&records)));
//! ```

use alloc::vec;
use alloc::vec::Vec;

use wardgate_crypto::blake3;

use crate::shape;
pub use crate::shape::Digest;

/// Returns the root of the tree over these records; of none, the digest of nothing.
#[must_use]
pub fn root(records: &[&[u8]]) -> Digest {
    let mut level = leaves(records);
    while level.len() > 1 {
        level = above(&level);
    }
    level.first().copied().unwrap_or_else(|| blake3::hash(b""))
}

/// Returns the path of a record, or `None` if there is no record at this position.
#[must_use]
pub fn path(records: &[&[u8]], position: usize) -> Option<Vec<Digest>> {
    records.get(position)?;
    let (mut level, mut at, mut path) = (leaves(records), position, Vec::new());
    while level.len() > 1 {
        path.extend(level.get(at ^ 1));
        level = above(&level);
        at >>= 1;
    }
    Some(path)
}

/// Returns the root that a path leads to, or `None` if it is none of a record at that position.
#[must_use]
pub fn climb(record: &[u8], position: u64, count: u64, path: &[Digest]) -> Option<Digest> {
    shape::climb((blake3::hash(record), position), count, path, node)
}

fn leaves(records: &[&[u8]]) -> Vec<Digest> {
    hashed(records)
}

/// Returns the level above; a digest without brother stays.
fn above(level: &[Digest]) -> Vec<Digest> {
    let (pairs, alone) = level.as_chunks::<2>();
    let pairs: Vec<&[u8]> = pairs.iter().map(|pair| pair.as_flattened()).collect();
    let mut above = hashed(&pairs);
    above.extend_from_slice(alone);
    above
}

fn hashed(messages: &[&[u8]]) -> Vec<Digest> {
    let mut digests = vec![[0; 32]; messages.len()];
    // The lengths are equal.
    let Ok(()) = blake3::hash_many(messages, &mut digests) else { return Vec::new() };
    digests
}

fn node(left: &Digest, right: &Digest) -> Digest {
    blake3::hash([*left, *right].as_flattened())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::as_conversions, reason = "small numbers of tests")]

    use alloc::format;
    use alloc::string::String;

    use super::*;

    /// The definition: RFC 6962, section 2.1, with the digests of this tree.
    fn defined(records: &[&[u8]]) -> Digest {
        match records {
            [] => blake3::hash(b""),
            [one] => blake3::hash(one),
            several => {
                let (left, right) = several.split_at(shape::split(several.len() as u64) as usize);
                node(&defined(left), &defined(right))
            }
        }
    }

    #[test]
    fn root_and_paths_are_those_of_the_definition() {
        let texts: Vec<String> = (0..70).map(|number| format!("record {number}")).collect();
        for count in 0..texts.len() {
            let records: Vec<&[u8]> = texts[..count].iter().map(|text| text.as_bytes()).collect();
            let root = root(&records);
            assert_eq!(root, defined(&records), "{count} records");
            for position in 0..count {
                let path = path(&records, position).unwrap();
                let reached = |at: usize| climb(records[position], at as u64, count as u64, &path);
                assert_eq!(reached(position), Some(root), "{position} of {count}");
                for other in (0..count).filter(|other| *other != position) {
                    assert_ne!(reached(other), Some(root), "{position} as {other} of {count}");
                }
            }
            assert_eq!(path(&records, count), None);
        }
    }

    #[test]
    fn a_node_is_no_record() {
        let records: [&[u8]; 4] = [b"a", b"b", b"c", b"d"];
        let left = [blake3::hash(b"a"), blake3::hash(b"b")];
        let right = node(&blake3::hash(b"c"), &blake3::hash(b"d"));
        assert_eq!(climb(left.as_flattened(), 0, 2, &[right]), Some(root(&records)));
        for position in 0..4 {
            assert_eq!(climb(left.as_flattened(), position, 4, &[right]), None);
        }
    }
}
