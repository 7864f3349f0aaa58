//! Times rows against each other.
//!
//! A row is warmed up, then timed in samples. The rows take turns, forwards and backwards, so that a
//! machine that grows slower or faster in the meantime favours none; the figure is the median.
//! `node/bench.mjs` measures in the same way.

use std::time::{Duration, Instant};

/// What a row is to the reader of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Wardgate.
    Ours,
    /// The rules by hand.
    Floor,
    /// What one would use instead.
    Rival,
}

/// Something that answers the requests.
pub(crate) struct Row<'a> {
    name: String,
    side: Side,
    pass: Pass<'a>,
}

/// Answers all requests and returns how many answers differ from the expected ones.
type Pass<'a> = Box<dyn Fn(&[bool]) -> usize + 'a>;

/// What was measured.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) side: Side,
    /// Median time of one decision.
    pub(crate) nanoseconds: f64,
}

impl Side {
    /// The word for it in JSON.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Floor => "floor",
            Self::Rival => "rival",
        }
    }

    pub(crate) fn of(word: &str) -> Option<Self> {
        [Self::Ours, Self::Floor, Self::Rival].into_iter().find(|side| side.word() == word)
    }
}

impl<'a> Row<'a> {
    /// A row that decides request `at` with `decide`.
    pub(crate) fn new(name: &str, side: Side, decide: impl Fn(usize) -> bool + 'a) -> Self {
        let differs = move |(at, expected): (usize, &bool)| decide(at) != *expected;
        let pass = move |expected: &[bool]| {
            expected.iter().enumerate().filter(|answer| differs(*answer)).count()
        };
        Self { name: name.to_owned(), side, pass: Box::new(pass) }
    }

    /// Runs `passes` passes.
    fn run(&self, expected: &[bool], passes: u32) -> Result<Duration, String> {
        let start = Instant::now();
        let wrong: usize = (0..passes).map(|_| (self.pass)(expected)).sum();
        let time = start.elapsed();
        if wrong == 0 { Ok(time) } else { Err(format!("{}: {wrong} wrong answers", self.name)) }
    }

    /// Runs until caches and branch predictors know the workload; returns the passes of one sample.
    fn warm_up(&self, expected: &[bool]) -> Result<u32, String> {
        let start = Instant::now();
        let mut passes = 0;
        while passes < WARM_UP_PASSES && start.elapsed() < WARM_UP {
            self.run(expected, 1)?;
            passes += 1;
        }
        let one = (start.elapsed() / passes.max(1)).max(Duration::from_nanos(1));
        let needed = SAMPLE.as_nanos().div_ceil(one.as_nanos());
        Ok(u32::try_from(needed).unwrap_or(1))
    }
}

/// Checks and times `rows`.
pub(crate) fn rows(rows: &[Row<'_>], expected: &[bool]) -> Result<Vec<Figure>, String> {
    for row in rows {
        row.run(expected, 1)?;
    }
    let mut timed = Vec::new();
    for row in rows {
        timed.push((row, row.warm_up(expected)?, Vec::new()));
    }
    for _ in 0..SAMPLES {
        for (row, passes, times) in &mut timed {
            let decisions =
                f64::from(*passes) * f64::from(u32::try_from(expected.len()).unwrap_or(1));
            times.push(row.run(expected, *passes)?.as_secs_f64() * 1e9 / decisions);
        }
        timed.reverse();
    }
    let figure = |(row, _, times): (&Row<'_>, u32, Vec<f64>)| Figure {
        name: row.name.clone(),
        side: row.side,
        nanoseconds: median(times),
    };
    Ok(timed.into_iter().map(figure).collect())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

const WARM_UP_PASSES: u32 = 100;
const WARM_UP: Duration = Duration::from_secs(1);
/// How long one sample takes at least: far above what a clock can tell apart.
const SAMPLE: Duration = Duration::from_millis(5);
/// Even, so that the rows end in the order in which they began.
const SAMPLES: u32 = 20;
