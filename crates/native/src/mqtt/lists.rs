//! From regions that are allowed to lists of filters.
//!
//! A region is a filter without others, so its filter alone is too wide. Filters that allow are
//! taken only if all that they share with regions that are not allowed is within filters that deny:
//! since each topic is in one region, what the lists allow is then in a region that is allowed. That
//! is the whole proof; which filters are tried is a matter of short lists. Patterns of the policies
//! come first, so that the lists look like them.

use std::cmp::Reverse;

use wardgate_mqtt::{Cover, Filter, Level, OwnedFilter, cover, overlap};

use super::grants::Shortfall;
use super::regions::{Explored, Region, Work, is_internal};

/// Lists of filters.
pub(super) struct Lists {
    pub(super) allow: Vec<String>,
    pub(super) deny: Vec<String>,
    /// True if topics that begin with `$` are allowed unless a filter denies them.
    pub(super) internal: bool,
    /// The reason why topics of regions that are allowed are not in the lists.
    pub(super) shortfall: Option<Shortfall>,
}

/// Returns the lists for the allowed regions.
pub(super) fn of(explored: &Explored) -> Lists {
    let patterns: Vec<Filter<'_>> = explored.patterns.iter().map(OwnedFilter::filter).collect();
    let allows_internal = explored.allowed.iter().any(|region| region.base.is_none());
    let regions = Regions { explored, work: &explored.work, allows_internal };
    let deny = regions.denied(&patterns);
    let allow = regions.allowed(&patterns, &deny);
    let deny = regions.needed(&deny, &allow);
    let internal = allows_internal && regions.is_internal_safe(&deny);
    let shortfall = regions.shortfall((&allow, internal), &deny);
    Lists { allow: texts(&allow), deny: texts(&deny), internal, shortfall }
}

struct Regions<'e> {
    explored: &'e Explored,
    work: &'e Work,
    /// True if the region of all other topics that begin with `$` is allowed.
    allows_internal: bool,
}

impl<'e> Regions<'e> {
    /// Returns the filters of the regions that are allowed.
    fn bases(&self) -> impl Iterator<Item = Filter<'e>> {
        self.explored.allowed.iter().filter_map(|region| Some(region.base.as_ref()?.filter()))
    }

    /// Returns filters that have all topics which are not allowed, but in the filter of a region that is.
    fn denied(&self, patterns: &[Filter<'e>]) -> Vec<Filter<'e>> {
        let harmless = patterns.iter().copied().filter(|pattern| self.cuts_nothing(*pattern));
        let harmless = shortest(harmless.collect(), self.work);
        let mut deny: Vec<Filter<'e>> = Vec::new();
        for other in &self.explored.others {
            let Some(base) = other.base.as_ref().map(OwnedFilter::filter) else { continue };
            let touches = |allowed| other.meets(allowed, &deny, self.work).is_some();
            let is_within_internal = self.allows_internal && is_internal(base);
            if !is_within_internal && !self.bases().any(touches) {
                continue;
            }
            let wider = harmless.iter().find(|pattern| cover(base, &[**pattern]) == Cover::All);
            deny.push(wider.copied().unwrap_or(base));
        }
        deny
    }

    /// Returns true if `filter` has no topic that is allowed.
    fn cuts_nothing(&self, filter: Filter<'_>) -> bool {
        let mut allowed = self.explored.allowed.iter();
        allowed.all(|region| region.meets(filter, &[], self.work).is_none())
    }

    /// Returns filters that have no topic which is not allowed, but in a filter of `deny`.
    fn allowed(&self, patterns: &[Filter<'e>], deny: &[Filter<'e>]) -> Vec<Filter<'e>> {
        let is_safe = |filter: &Filter<'_>| {
            let meets = |other: &Region| other.meets(*filter, deny, self.work).is_some();
            !self.explored.others.iter().any(meets)
        };
        // A filter of denied topics alone is safe, and allows nothing.
        let allows = |filter: &Filter<'_>| cover(*filter, deny) != Cover::All;
        let all = patterns.iter().copied().chain(self.bases());
        shortest(all.filter(allows).filter(is_safe).collect(), self.work)
    }

    /// Returns true if all topics that begin with `$` and are not allowed are in filters of `deny`.
    fn is_internal_safe(&self, deny: &[Filter<'_>]) -> bool {
        let internal =
            |region: &&Region| region.base.as_ref().is_none_or(|base| is_internal(base.filter()));
        self.explored.others.iter().filter(internal).all(|other| other.is_within(deny, self.work))
    }

    /// Returns the filters of `deny` that share topics with what is allowed.
    fn needed(&self, deny: &[Filter<'e>], allow: &[Filter<'e>]) -> Vec<Filter<'e>> {
        let is_needed = |filter: &Filter<'e>| {
            self.allows_internal && is_internal(*filter)
                || allow.iter().any(|allowed| overlap(*allowed, *filter))
        };
        shortest(deny.iter().copied().filter(is_needed).collect(), self.work)
    }

    /// Returns the reason why topics of regions that are allowed are not in the lists.
    fn shortfall(
        &self,
        (allow, internal): (&[Filter<'_>], bool),
        deny: &[Filter<'_>],
    ) -> Option<Shortfall> {
        let is_listed = |region: &Region| match &region.base {
            Some(base) if !(internal && is_internal(base.filter())) => {
                region.is_within(allow, self.work)
            }
            _ => internal,
        };
        let is_cut = |filter: &Filter<'_>| !self.cuts_nothing(*filter);
        if self.explored.allowed.iter().all(is_listed) && !deny.iter().any(is_cut) {
            return None;
        }
        Some(if self.work.is_spent() { Shortfall::Limit } else { Shortfall::Nested })
    }
}

/// Leaves out filters that the others cover, the narrowest first, while there are comparisons left.
fn shortest<'f>(mut filters: Vec<Filter<'f>>, work: &Work) -> Vec<Filter<'f>> {
    filters.sort_by_key(|filter| {
        let has_rest = filter.levels().last() == Some(Level::Rest);
        (has_rest, Reverse(filter.levels().count()), filter.text())
    });
    filters.dedup();
    let mut at = 0;
    while at < filters.len() && work.take(filters.len()) {
        let filter = filters.remove(at);
        if cover(filter, &filters) != Cover::All {
            filters.insert(at, filter);
            at = at.saturating_add(1);
        }
    }
    filters
}

fn texts(filters: &[Filter<'_>]) -> Vec<String> {
    let mut texts: Vec<String> = filters.iter().map(|filter| filter.text().to_owned()).collect();
    texts.sort_unstable();
    texts
}
