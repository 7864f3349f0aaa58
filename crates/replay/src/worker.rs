//! One thread: lines to decisions, decisions to counts.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use wardgate_analysis::compare::{Change, Decided};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decide::Attribute;
use wardgate_engine::request::Request;
use wardgate_native::Policies;
use wardgate_native::protocol::cerbos::logged::{
    Checks, Input, Line, LoggedQuestion, Other, PlainEntry, PlainInput, read,
};

use crate::changed::{Changed, One};
use crate::deciders::{Deciders, Judged, maps};
use crate::kinds::{Kinds, Mask};
use crate::limits::{MAX_FAULTS, MAX_LINE_BYTES, MAX_REASON_BYTES, MAX_WAITING};
use crate::lines::Block;
use crate::memo::Memo;
use crate::tally::{Bucket, Buckets, Fault, GroupKey, LinePlace};

/// The work of one thread.
pub(crate) struct Worker<'r> {
    deciders: &'r Deciders<'r>,
    memo: Memo<Rc<Judged>>,
    pub(crate) counted: Counted,
}

/// What one thread has counted.
#[derive(Default)]
pub(crate) struct Counted {
    pub(crate) kinds: Kinds,
    pub(crate) lines: u64,
    pub(crate) checks: u64,
    pub(crate) others: BTreeMap<Other, u64>,
    pub(crate) unreadable: u64,
    pub(crate) faults: Vec<Fault>,
    pub(crate) buckets: Buckets,
    pub(crate) times: Option<(Timestamp, Timestamp)>,
    /// Decisions that read attributes which no entry of their kind had so far.
    pub(crate) waiting: HashMap<(usize, Mask, Bucket), u64>,
    pub(crate) changed: Changed,
    pub(crate) absent: BTreeMap<String, u64>,
    pub(crate) not_reproduced: BTreeMap<(String, String), u64>,
}

/// The entry of a question.
#[derive(Clone, Copy)]
struct Entry {
    place: LinePlace,
    time: Timestamp,
}

impl<'r> Worker<'r> {
    pub(crate) fn new(deciders: &'r Deciders<'r>) -> Self {
        Self { deciders, memo: Memo::new(), counted: Counted::default() }
    }

    /// Decides all lines of a block of log `log` again.
    pub(crate) fn block(&mut self, log: usize, block: &Block) {
        if block.is_too_long {
            self.counted.lines += 1;
            let why = format!("the line is longer than {MAX_LINE_BYTES} bytes");
            self.counted.fault(LinePlace { log, line: block.first }, why);
        }
        for (line, text) in block.lines() {
            self.counted.lines += 1;
            let place = LinePlace { log, line };
            let read = read(text, |line| match line {
                Line::Noted(checks) => self.checks(place, &checks),
                Line::Plain(entry) => self.plain(place, &entry),
                Line::Other(other) => *self.counted.others.entry(other).or_default() += 1,
            });
            if let Err(why) = read {
                self.counted.fault(place, why.to_string());
            }
        }
    }

    fn checks(&mut self, place: LinePlace, checks: &Checks<'_>) {
        let entry = Entry { place, time: checks.time() };
        self.counted.check(entry.time);
        let mut number = 0;
        for input in checks.inputs() {
            let kind = self.see(&input);
            for asked in input.asked() {
                self.asked((entry, number), (&input, kind), &asked);
                number += 1;
            }
        }
    }

    /// Notes the attributes of an input, and returns the number of its kind.
    fn see(&mut self, input: &Input<'_>) -> Option<usize> {
        let watched = &self.deciders.watched;
        let kind = self.counted.kinds.id(watched, input.kind())?;
        if self.counted.kinds.unseen(kind) != 0 {
            let mut seen = 0;
            input.each_attribute(|attribute| seen |= watched.bit(attribute));
            self.counted.kinds.see(kind, seen);
        }
        Some(kind)
    }

    #[inline]
    fn asked(
        &mut self,
        (entry, number): (Entry, usize),
        (input, kind): (&Input<'_>, Option<usize>),
        asked: &LoggedQuestion<'_>,
    ) {
        let Some(logged) = asked.was_allowed else { return self.counted.absent(NO_EFFECT, 1) };
        let sides = &self.deciders.sides;
        let mut request = None;
        let mut decide = |policies: &Policies| {
            let general = || {
                let request = request.get_or_insert_with(|| input.request());
                let table = policies.table();
                let is_allowed =
                    |request: &Request| table.is_allowed(request, asked.action(), entry.time);
                request.as_ref().is_ok_and(is_allowed)
            };
            asked.try_fast(policies, entry.time).unwrap_or_else(general)
        };
        let old = sides.old.map_or(logged, &mut decide);
        let new = if old == logged { decide(sides.new) } else { logged };
        if let Some(Err(error)) = &request {
            return self.counted.absent(&error.to_string(), 1);
        }
        if old != logged {
            return self.counted.not_reproduced(input.kind(), asked.action());
        }
        let may_miss = kind.filter(|kind| self.counted.kinds.unseen(*kind) != 0);
        let may_miss = may_miss.is_some_and(|kind| {
            self.counted.kinds.may_miss((&self.deciders.watched, sides), kind, asked) != 0
        });
        if new == old && !may_miss {
            self.counted.buckets.same += 1;
            return;
        }
        match request.unwrap_or_else(|| input.request()) {
            Err(error) => self.counted.absent(&error.to_string(), 1),
            Ok(mut request) => {
                request.actions = vec![asked.action().to_owned()];
                let one = One::of(&request, asked.action(), (entry, number));
                let kind = kind.filter(|_| may_miss);
                self.weigh(&one, (logged, new), kind, Some(input.texts()));
            }
        }
    }

    /// Counts a decision that changed, or that may read what no entry of its kind had so far. `texts` are what
    /// its request was read from, if it may come again.
    fn weigh(
        &mut self,
        one: &One<'_>,
        (old, new): (bool, bool),
        kind: Option<usize>,
        texts: Option<[&str; 3]>,
    ) {
        let missed = kind.map_or(0, |_| self.deciders.missed(one.request, one.action, one.time));
        let bucket = Bucket::of(old, new);
        let missed = self.counted.decided(bucket, missed, kind);
        let Bucket::Changed(change) = bucket else { return };
        let judge = || self.deciders.judge(one.request, one.time);
        let judged = match texts {
            None => Rc::new(judge().0),
            Some([principal, resource, aux_data]) => {
                let parts = [principal, resource, aux_data, one.action];
                self.memo.answer(&parts, || {
                    let (judged, is_lasting) = judge();
                    (Rc::new(judged), is_lasting)
                })
            }
        };
        self.counted.changed.add(key(self.deciders, &judged, change, one), missed, one);
    }

    fn plain(&mut self, place: LinePlace, entry: &PlainEntry) {
        let time = entry.time;
        self.counted.check(time);
        let mut number = 0;
        for PlainInput { request, was_allowed } in &entry.inputs {
            match request {
                Err(error) => {
                    // An input without an output had at least one action.
                    let count = u64::try_from(was_allowed.len().max(1)).unwrap_or(u64::MAX);
                    self.counted.absent(&error.to_string(), count);
                }
                Ok(request) => {
                    let kind = self.see_request(request);
                    for (action, logged) in request.actions.iter().zip(was_allowed) {
                        let one = One::of(request, action, (Entry { place, time }, number));
                        self.asked_plainly(*logged, kind, &one);
                        number += 1;
                    }
                }
            }
        }
    }

    fn see_request(&mut self, request: &Request) -> Option<usize> {
        let watched = &self.deciders.watched;
        let kind = self.counted.kinds.id(watched, &request.resource.kind)?;
        if self.counted.kinds.unseen(kind) != 0 {
            let seen = watched.mask(maps(request).into_iter().flat_map(|(owner, map)| {
                map.entries().iter().map(move |(name, _)| Attribute { owner, name })
            }));
            self.counted.kinds.see(kind, seen);
        }
        Some(kind)
    }

    fn asked_plainly(&mut self, logged: Option<bool>, kind: Option<usize>, one: &One<'_>) {
        let Some(logged) = logged else { return self.counted.absent(NO_EFFECT, 1) };
        let sides = &self.deciders.sides;
        let decide = |policies: &Policies| policies.is_allowed(one.request, one.action, one.time);
        if sides.old.map_or(logged, decide) != logged {
            return self.counted.not_reproduced(&one.request.resource.kind, one.action);
        }
        let new = decide(sides.new);
        let may_miss = kind.is_some_and(|kind| self.counted.kinds.unseen(kind) != 0);
        if new == logged && !may_miss {
            self.counted.buckets.same += 1;
            return;
        }
        let actions = vec![one.action.to_owned()];
        let alone = Request { actions, ..one.request.clone() };
        let one = One { request: &alone, ..*one };
        self.weigh(&one, (logged, new), kind.filter(|_| may_miss), None);
    }
}

impl Counted {
    fn fault(&mut self, place: LinePlace, why: String) {
        self.unreadable += 1;
        let why = why.chars().take(MAX_REASON_BYTES).collect();
        self.faults.push(Fault { place, why });
        self.faults.sort_unstable();
        self.faults.truncate(MAX_FAULTS);
    }

    fn check(&mut self, time: Timestamp) {
        self.checks += 1;
        let (first, last) = self.times.unwrap_or((time, time));
        self.times = Some((first.min(time), last.max(time)));
    }

    /// Counts decisions that lack something.
    fn absent(&mut self, why: &str, count: u64) {
        self.buckets.not_answerable += count;
        let is_full = self.absent.len() >= MAX_WAITING;
        let why = if is_full && !self.absent.contains_key(why) { "other reasons" } else { why };
        *self.absent.entry(why.to_owned()).or_default() += count;
    }

    /// Counts a decision that is reproduced and read these absent attributes, and returns those that no entry of its kind had.
    fn decided(&mut self, bucket: Bucket, missed: Mask, kind: Option<usize>) -> Mask {
        let missed = kind.map_or(0, |kind| missed & self.kinds.unseen(kind));
        match kind {
            Some(kind) if missed != 0 => self.wait(kind, missed, bucket),
            _ => self.buckets.add(bucket, 1),
        }
        missed
    }

    fn wait(&mut self, kind: usize, missed: Mask, bucket: Bucket) {
        let key = (kind, missed, bucket);
        if self.waiting.len() >= MAX_WAITING && !self.waiting.contains_key(&key) {
            return self.absent("it may read attributes that no entry has", 1);
        }
        *self.waiting.entry(key).or_default() += 1;
    }

    fn not_reproduced(&mut self, kind: &str, action: &str) {
        self.buckets.not_reproduced += 1;
        let key = (kind.to_owned(), action.to_owned());
        if self.not_reproduced.len() < MAX_WAITING || self.not_reproduced.contains_key(&key) {
            *self.not_reproduced.entry(key).or_default() += 1;
        }
    }
}

fn key(deciders: &Deciders<'_>, judged: &Judged, change: Change, one: &One<'_>) -> GroupKey {
    let logged = || Decided {
        is_allowed: change == Change::Less,
        reason: "as it was logged".to_owned(),
        rule: None,
    };
    GroupKey {
        change,
        kind: one.request.resource.kind.clone(),
        action: one.action.to_owned(),
        roles: deciders.roles.class(&one.request.principal.roles),
        old: judged.old.clone().unwrap_or_else(logged),
        new: judged.new.clone(),
    }
}

impl<'o> One<'o> {
    fn of(request: &'o Request, action: &'o str, (entry, number): (Entry, usize)) -> Self {
        Self { request, action, place: entry.place, number, time: entry.time }
    }
}

const NO_EFFECT: &str = "no effect was logged";
