//! A histogram whose buckets grow like the times: each is longer than the one before by one ratio.
//!
//! Its borders are preferred numbers, so that two measurements have the same borders wherever they
//! overlap. The few samples outside of the middle share the outermost buckets.

use super::samples::Samples;
use super::units::{share, time};

/// The samples above the border of the bucket before, up to `up_to` nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bucket {
    /// Without it the bucket has no end.
    pub(crate) up_to: Option<f64>,
    pub(crate) count: u64,
}

/// Returns buckets for all samples, as fine as is readable. `spacing` is the least difference
/// between two times: a narrower bucket could never be filled.
pub(crate) fn buckets(samples: &Samples, spacing: f64) -> Vec<Bucket> {
    let middle = [samples.quantile(LOW), samples.quantile(HIGH)];
    let fitting = STRIDES.iter().map(|stride| borders(middle, *stride)).find(|borders| {
        borders.len() <= MOST_BORDERS
            && matches!(borders.as_slice(), [first, second, ..] if second - first >= spacing)
    });
    let borders = fitting.unwrap_or_else(|| borders(middle, PREFERRED.len()));
    let mut from = f64::NEG_INFINITY;
    let mut buckets = Vec::new();
    for up_to in borders {
        buckets.push(Bucket { up_to: Some(up_to), count: samples.between(from, up_to) });
        from = up_to;
    }
    let count = samples.between(from, f64::INFINITY);
    buckets.push(Bucket { up_to: None, count });
    buckets
}

/// Returns every preferred number in steps of `stride` from the one at or above the low end to the
/// one at or above the high end, and at least two.
fn borders([low, high]: [f64; 2], stride: usize) -> Vec<f64> {
    let mut borders = Vec::new();
    let mut power = 1.0;
    while power < MOST {
        for preferred in PREFERRED.iter().step_by(stride) {
            let border = f64::from(*preferred) * power / LEAST;
            let is_past = borders.last().is_some_and(|last| *last >= high);
            if is_past && borders.len() >= 2 {
                return borders;
            }
            if border >= low {
                borders.push(border);
            }
        }
        power *= 10.0;
    }
    borders
}

/// A line of a histogram that is drawn.
pub(crate) struct Row {
    /// The end of the bucket.
    pub(crate) label: String,
    pub(crate) bar: String,
    /// Which part of all samples it holds.
    pub(crate) share: String,
    /// The quantiles that lie in it.
    pub(crate) marks: String,
}

/// Draws `buckets`. `marks` are the names and times of quantiles.
pub(crate) fn draw(buckets: &[Bucket], marks: &[(&str, f64)]) -> Vec<Row> {
    let total = buckets.iter().map(|bucket| bucket.count).sum();
    let most = buckets.iter().map(|bucket| bucket.count).max().unwrap_or(0);
    let mut from = f64::NEG_INFINITY;
    let mut rows = Vec::new();
    for (index, bucket) in buckets.iter().enumerate() {
        let to = bucket.up_to.unwrap_or(f64::INFINITY);
        let inside = marks.iter().filter(|(_, time)| from < *time && *time <= to);
        let label = match (index, bucket.up_to) {
            (_, None) => format!("> {}", time(from)),
            (0, Some(to)) => format!("<= {}", time(to)),
            (_, Some(to)) => time(to),
        };
        rows.push(Row {
            label,
            bar: bar(bucket.count, most),
            share: share(bucket.count, total),
            marks: inside.map(|(name, _)| *name).collect::<Vec<_>>().join(" "),
        });
        from = to;
    }
    rows
}

/// Returns a bar of the share of `count` in `most`. A count above zero is always visible.
fn bar(count: u64, most: u64) -> String {
    if count == 0 {
        return String::new();
    }
    let eighths = u128::from(count) * WIDTH * 8 / u128::from(most.max(1));
    let eighths = usize::try_from(eighths).unwrap_or(0).max(1);
    let mut bar = "█".repeat(eighths / 8);
    bar.extend(EIGHTHS.get(eighths % 8).copied().flatten());
    bar
}

/// The preferred numbers of a decade (ISO 3, series R 40), in hundredths.
const PREFERRED: [u32; 40] = [
    100, 106, 112, 118, 125, 132, 140, 150, 160, 170, 180, 190, 200, 212, 224, 236, 250, 265, 280,
    300, 315, 335, 355, 375, 400, 425, 450, 475, 500, 530, 560, 600, 630, 670, 710, 750, 800, 850,
    900, 950,
];

/// From forty buckets in a decade down to one.
const STRIDES: [usize; 6] = [1, 2, 4, 8, 20, 40];

/// More lines than this are not taken in at once.
const MOST_BORDERS: usize = 16;

/// The parts of a nanosecond in which borders begin: hundreds of them.
const LEAST: f64 = 1000.0;

/// The power of ten at which borders end: some hours.
const MOST: f64 = 1e14;

/// The middle, in millionths of all samples.
const LOW: u64 = 1_000;
const HIGH: u64 = 999_000;

/// Columns of the longest bar.
const WIDTH: u128 = 40;

const EIGHTHS: [Option<char>; 8] =
    [None, Some('▏'), Some('▎'), Some('▍'), Some('▌'), Some('▋'), Some('▊'), Some('▉')];

#[cfg(test)]
mod tests {
    use super::super::clock::Clock;
    use super::super::samples::Samples;
    use super::{Bucket, MOST_BORDERS, bar, buckets, draw};

    fn samples(readings: &[(u64, u64)]) -> Samples {
        Samples::new(readings, &Clock { cost: 0.0, step: 1.0, group: 1 })
    }

    #[test]
    fn every_sample_is_in_one_bucket() {
        let check = |readings: &[(u64, u64)]| {
            let buckets = buckets(&samples(readings), 2.0);
            let total: u64 = buckets.iter().map(|bucket| bucket.count).sum();
            assert_eq!(total, readings.iter().map(|(_, count)| count).sum::<u64>());
            assert!((3..=MOST_BORDERS + 1).contains(&buckets.len()), "{buckets:?}");
        };
        check(&[(0, 5)]);
        check(&[(1, 1)]);
        check(&[(200, 10), (230, 80), (400, 10)]);
        check(&[(7, 1), (200, 10_000), (1_000_000, 10_000)]);
        check(&[(0, 10), (1, 10), (3_600_000_000_000, 10)]);
    }

    #[test]
    fn buckets_are_as_fine_as_the_clock_and_the_screen_allow() {
        let check = |readings: &[(u64, u64)], spacing: f64, first: f64, second: f64| {
            let found = buckets(&samples(readings), spacing);
            let expected = [first, second].map(Some);
            assert_eq!([found[0].up_to, found[1].up_to], expected, "{found:?}");
        };
        check(&[(200, 10), (320, 10)], 2.0, 200.0, 212.0);
        check(&[(20, 10), (32, 10)], 2.0, 20.0, 22.4);
        check(&[(200, 10), (3200, 10)], 2.0, 200.0, 250.0);
        check(&[(200, 10), (200_000, 10)], 2.0, 250.0, 400.0);
    }

    #[test]
    fn the_middle_sets_the_borders_and_the_rest_is_kept_at_the_ends() {
        let found = buckets(&samples(&[(3, 1), (100, 99_998), (9_000, 1)]), 2.0);
        let ends = [found.first(), found.last()].map(|bucket| bucket.map(|it| it.count));
        assert_eq!((ends, found.len()), ([Some(99_999), Some(1)], 3), "{found:?}");
    }

    #[test]
    fn whatever_is_there_can_be_seen() {
        let check = |count: u64, expected: &str| assert_eq!(bar(count, 320), expected);
        check(0, "");
        check(1, "▏");
        check(8, "█");
        check(12, "█▌");
        assert_eq!(bar(7, 7).chars().count(), 40);
        assert_eq!(bar(1, u64::MAX), "▏");
    }

    #[test]
    fn rows_name_the_end_of_their_bucket_and_its_quantiles() {
        let buckets = [
            Bucket { up_to: Some(200.0), count: 90 },
            Bucket { up_to: Some(250.0), count: 0 },
            Bucket { up_to: None, count: 10 },
        ];
        let rows = draw(&buckets, &[("p50", 190.0), ("p99", 300.0), ("p99.9", 4000.0)]);
        let words: Vec<_> =
            rows.iter().map(|it| [it.label.as_str(), &it.share, &it.marks]).collect();
        let expected = [
            ["<= 200 ns", "90.0 %", "p50"],
            ["250 ns", "", ""],
            ["> 250 ns", "10.0 %", "p99 p99.9"],
        ];
        assert_eq!(words, expected);
    }
}
