//! Groups of rules that could be one, in an order of what they save.
//!
//! Rules with equal normal forms are the same rule; rules that are equal but for one part differ in
//! that part; rules whose conditions are equal but for constants have the same shape. Rules without
//! a condition say little, so they are grouped within their policy only.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::index::{Index, RuleId};
use crate::similar::Part;

/// What the rules of a group have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// They say the same.
    SameRule,
    /// They differ in one part.
    DiffersIn(Part),
    /// Their conditions differ in several constants, and the rules in nothing else.
    SameShape,
}

impl Kind {
    /// Returns the kind as a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SameRule => "same-rule",
            Self::DiffersIn(_) => "differs-in",
            Self::SameShape => "same-shape",
        }
    }

    /// Returns all names.
    #[must_use]
    pub const fn names() -> [&'static str; 3] {
        ["same-rule", "differs-in", "same-shape"]
    }
}

/// Rules that have something in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What they have in common.
    pub kind: Kind,
    /// The rules, at least two, in the order of their policies.
    pub rules: Vec<RuleId>,
    /// The rules that would go if each policy had one of them.
    pub saves: usize,
    /// The parts of their places that differ: kind, version or scope.
    pub across: Vec<Part>,
}

/// What two rules of a group must have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    kind: Kind,
    /// The parts, with a number that none has for the part that may differ.
    parts: [u32; 5],
    /// The policy, if there is no condition.
    policy: Option<Rc<str>>,
    /// The constants that must be equal, with their position.
    constants: Option<(usize, Vec<String>)>,
}

impl Index {
    /// Returns the groups: those that save most first, then those of more rules, then in the order
    /// of their first rules.
    #[must_use]
    pub fn groups(&self) -> Vec<Group> {
        let mut members: HashMap<Key, Vec<RuleId>> = HashMap::new();
        for (_, class) in self.live_classes() {
            let mut add = |kind, parts: [u32; 5], constants: Option<(usize, Vec<String>)>| {
                for rule in &class.rules {
                    let rule = RuleId(*rule);
                    let is_always = class.body.condition.text.is_empty();
                    let policy = self.place(rule).filter(|_| is_always);
                    let policy = policy.map(|place| Rc::clone(&place.policy));
                    let key = Key { kind, parts, policy, constants: constants.clone() };
                    members.entry(key).or_default().push(rule);
                }
            };
            add(Kind::SameRule, class.parts, None);
            for (part, position) in LEFT_OUT {
                let mut parts = class.parts;
                if let Some(left_out) = parts.get_mut(position) {
                    *left_out = u32::MAX;
                }
                add(Kind::DiffersIn(part), parts, None);
            }
            let constants = &class.body.condition.constants;
            let [effect, actions, holders, _, output] = class.parts;
            let parts = [effect, actions, holders, class.shape, output];
            for position in 0..constants.len().min(MAX_CONSTANTS) {
                let mut others = constants.clone();
                others.remove(position);
                add(Kind::DiffersIn(Part::Constants), parts, Some((position, others)));
            }
            if constants.len() > 1 {
                add(Kind::SameShape, parts, None);
            }
        }
        let groups = members.into_iter().filter_map(|(key, rules)| self.group(key.kind, rules));
        let mut groups: Vec<Group> = groups.collect();
        groups.sort_by(|a, b| {
            let more = (b.saves, b.rules.len()).cmp(&(a.saves, a.rules.len()));
            more.then_with(|| (a.kind, &a.rules).cmp(&(b.kind, &b.rules)))
        });
        without_repetitions(groups)
    }

    fn group(&self, kind: Kind, mut rules: Vec<RuleId>) -> Option<Group> {
        if rules.len() < 2 {
            return None;
        }
        let classes: BTreeSet<_> =
            rules.iter().filter_map(|rule| Some(self.class_of(*rule)?.parts)).collect();
        if kind != Kind::SameRule && classes.len() < 2 {
            return None;
        }
        rules.sort_unstable();
        let places: Vec<_> = rules.iter().filter_map(|rule| self.place(*rule)).collect();
        let policies: BTreeSet<&str> = places.iter().map(|place| &*place.policy).collect();
        let differ = |part: fn(&crate::index::Place) -> &str| {
            let mut values = places.iter().map(|place| part(place));
            let first = values.next();
            values.any(|value| Some(value) != first)
        };
        let across = [
            (Part::Kind, differ(|place| &place.kind)),
            (Part::Version, differ(|place| &place.version)),
            (Part::Scope, differ(|place| &place.scope)),
        ];
        let across = across.into_iter().filter(|(_, differs)| *differs).map(|(part, _)| part);
        let saves = rules.len().saturating_sub(policies.len());
        Some(Group { kind, saves, across: across.collect(), rules })
    }

    /// Returns what each rule of a group has in the part in which they differ, in order; of
    /// constants only those that are not the same in all. Empty for rules that say the same.
    #[must_use]
    pub fn values(&self, group: &Group) -> Vec<Vec<String>> {
        let part = match group.kind {
            Kind::SameRule => return Vec::new(),
            Kind::DiffersIn(part) => part,
            Kind::SameShape => Part::Constants,
        };
        let mut values: Vec<_> = group.rules.iter().map(|rule| self.value(*rule, part)).collect();
        if part == Part::Constants {
            let first = values.first().cloned().unwrap_or_default();
            let is_open = |at: usize| values.iter().any(|value| value.get(at) != first.get(at));
            let open: Vec<bool> = (0..first.len()).map(is_open).collect();
            for value in &mut values {
                let mut open = open.iter();
                value.retain(|_| open.next().copied().unwrap_or(true));
            }
        }
        values
    }

    fn value(&self, rule: RuleId, part: Part) -> Vec<String> {
        let Some(class) = self.class_of(rule) else { return Vec::new() };
        let body = &class.body;
        match part {
            Part::Effect => vec![body.effect.name().to_owned()],
            Part::Actions => body.actions.iter().map(|action| action.to_string()).collect(),
            Part::Roles => body.holders.iter().map(|holder| holder.name().to_owned()).collect(),
            Part::Constants => body.condition.constants.clone(),
            // No group differs in these.
            Part::Condition | Part::Output | Part::Kind | Part::Version | Part::Scope => Vec::new(),
        }
    }
}

/// Removes groups whose rules are all in a group before them that has more in common.
fn without_repetitions(groups: Vec<Group>) -> Vec<Group> {
    let shapes: BTreeSet<Vec<RuleId>> = groups
        .iter()
        .filter(|group| group.kind == Kind::DiffersIn(Part::Constants))
        .map(|group| group.rules.clone())
        .collect();
    let repeats = |group: &Group| group.kind == Kind::SameShape && shapes.contains(&group.rules);
    let mut groups = groups;
    groups.retain(|group| !repeats(group));
    groups
}

/// The parts of which one is left out, and their positions in a class.
const LEFT_OUT: [(Part, usize); 3] = [(Part::Effect, 0), (Part::Actions, 1), (Part::Roles, 2)];

/// The constants of one condition of which each is left out once.
const MAX_CONSTANTS: usize = 32;
