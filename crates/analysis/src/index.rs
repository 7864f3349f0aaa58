//! The index of rules: classes of rules that say the same, and what they have in common.
//!
//! A rule is a place and a body. Rules whose bodies have equal normal forms are one class, so 200
//! kinds with the same five rules are five classes. Two texts are compared and never two digests: no
//! collision can make two rules one.

mod body;
mod describe;
mod features;
mod names;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use wardgate_compiler::resolve::model::Resolved;

pub use body::{Effect, Holder};
pub use describe::Place;

pub(crate) use body::Body;
pub(crate) use describe::{Described, Describer};
pub(crate) use features::Features;
use names::Names;

/// Rules by what they say.
#[derive(Debug, Default)]
pub struct Index {
    describer: Describer,
    names: Names,
    classes: Vec<Class>,
    numbers: HashMap<[u32; 5], u32>,
    /// The places of all rules; a rule that was replaced has none.
    places: Vec<Option<Place>>,
    /// The class of each rule.
    class_of: Vec<u32>,
    /// The rules of each file.
    files: BTreeMap<String, Vec<u32>>,
    /// The rules of each policy, by its key.
    policies: HashMap<Rc<str>, Vec<u32>>,
    features: Features,
}

/// Rules with equal bodies.
#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) body: Body,
    /// Effect, actions, holders, condition and output as numbers.
    pub(crate) parts: [u32; 5],
    /// The condition without its constants.
    pub(crate) shape: u32,
    /// The rules, in the order in which they came.
    pub(crate) rules: Vec<u32>,
    /// Kind, version and scope of each rule as numbers.
    pub(crate) sites: Vec<[u32; 3]>,
}

/// A rule of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(pub(crate) u32);

impl Index {
    /// Makes the index of all rules of some policies.
    #[must_use]
    pub fn new(resolved: &Resolved) -> Self {
        let mut index = Self::default();
        index.add(resolved, &|_| true);
        index.features.weigh();
        index
    }

    /// Replaces the rules of one file by those that `resolved` has in it; no other policies need be in it. Ties between classes are
    /// broken by age, so that the order of equals may differ from that of a new index.
    pub fn replace(&mut self, file: &str, resolved: &Resolved) {
        self.replace_all(&BTreeSet::from([file.to_owned()]), resolved);
    }

    /// Replaces the rules of some files by those that `resolved` has in them, as [`Self::replace`] does. Only these
    /// files need be in it.
    pub fn replace_all(&mut self, files: &BTreeSet<String>, resolved: &Resolved) {
        for file in files {
            for rule in self.files.remove(file).unwrap_or_default() {
                self.remove(rule);
            }
        }
        self.add(resolved, &|path| files.contains(path));
        self.features.weigh();
    }

    /// Returns the number of rules that were replaced and are remembered as empty places.
    pub(crate) fn retired(&self) -> usize {
        self.places.len().saturating_sub(self.rules())
    }

    /// Returns the number of rules.
    #[must_use]
    pub fn rules(&self) -> usize {
        self.places.iter().flatten().count()
    }

    /// Returns the number of classes: rules that say something different.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.classes.iter().filter(|class| !class.rules.is_empty()).count()
    }

    /// Returns the place of a rule; nothing if its file was replaced.
    #[must_use]
    pub fn place(&self, rule: RuleId) -> Option<&Place> {
        self.places.get(at(rule.0))?.as_ref()
    }

    /// Returns the rules of a policy, or the one with a name, in order.
    #[must_use]
    pub fn find(&self, policy: &str, rule: Option<&str>) -> Vec<RuleId> {
        let is_meant = |id: &RuleId| {
            rule.is_none_or(|rule| self.place(*id).is_some_and(|place| *place.rule == *rule))
        };
        self.of_policy(policy).iter().copied().map(RuleId).filter(is_meant).collect()
    }

    /// Returns the numbers of the rules of a policy, in order.
    pub(crate) fn of_policy(&self, policy: &str) -> &[u32] {
        self.policies.get(policy).map_or(&[], Vec::as_slice)
    }

    /// Returns the policies by their keys, each with the numbers of its rules, in no order.
    pub(crate) fn policies(&self) -> impl Iterator<Item = (&Rc<str>, &[u32])> {
        self.policies.iter().map(|(key, rules)| (key, rules.as_slice()))
    }

    /// Returns the rules that a text names: `POLICY`, or `POLICY#RULE`.
    #[must_use]
    pub fn named(&self, name: &str) -> Vec<RuleId> {
        match name.split_once('#') {
            Some((policy, rule)) => self.find(policy, Some(rule)),
            None => self.find(name, None),
        }
    }

    /// Returns the rules with their places, in order.
    pub fn all(&self) -> impl Iterator<Item = (RuleId, &Place)> {
        let numbered = (0_u32..).zip(&self.places);
        numbered.filter_map(|(rule, place)| Some((RuleId(rule), place.as_ref()?)))
    }

    pub(crate) fn class_of(&self, rule: RuleId) -> Option<&Class> {
        self.class(self.class_number(rule)?)
    }

    pub(crate) fn class_number(&self, rule: RuleId) -> Option<u32> {
        self.class_of.get(at(rule.0)).copied()
    }

    pub(crate) fn class(&self, class: u32) -> Option<&Class> {
        self.classes.get(at(class))
    }

    pub(crate) fn live_classes(&self) -> impl Iterator<Item = (u32, &Class)> {
        (0_u32..).zip(&self.classes).filter(|(_, class)| !class.rules.is_empty())
    }

    /// Returns kind, version and scope of a place as numbers: another one for what no rule has.
    pub(crate) fn site(&self, place: &Place) -> [u32; 3] {
        let known = |text: &Rc<str>| self.names.known(text).unwrap_or(u32::MAX);
        [&place.kind, &place.version, &place.scope].map(known)
    }

    pub(crate) const fn features(&self) -> &Features {
        &self.features
    }

    /// Returns the features of a body as numbers, sorted; the number that is nobody's for those
    /// that no rule has.
    pub(crate) fn features_of(&self, body: &Body) -> Vec<u32> {
        let number = |feature: &String| self.names.known(feature).unwrap_or(u32::MAX);
        let mut features: Vec<u32> = body.features().iter().map(number).collect();
        features.sort_unstable();
        features
    }

    fn add(&mut self, resolved: &Resolved, takes: &dyn Fn(&str) -> bool) {
        let mut describer = std::mem::take(&mut self.describer);
        describer.each(resolved, &mut |described| {
            if takes(&described.place.location.file.path) {
                self.insert(described);
            }
        });
        self.describer = describer;
    }

    fn insert(&mut self, described: Described) {
        let Described { place, body } = described;
        let rule = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        let class = self.class_for(body);
        if let Some(files) = self.files.get_mut(&place.location.file.path) {
            files.push(rule);
        } else {
            self.files.insert(place.location.file.path.clone(), vec![rule]);
        }
        let site = [&place.kind, &place.version, &place.scope].map(|text| self.names.number(text));
        if let Some(rules) = self.policies.get_mut(&place.policy) {
            rules.push(rule);
        } else {
            self.policies.insert(Rc::clone(&place.policy), vec![rule]);
        }
        self.places.push(Some(place));
        self.class_of.push(class);
        let Some(found) = self.classes.get_mut(at(class)) else { return };
        found.rules.push(rule);
        found.sites.push(site);
        if found.rules.len() == 1 {
            let features = found.body.features();
            let features = features.iter().map(|feature| self.names.number(feature)).collect();
            self.features.insert(class, features, self.names.len());
        }
    }

    /// Returns the class of the rules with a body, if there was one.
    pub(crate) fn class_like(&self, body: &Body) -> Option<u32> {
        let [effect, actions, holders, condition, output] =
            body.parts().map(|part| self.names.known(&part));
        self.numbers.get(&[effect?, actions?, holders?, condition?, output?]).copied()
    }

    fn class_for(&mut self, body: Body) -> u32 {
        let parts = body.parts().map(|part| self.names.number(&part));
        let shape = self.names.number(&body.condition.shape);
        let new = u32::try_from(self.classes.len()).unwrap_or(u32::MAX);
        let class = *self.numbers.entry(parts).or_insert(new);
        if class == new {
            self.classes.push(Class { body, parts, shape, rules: Vec::new(), sites: Vec::new() });
        }
        class
    }

    fn remove(&mut self, rule: u32) {
        let place = self.places.get_mut(at(rule)).and_then(Option::take);
        if let Some(rules) = place.and_then(|place| self.policies.get_mut(&place.policy)) {
            remove_from(rules, rule);
        }
        let Some(class) = self.class_of.get(at(rule)).copied() else { return };
        let Some(found) = self.classes.get_mut(at(class)) else { return };
        if let Some(position) = remove_from(&mut found.rules, rule) {
            found.sites.remove(position);
        }
        if found.rules.is_empty() {
            self.features.remove(class);
        }
    }
}

/// Removes a rule from a list in the order of age, and returns its position.
fn remove_from(rules: &mut Vec<u32>, rule: u32) -> Option<usize> {
    let position = rules.binary_search(&rule).ok()?;
    rules.remove(position);
    Some(position)
}

/// Returns a number as an index.
pub(crate) fn at(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
