//! Sequences worked out by hand, named after what they guard against.

use wardgate_ratelimit::Window;

use crate::oracle::Oracle;
use crate::sequence::{Sequence, Step, Terms};

/// Microseconds after the start, an operation, and wait, remaining tokens and reset.
type Row = (u64, (&'static str, u64), [i64; 3]);

#[test]
fn the_oracle_equals_sequences_by_hand() {
    for sequence in sequences() {
        let mut oracle = Oracle::new(sequence.terms);
        for step in &sequence.steps {
            let outcome = oracle.apply(step.time, step.operation);
            assert_eq!(outcome, step.outcome, "{}: {step:?}", sequence.name);
        }
    }
}

pub(crate) fn sequences() -> Vec<Sequence> {
    let all = [used_up(), refused(), edges(), numbers(), clocks(), refunds(), fine(), months()];
    all.into_iter().flatten().collect()
}

fn sequence(name: &str, terms: Terms, start: u64, rows: &[Row]) -> Sequence {
    let step = |(after, operation, numbers): &Row| Step::new(start + after, *operation, *numbers);
    Sequence { name: name.to_owned(), terms, steps: rows.iter().map(step).collect() }
}

/// A limiter that counts with one command and sets the time to live with another leaves a key without
/// one when it ends in between, and that key is denied for ever.
fn used_up() -> Vec<Sequence> {
    let name = "crash between two commands: a used up key is full again by time alone";
    vec![
        sequence(
            name,
            Terms::gcra(3, MINUTE, None),
            START,
            &[
                (0, ("charge", 3), [0, 0, 60_000_000]),
                (59_999_999, ("look", 3), [1, 2, 1]),
                (60_000_000, ("look", 3), [0, 3, 0]),
                (3_000_000_000_000, ("charge", 3), [0, 0, 60_000_000]),
            ],
        ),
        sequence(
            name,
            Terms::fixed(3, Window::MINUTE),
            START,
            &[
                (0, ("charge", 3), [0, 0, 60_000_000]),
                (59_999_999, ("look", 3), [1, 0, 1]),
                (60_000_000, ("look", 3), [0, 3, 0]),
                (3_000_000_000_000, ("charge", 3), [0, 0, 60_000_000]),
            ],
        ),
        sequence(
            name,
            Terms::sliding(3, MINUTE),
            START,
            &[
                (0, ("charge", 3), [0, 0, 120_000_000]),
                (119_999_999, ("look", 3), [1, 2, 1]),
                (120_000_000, ("look", 3), [0, 3, 0]),
                (3_000_000_000_000, ("charge", 3), [0, 0, 120_000_000]),
            ],
        ),
    ]
}

fn refused() -> Vec<Sequence> {
    let name = "denied calls charging: refused charges cost nothing";
    vec![
        sequence(
            name,
            Terms::gcra(2, SECOND, None),
            START,
            &[
                (0, ("charge", 2), [0, 0, 1_000_000]),
                (0, ("charge", 1), [500_000, 0, 1_000_000]),
                (0, ("charge", 1), [500_000, 0, 1_000_000]),
                (0, ("charge", 2), [1_000_000, 0, 1_000_000]),
                (499_999, ("charge", 1), [1, 0, 500_001]),
                (500_000, ("charge", 1), [0, 0, 1_000_000]),
            ],
        ),
        sequence(
            name,
            Terms::fixed(2, Window::Micros(SECOND)),
            START,
            &[
                (0, ("charge", 2), [0, 0, 1_000_000]),
                (10, ("charge", 1), [999_990, 0, 999_990]),
                (10, ("charge", 2), [999_990, 0, 999_990]),
                (999_999, ("charge", 1), [1, 0, 1]),
                (1_000_000, ("charge", 2), [0, 0, 1_000_000]),
            ],
        ),
        sequence(
            name,
            Terms::sliding(4, SECOND),
            START,
            &[
                (0, ("charge", 4), [0, 0, 2_000_000]),
                (0, ("charge", 1), [1_250_000, 0, 2_000_000]),
                (1_000_000, ("charge", 1), [250_000, 0, 1_000_000]),
                (1_249_999, ("charge", 1), [1, 0, 750_001]),
                (1_250_000, ("charge", 1), [0, 0, 1_750_000]),
            ],
        ),
        sequence(
            "cost over the quota is never there",
            Terms::gcra(5, SECOND, None),
            START,
            &[
                (0, ("charge", 6), [-1, 5, 0]),
                (0, ("charge", 1_000_000_000_000_000), [-1, 5, 0]),
                (0, ("charge", 5), [0, 0, 1_000_000]),
                (0, ("look", 6), [-1, 0, 1_000_000]),
            ],
        ),
        sequence(
            "cost over the burst is never there",
            Terms::gcra(5, SECOND, Some(2)),
            START,
            &[(0, ("charge", 3), [-1, 2, 0]), (0, ("charge", 2), [0, 0, 400_000])],
        ),
    ]
}

fn edges() -> Vec<Sequence> {
    vec![
        sequence(
            "2x burst at an edge: a fixed window admits it",
            Terms::fixed(5, Window::Micros(SECOND)),
            START,
            &[
                (999_999, ("charge", 5), [0, 0, 1]),
                (1_000_000, ("charge", 5), [0, 0, 1_000_000]),
                (1_000_000, ("charge", 1), [1_000_000, 0, 1_000_000]),
            ],
        ),
        sequence(
            "2x burst at an edge: a sliding window refuses it",
            Terms::sliding(5, SECOND),
            START,
            &[
                (999_999, ("charge", 5), [0, 0, 1_000_001]),
                (1_000_000, ("charge", 5), [1_000_000, 0, 1_000_000]),
                (1_000_000, ("charge", 1), [200_000, 0, 1_000_000]),
                (1_200_000, ("charge", 1), [0, 0, 1_800_000]),
            ],
        ),
        sequence(
            "2x burst at an edge: GCRA has no edges",
            Terms::gcra(5, SECOND, None),
            START,
            &[
                (999_999, ("charge", 5), [0, 0, 1_000_000]),
                (1_000_000, ("charge", 5), [999_999, 0, 999_999]),
                (1_000_000, ("charge", 1), [199_999, 0, 999_999]),
                (1_199_999, ("charge", 1), [0, 0, 1_000_000]),
            ],
        ),
        sequence(
            "burst of 1: never over the quota",
            Terms::gcra(5, SECOND, Some(1)),
            START,
            &[
                (0, ("charge", 1), [0, 0, 200_000]),
                (0, ("charge", 1), [200_000, 0, 200_000]),
                (200_000, ("charge", 1), [0, 0, 200_000]),
            ],
        ),
    ]
}

/// A limiter that passes on the time to live of its store says -1 for a key without one, and 0 for
/// what is rounded down.
fn numbers() -> Vec<Sequence> {
    let terms =
        [Terms::gcra(3, MINUTE, None), Terms::fixed(3, Window::MINUTE), Terms::sliding(3, MINUTE)];
    let full: &[Row] = &[
        (0, ("look", 1), [0, 3, 0]),
        (0, ("charge", 0), [0, 3, 0]),
        (0, ("refund", 5), [0, 3, 0]),
        (0, ("refund", 0), [0, 3, 0]),
        (0, ("reset", 0), [0, 3, 0]),
    ];
    let name = "TTL -1: a key without a state is full, and its reset is 0";
    let mut all: Vec<Sequence> =
        terms.iter().map(|terms| sequence(name, *terms, START, full)).collect();
    let name = "Retry-After 0: a refused charge waits at least a microsecond";
    let rows = |end: i64| -> [Row; 3] {
        [
            (0, ("charge", 3), [0, 0, end]),
            (end as u64 - 1, ("charge", 3), [1, 2, 1]),
            (end as u64, ("charge", 3), [0, 0, end]),
        ]
    };
    all.push(sequence(name, terms[0], START, &rows(60_000_000)));
    all.push(sequence(name, terms[2], START, &rows(120_000_000)));
    all.push(sequence(
        "looks change nothing",
        terms[0],
        START,
        &[
            (0, ("charge", 1), [0, 2, 20_000_000]),
            (0, ("look", 2), [0, 2, 20_000_000]),
            (0, ("look", 3), [20_000_000, 2, 20_000_000]),
            (0, ("charge", 0), [0, 2, 20_000_000]),
            (0, ("charge", 2), [0, 0, 60_000_000]),
            (0, ("charge", 0), [0, 0, 60_000_000]),
        ],
    ));
    all
}

/// A clock that goes back stands still until it is where it was.
fn clocks() -> Vec<Sequence> {
    vec![
        sequence(
            "clock goes back: GCRA",
            Terms::gcra(2, SECOND, None),
            START,
            &[
                (10_000_000, ("charge", 2), [0, 0, 1_000_000]),
                (9_000_000, ("charge", 1), [1_500_000, 0, 2_000_000]),
                (0, ("charge", 1), [10_500_000, 0, 11_000_000]),
                (10_500_000, ("charge", 1), [0, 0, 1_000_000]),
            ],
        ),
        sequence(
            "clock goes back: fixed",
            Terms::fixed(2, Window::Micros(SECOND)),
            START,
            &[
                (10_500_000, ("charge", 1), [0, 1, 500_000]),
                (9_500_000, ("charge", 1), [0, 0, 1_500_000]),
                (9_500_000, ("charge", 1), [1_500_000, 0, 1_500_000]),
                (11_000_000, ("charge", 1), [0, 1, 1_000_000]),
            ],
        ),
        sequence(
            "clock goes back: sliding",
            Terms::sliding(4, SECOND),
            START,
            &[
                (9_000_000, ("charge", 4), [0, 0, 2_000_000]),
                (10_500_000, ("charge", 1), [0, 1, 1_500_000]),
                (9_500_000, ("look", 1), [1_000_000, 0, 2_500_000]),
                (10_500_000, ("charge", 1), [0, 0, 1_500_000]),
            ],
        ),
    ]
}

fn refunds() -> Vec<Sequence> {
    vec![
        sequence(
            "refunds end when the key is full",
            Terms::gcra(2, SECOND, None),
            START,
            &[
                (0, ("charge", 2), [0, 0, 1_000_000]),
                (0, ("refund", 1), [0, 1, 500_000]),
                (0, ("refund", 9), [0, 2, 0]),
                (0, ("charge", 2), [0, 0, 1_000_000]),
                (0, ("reset", 0), [0, 2, 0]),
            ],
        ),
        sequence(
            "refund after its window",
            Terms::fixed(2, Window::Micros(SECOND)),
            START,
            &[
                (0, ("charge", 2), [0, 0, 1_000_000]),
                (1_000_000, ("charge", 1), [0, 1, 1_000_000]),
                (1_000_000, ("refund", 2), [0, 2, 0]),
                (1_000_000, ("charge", 2), [0, 0, 1_000_000]),
            ],
        ),
        sequence(
            "refund to the window before",
            Terms::sliding(4, SECOND),
            START,
            &[
                (0, ("charge", 4), [0, 0, 2_000_000]),
                (1_000_000, ("refund", 2), [0, 2, 1_000_000]),
                (1_000_000, ("charge", 2), [0, 0, 2_000_000]),
                (1_500_000, ("refund", 3), [0, 3, 500_000]),
            ],
        ),
    ]
}

/// Intervals of a part of a microsecond.
fn fine() -> Vec<Sequence> {
    vec![
        sequence(
            "183 ticks a token",
            Terms::gcra(700_000, SECOND, None),
            START,
            &[
                (0, ("charge", 1), [0, 699_999, 2]),
                (0, ("charge", 1), [0, 699_998, 3]),
                (0, ("charge", 128), [0, 699_870, 186]),
                (186, ("look", 700_000), [0, 700_000, 0]),
            ],
        ),
        sequence(
            "a third does not shrink the burst",
            Terms::gcra(7, MINUTE, None),
            START,
            &[
                (0, ("charge", 7), [0, 0, 60_000_001]),
                (0, ("charge", 1), [8_571_429, 0, 60_000_001]),
            ],
        ),
        sequence(
            "largest",
            Terms::gcra(LARGEST, LARGEST, None),
            START,
            &[
                (0, ("charge", LARGEST), [0, 0, 1_000_000_000_000]),
                (0, ("charge", 1), [1, 0, 1_000_000_000_000]),
                (999_999_999_999, ("charge", LARGEST), [1, 999_999_999_999, 1]),
            ],
        ),
    ]
}

/// The quota comes back with the first of March, at midnight in UTC.
fn months() -> Vec<Sequence> {
    let leap = 1_709_251_200_000_000;
    let common = 1_677_628_800_000_000;
    let start = |march: u64| march - 86_400_000_000;
    let rows: [Row; 4] = [
        (0, ("charge", 1), [0, 1, 86_400_000_000]),
        (86_399_999_999, ("charge", 1), [0, 0, 1]),
        (86_399_999_999, ("charge", 1), [1, 0, 1]),
        (86_400_000_000, ("charge", 2), [0, 0, 2_678_400_000_000]),
    ];
    let terms = Terms::fixed(2, Window::Month);
    vec![
        sequence("29th of February", terms, start(leap), &rows),
        sequence("28th of February", terms, start(common), &rows),
        sequence(
            "January 1970",
            terms,
            0,
            &[
                (0, ("charge", 2), [0, 0, 2_678_400_000_000]),
                (2_678_400_000_000, ("charge", 2), [0, 0, 2_419_200_000_000]),
            ],
        ),
    ]
}

const SECOND: u64 = 1_000_000;
const MINUTE: u64 = 60_000_000;
const LARGEST: u64 = 1_000_000_000_000;

/// The start of an hour.
const START: u64 = 1_800_000_000_000_000;
