//! Times rows against each other.
//!
//! A row is checked, warmed up, then timed in samples. The rows take turns, forwards and backwards,
//! so that a machine that grows slower or faster in the meantime favours none; the figure is the
//! median. A row too slow for the whole workload answers as much of it as its time allows, and the
//! report gives the number. `node/measure.mjs` measures in the same way.

use std::ops::{Deref, Range};
use std::time::{Duration, Instant};

/// The role of a row for the reader of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Wardgate.
    Ours,
    /// The rules written by hand.
    Floor,
    /// A library that one would use instead.
    Rival,
}

/// Something that answers the requests.
pub struct Row<'a> {
    name: String,
    side: Side,
    requests: usize,
    pass: Pass<'a>,
}

/// Inputs for rows, and the right answer to each.
#[derive(Clone, Copy)]
pub(crate) struct Cases<'a, I> {
    pub(crate) inputs: I,
    pub(crate) expected: &'a [bool],
}

/// Answers some requests and returns how many answers differ from the expected ones.
type Pass<'a> = Box<dyn Fn(Range<usize>) -> usize + 'a>;

/// A measured row.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) side: Side,
    /// The median time of one decision, or of the unit of the section.
    pub(crate) nanoseconds: f64,
    /// The number of requests that were answered, each of them rightly; 0 where the section has
    /// none.
    pub(crate) requests: usize,
    /// The samples behind the median, in nanoseconds, by run.
    pub(crate) runs: Vec<Vec<f32>>,
}

/// The time that a row may take: long enough for a steady figure, short enough for rivals that scan
/// all rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    check: Duration,
    warm_up: Duration,
    /// A sample is far longer than the resolution of a clock.
    sample: Duration,
    slow_sample: Duration,
    samples: usize,
}

/// A row that is warm, and its times so far.
struct Timed<'r, 'a> {
    row: &'r Row<'a>,
    checked: usize,
    passes: u32,
    /// The number of requests that one pass answers.
    size: usize,
    at: usize,
    times: Vec<f64>,
}

impl Side {
    /// Returns its name in JSON.
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

impl Bounds {
    /// The bounds of figures for a report.
    pub(crate) const FULL: Self = Self {
        check: Duration::from_secs(2),
        warm_up: Duration::from_secs(1),
        sample: Duration::from_millis(5),
        slow_sample: Duration::from_millis(40),
        samples: 20,
    };

    /// The bounds of a test run of the benchmark.
    pub(crate) const QUICK: Self = Self {
        check: Duration::from_millis(300),
        warm_up: Duration::from_millis(300),
        sample: Duration::from_millis(2),
        slow_sample: Duration::from_millis(10),
        samples: 6,
    };

    /// The bounds of one of many folders of policies: the figure is a median of theirs.
    pub(crate) const FOLDER: Self = Self {
        check: Duration::from_millis(500),
        warm_up: Duration::from_millis(30),
        sample: Duration::from_millis(1),
        slow_sample: Duration::from_millis(10),
        samples: 10,
    };

    /// The same for a test run of the benchmark.
    pub(crate) const QUICK_FOLDER: Self = Self {
        warm_up: Duration::from_millis(5),
        sample: Duration::from_micros(300),
        samples: 4,
        ..Self::FOLDER
    };

    /// Returns the time for repeating a rare action.
    pub(crate) const fn check(self) -> Duration {
        self.check
    }
}

impl Figure {
    /// Makes a figure without requests.
    pub(crate) const fn new(name: String, side: Side, nanoseconds: f64) -> Self {
        Self { name, side, nanoseconds, requests: 0, runs: Vec::new() }
    }

    /// Makes a figure of the samples of several runs.
    pub(crate) fn of_runs(name: String, side: Side, runs: Vec<Vec<f32>>) -> Self {
        let all = runs.iter().flatten().map(|sample| f64::from(*sample)).collect();
        Self { name, side, nanoseconds: median(all), requests: 0, runs }
    }

    /// Returns the time that 99 % of the samples do not exceed; `None` with fewer than 100 samples.
    pub(crate) fn p99(&self) -> Option<f64> {
        self.quantile(990)
    }

    /// Returns the time that so many of a thousand samples do not exceed; `None` with too few samples to have one
    /// beyond it.
    pub(crate) fn quantile(&self, of_thousand: usize) -> Option<f64> {
        let mut samples: Vec<f32> = self.runs.iter().flatten().copied().collect();
        samples.sort_by(f32::total_cmp);
        let is_enough = samples.len() * 1000_usize.saturating_sub(of_thousand) >= 1000;
        let at = (samples.len() * of_thousand / 1000).checked_sub(1).filter(|_| is_enough)?;
        samples.get(at).copied().map(f64::from)
    }

    /// Makes a figure of the samples of one run.
    pub(crate) fn of_samples(name: String, side: Side, samples: &[f64]) -> Self {
        Self::of_runs(name, side, vec![samples.iter().map(|sample| single(*sample)).collect()])
    }
}

impl<'a, T, I: Deref<Target = [T]> + 'a> Cases<'a, I> {
    /// Makes a row that answers each input with `decide`.
    pub(crate) fn row(self, name: &str, side: Side, decide: impl Fn(&T) -> bool + 'a) -> Row<'a> {
        let Self { inputs, expected } = self;
        let pass = move |range: Range<usize>| {
            let answer = |at: usize| inputs.get(at).is_some_and(&decide);
            let expected = expected.get(range.clone()).unwrap_or_default();
            range.zip(expected).filter(|(at, expected)| answer(*at) != **expected).count()
        };
        Row::of_pass(name, side, expected.len(), pass)
    }
}

impl<'a> Row<'a> {
    /// Makes a row that answers some of `requests` requests and returns the number of wrong
    /// answers.
    pub(crate) fn of_pass(
        name: &str,
        side: Side,
        requests: usize,
        pass: impl Fn(Range<usize>) -> usize + 'a,
    ) -> Self {
        Self { name: name.to_owned(), side, requests, pass: Box::new(pass) }
    }

    /// Returns its name in a report.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Answers every request once.
    ///
    /// # Errors
    /// If an answer is wrong.
    pub fn pass(&self) -> Result<(), String> {
        self.run(&(0..self.requests), 1).map(drop)
    }

    /// Answers some requests `passes` times.
    fn run(&self, range: &Range<usize>, passes: u32) -> Result<Duration, String> {
        let start = Instant::now();
        let wrong: usize = (0..passes).map(|_| (self.pass)(range.clone())).sum();
        let time = start.elapsed();
        if wrong == 0 { Ok(time) } else { Err(format!("{}: {wrong} wrong answers", self.name)) }
    }

    /// Compares answers with the expected ones: all of them, unless the row is too slow for that.
    fn check(&self, bounds: Bounds) -> Result<usize, String> {
        let start = Instant::now();
        let (mut checked, mut size) = (0, 1);
        while checked < self.requests && start.elapsed() < bounds.check {
            let to = self.requests.min(checked + size);
            self.run(&(checked..to), 1)?;
            (checked, size) = (to, size * 2);
        }
        Ok(checked)
    }

    /// Runs until caches and branch predictors know the workload.
    fn warm_up(&self, bounds: Bounds) -> Result<Timed<'_, 'a>, String> {
        let checked = self.check(bounds)?;
        let start = Instant::now();
        let mut last = Duration::MAX;
        let mut passes = 0;
        while passes < WARM_UP_PASSES && start.elapsed() < bounds.warm_up {
            last = self.run(&(0..checked), 1)?.max(Duration::from_nanos(1));
            passes += 1;
        }
        let slow = last > bounds.slow_sample;
        let share = bounds.slow_sample.as_secs_f64() / last.as_secs_f64();
        Ok(Timed {
            row: self,
            checked,
            passes: u32::try_from(bounds.sample.as_nanos().div_ceil(last.as_nanos())).unwrap_or(1),
            size: if slow { part_of(checked, share) } else { checked },
            at: 0,
            times: Vec::new(),
        })
    }
}

impl Timed<'_, '_> {
    /// Times the next part of the workload; for all but slow rows that is all of it.
    fn sample(&mut self) -> Result<(), String> {
        if self.at + self.size > self.checked {
            self.at = 0;
        }
        let range = self.at..self.at + self.size;
        self.at += self.size;
        let time = self.row.run(&range, self.passes)?.as_secs_f64() * 1e9;
        self.times.push(time / (f64::from(self.passes) * float(self.size)));
        Ok(())
    }
}

/// Checks and times `rows`.
pub(crate) fn rows(rows: &[Row<'_>], bounds: Bounds) -> Result<Vec<Figure>, String> {
    let mut timed = rows.iter().map(|row| row.warm_up(bounds)).collect::<Result<Vec<_>, _>>()?;
    for _ in 0..bounds.samples {
        timed.iter_mut().try_for_each(Timed::sample)?;
        timed.reverse();
    }
    // An even number of turns leaves the rows in their order.
    let figure = |timed: Timed<'_, '_>| Figure {
        requests: timed.checked,
        ..Figure::of_samples(timed.row.name.clone(), timed.row.side, &timed.times)
    };
    Ok(timed.into_iter().map(figure).collect())
}

/// Times a rare action, such as loading new policies.
pub(crate) fn action(
    name: &str,
    side: Side,
    bounds: Bounds,
    act: impl Fn() -> Result<(), String>,
) -> Result<Figure, String> {
    let start = Instant::now();
    let mut times = Vec::new();
    while times.len() < bounds.samples && (times.is_empty() || start.elapsed() < bounds.check) {
        let one = Instant::now();
        act()?;
        times.push(one.elapsed().as_secs_f64() * 1e9);
    }
    Ok(Figure::of_samples(name.to_owned(), side, &times))
}

pub(crate) fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Returns `share` of `all`, at least one.
fn part_of(all: usize, share: f64) -> usize {
    (1..=all).take_while(|part| float(*part) <= float(all) * share).last().unwrap_or(1)
}

/// Rounds a time to seven digits, more than any clock here resolves.
#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "rounds, as is wanted")]
pub(crate) const fn single(time: f64) -> f32 {
    time as f32
}

/// Widens a count; those of a benchmark are small.
pub(crate) fn float(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::NAN, f64::from)
}

const WARM_UP_PASSES: u32 = 100;
