//! The topics, split into regions until the engine decides each of them as a whole.
//!
//! A region is a set of topics: a filter without others. The engine decides about all of a region at
//! once (`decide_topics`). Where it cannot, because a pattern matches a part of the region, the
//! region is split by that pattern and each part is decided by itself. So the patterns need not be
//! found in the policies: those that matter come up when they are compared, whatever made them, and
//! two topics of a region that is decided are alike for every condition. The regions are a partition
//! of all topics.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use wardgate_engine::budget::Budget;
use wardgate_engine::cel::{Timestamp, Topics};
use wardgate_engine::decision::Effect;
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;
use wardgate_mqtt::{Cover, Filter, OwnedFilter, cover, intersection, overlap};

use super::grants::Shortfall;
use crate::limits::{MAX_GRANT_COMPARISONS, MAX_GRANT_REGIONS};

/// All topics, each in one region.
#[derive(Default)]
pub(super) struct Explored {
    /// The regions that are allowed.
    pub(super) allowed: Vec<Region>,
    /// All others.
    pub(super) others: Vec<Region>,
    /// The patterns that split regions, each once, in the order in which they were met.
    pub(super) patterns: Vec<OwnedFilter>,
    pub(super) shortfalls: Vec<Shortfall>,
    pub(super) reads_time: bool,
    pub(super) work: Work,
}

/// The topics of a filter without those of others.
#[derive(Clone, Debug)]
pub(super) struct Region {
    /// `None` stands for all topics that begin with `$`.
    pub(super) base: Option<OwnedFilter>,
    except: Vec<OwnedFilter>,
}

/// The comparisons of filters that may still be made.
#[derive(Debug)]
pub(super) struct Work(Cell<u64>);

/// Splits all topics into regions that the engine decides.
pub(super) fn explore(
    table: &PolicyTable,
    question: (&Request, &str),
    now: Timestamp,
    budget: &Budget,
) -> Explored {
    let mut explored = Explored::default();
    let mut open = VecDeque::from([Region::all_names(), Region::internal_names()]);
    while let Some(region) = open.pop_front() {
        let asked = Asked { region, open: RefCell::default(), work: &explored.work };
        let decision = table.decide_topics(question, &asked, now, budget);
        let Asked { region, open: patterns, .. } = asked;
        let patterns = patterns.into_inner();
        explored.reads_time |= decision.reads_time;
        match decision.effect {
            Some(Effect::Allow) => explored.allowed.push(region),
            Some(Effect::Deny) => explored.others.push(region),
            None => {
                let used = explored.allowed.len() + explored.others.len() + open.len();
                let room = MAX_GRANT_REGIONS.saturating_sub(used + 1);
                let room = if budget.left() == 0 { 0 } else { room };
                explored.split(region, patterns, room, &mut open);
            }
        }
    }
    explored
}

impl Explored {
    /// Splits a region by patterns, into as many parts as there is room for. A region that cannot be
    /// split stays undecided.
    fn split(
        &mut self,
        region: Region,
        mut patterns: Vec<OwnedFilter>,
        room: usize,
        open: &mut VecDeque<Region>,
    ) {
        let is_spent = self.work.is_spent();
        patterns.truncate(if is_spent { 0 } else { room });
        if patterns.is_empty() {
            let is_limited = is_spent || room == 0;
            self.shortfalls.push(if is_limited { Shortfall::Limit } else { Shortfall::Attributes });
            self.others.push(region);
            return;
        }
        let mut rest = region;
        for pattern in &patterns {
            let Some(part) = rest.take(pattern, &self.work) else { continue };
            open.push_back(part);
            if !self.patterns.contains(pattern) {
                self.patterns.push(pattern.clone());
            }
        }
        if !rest.is_within(&[], &self.work) {
            open.push_back(rest);
        }
    }
}

impl Region {
    /// The topics that do not begin with `$`.
    fn all_names() -> Self {
        let all = Filter::new("#").ok().map(OwnedFilter::from);
        Self { base: all, except: Vec::new() }
    }

    fn internal_names() -> Self {
        Self { base: None, except: Vec::new() }
    }

    /// Takes the topics of `pattern` out of the region; `None` if it has none.
    fn take(&mut self, pattern: &OwnedFilter, work: &Work) -> Option<Self> {
        let base = self.meets(pattern.filter(), &[], work)?;
        let except = self.except.iter();
        let except =
            except.filter(|other| overlap(other.filter(), base.filter())).cloned().collect();
        self.except.push(pattern.clone());
        Some(Self { base: Some(base), except })
    }

    /// Returns a filter of topics that have all those which the region shares with `filter` and not
    /// with `others`; `None` if there is none.
    pub(super) fn meets(
        &self,
        filter: Filter<'_>,
        others: &[Filter<'_>],
        work: &Work,
    ) -> Option<OwnedFilter> {
        let both = match &self.base {
            Some(base) => intersection(base.filter(), filter)?,
            None => OwnedFilter::from(Some(filter).filter(|filter| is_internal(*filter))?),
        };
        if self.covered_with(Some(both.filter()), others, work) { None } else { Some(both) }
    }

    /// Returns true if `others` have all topics of the region.
    pub(super) fn is_within(&self, others: &[Filter<'_>], work: &Work) -> bool {
        self.covered_with(self.base.as_ref().map(OwnedFilter::filter), others, work)
    }

    /// Returns true if all topics of `filter` are excluded from the region or in `others`.
    fn covered_with(&self, filter: Option<Filter<'_>>, others: &[Filter<'_>], work: &Work) -> bool {
        // No filters have all topics that begin with `$`.
        let Some(filter) = filter else { return false };
        let excluded = self.except.iter().map(OwnedFilter::filter);
        let by: Vec<Filter<'_>> = excluded.chain(others.iter().copied()).collect();
        work.take(by.len()) && cover(filter, &by) == Cover::All
    }
}

/// Returns true if the filter is one of topics that begin with `$`.
pub(super) fn is_internal(filter: Filter<'_>) -> bool {
    filter.text().starts_with('$')
}

impl Work {
    /// Takes so many comparisons, and returns true if there were enough.
    pub(super) fn take(&self, count: usize) -> bool {
        let count = u64::try_from(count).unwrap_or(u64::MAX).saturating_add(1);
        let left = self.0.get();
        self.0.set(left.saturating_sub(count));
        count <= left
    }

    pub(super) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}

impl Default for Work {
    fn default() -> Self {
        Self(Cell::new(MAX_GRANT_COMPARISONS))
    }
}

/// A region about which the engine asks.
struct Asked<'w> {
    region: Region,
    /// The patterns that match a part of the region, each once.
    open: RefCell<Vec<OwnedFilter>>,
    work: &'w Work,
}

impl Topics for Asked<'_> {
    fn matched_by(&self, patterns: &[Filter<'_>]) -> Cover {
        if self.region.is_within(patterns, self.work) {
            return Cover::All;
        }
        let mut matches = false;
        for pattern in patterns {
            if !self.work.take(0) || self.region.meets(*pattern, &[], self.work).is_some() {
                matches = true;
                self.note(*pattern);
            }
        }
        if matches { Cover::Part { witness: String::new() } } else { Cover::None }
    }
}

impl Asked<'_> {
    fn note(&self, pattern: Filter<'_>) {
        let mut open = self.open.borrow_mut();
        let is_known = open.iter().any(|known| known.filter() == pattern);
        if !is_known && open.len() < MAX_GRANT_REGIONS && self.work.take(open.len()) {
            open.push(OwnedFilter::from(pattern));
        }
    }
}
