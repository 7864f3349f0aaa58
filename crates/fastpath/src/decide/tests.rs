use alloc::vec::Vec;

use super::Answer::{self, Allow, Deny, Unsure};
use super::{End, numbered};
use crate::code::{Machine, NoPrograms, Programs, Truth};
use crate::frame::{Frame, Slots, word};
use crate::layout::{
    ALLOW, ALWAYS, BY_CLASS, CODE, DENY, EQUAL_CONST, EQUAL_SLOT, PATH_WORDS, SCOPE_END, SIMPLE,
    SLOT_WORDS, code, fast_path,
};
use crate::record::{Entry, FastPaths};
use crate::sample::{Everything, Random, head, index, section};
use crate::verdict::Verdict;
use crate::verify;

const ALWAYS_ALLOW: u32 = EQUAL_CONST | ALWAYS << 8 | ALLOW << 24;
const ALWAYS_DENY: u32 = EQUAL_CONST | ALWAYS << 8 | DENY << 24;

/// Decides with both versions; if slot 0 is missing, an entry that reads it fails.
fn decide(entries: &[Entry], roles: u32) -> Answer {
    let words = section(0, entries, &[]);
    assert_eq!(verify(&words, &Everything), Some(()));
    FastPaths::new(&words).get(0).unwrap().decide(roles, &Frame::new(), &NoPrograms)
}

#[test]
fn within_a_role_a_deny_wins_and_across_roles_an_allow() {
    let allow = |roles| [ALWAYS_ALLOW, word::TRUE, roles];
    let deny = |roles| [ALWAYS_DENY, word::TRUE, roles];
    let fails = |roles| [head(EQUAL_CONST, 0, 0, ALLOW), word::TRUE, roles];
    let check = |entries: &[Entry], roles, expected| {
        assert_eq!(decide(entries, roles), expected, "{entries:?} for {roles}");
    };
    check(&[], 1, Deny);
    check(&[allow(1)], 1, Allow);
    check(&[allow(1)], 2, Deny);
    check(&[allow(1)], 0, Deny);
    check(&[allow(1), deny(1)], 1, Deny);
    check(&[deny(1), allow(3)], 3, Allow);
    check(&[fails(1)], 1, Deny);
    check(&[fails(1), allow(1)], 1, Deny);
    check(&[deny(1), fails(1), allow(2)], 3, Allow);
    // The first role decides, and a mask has no order.
    check(&[fails(1), allow(2)], 3, Unsure);
}

#[test]
fn an_allow_that_needs_consent_is_forgotten_at_the_end_of_its_scope() {
    let allow = [ALWAYS_ALLOW, word::TRUE, 1];
    let deny = [ALWAYS_DENY, word::TRUE, 1];
    let (consent, end) = ([SCOPE_END, 1, 0], [SCOPE_END, 0, 0]);
    let check = |entries: &[Entry], expected| assert_eq!(decide(entries, 1), expected);
    check(&[allow, consent], Deny);
    check(&[allow, consent, allow], Allow);
    check(&[allow, consent, deny, allow], Deny);
    check(&[allow, end, deny], Allow);
    check(&[deny, end, allow], Deny);
}

#[test]
fn numbers_are_equal_by_value_and_lists_need_the_general_path() {
    let check = |words: [u32; 2], numbers: [f64; 2], expected| {
        let mut frame = Frame::new();
        for slot in 0..2 {
            frame.set_number(slot, numbers[slot]);
            frame.set(slot, words[slot]);
        }
        for flags in [0, crate::layout::SIMPLE] {
            let words = section(flags, &[[head(EQUAL_SLOT, 0, 1, ALLOW), 0, 1]], &[]);
            let fast_path = FastPaths::new(&words).get(0).unwrap();
            assert_eq!(fast_path.decide(1, &frame, &NoPrograms), expected, "{frame:?}");
        }
    };
    check([word::NUMBER; 2], [0.0, -0.0], Allow);
    check([word::NUMBER; 2], [1.0, 2.0], Deny);
    check([word::NULL; 2], [1.0, 2.0], Allow);
    check([word::VALUE; 2], [0.0; 2], Unsure);
    check([word::VALUE, word::NULL], [0.0; 2], Deny);
    check([word::BROKEN; 2], [0.0; 2], Deny);
}

/// Slots of which only slot 0 may be read; it is `true`.
struct OnlyFirst;

impl Slots for OnlyFirst {
    fn word(&self, slot: u32) -> u32 {
        assert!([0, ALWAYS].contains(&(slot & ALWAYS)), "slot {} was read", slot & ALWAYS);
        word::TRUE
    }

    fn number(&self, _: u32) -> f64 {
        0.0
    }
}

#[test]
fn entries_of_roles_without_a_say_read_no_slot() {
    let reads = |slot, effect, roles| [head(EQUAL_CONST, slot, 0, effect), word::TRUE, roles];
    let check = |entries: &[Entry], roles, expected| {
        for flags in [0, SIMPLE] {
            let words = section(flags, entries, &[]);
            let fast_path = FastPaths::new(&words).get(0).unwrap();
            assert_eq!(fast_path.decide(roles, &OnlyFirst, &NoPrograms), expected, "{entries:?}");
        }
    };
    check(&[reads(1, DENY, 2), reads(0, ALLOW, 1), reads(1, ALLOW, 2)], 1, Allow);
    check(&[reads(0, DENY, 1), reads(1, ALLOW, 1)], 1, Deny);
    check(&[reads(1, ALLOW, 3)], 0, Deny);
}

/// Counts how often a program runs; slot 0 of the frame is its result.
struct Counted(core::cell::Cell<u32>, Option<Truth>);

impl Programs for Counted {
    fn run(&self, _: u32) -> Option<Truth> {
        self.0.set(self.0.get() + 1);
        self.1
    }
}

#[test]
fn a_program_runs_once_and_its_unknown_result_is_unsure() {
    let body = [head(code::PROGRAM, 1, 0, 0), 7, head(code::LEAF, 0, 0, 0), code::END];
    let entry = |effect, roles| [head(CODE, 0, 0, effect), 0, roles];
    let words = section(crate::layout::PROGRAMS, &[entry(0, 1), entry(ALLOW, 1)], &body);
    assert_eq!(verify(&words, &Everything), Some(()));
    let fast_path = FastPaths::new(&words).get(0).unwrap();
    let check = |truth, expected, runs| {
        let programs = Counted(core::cell::Cell::new(0), truth);
        assert_eq!(fast_path.decide(1, &Frame::new(), &programs), expected);
        assert_eq!(programs.0.get(), runs, "{truth:?}");
    };
    check(Some(Truth::True), Allow, 1);
    check(Some(Truth::False), Deny, 1);
    check(Some(Truth::Other), Deny, 1);
    check(Some(Truth::Error), Deny, 1);
    check(None, Unsure, 1);
}

#[test]
fn the_fast_version_agrees_with_the_plain_one() {
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    for _ in 0..20_000 {
        let words = random.simple();
        assert_eq!(verify(&words, &Everything), Some(()));
        let fast_path = FastPaths::new(&words).get(0).unwrap();
        let (frame, roles) = (random.frame(), random.below(16));
        let plain = fast_path.decide_all(roles, &frame, &NoPrograms);
        assert_eq!(
            fast_path.decide(roles, &frame, &NoPrograms),
            plain,
            "{words:?} {frame:?} {roles}"
        );
    }
}

/// Classes tried one after the other, in the order of the general path, give the same answer.
#[test]
fn classes_one_by_one_agree_with_the_mask() {
    let mut random = Random::new(0x2545_f491_4f6c_dd1d);
    let mut decided = 0;
    for _ in 0..20_000 {
        let words = random.any();
        assert_eq!(verify(&words, &Everything), Some(()), "{words:?}");
        let fast_path = FastPaths::new(&words).get(0).unwrap();
        let (frame, roles) = (random.frame(), random.below(16));
        let by_class = by_class(&words);
        assert_eq!(verify(&by_class, &Everything), Some(()), "{by_class:?}");
        let classes: Vec<u32> = (0..4).filter(|class| roles >> class & 1 != 0).collect();
        let one_by_one =
            FastPaths::new(&by_class).get(0).unwrap().decide_classes(&classes, &frame, &NoPrograms);
        let answer = fast_path.decide(roles, &frame, &NoPrograms);
        if answer != Unsure && one_by_one != Unsure {
            assert_eq!(answer, one_by_one, "{words:?} {frame:?} {roles}");
            decided += 1;
        }
    }
    assert!(decided > 15_000, "only {decided} of 20000 were decided");
}

/// The entries of verdicts alone are tried at their places, as if they stood among the others.
#[test]
fn verdicts_try_all_entries_in_their_order() {
    let mut random = Random::new(0x51ed_270b_9f4a_7c15);
    let mut decided = 0;
    for _ in 0..20_000 {
        let (words, all) = random.verdicts();
        assert_eq!(verify(&words, &Everything), Some(()), "{words:?}");
        let paths = FastPaths::new(&words);
        let (effects, verdicts) = (paths.get(0).unwrap(), paths.get(1).unwrap());
        assert!(effects.origins().is_empty() && effects.more().0.is_empty());
        let (frame, role) = (random.frame(), 1 << random.below(4));
        // The code is the same, so the entries of one fast path hold for the other.
        let mut machine = Machine::new(verdicts, &frame, &NoPrograms).exact();
        let end = machine.end(numbered(&all), |mask| mask & role != 0);
        let found = verdicts.verdict(&[role], &frame, &NoPrograms).map(|found| found.verdict);
        let expected = match end {
            None | Some(End::Failed) => None,
            Some(End::Silent) => Some(Verdict::Nothing),
            Some(End::Allowed(number)) => Some(Verdict::Allow(number)),
            Some(End::Denied(number)) => Some(Verdict::Deny(number)),
        };
        let entry = |verdict| match verdict {
            Verdict::Nothing => None,
            Verdict::Allow(number) | Verdict::Deny(number) => Some(number),
        };
        let entries = verdicts.entries().iter().chain(verdicts.more().0);
        let entries: Vec<&Entry> = entries.collect();
        let at = |number: u32| usize::try_from(number).unwrap();
        assert_eq!(found.is_some(), expected.is_some(), "{words:?} {frame:?} {role}");
        let found = found.and_then(entry).map(|number| *entries[at(number)]);
        let expected = expected.and_then(entry).map(|number| all[at(number)]);
        assert_eq!(found, expected, "{words:?} {frame:?} {role}");
        decided += u32::from(found.is_some());
    }
    assert!(decided > 2_000, "only {decided} of 20000 were decided by an entry");
}

/// Returns a fast path by class in which each of four classes has the entries of its bit.
fn by_class(words: &[u32]) -> Vec<u32> {
    let fast_path = FastPaths::new(words).get(0).unwrap();
    let (mut records, mut entries) = (Vec::new(), Vec::new());
    let (mut first, start) = (0, 2 + PATH_WORDS + 4 * SLOT_WORDS);
    for class in 0..4 {
        let own = fast_path
            .entries()
            .iter()
            .filter(|entry| entry[0] & 0x7f == SCOPE_END || entry[2] >> class & 1 != 0);
        let own: Vec<&Entry> = own.collect();
        records.extend([first, index(own.len())]);
        first += index(own.len());
        entries.extend(own.into_iter().flatten().copied());
    }
    let after = start + 3 * fast_path.entries().len();
    let mut out = words[..start].to_vec();
    out[2 + fast_path::FLAGS] = BY_CLASS;
    out[2 + fast_path::ENTRIES] = 4;
    out[2 + fast_path::MORE] = first;
    out[2 + fast_path::OTHERS] = 0;
    out.extend(records);
    out.extend(entries);
    out.extend(&words[after..]);
    out
}
