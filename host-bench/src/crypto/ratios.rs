//! The ratios that Wardgate promises of its cryptography, read off the figures of one run.

use super::versions::{AWS_LC, BLAKE3, CHACHA20POLY1305, LIBCRUX, RING};
use crate::measure::Figure;
use crate::report::{Ratio, Section};

/// Returns the promised ratios that were measured.
pub(crate) fn of(sections: &[Section]) -> Vec<Ratio> {
    PROMISES.iter().filter_map(|promise| promise.ratio(sections)).collect()
}

/// The promise that one row takes this many times as long as another.
struct Promise {
    section: &'static str,
    host: &'static str,
    ours: &'static str,
    /// The beginning of the names of its rows: the fastest of them counts.
    rival: &'static str,
    ratio: f64,
}

impl Promise {
    fn ratio(&self, sections: &[Section]) -> Option<Ratio> {
        let Self { section, host, ours, rival, ratio } = self;
        let section = sections.iter().find(|one| one.name == *section)?;
        let (_, figures) = section.hosts.iter().find(|(name, _)| name.starts_with(host))?;
        let found = fastest(figures, rival)? / fastest(figures, ours)?;
        let what = format!("{host}, {}: {ours} against {rival}", section.title);
        Some(Ratio { what, found, promised: *ratio })
    }
}

/// Returns the least time of the rows whose names begin so.
fn fastest(figures: &[Figure], name: &str) -> Option<f64> {
    let rows = figures.iter().filter(|figure| figure.name.starts_with(name));
    rows.map(|figure| figure.nanoseconds).min_by(f64::total_cmp)
}

const NATIVE: &str = "native";
const NODE: &str = "Node";
const VERIFY: &str = "crypto-ml-dsa-87";
const MANY: &str = "crypto-blake3-1000x64";

const PROMISES: &[Promise] = &[
    Promise {
        section: VERIFY,
        host: NODE,
        ours: "Wardgate, prepared key",
        rival: LIBCRUX,
        ratio: 10.0,
    },
    Promise {
        section: VERIFY,
        host: NATIVE,
        ours: "Wardgate, prepared key",
        rival: AWS_LC,
        ratio: 5.0,
    },
    Promise {
        section: VERIFY,
        host: NATIVE,
        ours: "Wardgate, batch of 8",
        rival: AWS_LC,
        ratio: 8.0,
    },
    Promise {
        section: VERIFY,
        host: NATIVE,
        ours: "Wardgate, batch of 128",
        rival: "all cores, batch of 128: aws-lc-rs",
        ratio: 8.0,
    },
    Promise { section: MANY, host: NATIVE, ours: "Wardgate hash_many", rival: BLAKE3, ratio: 10.0 },
    Promise {
        section: MANY,
        host: NODE,
        ours: "Wardgate hashMany, in place",
        rival: BLAKE3,
        ratio: 1.8,
    },
    Promise {
        section: "crypto-aead-65536",
        host: NODE,
        ours: "Wardgate ChaCha20-Poly1305",
        rival: CHACHA20POLY1305,
        ratio: 1.7,
    },
    Promise {
        section: "crypto-aead-64",
        host: NATIVE,
        ours: "Wardgate AEGIS-256X4",
        rival: RING,
        ratio: 1.7,
    },
    Promise {
        section: "crypto-aead-1024",
        host: NATIVE,
        ours: "Wardgate AEGIS-256X4",
        rival: RING,
        ratio: 2.5,
    },
    Promise {
        section: "crypto-aead-1048576",
        host: NATIVE,
        ours: "Wardgate AEGIS-256X4",
        rival: RING,
        ratio: 4.0,
    },
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
                let name = (*name).to_owned();
                Figure { name, side: Side::Ours, nanoseconds: *nanoseconds, requests: 0 }
            };
            let hosts = vec![("Node 20".to_owned(), rows.iter().map(figure).collect())];
            let section = Section { name: super::VERIFY.into(), hosts, ..Section::default() };
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
