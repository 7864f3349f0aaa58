//! The counts of a log: every decision is in one bucket, and every line is counted once.

use std::collections::BTreeMap;

use wardgate_analysis::compare::{Change, Decided};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::Request;
use wardgate_native::protocol::cerbos::logged::Other;

/// What a log would have said.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The lines that are not empty.
    pub lines: u64,
    /// The entries of checks.
    pub checks: u64,
    /// The entries of other kinds: nothing is decided about them.
    pub others: BTreeMap<Other, u64>,
    /// The lines that cannot be read.
    pub unreadable: u64,
    /// The first lines that cannot be read, in their order.
    pub faults: Vec<Fault>,
    /// The decisions, by their bucket.
    pub buckets: Buckets,
    /// The times of the oldest and of the newest entry of checks.
    pub times: Option<(Timestamp, Timestamp)>,
    /// Changed decisions with the same rules on both sides: new access first, then the largest first.
    pub groups: Vec<Group>,
    /// The changed decisions that found no room in a group.
    pub ungrouped: u64,
    /// Why decisions are not answerable.
    pub absent: BTreeMap<String, u64>,
    /// The decisions that are not reproduced, by kind and action.
    pub not_reproduced: BTreeMap<(String, String), u64>,
    /// The inputs whose absent attributes were not looked for, because there are too many kinds.
    pub unwatched_inputs: u64,
    /// The attributes that were not looked for, because there are too many.
    pub unwatched_attributes: usize,
}

/// The numbers of decisions. They add up to all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buckets {
    /// The new policies decide as the old ones.
    pub same: u64,
    /// What was denied is allowed.
    pub more: u64,
    /// What was allowed is denied.
    pub less: u64,
    /// The old policies do not decide as it was logged.
    pub not_reproduced: u64,
    /// The log lacks something that the decision needs.
    pub not_answerable: u64,
}

/// The bucket of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bucket {
    /// See [`Buckets::same`].
    Same,
    /// See [`Buckets::more`] and [`Buckets::less`].
    Changed(Change),
    /// See [`Buckets::not_reproduced`].
    NotReproduced,
    /// See [`Buckets::not_answerable`].
    NotAnswerable,
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// The place of the line.
    pub place: LinePlace,
    /// The reason.
    pub why: String,
}

/// The place of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinePlace {
    /// The number of the log, in the order in which the logs were given, from 0.
    pub log: usize,
    /// The number of the line: from 1, if its source does not say otherwise.
    pub line: u64,
}

/// Decisions that changed in the same way.
#[derive(Clone, Debug)]
pub struct Group {
    /// What they have in common.
    pub key: GroupKey,
    /// Their number.
    pub count: u64,
    /// The distinct principals.
    pub principals: Distinct,
    /// The distinct resources.
    pub resources: Distinct,
    /// The times of the first and of the last one.
    pub times: (Timestamp, Timestamp),
    /// Some of them, the first ones of the log.
    pub samples: Vec<Sample>,
}

/// What decisions of a group have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKey {
    /// The direction.
    pub change: Change,
    /// The kind of the resource.
    pub kind: String,
    /// The action.
    pub action: String,
    /// The class of the roles, sorted; `None` stands for roles that no policy names.
    pub roles: Vec<Option<String>>,
    /// The old decision.
    pub old: Decided,
    /// The new decision.
    pub new: Decided,
}

/// A number of distinct values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distinct {
    /// The number.
    pub count: usize,
    /// True if there may be more.
    pub is_at_least: bool,
}

/// One decision that changed.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The place of its entry.
    pub place: LinePlace,
    /// The time of its entry.
    pub time: Timestamp,
    /// The request, with one action.
    pub request: Request,
}

impl Report {
    /// Counts decisions that are not in the lines, because the log lacks something.
    pub fn add_absent(&mut self, why: &str, count: u64) {
        self.buckets.add(Bucket::NotAnswerable, count);
        *self.absent.entry(why.to_owned()).or_default() += count;
    }
}

impl Buckets {
    /// Counts decisions.
    pub fn add(&mut self, bucket: Bucket, count: u64) {
        *match bucket {
            Bucket::Same => &mut self.same,
            Bucket::Changed(Change::More) => &mut self.more,
            Bucket::Changed(Change::Less) => &mut self.less,
            Bucket::NotReproduced => &mut self.not_reproduced,
            Bucket::NotAnswerable => &mut self.not_answerable,
        } += count;
    }

    /// Returns the number of all decisions.
    #[must_use]
    pub const fn all(&self) -> u64 {
        self.same + self.more + self.less + self.not_reproduced + self.not_answerable
    }

    /// Adds other numbers.
    pub fn add_all(&mut self, other: &Self) {
        let Self { same, more, less, not_reproduced, not_answerable } = *other;
        self.same += same;
        self.more += more;
        self.less += less;
        self.not_reproduced += not_reproduced;
        self.not_answerable += not_answerable;
    }
}

impl Bucket {
    /// Returns the bucket of two decisions.
    #[must_use]
    pub const fn of(old: bool, new: bool) -> Self {
        match (old, new) {
            (true, true) | (false, false) => Self::Same,
            (false, true) => Self::Changed(Change::More),
            (true, false) => Self::Changed(Change::Less),
        }
    }
}
