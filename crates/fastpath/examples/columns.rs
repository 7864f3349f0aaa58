//! Times a batch of 1024 rows for fast paths of one and two entries, and prints nanoseconds a row.
//!
//! `cargo run --release -p wardgate-fastpath --example columns`. Checks the answers before it times
//! them. Prints the best of many runs: the time with the least interference from other programs.
#![forbid(unsafe_code)]

use std::hint::black_box;
use std::time::Instant;

use wardgate_fastpath::layout::{ALLOW, DENY, EQUAL_CONST, EQUAL_SLOT, PATH_WORDS, SIMPLE};
use wardgate_fastpath::{
    Answer, BATCH_ROWS, Batch, BatchAnswer, Columns, Entry, FastPath, FastPaths, Frame, NoPrograms,
    word,
};
use wardgate_simd::{Backend, Portable, best};

fn main() {
    let same = |a: u32, effect: u32| [EQUAL_CONST | a << 8 | effect << 24, word::TRUE, 1];
    let owner = |effect: u32| [EQUAL_SLOT | 1 << 8 | 2 << 16 | effect << 24, 0, 1];
    let fast_paths: [(&str, Vec<Entry>); 4] = [
        ("a bool", vec![same(0, ALLOW)]),
        ("an owner", vec![owner(ALLOW)]),
        ("a bool denies, an owner allows", vec![same(0, DENY), owner(ALLOW)]),
        ("two bools", vec![same(0, DENY), same(3, ALLOW)]),
    ];
    for (name, entries) in fast_paths {
        let words = section(&entries);
        let Some(fast_path) = FastPaths::new(&words).get(0) else { continue };
        println!("{name}");
        time(fast_path, Portable);
        time(fast_path, best());
        #[cfg(target_arch = "x86_64")]
        if let Some(backend) = wardgate_simd::Avx2::detect() {
            time(fast_path, backend);
        }
    }
}

fn time<B: Backend>(fast_path: FastPath<'_>, backend: B) {
    let (frame, mut columns) = filled();
    let mut once = || {
        let batch =
            Batch { frame: &frame, varying: 0b1011, rows: BATCH_ROWS, columns: &mut columns };
        fast_path.decide_columns_with(backend, 1, black_box(batch))
    };
    assert_eq!(once(), BatchAnswer::Decided);
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        for _ in 0..CALLS {
            black_box(once());
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e9);
    }
    check(fast_path, &frame, &columns);
    let rows = f64::from(CALLS) * 1024.0;
    println!("    {:<10} {:.3} ns a row", B::NAME, best / rows);
}

fn check(fast_path: FastPath<'_>, frame: &Frame, columns: &Columns) {
    let [bools, owners, others, ..] = &columns.words;
    for (row, ((bool, owner), other)) in bools.iter().zip(owners).zip(others).enumerate() {
        let mut frame = frame.clone();
        for (slot, word) in [(0, bool), (1, owner), (3, other)] {
            frame.set(slot, *word);
        }
        let allowed = fast_path.decide(1, &frame, &NoPrograms) == Answer::Allow;
        let found = columns.allowed.get(row / 64).is_some_and(|bits| bits >> (row % 64) & 1 == 1);
        assert_eq!(found, allowed, "row {row}");
    }
}

/// Returns a frame and columns: bools, owners, and bools again; every third owner is the principal.
fn filled() -> (Frame, Box<Columns>) {
    let (mut frame, mut columns) = (Frame::new(), Box::new(Columns::new()));
    frame.set(2, word::FIRST_TEMPORARY);
    let [bools, owners, others, ..] = &mut columns.words;
    for (number, cell) in (0..).zip(bools) {
        *cell = if number % 5 == 0 { word::TRUE } else { word::FALSE };
    }
    for (number, cell) in (0..).zip(owners) {
        *cell = word::FIRST_TEMPORARY + number % 3;
    }
    for (number, cell) in (0..).zip(others) {
        *cell = if number % 2 == 0 { word::TRUE } else { word::FALSE };
    }
    (frame, columns)
}

fn section(entries: &[Entry]) -> Vec<u32> {
    let slots = 4;
    let count = u32::try_from(entries.len()).unwrap_or_default();
    let entries_at = u32::try_from(PATH_WORDS).unwrap_or_default() + slots * 3;
    let mut words = vec![1, 2, SIMPLE, slots, 0, count, 1, entries_at, entries_at + 3 * count, 0];
    (0..slots).for_each(|slot| words.extend([slot, 0, 0]));
    words.extend(entries.iter().flatten());
    words
}

const RUNS: u32 = 1000;
const CALLS: u32 = 100;
