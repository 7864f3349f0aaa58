use super::{verify, verify_list};
use crate::layout::{
    ALLOW, ALWAYS, CODE, EQUAL_CONST, EQUAL_SLOT, LONE, PATH_WORDS, PROGRAMS, SIMPLE, SLOT_WORDS,
    code,
};
use crate::record::Entry;
use crate::sample::{Everything, Random, head, index, section};

fn is_sound(flags: u32, entries: &[Entry], code: &[u32]) -> bool {
    verify(&section(flags, entries, code), &Everything).is_some()
}

#[test]
fn entries_read_only_the_slots_of_their_fast_path() {
    let check =
        |head, operand, expected| assert_eq!(is_sound(0, &[[head, operand, 1]], &[]), expected);
    check(head(EQUAL_CONST, 3, 0, ALLOW), 4, true);
    check(head(EQUAL_CONST, 4, 0, ALLOW), 4, false);
    check(head(EQUAL_CONST, ALWAYS, 0, ALLOW), 4, true);
    check(head(EQUAL_SLOT, 0, 4, ALLOW), 0, false);
    check(head(EQUAL_CONST, 0, 0, 3), 4, false);
    // Words whose equality cannot be decided by words.
    check(head(EQUAL_CONST, 0, 0, ALLOW), 1, false);
    check(head(EQUAL_CONST, 0, 0, ALLOW), 5, false);
    check(head(EQUAL_CONST, 0, 0, ALLOW), 6, false);
    check(head(EQUAL_CONST, 0, 0, ALLOW), 1 << 24, false);
    check(head(9, 0, 0, ALLOW), 0, false);
    check(head(CODE, 0, 0, ALLOW), 0, false);
}

#[test]
fn lone_slots_are_compared_with_no_other() {
    let check = |a: u32, b: u32, expected| {
        let code = [head(code::EQUAL_SLOT, a, b, 0), code::END];
        let in_code = [head(CODE, 0, 0, ALLOW), 0, 1];
        for (entry, code) in [([head(EQUAL_SLOT, a, b, ALLOW), 0, 1], &[][..]), (in_code, &code)] {
            let mut section = section(0, &[entry], code);
            // The uses of the slot 2.
            let uses = 2 + PATH_WORDS + 2 * SLOT_WORDS + 1;
            assert_eq!(section.get(uses), Some(&0));
            section.splice(uses..=uses, [LONE]);
            assert_eq!(verify(&section, &Everything).is_some(), expected, "{a} and {b}");
        }
    };
    check(0, 1, true);
    check(0, 2, false);
    check(2, 1, false);
    check(2, ALWAYS, false);
    check(2, 2, true);
}

#[test]
fn masks_leave_the_sign_free() {
    assert!(is_sound(0, &[[head(EQUAL_CONST, 0, 0, 0), 4, 0x7fff_ffff]], &[]));
    assert!(!is_sound(0, &[[head(EQUAL_CONST, 0, 0, 0), 4, 0x8000_0000]], &[]));
}

#[test]
fn code_ends_with_one_truth_and_jumps_only_where_the_stack_fits() {
    let check = |code: &[u32], expected| {
        let entry = [head(CODE, 0, 0, ALLOW), 0, 1];
        assert_eq!(is_sound(0, &[entry], code), expected, "{code:?}");
    };
    let (has, broken) = (head(code::HAS, 1, 0, 0), head(code::HAS, 9, 0, 0));
    check(&[has, code::END], true);
    check(&[broken, code::END], false);
    check(&[has], false);
    check(&[code::END], false);
    check(&[has, has, code::END], false);
    check(&[has, code::AND, code::END], false);
    check(&[has, code::JUMP_FALSE, 1, has, code::END], true);
    check(&[has, code::JUMP_FALSE, u32::MAX, has, code::END], false);
    check(&[has, code::JUMP_FALSE, 2, has, code::END], false);
    check(&[has, code::JUMP_FALSE, 0, has, code::END], false);
    check(&[head(code::PROGRAM, 0, 0, 0), 0, code::END], false);
    check(&[99, code::END], false);
}

#[test]
fn programs_are_named_in_the_flags() {
    let code = [head(code::PROGRAM, 0, 0, 0), 0, code::END];
    let entry = [head(CODE, 0, 0, ALLOW), 0, 1];
    assert!(is_sound(PROGRAMS, &[entry], &code));
    assert!(!is_sound(PROGRAMS | SIMPLE, &[entry], &code));
}

#[test]
fn a_long_list_is_not_named_without_end() {
    let long = 3;
    let check = |times, expected| {
        let code = [head(code::MEMBER, 0, 0, 0), long, code::END].repeat(times);
        assert_eq!(is_sound(0, &[], &code), expected, "{times}");
    };
    check(50, true);
    check(200, false);
}

/// For any words the proof ends, and a fast path that it accepts can be decided.
#[test]
fn damaged_fast_paths_are_refused_or_harmless() {
    use crate::code::NoPrograms;
    let mut random = Random::new(7);
    for _ in 0..50_000 {
        let mut words = if random.below(2) == 0 { random.any() } else { random.verdicts().0 };
        for _ in 0..=random.below(2) {
            let position = random.below(index(words.len()));
            let value =
                if random.below(2) == 0 { random.below(64) } else { random.below(u32::MAX) };
            words[usize::try_from(position).unwrap()] = value;
        }
        if verify(&words, &Everything).is_some() {
            for fast_path in (0..6).filter_map(|id| crate::FastPaths::new(&words).get(id)) {
                let _ = fast_path.decide(random.below(16), &random.frame(), &NoPrograms);
                let _ = fast_path.decide_classes(&[0, 1], &random.frame(), &NoPrograms);
                let _ = fast_path.verdict(&[1, 2], &random.frame(), &NoPrograms);
            }
        }
    }
}

#[test]
fn lists_name_patterns_and_sets_that_exist() {
    let check = |list: &[u32], expected: bool| {
        let mut words = section(0, &[], &[]);
        let offset = index(words.len());
        words.extend(list);
        assert_eq!(verify_list(&words, offset, &Everything).is_some(), expected, "{list:?}");
    };
    check(&[1, 1, 1, 0, 0], true);
    check(&[2, 0, 0, 0, 0], false);
    check(&[0, 2, 0, 0, 0], false);
    check(&[0, 0, 2, 0, 0], false);
    check(&[0, 0, 0, 1, 0, 7, 1, 1], true);
    check(&[0, 0, 0, 1, 0, 7, 1, 2], false);
    check(&[0, 0, 0, 1, 2 | 3 << 8, 7, 1, 0, 20, 21, 1, 1, 0, 2, 0, 1, 3, 1, 1], true);
    // Too short, patterns or sets out of order, sets of no or unknown patterns, no such fast path.
    check(&[0, 0, 0, 1, 2 | 3 << 8, 7, 1, 0, 20, 21, 1, 1, 0, 2, 0, 1, 3, 1], false);
    check(&[0, 0, 0, 0, 2, 21, 20], false);
    check(&[0, 0, 0, 0, 2 | 2 << 8, 20, 21, 2, 1, 0, 1, 1, 0], false);
    check(&[0, 0, 0, 0, 1 | 1 << 8, 20, 0, 1, 0], false);
    check(&[0, 0, 0, 0, 1 | 1 << 8, 20, 2, 1, 0], false);
    check(&[0, 0, 0, 0, 1 | 1 << 8, 20, 1, 2, 0], false);
    check(&[0, 0, 0, 0, 1 | 1 << 8, 20, 1, 0, 2], false);
    check(&[0, 0, 0, 0, u32::MAX], false);
    check(&[0, 0, 0, u32::MAX, 0], false);
    check(&[0, 0, 0, 0, 9, 20, 21, 22, 23, 24, 25, 26, 27, 28], false);
}
