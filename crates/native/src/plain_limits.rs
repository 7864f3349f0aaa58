//! Plain limits: found by one lookup, and charged without running a program.
//!
//! The engine finds the limits of a request and computes their keys; this is a faster way to the same
//! answer for the limits of which [`PolicyTable::plain_charge`] knows the charge but for values of the
//! request. Wherever it is not sure to be the same, a function here returns `None`, and the
//! engine answers.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use wardgate_engine::budget::Budget;
use wardgate_engine::decide::charges::{BOOL, PlainPart, TEXT, number_part};
use wardgate_engine::limits::MAX_MET_LIMITS;
use wardgate_engine::names::sanitized;
use wardgate_engine::table::PolicyTable;
use wardgate_engine::table::layout::Key as TableKey;
use wardgate_engine::table::limit::{
    Algorithm as Word, Charged, Consistency, Failure as Treatment, Limit as Written, Mode,
};
use wardgate_ratelimit::{Algorithm, Window};
use wardgate_ratelimit_store::{Failure, Key, KeyParts, Limit, Print, Terms};

use crate::fast::index::KINDS_OF_MQTT;
use crate::fast::input::{FastInput, SlotValue, read_path};
use crate::fast::path::SlotRoot;
use crate::field::Field;
use crate::limits::{MAX_LIMIT_PAIRS, MAX_PLAIN_NAME_BYTES, MIN_PLAIN_STEPS, PLAIN_LIMIT_STEPS};
use crate::names::Names;

/// The plain limits of a table, found by kind and action.
#[derive(Debug, Default)]
pub(crate) struct PlainLimits {
    kinds: Dimension,
    actions: Dimension,
    /// The list of each kind and action, by the number of the kind times that of all actions.
    lists: Box<[u32]>,
    /// Limits that are met together, in the order of their names; `None` if one is not plain.
    met: Vec<Option<Box<[PlainLimit]>>>,
}

/// Known kinds, or known actions.
#[derive(Debug, Default)]
struct Dimension {
    names: Names<u32>,
    count: usize,
    /// True if limits may be for names that are not known.
    has_others: bool,
}

/// A plain limit.
#[derive(Clone, Debug)]
pub(crate) struct PlainLimit {
    pub(crate) limit: Limit,
    /// The print of the limit with its terms.
    pub(crate) print: Print,
    pub(crate) terms: Terms,
    pub(crate) cost: u64,
    pub(crate) consistency: Consistency,
    pub(crate) is_shadow: bool,
    pub(crate) window: Option<u64>,
    /// True if it also charges what the policies deny.
    is_always: bool,
    key: Box<[Part]>,
}

/// A part of a key.
#[derive(Clone, Debug)]
enum Part {
    Constant(Box<[u8]>),
    Path(SlotRoot, Box<[Box<str>]>),
}

impl PlainLimits {
    pub(crate) fn new(table: &PolicyTable) -> Self {
        if !table.has_limits() {
            return Self::default();
        }
        let [kinds, actions] = names(table);
        if kinds.names.len().saturating_mul(actions.names.len()) > MAX_LIMIT_PAIRS {
            // The engine answers about all of them.
            let none = || Dimension { has_others: true, ..Dimension::default() };
            return Self { kinds: none(), actions: none(), ..Self::default() };
        }
        let all: Vec<Option<PlainLimit>> =
            table.limits().map(|limit| PlainLimit::of(table, &limit)).collect();
        let (mut lists, mut met) = (Vec::new(), Vec::new());
        let mut known = HashMap::new();
        for kind in &kinds.names {
            for action in &actions.names {
                let numbers = table.limits_for(kind, action);
                let next = met.len();
                let list = *known.entry(numbers).or_insert_with_key(|numbers| {
                    met.push(together(&all, numbers));
                    next
                });
                lists.push(u32::try_from(list).unwrap_or(u32::MAX));
            }
        }
        Self { kinds: kinds.into(), actions: actions.into(), lists: lists.into(), met }
    }

    /// Returns the limits for an action on a kind of resource, whatever the policies decide; `None` if
    /// one of them may not be plain.
    #[inline]
    pub(crate) fn find(&self, kind: &str, action: &str) -> Option<&[PlainLimit]> {
        let Some(kind) = self.kinds.names.get(kind) else { return self.kinds.others(kind) };
        let Some(action) = self.actions.names.get(action) else { return self.actions.others("") };
        let [kind, action] = [kind, action].map(|number| usize::try_from(number).ok());
        let place = kind?.checked_mul(self.actions.count)?.checked_add(action?)?;
        self.met.get(usize::try_from(*self.lists.get(place)?).ok()?)?.as_deref()
    }

    /// Returns the limits that an action meets which the policies allow or deny, and takes their steps.
    #[inline]
    pub(crate) fn met(
        &self,
        input: &impl FastInput,
        is_allowed: bool,
        budget: &Budget,
    ) -> Option<impl Iterator<Item = &PlainLimit>> {
        let target = input.target();
        let is_short = |name: &str| name.len() <= MAX_PLAIN_NAME_BYTES;
        let are_short = is_short(target.kind) && is_short(target.action);
        let limits = self.find(target.kind, target.action)?;
        if !are_short || budget.left() < MIN_PLAIN_STEPS {
            return None;
        }
        let count = u32::try_from(limits.len()).unwrap_or(u32::MAX).saturating_add(1);
        budget.take(count.saturating_mul(PLAIN_LIMIT_STEPS));
        Some(limits.iter().filter(move |limit| is_allowed || limit.is_always))
    }
}

impl PlainLimit {
    fn of(table: &PolicyTable, limit: &Written<'_>) -> Option<Self> {
        // The compiler accepts no other names; answers have them without escapes.
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        let charge = table.plain_charge(limit).filter(|_| limit.name().bytes().all(is_plain))?;
        let part = |part| match part {
            PlainPart::Constant(bytes) => Some(Part::Constant(bytes.into())),
            PlainPart::Slot(slot) => {
                let (root, path) = table.slot_path(slot)?;
                Some(Part::Path(SlotRoot::of(root)?, path.map(Box::from).collect()))
            }
        };
        let (terms, named) = (terms(limit, charge.quota).ok()?, self::limit(limit).ok()?);
        Some(Self {
            print: Print::of_limit(&named, &terms),
            limit: named,
            terms,
            cost: charge.cost,
            consistency: limit.consistency(),
            is_shadow: limit.mode() == Mode::Shadow,
            window: limit.window(),
            is_always: limit.charged() == Charged::Always,
            key: charge.key.into_iter().map(part).collect::<Option<_>>()?,
        })
    }

    /// Returns the key of a request; `None` if a value is none for a key, or the key is long.
    #[inline]
    pub(crate) fn key(&self, input: &impl FastInput) -> Option<Key> {
        Some(self.parts(input)?.key())
    }

    /// Returns the parts of the key of a request, as [`PlainLimit::key`] does.
    #[inline]
    pub(crate) fn parts(&self, input: &impl FastInput) -> Option<KeyParts> {
        let mut parts = KeyParts::default();
        for part in &self.key {
            match part {
                Part::Constant(bytes) => parts.add(bytes, &[])?,
                Part::Path(root, path) => match read_path(input, *root, path) {
                    SlotValue::Field(Field::Text(text)) => parts.add(&[TEXT], text.as_bytes())?,
                    SlotValue::Field(Field::Bool(value)) => parts.add(&[BOOL], &[value.into()])?,
                    SlotValue::Field(Field::Number(value)) => {
                        parts.add(&number_part(value)?, &[])?
                    }
                    _ => return None,
                },
            }
        }
        Some(parts)
    }
}

impl Dimension {
    /// Returns the limits for a name that is not known: none, if limits are for known names only.
    #[cold]
    fn others(&self, name: &str) -> Option<&[PlainLimit]> {
        // Another spelling may be that of a known one.
        let is_spelled_so = self.count == 0 || matches!(sanitized(name), Cow::Borrowed(_));
        (is_spelled_so && !self.has_others).then_some(&[])
    }
}

/// The names of a dimension, before they are numbered.
struct Named<'t> {
    names: BTreeSet<&'t str>,
    has_others: bool,
}

impl From<Named<'_>> for Dimension {
    fn from(Named { names, has_others }: Named<'_>) -> Self {
        Self { count: names.len(), names: names.into_iter().zip(0..).collect(), has_others }
    }
}

/// Returns the kinds and actions that limits name, and those that policies do: they may meet a glob.
fn names(table: &PolicyTable) -> [Named<'_>; 2] {
    let [mut kinds, mut actions] = table.limit_names().map(|names| Named {
        names: names.exact.into_iter().collect(),
        has_others: names.has_others,
    });
    kinds.names.extend(KINDS_OF_MQTT);
    for [key, kind, .., offset] in table.entries().iter().copied() {
        if key == TableKey::FastPaths.code()
            && let Some(list) = table.fast_paths().list(offset)
        {
            kinds.names.insert(table.string(kind));
            actions.names.extend(list.actions().map(|(action, _)| table.string(action)));
        }
    }
    [kinds, actions]
}

/// Returns these limits, if all are plain and not too many are charged together.
fn together(all: &[Option<PlainLimit>], numbers: &[usize]) -> Option<Box<[PlainLimit]>> {
    let met = numbers.iter().map(|number| all.get(*number)?.clone());
    let met: Box<[PlainLimit]> = met.collect::<Option<_>>()?;
    let of = |is_shadow| met.iter().filter(|limit| limit.is_shadow == is_shadow).count();
    (of(true).max(of(false)) <= MAX_MET_LIMITS).then_some(met)
}

/// Returns the name of a limit with what holds while its store is away.
pub(crate) fn limit(limit: &Written<'_>) -> Result<Limit, String> {
    let failure = match limit.failure() {
        Treatment::Local => Failure::Local,
        Treatment::Deny => Failure::Deny,
        Treatment::Allow => Failure::Allow,
    };
    Limit::new(limit.name(), failure).map_err(|error| error.to_string())
}

/// Returns the terms of a limit with this quota.
pub(crate) fn terms(limit: &Written<'_>, quota: u64) -> Result<Terms, String> {
    let algorithm = match limit.algorithm() {
        Word::Gcra => Algorithm::Gcra { burst: limit.burst() },
        Word::Fixed => Algorithm::Fixed,
        Word::Sliding => Algorithm::Sliding,
    };
    let window = limit.window().map_or(Window::Month, Window::Micros);
    Terms::new(algorithm, quota, window).map_err(|error| error.to_string())
}
