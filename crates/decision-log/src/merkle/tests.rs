#![expect(clippy::as_conversions, reason = "small numbers of tests")]

use alloc::vec;

use super::*;

/// All leaves of a log, and the definitions of RFC 6962, section 2.1.
struct Leaves(Vec<Digest>);

impl Leaves {
    fn of(size: u64) -> Self {
        Self((0..size).map(|index| leaf(&index.to_be_bytes())).collect())
    }

    fn root(&self, start: u64, end: u64) -> Digest {
        match end - start {
            0 => empty(),
            1 => self.0[start as usize],
            count => {
                let middle = start + split(count);
                node(&self.root(start, middle), &self.root(middle, end))
            }
        }
    }

    fn inclusion(&self, index: u64, start: u64, end: u64) -> Vec<Digest> {
        if end - start == 1 {
            return Vec::new();
        }
        let middle = start + split(end - start);
        if index < middle {
            [self.inclusion(index, start, middle), vec![self.root(middle, end)]].concat()
        } else {
            [self.inclusion(index, middle, end), vec![self.root(start, middle)]].concat()
        }
    }

    fn consistency(&self, old: u64, (start, end): (u64, u64), is_whole: bool) -> Vec<Digest> {
        if old == end {
            return if is_whole { Vec::new() } else { vec![self.root(start, end)] };
        }
        let middle = start + split(end - start);
        if old <= middle {
            let rest = self.consistency(old, (start, middle), is_whole);
            [rest, vec![self.root(middle, end)]].concat()
        } else {
            let rest = self.consistency(old, (middle, end), false);
            [rest, vec![self.root(start, middle)]].concat()
        }
    }

    fn head(&self, size: u64) -> Head {
        Head { size, root: self.root(0, size) }
    }
}

impl Subtrees for Leaves {
    fn subtree(&self, level: u32, index: u64) -> Option<Digest> {
        let (start, end) = (index << level, (index + 1) << level);
        (end <= self.0.len() as u64).then(|| self.root(start, end))
    }
}

const MOST: u64 = 40;

#[test]
fn roots_are_those_of_another_implementation() {
    // The leaves and roots of the tests of Certificate Transparency (google/certificate-transparency,
    // cpp/merkletree/merkle_tree_test.cc).
    let leaves: [&[u8]; 8] = [
        b"",
        b"\x00",
        b"\x10",
        b"\x20\x21",
        b"\x30\x31",
        b"\x40\x41\x42\x43",
        b"\x50\x51\x52\x53\x54\x55\x56\x57",
        b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
    ];
    let roots = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ];
    let mut log = Frontier::default();
    for (entry, root) in leaves.into_iter().zip(roots) {
        log.append(leaf(entry), |_, _| {});
        let hex: alloc::string::String =
            log.root().iter().map(|byte| alloc::format!("{byte:02x}")).collect();
        assert_eq!(hex, root);
    }
}

#[test]
fn a_growing_log_has_the_roots_and_subtrees_of_the_definition() {
    let leaves = Leaves::of(300);
    let mut log = Frontier::default();
    for index in 0..300 {
        assert_eq!(log.head(), leaves.head(index));
        assert_eq!(Frontier::read(index, &leaves), Some(log.clone()));
        assert_eq!(root(index, &leaves), Some(log.root()));
        let mut level = 0;
        log.append(leaves.0[index as usize], |at, digest| {
            assert_eq!(at, level);
            assert_eq!(leaves.subtree(at, index >> at), Some(digest));
            level += 1;
        });
        assert_eq!(level, (index + 1).trailing_zeros() + 1);
    }
}

#[test]
fn inclusion_proofs_are_those_of_the_definition_and_prove_one_leaf() {
    let leaves = Leaves::of(MOST);
    for size in 0..=MOST {
        assert_eq!(inclusion(size, size, &leaves), None);
        for index in 0..size {
            let path = inclusion(index, size, &leaves).unwrap();
            assert_eq!(path, leaves.inclusion(index, 0, size));
            for other in 0..=size {
                let reached = climb(&other.to_be_bytes(), index, size, &path);
                assert_eq!(reached == Some(leaves.root(0, size)), other == index);
            }
        }
    }
}

#[test]
fn consistency_proofs_are_those_of_the_definition_and_prove_one_beginning() {
    let leaves = Leaves::of(MOST);
    for new in 0..=MOST {
        assert_eq!(consistency(new + 1, new, &leaves), None);
        for old in 1..=new {
            let proof = consistency(old, new, &leaves).unwrap();
            assert_eq!(proof, leaves.consistency(old, (0, new), true));
            assert!(is_consistent(leaves.head(old), leaves.head(new), &proof), "{old} {new}");
            let mut forked = leaves.head(old);
            forked.root[0] ^= 1;
            assert!(!is_consistent(forked, leaves.head(new), &proof), "{old} {new}");
            let mut forked = leaves.head(new);
            forked.root[0] ^= 1;
            assert!(!is_consistent(leaves.head(old), forked, &proof), "{old} {new}");
            let longer = [proof.as_slice(), &[[0; 32]]].concat();
            assert!(!is_consistent(leaves.head(old), leaves.head(new), &longer), "{old} {new}");
        }
    }
    assert!(is_consistent(leaves.head(0), leaves.head(9), &[]));
    assert!(!is_consistent(leaves.head(9), leaves.head(8), &[]));
    assert!(!is_consistent(leaves.head(3), leaves.head(9), &[]));
}

#[test]
fn tiles_have_the_subtrees_of_the_log() {
    use crate::tile::{Tile, Tiles, between};
    let size = 70_000;
    let leaves = Leaves::of(size);
    // Each level of tiles, as the growing log completes it.
    let (mut log, mut levels) = (Frontier::default(), vec![Vec::new(); 3]);
    for leaf in &leaves.0 {
        log.append(*leaf, |level, digest| {
            if level % 8 == 0 {
                levels[level as usize / 8].push(digest);
            }
        });
    }
    let read = |tile: Tile| {
        let from = tile.index as usize * 256;
        let digests = levels[tile.level as usize].get(from..from + usize::from(tile.width))?;
        Some(digests.as_flattened().to_vec())
    };
    assert!(between(0, size).all(|tile| read(tile).is_some()));
    let tiles = Tiles { size, read };
    assert_eq!(root(size, &tiles), Some(log.root()));
    assert_eq!(Frontier::read(size, &tiles), Some(log.clone()));
    for index in [0, 255, 256, 65_535, 65_536, 69_999] {
        let path = inclusion(index, size, &tiles).unwrap();
        assert_eq!(climb(&index.to_be_bytes(), index, size, &path), Some(log.root()), "{index}");
    }
    for old in [1, 255, 256, 257, 65_536, 65_537, 69_999, 70_000] {
        let proof = consistency(old, size, &tiles).unwrap();
        let old = Head { size: old, root: root(old, &tiles).unwrap() };
        assert!(is_consistent(old, log.head(), &proof), "{old:?}");
    }
}
