//! Rules of one policy that can be one, as edits that are proved to change no decision.
//!
//! Rules that are equal but for whom they are for, or but for their actions, become the first of them, with the
//! names of the others behind its own. Whether the order of the rules mattered is not guessed: the
//! policies with all edits are compiled and compared with those before. Everything else in a file stays
//! byte for byte.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use wardgate_compiler::policy::model::{Output, ResourceRule, RoleRule};
use wardgate_compiler::resolve::model::Resolved;
use wardgate_compiler::source::Location;

use crate::index::{Index, RuleId};
use crate::limits::MAX_READINGS;
use crate::proof::{Basis, Edit, Refusal, in_halves, located};
use crate::similar::Part;
use crate::written::{Change, Written, reads_as};

/// Rules that can be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merge {
    /// The rules, at least two, in order. The first stays.
    pub rules: Vec<RuleId>,
    /// The parts in which they differ: roles, actions, both or none.
    pub parts: Vec<Part>,
    /// The edits, or the reason why there are none.
    pub edits: Result<Vec<Edit>, Refusal>,
}

/// All merges of some policies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merges {
    /// Those that are proved, or refused: those that save most rules first, then in the order of their
    /// policies.
    pub found: Vec<Merge>,
    /// The number of those that could not be proved to change no decision.
    pub unproved: usize,
}

impl Merges {
    /// Returns the edits that are proved to change no decision, together.
    pub fn edits(&self) -> impl Iterator<Item = &Edit> {
        self.found.iter().filter_map(|merge| merge.edits.as_ref().ok()).flatten()
    }
}

/// A rule of a policy, as far as merges look at it.
struct Line {
    id: RuleId,
    /// All that must be equal.
    says: Rc<str>,
    actions: Vec<String>,
    roles: Vec<String>,
    derived_roles: Vec<String>,
    has_output: bool,
}

/// Lines that become one: the lists of the first with those of the others behind.
#[derive(Clone)]
struct Joined {
    members: Vec<usize>,
    actions: Vec<String>,
    roles: Vec<String>,
    derived_roles: Vec<String>,
    parts: Vec<Part>,
}

/// The rules of one policy.
struct Policy {
    location: Location,
    /// The member of the document that holds the rules, and the one that lists their actions.
    names: [&'static str; 2],
    lines: Vec<Line>,
    /// The rules with outputs.
    outputs: Vec<usize>,
}

impl Policy {
    fn new(location: &Location, names: [&'static str; 2], lines: Vec<Line>) -> Self {
        let with_output = lines.iter().enumerate().filter(|(_, line)| line.has_output);
        let outputs = with_output.map(|(at, _)| at).collect();
        Self { location: location.clone(), names, lines, outputs }
    }
}

/// Returns the rules that can be one.
pub fn merges(index: &Index, resolved: &Resolved, basis: &mut Basis<'_>) -> Merges {
    let mut found = Vec::new();
    for policy in policies(index, resolved) {
        policy.merges(&mut found);
    }
    let proposed = |merge: &&Merge| merge.edits.is_ok();
    let edits: Vec<&[Edit]> = found
        .iter()
        .filter(proposed)
        .map(|merge| merge.edits.as_deref().unwrap_or_default())
        .collect();
    let mut proved = basis.prove(&edits).into_iter();
    let all = found.len();
    found.retain(|merge| merge.edits.is_err() || proved.next().unwrap_or(false));
    let unproved = all.saturating_sub(found.len());
    let edits = found.iter().filter_map(|merge| merge.edits.as_ref().ok()).flatten();
    basis.accept(edits.cloned());
    found.sort_by(|a, b| b.rules.len().cmp(&a.rules.len()).then_with(|| a.rules.cmp(&b.rules)));
    Merges { found, unproved }
}

/// Returns the policies whose rules have lists, in order.
fn policies(index: &Index, resolved: &Resolved) -> Vec<Policy> {
    let mut rules: HashMap<&str, Vec<RuleId>> = HashMap::new();
    for (rule, place) in index.all() {
        rules.entry(&place.policy).or_default().push(rule);
    }
    let rules = |key: &str| rules.get(key).cloned().unwrap_or_default();
    let resource = resolved.resource.iter().map(|policy| {
        let ids = rules(&policy.head.key).into_iter().zip(&policy.rules);
        let lines = ids.map(|(id, rule)| Line::resource(index, id, rule)).collect();
        Policy::new(&policy.head.location, ["resourcePolicy", "actions"], lines)
    });
    let role = resolved.role.iter().map(|policy| {
        let ids = rules(&policy.head.key).into_iter().zip(&policy.rules);
        let lines = ids.map(|(id, rule)| Line::role(index, id, rule)).collect();
        Policy::new(&policy.head.location, ["rolePolicy", "allowActions"], lines)
    });
    resource.chain(role).collect()
}

impl Line {
    fn resource(index: &Index, id: RuleId, rule: &ResourceRule) -> Self {
        let condition = condition(index, id);
        let derived_roles: Vec<String> =
            rule.derived_roles.iter().map(|named| named.name.clone()).collect();
        // Names can only be added to lists that are there.
        let lists = [rule.roles.is_empty(), derived_roles.is_empty()];
        Self {
            id,
            says: format!("{:?} {lists:?} {condition}", rule.effect).into(),
            actions: rule.actions.clone(),
            roles: rule.roles.clone(),
            derived_roles,
            has_output: rule.output != Output::default(),
        }
    }

    fn role(index: &Index, id: RuleId, rule: &RoleRule) -> Self {
        Self {
            id,
            says: format!("{} \u{1}{}", rule.resource, condition(index, id)).into(),
            actions: rule.allow_actions.clone(),
            roles: Vec::new(),
            derived_roles: Vec::new(),
            has_output: rule.output != Output::default(),
        }
    }
}

/// Returns the normal form of a rule's condition.
fn condition(index: &Index, id: RuleId) -> Rc<str> {
    index.class_of(id).map_or_else(|| "".into(), |class| Rc::clone(&class.body.condition.text))
}

impl Policy {
    fn merges(&self, found: &mut Vec<Merge>) {
        let joined: Vec<Joined> =
            self.joined().into_iter().filter(|joined| joined.members.len() > 1).collect();
        if joined.is_empty() {
            return;
        }
        let written = Written::read(&self.location.file, [self.names[0], "rules"]);
        let changes: Vec<Result<Change, Refusal>> = joined
            .iter()
            .map(|joined| self.change(written.as_ref().map_err(|refusal| *refusal)?, joined))
            .collect();
        let sound = written.map_or_else(|_| Vec::new(), |written| self.sound(&written, &changes));
        let mut sound = sound.into_iter();
        for (joined, change) in joined.into_iter().zip(changes) {
            let ids = joined.members.iter().filter_map(|at| Some(self.lines.get(*at)?.id));
            let edits = change.and_then(|change| match sound.next() {
                Some(true) => Ok(located(&self.location.file.path, change.edits)),
                _ => Err(Refusal::Layout),
            });
            found.push(Merge { rules: ids.collect(), edits, parts: joined.parts });
        }
    }

    /// Joins rules by whom they are for and by their actions, in the order that leaves fewer.
    fn joined(&self) -> Vec<Joined> {
        let alone = self.lines.iter().enumerate().map(|(at, line)| Joined {
            members: vec![at],
            actions: line.actions.clone(),
            roles: line.roles.clone(),
            derived_roles: line.derived_roles.clone(),
            parts: Vec::new(),
        });
        let alone: Vec<Joined> = alone.collect();
        let by_roles = self.join(self.join(alone.clone(), Part::Roles), Part::Actions);
        let by_actions = self.join(self.join(alone, Part::Actions), Part::Roles);
        if by_actions.len() < by_roles.len() { by_actions } else { by_roles }
    }

    /// Joins those that are equal but for one part.
    fn join(&self, all: Vec<Joined>, part: Part) -> Vec<Joined> {
        let mut groups: Vec<Vec<Joined>> = Vec::with_capacity(all.len());
        let mut known: HashMap<(Rc<str>, Vec<Vec<String>>), usize> = HashMap::new();
        for one in all {
            let line = one.members.first().and_then(|at| self.lines.get(*at));
            let Some(says) = line.map(|line| Rc::clone(&line.says)) else { continue };
            let equal = match part {
                Part::Roles => vec![sorted(&one.actions)],
                _ => vec![sorted(&one.roles), sorted(&one.derived_roles)],
            };
            let new = groups.len();
            let at = *known.entry((says, equal)).or_insert(new);
            match groups.get_mut(at) {
                Some(group) => group.push(one),
                None => groups.push(vec![one]),
            }
        }
        let mut joined: Vec<Joined> =
            groups.into_iter().filter_map(|group| Joined::of(group, part)).collect();
        // The first rule of each stays, so the order is that of the first rules.
        joined.sort_by(|a, b| a.members.cmp(&b.members));
        joined
    }

    /// Returns the change of the text that joins rules.
    fn change(&self, written: &Written<'_>, joined: &Joined) -> Result<Change, Refusal> {
        let [first, others @ ..] = joined.members.as_slice() else { return Err(Refusal::Layout) };
        let line = self.lines.get(*first).ok_or(Refusal::Layout)?;
        let unnamed = |at: &usize| !written.has(*at, "name");
        let behind = others.first().copied().unwrap_or(usize::MAX);
        let is_watched = |at: &usize| self.lines.get(*at).is_some_and(|line| line.has_output);
        let last = others.last().copied().unwrap_or_default();
        let shifted = self.outputs.iter().any(|at| *at > behind && unnamed(at));
        // A rule that moves in front of an output may end the search before it.
        let passed = self.outputs.iter().any(|at| (*first..last).contains(at));
        if shifted || passed || joined.members.iter().any(is_watched) {
            return Err(Refusal::Output);
        }
        if !others.iter().all(unnamed) {
            return Err(Refusal::Name);
        }
        let lists = [
            (self.names[1], &joined.actions, &line.actions),
            ("roles", &joined.roles, &line.roles),
            ("derivedRoles", &joined.derived_roles, &line.derived_roles),
        ];
        let mut change = Change { removed: others.to_vec(), ..Change::default() };
        for (key, all, own) in lists {
            let names: Vec<String> = all.iter().skip(own.len()).cloned().collect();
            if !names.is_empty() {
                change.edits.push(written.extension(*first, key, &names)?);
                change.extended.push((*first, key, names));
            }
        }
        for rule in others {
            change.edits.push(written.removal(*rule)?);
        }
        Ok(change)
    }

    /// Says of each change whether the text with it, and with all others of which this holds, reads as it has to.
    fn sound(&self, written: &Written<'_>, changes: &[Result<Change, Refusal>]) -> Vec<bool> {
        let changes: Vec<&Change> = changes.iter().flatten().collect();
        let file = &self.location.file;
        in_halves(changes.len(), MAX_READINGS, &mut |chosen| {
            let chosen: Vec<&Change> =
                chosen.iter().filter_map(|at| changes.get(*at).copied()).collect();
            let edits: Vec<_> = chosen.iter().flat_map(|change| change.edits.clone()).collect();
            let expected = written.expected(&chosen);
            let new = wardgate_tooling::edit::apply(&file.text, &edits);
            expected.zip(new).is_some_and(|(expected, new)| reads_as(&file.path, &new, &expected))
        })
    }
}

impl Joined {
    /// Joins rules that are equal but for one part.
    fn of(group: Vec<Self>, part: Part) -> Option<Self> {
        let mut group = group.into_iter();
        let mut first = group.next()?;
        let own = first.all();
        let lists = [&mut first.actions, &mut first.roles, &mut first.derived_roles];
        let mut lists = lists.map(|list| (list.iter().cloned().collect::<HashSet<_>>(), list));
        for other in group {
            if own != other.all() && !first.parts.contains(&part) {
                first.parts.push(part);
            }
            for ((known, list), names) in
                lists.iter_mut().zip([other.actions, other.roles, other.derived_roles])
            {
                list.extend(names.into_iter().filter(|name| known.insert(name.clone())));
            }
            for part in other.parts {
                if !first.parts.contains(&part) {
                    first.parts.push(part);
                }
            }
            first.members.extend(other.members);
        }
        first.members.sort_unstable();
        Some(first)
    }

    fn all(&self) -> [Vec<String>; 3] {
        [sorted(&self.actions), sorted(&self.roles), sorted(&self.derived_roles)]
    }
}

fn sorted(names: &[String]) -> Vec<String> {
    let mut names = names.to_vec();
    names.sort();
    names
}

#[cfg(test)]
mod tests;
