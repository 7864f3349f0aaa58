//! Measures in this program.
//!
//! Answers are handed to the optimiser as a black box, so that no decision can be left out.

use std::hint::black_box;
use std::time::{Duration, Instant};

use alloc_tracker::{ReportOperation, Session};

use super::clock::Clock;
use super::figures::{Figures, Host, Memory, Pace};
use super::samples::{Recorder, Samples};
use super::workload::Question;

/// Decides `questions` with `decide` for about as long as `time`. There must be a question.
pub(crate) fn measure(
    questions: &[Question<'_>],
    decide: impl Fn(&Question<'_>) -> bool,
    time: Duration,
) -> Figures {
    let quarter = time / 4;
    run(questions, &decide, quarter);
    let session = Session::new().no_stdout().no_file();
    let counted = session.operation("decide");
    let span = counted.measure_thread().no_peak();
    let pace = run(questions, &decide, quarter);
    drop(span.iterations(pace.decisions.max(1)));
    let report = session.to_report();
    let counted = report.operations().next().map(|(_, counted)| counted);
    let memory = Memory::Allocated {
        times: counted.and_then(ReportOperation::allocations).unwrap_or(f64::NAN),
        bytes: counted.and_then(ReportOperation::bytes).unwrap_or(f64::NAN),
    };
    let clock = Clock::measure(pace.nanoseconds());
    let samples = sample(questions, &decide, clock.group, time / 2);
    let samples = Samples::new(&samples.counts(), &clock);
    Figures { host: Host::Native, pace, clock, samples, memory }
}

/// Decides until `time` is over, and looks at the clock seldom.
fn run(
    questions: &[Question<'_>],
    decide: &impl Fn(&Question<'_>) -> bool,
    time: Duration,
) -> Pace {
    let mut rounds = questions.iter().cycle();
    let (mut decisions, mut stretch) = (0, 1);
    let start = Instant::now();
    let mut before = Duration::ZERO;
    loop {
        for question in rounds.by_ref().take(stretch) {
            black_box(decide(black_box(question)));
        }
        decisions += stretch;
        let elapsed = start.elapsed();
        if elapsed >= time {
            let decisions = u64::try_from(decisions).unwrap_or(u64::MAX);
            return Pace { decisions, seconds: elapsed.as_secs_f64() };
        }
        if elapsed - before < STRETCH {
            stretch *= 2;
        }
        before = elapsed;
    }
}

/// Times groups of decisions until `time` is over.
fn sample(
    questions: &[Question<'_>],
    decide: &impl Fn(&Question<'_>) -> bool,
    group: u32,
    time: Duration,
) -> Recorder {
    let group = usize::try_from(group).unwrap_or(1);
    let mut recorder = Recorder::new();
    let mut rounds = questions.iter().cycle();
    let end = Instant::now() + time;
    loop {
        let start = Instant::now();
        for question in rounds.by_ref().take(group) {
            black_box(decide(black_box(question)));
        }
        let now = Instant::now();
        recorder.add(u64::try_from((now - start).as_nanos()).unwrap_or(u64::MAX));
        if now >= end {
            return recorder;
        }
    }
}

/// Decisions between two looks at the clock take at least about half of this.
const STRETCH: Duration = Duration::from_micros(100);

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use wardgate_engine::request::Request;

    use super::{Memory, Question, measure};

    fn figures(decide: impl Fn(&Question<'_>) -> bool) -> super::Figures {
        let request = Request::default();
        let questions = [Question { request: &request, action: "view" }; 3];
        measure(&questions, decide, Duration::from_millis(60))
    }

    #[test]
    fn waits_are_timed_in_full() {
        let figures = figures(|_| {
            std::thread::sleep(Duration::from_millis(1));
            true
        });
        assert!(figures.samples.quantile(1) >= 0.9e6, "{:?}", figures.samples);
        assert!(figures.pace.nanoseconds() >= 0.9e6, "{:?}", figures.pace);
        assert_eq!(figures.clock.group, 1);
    }

    #[test]
    fn allocations_are_counted_for_each_decision() {
        let check = |decide: fn(&Question<'_>) -> bool, times: f64, bytes: f64| {
            let memory = figures(decide).memory;
            let Memory::Allocated { times: t, bytes: b } = memory else { unreachable!() };
            assert_eq!((t, b), (times, bytes));
        };
        check(|question| question.action.len() == 4, 0.0, 0.0);
        check(|question| question.action.to_owned().len() == 4, 1.0, 4.0);
    }
}
