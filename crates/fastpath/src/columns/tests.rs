use alloc::boxed::Box;
use alloc::vec::Vec;

use super::set::BLOCK;
use super::*;
use crate::code::NoPrograms;
use crate::decide::Answer;
use crate::frame::word;
use crate::layout::{CODE, EQUAL_CONST, PATH_WORDS, SCOPE_END, SLOT_WORDS, code};
use crate::record::FastPaths;
use crate::sample::{Everything, Random, head, section};
use crate::verify;
use wardgate_simd::{Portable, best};

/// The number of allowed rows and of Unsure rows in all batches.
#[derive(Default)]
struct Counts {
    allowed: u32,
    unsure: u32,
    not_columnar: u32,
}

#[test]
fn the_portable_back_end_agrees_with_row_by_row() {
    agree(Portable, 1000);
}

#[test]
fn the_best_back_end_agrees_with_row_by_row() {
    agree(best(), 4000);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx2_agrees_with_row_by_row() {
    if let Some(backend) = wardgate_simd::Avx2::detect() {
        agree(backend, 1000);
    }
}

fn agree(backend: impl Backend, fast_paths: u32) {
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    let (mut columns, mut counts) = (missing(), Counts::default());
    for number in 0..fast_paths {
        let mut words = if number % 8 == 0 { random.simple() } else { random.any() };
        let mut roles = random.below(16);
        if number % 8 == 1 {
            widen(&mut words, &mut random);
            roles = random.below(1 << 31);
        }
        assert_eq!(verify(&words, &Everything), Some(()), "{words:?}");
        let frames = rows(&mut random);
        let varying = random.below(16);
        fill(&mut columns, &frames, varying);
        check(backend, &words, (roles, varying), &frames, &mut columns, &mut counts);
    }
    let rows = fast_paths * 200;
    assert!(counts.allowed > rows / 10 && counts.unsure > rows / 50, "too few of each answer");
    assert!(
        counts.not_columnar < fast_paths / 100,
        "{} plans were not columnar",
        counts.not_columnar
    );
}

fn check(
    backend: impl Backend,
    words: &[u32],
    (roles, varying): (u32, u32),
    frames: &[Frame],
    columns: &mut Columns,
    counts: &mut Counts,
) {
    let fast_path = FastPaths::new(words).get(0).unwrap();
    let frame = frames.first().cloned().unwrap_or_default();
    let batch = Batch { frame: &frame, varying, rows: frames.len(), columns };
    let answer = fast_path.decide_columns_with(backend, roles, batch);
    if answer == BatchAnswer::NotColumnar {
        counts.not_columnar += 1;
        return;
    }
    let doubtful = columns.unsure.iter().any(|word| *word != 0);
    assert_eq!(answer == BatchAnswer::SomeUnsure, doubtful);
    for row in 0..BATCH_ROWS {
        let bit = |set: &[u64; BLOCKS]| set[row / BLOCK] >> (row % BLOCK) & 1 == 1;
        let found = (bit(&columns.allowed), bit(&columns.unsure));
        let expected = frames
            .get(row)
            .map(|row| fast_path.decide_all(roles, &mixed(&frame, row, varying), &NoPrograms));
        let expected = expected.unwrap_or(Answer::Deny);
        assert_eq!(
            found,
            (expected == Answer::Allow, expected == Answer::Unsure),
            "row {row} of {}: roles {roles:b}, varying {varying:b}, {words:?}",
            frames.len()
        );
        counts.allowed += u32::from(found.0);
        counts.unsure += u32::from(found.1);
    }
}

/// Returns a frame with the varying slots of `row` and the other slots of `frame`.
fn mixed(frame: &Frame, row: &Frame, varying: u32) -> Frame {
    let mut mixed = frame.clone();
    for slot in (0..4).filter(|slot| varying >> slot & 1 == 1) {
        mixed.words[slot] = row.words[slot];
        mixed.numbers[slot] = row.numbers[slot];
    }
    mixed
}

fn rows(random: &mut Random) -> Vec<Frame> {
    let count = [0, 1, 63, 64, 65, 128, 700, 1024][usize::try_from(random.below(8)).unwrap()];
    (0..count).map(|_| random.frame()).collect()
}

/// Writes the rows, and leaves the cells behind them as an earlier batch wrote them.
fn fill(columns: &mut Columns, frames: &[Frame], varying: u32) {
    for (position, slot) in (0..4).filter(|slot| varying >> slot & 1 == 1).enumerate() {
        for (row, frame) in frames.iter().enumerate() {
            columns.words[position][row] = frame.words[slot];
            columns.numbers[position][row] = frame.numbers[slot];
        }
    }
}

/// Gives the entries masks of many classes.
fn widen(words: &mut [u32], random: &mut Random) {
    let (count, at) = (words[2 + 3], 2 + PATH_WORDS + 4 * SLOT_WORDS);
    for entry in 0..usize::try_from(count).unwrap() {
        words[at + 3 * entry + 2] = random.below(1 << 31);
    }
}

fn missing() -> Box<Columns> {
    Box::new(Columns::new())
}

#[test]
fn programs_classes_and_large_batches_are_not_columnar() {
    let entry = [head(EQUAL_CONST, 0, 0, ALLOW), word::TRUE, 1];
    let mut columns = missing();
    let mut check = |flags, varying, rows, expected| {
        let words = section(flags, &[entry], &[]);
        let fast_path = FastPaths::new(&words).get(0).unwrap();
        let frame = Frame::new();
        let batch = Batch { frame: &frame, varying, rows, columns: &mut columns };
        assert_eq!(fast_path.decide_columns(1, batch), expected, "{flags} {varying} {rows}");
    };
    check(0, 1, 1024, BatchAnswer::Decided);
    check(0, 0xffff, 1024, BatchAnswer::Decided);
    check(0, 0x1_ffff, 1024, BatchAnswer::NotColumnar);
    check(0, 1, 1025, BatchAnswer::NotColumnar);
    check(PROGRAMS, 1, 1, BatchAnswer::NotColumnar);
    check(BY_CLASS, 1, 1, BatchAnswer::NotColumnar);
}

#[test]
fn code_with_a_deeper_stack_is_not_columnar() {
    let check = |pushes: usize, expected| {
        let mut body: Vec<u32> = (0..pushes).map(|_| head(code::PUSH, 1, 0, 0)).collect();
        body.extend((1..pushes).map(|_| code::AND));
        body.push(code::END);
        let entries = [[head(CODE, 0, 0, ALLOW), 0, 1], [SCOPE_END, 0, 0]];
        let words = section(0, &entries, &body);
        assert_eq!(verify(&words, &Everything), Some(()));
        let (frame, mut columns) = (Frame::new(), missing());
        let batch = Batch { frame: &frame, varying: 0, rows: 70, columns: &mut columns };
        let answer = FastPaths::new(&words).get(0).unwrap().decide_columns(1, batch);
        assert_eq!(answer, expected, "{pushes}");
        let allowed = if expected == BatchAnswer::Decided { [u64::MAX, 0x3f] } else { [0, 0] };
        assert_eq!(columns.allowed[..2], allowed);
    };
    check(8, BatchAnswer::Decided);
    check(9, BatchAnswer::NotColumnar);
}
