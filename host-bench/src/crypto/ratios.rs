//! The ratios that Wardgate promises of its cryptography, read off the figures of one run.

use super::versions::{AWS_LC, BLAKE3, CHACHA20POLY1305, LIBCRUX, RING, RING_CHACHA};
use crate::measure::Figure;
use crate::report::{NATIVE, Ratio, Section};

/// Returns the promised ratios that were measured.
pub(crate) fn of(sections: &[Section]) -> Vec<Ratio> {
    PROMISES.iter().filter_map(|promise| ratio(promise, sections)).collect()
}

/// The promise that a row of ours is faster than the rows of a rival: the section and the host, the
/// beginnings of the names of both, of which the fastest rows count, and the ratio of their times.
type Promise = (&'static str, &'static str, &'static str, &'static str, f64);

fn ratio((section, host, ours, rival, ratio): &Promise, sections: &[Section]) -> Option<Ratio> {
    let section = sections.iter().find(|one| one.name == *section)?;
    let (_, figures) = section.hosts.iter().find(|(name, _)| name.starts_with(host))?;
    let found = fastest(figures, rival)? / fastest(figures, ours)?;
    let what = format!("{host}, {}: {ours} against {rival}", section.title);
    Some(Ratio { what, found, promised: *ratio })
}

/// Returns the least time of the rows whose names begin so.
fn fastest(figures: &[Figure], name: &str) -> Option<f64> {
    let rows = figures.iter().filter(|figure| figure.name.starts_with(name));
    rows.map(|figure| figure.nanoseconds).min_by(f64::total_cmp)
}

const NODE: &str = "Node";
const VERIFY: &str = "crypto-ml-dsa-87";
const MANY: &str = "crypto-blake3-1000x64";

const PROMISES: &[Promise] = &[
    (VERIFY, NODE, "Wardgate, prepared key", LIBCRUX, 10.0),
    (VERIFY, NATIVE, "Wardgate, prepared key", AWS_LC, 5.0),
    (VERIFY, NATIVE, "Wardgate, batch of 8", AWS_LC, 8.0),
    (VERIFY, NATIVE, "Wardgate, batch of 128", "all cores, batch of 128: aws-lc-rs", 8.0),
    (MANY, NATIVE, "Wardgate hash_many", BLAKE3, 10.0),
    (MANY, NODE, "Wardgate hashMany, in place", BLAKE3, 1.8),
    ("crypto-aead-65536", NODE, "Wardgate ChaCha20-Poly1305", CHACHA20POLY1305, 1.7),
    ("crypto-aead-65536", NATIVE, "Wardgate ChaCha20-Poly1305", RING_CHACHA, 1.0),
    ("crypto-aead-64", NATIVE, "Wardgate AEGIS-256X4", RING, 1.7),
    ("crypto-aead-1024", NATIVE, "Wardgate AEGIS-256X4", RING, 2.5),
    ("crypto-aead-1048576", NATIVE, "Wardgate AEGIS-256X4", RING, 4.0),
];

#[cfg(test)]
mod tests {
    use super::of;
    use crate::measure::{Figure, Side};
    use crate::report::Section;

    #[test]
    fn the_fastest_row_of_a_rival_counts() {
        let check = |rows: &[(&str, f64)], expected: &[f64]| {
            let figure = |(name, nanoseconds): &(&str, f64)| {
                Figure::new((*name).to_owned(), Side::Ours, *nanoseconds)
            };
            let figures = rows.iter().map(figure).collect();
            let section = Section::new(super::VERIFY, "", "").with("Node 20", figures);
            let found: Vec<f64> = of(&[section]).iter().map(|ratio| ratio.found).collect();
            assert_eq!(found, expected);
        };
        let (ours, rival) = ("Wardgate, prepared key", "libcrux-ml-dsa 0.0.11");
        check(&[(ours, 2.0), (rival, 30.0), ("libcrux-ml-dsa 0.0.11 without SIMD", 24.0)], &[12.0]);
        // A row that was not measured gives no ratio.
        check(&[(ours, 2.0)], &[]);
        check(&[(rival, 2.0)], &[]);
    }
}
