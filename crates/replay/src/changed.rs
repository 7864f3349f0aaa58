//! The groups of changed decisions, as one thread gathers them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use wardgate_engine::attr::Attr;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::Request;

use crate::kinds::Mask;
use crate::limits::{MAX_DISTINCT, MAX_GROUPS, MAX_SAMPLE_BYTES, MAX_SAMPLES};
use crate::tally::{Distinct, Group, GroupKey, LinePlace, Sample};

/// Groups, each with the attributes that its decisions read and that may be absent from the whole log.
#[derive(Default)]
pub(crate) struct Changed {
    groups: HashMap<(GroupKey, Mask), Gathered>,
    /// The decisions without a group, by what they may lack.
    pub(crate) ungrouped: u64,
    sample_bytes: usize,
}

struct Gathered {
    count: u64,
    principals: Counted,
    resources: Counted,
    times: (Timestamp, Timestamp),
    /// By place, and by the number of the decision in its entry.
    samples: BTreeMap<(LinePlace, usize), Sample>,
}

/// Distinct texts, by digests of 64 bits.
#[derive(Default)]
struct Counted {
    digests: HashSet<u64>,
    is_at_least: bool,
}

/// One decision.
pub(crate) struct One<'o> {
    pub(crate) request: &'o Request,
    pub(crate) action: &'o str,
    pub(crate) place: LinePlace,
    /// The number of the decision in its entry.
    pub(crate) number: usize,
    pub(crate) time: Timestamp,
}

impl Changed {
    /// Adds a decision; `mask` are the attributes that it read and that no entry had so far.
    pub(crate) fn add(&mut self, key: GroupKey, mask: Mask, one: &One<'_>) {
        let is_full = self.groups.len() >= MAX_GROUPS;
        let key = (key, mask);
        if is_full && !self.groups.contains_key(&key) {
            self.ungrouped += 1;
            return;
        }
        let gathered = self.groups.entry(key).or_insert_with(|| Gathered::new(one.time));
        gathered.count += 1;
        gathered.principals.add(&one.request.principal.id);
        gathered.resources.add(&one.request.resource.id);
        gathered.stretch((one.time, one.time));
        gathered.sample(one, &mut self.sample_bytes);
    }

    /// Adds the groups of another thread.
    pub(crate) fn merge(&mut self, other: Self) {
        self.ungrouped += other.ungrouped;
        for (key, gathered) in other.groups {
            self.add_group(key, gathered);
        }
    }

    fn add_group(&mut self, key: (GroupKey, Mask), gathered: Gathered) {
        if self.groups.len() >= MAX_GROUPS && !self.groups.contains_key(&key) {
            self.ungrouped += gathered.count;
            return;
        }
        let known = self.groups.entry(key).or_insert_with(|| Gathered::new(gathered.times.0));
        known.count += gathered.count;
        known.principals.merge(gathered.principals);
        known.resources.merge(gathered.resources);
        known.stretch(gathered.times);
        known.samples.extend(gathered.samples);
        while known.samples.len() > MAX_SAMPLES {
            known.samples.pop_last();
        }
    }

    /// Returns the groups whose decisions lack nothing: `unseen` are the attributes of a kind that no entry has.
    pub(crate) fn finish(self, unseen: impl Fn(&str) -> Mask) -> (Vec<Group>, u64) {
        let mut answerable = Self { ungrouped: self.ungrouped, ..Self::default() };
        for ((key, mask), gathered) in self.groups {
            if mask & unseen(&key.kind) == 0 {
                answerable.add_group((key, 0), gathered);
            }
        }
        let group = |((key, _), gathered): ((GroupKey, Mask), Gathered)| gathered.group(key);
        let mut groups: Vec<Group> = answerable.groups.into_iter().map(group).collect();
        groups.sort_by(|a, b| {
            let by_size = || b.count.cmp(&a.count).then_with(|| a.key.cmp(&b.key));
            a.key.change.cmp(&b.key.change).then_with(by_size)
        });
        (groups, answerable.ungrouped)
    }
}

impl Gathered {
    fn new(time: Timestamp) -> Self {
        Self {
            count: 0,
            principals: Counted::default(),
            resources: Counted::default(),
            times: (time, time),
            samples: BTreeMap::new(),
        }
    }

    fn stretch(&mut self, (first, last): (Timestamp, Timestamp)) {
        self.times = (self.times.0.min(first), self.times.1.max(last));
    }

    /// Keeps a sample if it is among the first ones of the log, and there is room.
    fn sample(&mut self, one: &One<'_>, bytes: &mut usize) {
        let at = (one.place, one.number);
        let is_full = self.samples.len() >= MAX_SAMPLES;
        if is_full && self.samples.last_key_value().is_some_and(|(last, _)| *last < at) {
            return;
        }
        if is_full && let Some((_, left)) = self.samples.pop_last() {
            *bytes = bytes.saturating_sub(size(&left.request));
        }
        let size = size(one.request);
        if bytes.saturating_add(size) > MAX_SAMPLE_BYTES {
            return;
        }
        *bytes += size;
        let request = Request {
            actions: vec![one.action.to_owned()],
            request_id: String::new(),
            ..one.request.clone()
        };
        self.samples.insert(at, Sample { place: one.place, time: one.time, request });
    }

    fn group(self, key: GroupKey) -> Group {
        let Self { count, principals, resources, times, samples } = self;
        Group {
            key,
            count,
            principals: principals.distinct(),
            resources: resources.distinct(),
            times,
            samples: samples.into_values().collect(),
        }
    }
}

impl Counted {
    fn add(&mut self, text: &str) {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        self.add_digest(hasher.finish());
    }

    fn add_digest(&mut self, digest: u64) {
        if self.digests.len() < MAX_DISTINCT {
            self.digests.insert(digest);
        } else if !self.digests.contains(&digest) {
            self.is_at_least = true;
        }
    }

    fn merge(&mut self, other: Self) {
        self.is_at_least |= other.is_at_least;
        other.digests.into_iter().for_each(|digest| self.add_digest(digest));
    }

    fn distinct(&self) -> Distinct {
        Distinct { count: self.digests.len(), is_at_least: self.is_at_least }
    }
}

/// Returns about as many bytes as a request takes.
fn size(request: &Request) -> usize {
    let Request { principal, resource, aux_data, .. } = request;
    let maps = [&principal.attr, &resource.attr, &aux_data.jwt, &aux_data.jwts];
    let entries = maps.into_iter().flat_map(|map| map.entries());
    let entries = entries.map(|(name, value)| name.len() + size_of_value(value));
    let roles = principal.roles.iter().map(|role| role.len() + size_of::<String>());
    size_of::<Request>() + entries.sum::<usize>() + roles.sum::<usize>()
}

/// Values nest no deeper than the reader lets them.
fn size_of_value(value: &Attr) -> usize {
    let inner = match value {
        Attr::String(text) => text.len(),
        Attr::List(items) => items.iter().map(size_of_value).sum(),
        Attr::Map(map) => {
            map.entries().iter().map(|(name, value)| name.len() + size_of_value(value)).sum()
        }
        Attr::Null | Attr::Bool(_) | Attr::Number(_) => 0,
    };
    size_of::<(Box<str>, Attr)>() + inner
}
