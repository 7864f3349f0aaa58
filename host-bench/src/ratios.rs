//! The ratios that Wardgate promises, read off the figures of one run.

use crate::measure::{Figure, Side};
use crate::report::{Ratio, Section};

/// Returns the ratios of `promises` that were measured.
pub(crate) fn of<'p>(
    promises: impl IntoIterator<Item = &'p Promise>,
    sections: &[Section],
) -> Vec<Ratio> {
    promises.into_iter().filter_map(|promise| ratio(promise, sections)).collect()
}

/// The promise that a row of ours is faster than rows of others: the section and the host, the
/// beginning of the names of ours, the others, and the ratio of their times. The fastest rows count.
pub(crate) type Promise = (&'static str, &'static str, &'static str, Others, f64);

/// The rows that ours is compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Others {
    /// Those of one rival, by the beginning of their names.
    Named(&'static str),
    /// Those of all rivals that end so.
    #[cfg_attr(not(feature = "mqtt"), allow(dead_code, reason = "rate limits have one rival"))]
    All(&'static str),
}

fn ratio((section, host, ours, others, ratio): &Promise, sections: &[Section]) -> Option<Ratio> {
    let section = sections.iter().find(|one| one.name == *section)?;
    let (_, figures) = section.hosts.iter().find(|(name, _)| name.starts_with(host))?;
    let of_ours = fastest(figures, |row| row.name.starts_with(ours))?;
    let (found, rival) = match others {
        Others::Named(name) => (fastest(figures, |row| row.name.starts_with(name))?, *name),
        Others::All(end) => {
            let is_other = |row: &Figure| row.side == Side::Rival && row.name.ends_with(end);
            (fastest(figures, is_other)?, "all others")
        }
    };
    let what = format!("{host}, {}: {ours} against {rival}", section.title);
    Some(Ratio { what, found: found / of_ours, promised: *ratio })
}

/// Returns the least time of some rows.
fn fastest(figures: &[Figure], is_one: impl Fn(&Figure) -> bool) -> Option<f64> {
    let rows = figures.iter().filter(|figure| is_one(figure));
    rows.map(|figure| figure.nanoseconds).min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::{Others, Promise, of};
    use crate::measure::{Figure, Side};
    use crate::report::Section;

    #[test]
    fn the_fastest_row_of_a_rival_counts() {
        let check = |others: Others, rows: &[(&str, f64)], expected: &[f64]| {
            let figure = |(name, nanoseconds): &(&str, f64)| {
                let side = if name.starts_with("Wardgate") { Side::Ours } else { Side::Rival };
                Figure::new((*name).to_owned(), side, *nanoseconds)
            };
            let figures = rows.iter().map(figure).collect();
            let section = Section::new("x", "", "").with("Node 20", figures);
            let promise: Promise = ("x", "Node", "Wardgate, prepared key", others, 10.0);
            let found: Vec<f64> = of(&[promise], &[section]).iter().map(|one| one.found).collect();
            assert_eq!(found, expected);
        };
        let (ours, rival) = ("Wardgate, prepared key", "libcrux 0.0.11");
        let named = Others::Named("libcrux 0.0.11");
        check(named, &[(ours, 2.0), (rival, 30.0), ("libcrux 0.0.11 without SIMD", 24.0)], &[12.0]);
        check(Others::All(""), &[(ours, 2.0), (rival, 30.0), ("another", 8.0)], &[4.0]);
        check(Others::All("11"), &[(ours, 2.0), (rival, 30.0), ("another", 8.0)], &[15.0]);
        // A row that was not measured gives no ratio.
        check(named, &[(ours, 2.0)], &[]);
        check(named, &[(rival, 2.0)], &[]);
    }
}
