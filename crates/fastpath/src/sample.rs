//! Fast paths for tests: written by hand, or at random from the same parts.

use alloc::vec;
use alloc::vec::Vec;

use crate::frame::{Frame, word};
use crate::layout::{
    ALLOW, ALWAYS, CODE, DENY, EQUAL_CONST, EQUAL_SLOT, NEGATE, ORIGINS, PATH_WORDS, SCOPE_END,
    SIMPLE, SLOT_WORDS, code, fast_path, origin, relation,
};
use crate::record::Entry;
use crate::verify::Known;

/// Slots of every sample.
pub(crate) const SLOTS: u32 = 4;

/// Returns a section with one fast path of these entries, without verdicts.
pub(crate) fn section(flags: u32, entries: &[Entry], code: &[u32]) -> Vec<u32> {
    let mut words = vec![1, 2, flags, SLOTS, 0, index(entries.len()), 0, 1, index(code.len())];
    (0..SLOTS).for_each(|slot| words.extend([slot, 0, 0]));
    words.extend(entries.iter().flatten());
    words.extend_from_slice(code);
    words.extend(lists());
    words
}

/// Returns a section like [`section`] whose fast path has verdicts too, with more entries for them
/// at these places.
pub(crate) fn section_of_verdicts(
    entries: &[Entry],
    more: &[(Entry, u32)],
    code: &[u32],
) -> Vec<u32> {
    let mut words = section(0, entries, code);
    let start = 2 + PATH_WORDS + 4 * SLOT_WORDS + 3 * entries.len();
    let origins = 0..index(entries.len() + more.len());
    let origins = origins.map(|number| origin::word(origin::RESOURCE_RULE, number, number));
    let places = more.iter().map(|(_, place)| *place);
    let inserted: Vec<u32> =
        more.iter().flat_map(|(entry, _)| *entry).chain(origins).chain(places).collect();
    words.splice(start..start, inserted);
    words[2 + fast_path::FLAGS] = ORIGINS << 8;
    words[2 + fast_path::SLOTS] = SLOTS | SLOTS << 8;
    words[2 + fast_path::MORE] = index(more.len());
    words
}

/// Returns two lists for tests of membership: a short one and a long one.
fn lists() -> impl Iterator<Item = u32> {
    [2, word::FALSE, 16, LONG].into_iter().chain(17..17 + LONG)
}

/// The offsets of the lists.
const LISTS: [u32; 2] = [0, 3];
const LONG: u32 = 70;

pub(crate) fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap()
}

pub(crate) fn head(op: u32, a: u32, b: u32, effect: u32) -> u32 {
    op | a << 8 | b << 16 | effect << 24
}

/// A table that has every string, the slots of the samples, and programs that read slot 0.
pub(crate) struct Everything;

impl Known for Everything {
    fn has_string(&self, _: u32) -> bool {
        true
    }

    fn has_attributes(&self, _: u32) -> bool {
        true
    }

    fn has_slot(&self, slot: u32) -> bool {
        slot < SLOTS
    }

    fn reads_only(&self, _: u32, slots: &[u32]) -> bool {
        slots.contains(&0)
    }
}

/// Random frames and fast paths, the same in every run.
pub(crate) struct Random(fastrand::Rng);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        self.0.u32(..bound)
    }

    /// Returns a frame whose slots hold a few words, errors and numbers among them.
    pub(crate) fn frame(&mut self) -> Frame {
        let mut frame = Frame::new();
        for slot in 0..4 {
            let words = [
                word::MISSING,
                word::BROKEN,
                word::NULL,
                word::FALSE,
                word::TRUE,
                word::NUMBER,
                word::VALUE,
                16,
                17,
                1 << 24,
            ];
            frame.set(slot, words[self.position(words.len())]);
            frame.numbers[slot] = [0.0, -0.0, 1.5, -7.0][self.position(4)];
        }
        frame
    }

    /// Returns a fast path of equalities only.
    pub(crate) fn simple(&mut self) -> Vec<u32> {
        let entries: Vec<Entry> = (0..self.below(6)).map(|_| self.equality()).collect();
        section(SIMPLE, &entries, &[])
    }

    /// Returns a fast path with equalities, code and scopes.
    pub(crate) fn any(&mut self) -> Vec<u32> {
        let (entries, code) = self.entries();
        section(0, &entries, &code)
    }

    /// Returns such a fast path with verdicts, and its entries in their order.
    pub(crate) fn verdicts(&mut self) -> (Vec<u32>, Vec<Entry>) {
        let (all, code) = self.entries();
        let (mut entries, mut more) = (Vec::new(), Vec::new());
        for entry in &all {
            if entry[0] & 0x7f == SCOPE_END || self.below(3) > 0 {
                entries.push(*entry);
            } else {
                more.push((*entry, index(entries.len())));
            }
        }
        (section_of_verdicts(&entries, &more, &code), all)
    }

    fn entries(&mut self) -> (Vec<Entry>, Vec<u32>) {
        let (mut entries, mut code) = (Vec::new(), Vec::new());
        for _ in 0..self.below(6) {
            entries.push(match self.below(4) {
                0 => self.equality(),
                1 => [SCOPE_END, self.below(2), 0],
                _ => {
                    let at = code.len();
                    self.condition(&mut code);
                    [head(CODE, 0, self.below(3), self.effect()), index(at), self.roles()]
                }
            });
        }
        // The same memo has the same code.
        let mut first = [None; 3];
        for entry in entries.iter_mut().filter(|entry| entry[0] & 0x7f == CODE) {
            let memo = usize::try_from(entry[0] >> 16 & 3).unwrap();
            if memo != 0 {
                entry[1] = *first[memo].get_or_insert(entry[1]);
            }
        }
        (entries, code)
    }

    fn position(&mut self, length: usize) -> usize {
        self.0.usize(..length)
    }

    fn effect(&mut self) -> u32 {
        [0, ALLOW, ALLOW, DENY][self.position(4)]
    }

    fn roles(&mut self) -> u32 {
        1 + self.below(15)
    }

    fn constant(&mut self) -> u32 {
        [word::NULL, word::FALSE, word::TRUE, 16, 17][self.position(5)]
    }

    fn equality(&mut self) -> Entry {
        let negate = if self.below(4) == 0 { NEGATE } else { 0 };
        let (a, b, effect) = (self.below(SLOTS), self.below(SLOTS), self.effect());
        match self.below(4) {
            0 => [head(EQUAL_CONST, ALWAYS, 0, effect), word::TRUE, self.roles()],
            1 => [head(EQUAL_SLOT | negate, a, b, effect), 0, self.roles()],
            _ => [head(EQUAL_CONST | negate, a, 0, effect), self.constant(), self.roles()],
        }
    }

    /// Writes code: a tree of leaves.
    fn condition(&mut self, out: &mut Vec<u32>) {
        self.chain(out, 2);
        out.push(code::END);
    }

    /// Writes leaves, or shorter chains, in a chain of `all`, `any` or `none`.
    fn chain(&mut self, out: &mut Vec<u32>, depth: u32) {
        let (jump, invert) =
            [(code::JUMP_FALSE, false), (code::JUMP_TRUE, false), (code::JUMP_TRUE, true)]
                [self.position(3)];
        let mut jumps = Vec::new();
        for child in 0..=self.below(3) {
            if child > 0 {
                out.push(jump);
                jumps.push(out.len());
                out.push(0);
            }
            if depth > 0 && self.below(4) == 0 {
                self.chain(out, depth - 1);
            } else {
                self.expression(out, 2);
                out.push(head(code::LEAF, self.below(2), 0, 0));
            }
        }
        let end = out.len();
        jumps.into_iter().for_each(|position: usize| out[position] = index(end - position - 1));
        if invert {
            out.push(code::INVERT);
        }
    }

    fn expression(&mut self, out: &mut Vec<u32>, depth: u32) {
        let (a, b) = (self.below(SLOTS), self.below(SLOTS));
        match self.below(if depth == 0 { 8 } else { 11 }) {
            0 => out.extend([head(code::EQUAL_CONST, a, 0, 0), self.constant()]),
            1 => out.push(head(code::EQUAL_SLOT, a, b, 0)),
            2 => out.push(head(code::BOOL, a, 0, 0)),
            3 => out.push(head(code::HAS, a, 0, 0)),
            4 => {
                let bits = [0.0_f64, 1.5, -7.0][self.position(3)].to_bits();
                let relation = self.below(relation::UNEQUAL + 1);
                out.extend([head(code::COMPARE, a, relation, 0), low(bits), low(bits >> 32)]);
            }
            5 => out.push(head(code::COMPARE_SLOTS, a, b, self.below(4))),
            6 => out.push(head(code::PUSH, self.below(4), 0, 0)),
            7 => {
                let list = LISTS[self.position(2)];
                out.extend([head(code::MEMBER, a, 0, 0), list]);
            }
            8 => {
                self.expression(out, depth - 1);
                let strict = self.below(2);
                let turned = [code::NOT, code::NOT, code::INVERT, head(code::LEAF, strict, 0, 0)];
                out.push(turned[self.position(4)]);
            }
            joined => {
                self.expression(out, depth - 1);
                self.expression(out, depth - 1);
                out.push(if joined == 9 { code::AND } else { code::OR });
            }
        }
    }
}

fn low(bits: u64) -> u32 {
    u32::try_from(bits & u64::from(u32::MAX)).unwrap()
}
