//! Kinds of resource and their actions, found by pattern.
//!
//! There may be thousands of both, so neither is gone through for each of the others: a pattern is
//! compared only with kinds that begin as it does, and once.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use wardgate_engine::glob::is_glob;
use wardgate_engine::names::sanitized;
use wardgate_engine::order::in_order;

use crate::lint::pattern::{fits, head};
use wardgate_compiler::resolve::model::ResourcePolicy;

/// Names of actions, or patterns of them.
pub(super) type Actions<'p> = BTreeSet<&'p str>;

/// The actions of resource policies, by kind.
pub(super) struct Kinds<'p> {
    actions: BTreeMap<String, Rc<Actions<'p>>>,
    /// The actions by pattern, for earlier patterns.
    known: RefCell<BTreeMap<String, Option<Rc<Actions<'p>>>>>,
}

impl<'p> Kinds<'p> {
    pub(super) fn of(policies: &'p [ResourcePolicy]) -> Self {
        let mut kinds: BTreeMap<String, Actions<'p>> = BTreeMap::new();
        for policy in policies {
            let actions = policy.rules.iter().flat_map(|rule| &rule.actions).map(String::as_str);
            kinds.entry(sanitized(&policy.head.name).into_owned()).or_default().extend(actions);
        }
        let actions = in_order(kinds.into_iter().map(|(kind, actions)| (kind, Rc::new(actions))));
        Self { actions, known: RefCell::default() }
    }

    /// Returns the actions of all kinds that fit a pattern; nothing if no kind fits.
    pub(super) fn actions(&self, pattern: &str) -> Option<Rc<Actions<'p>>> {
        if !is_glob(pattern) {
            return self.actions.get(pattern).cloned();
        }
        if let Some(known) = self.known.borrow().get(pattern) {
            return known.clone();
        }
        let found = self.fitting(pattern);
        self.known.borrow_mut().insert(pattern.to_owned(), found.clone());
        found
    }

    fn fitting(&self, pattern: &str) -> Option<Rc<Actions<'p>>> {
        let head = head(pattern);
        let alike =
            self.actions.range(head.to_owned()..).take_while(|(kind, _)| kind.starts_with(head));
        let mut fitting = alike.filter(|(kind, _)| fits(pattern, kind)).peekable();
        fitting.peek()?;
        Some(Rc::new(fitting.flat_map(|(_, actions)| actions.iter().copied()).collect()))
    }
}

/// A pattern of kinds, and actions for them.
type PatternActions<'p> = (Cow<'p, str>, Vec<&'p str>);

/// Actions by the patterns of kinds that they are for.
pub(super) struct ByKind<'p> {
    /// By the head of each pattern; a name is all head.
    patterns: BTreeMap<String, Vec<PatternActions<'p>>>,
}

impl<'p> ByKind<'p> {
    pub(super) fn of(all: impl Iterator<Item = PatternActions<'p>>) -> Self {
        let mut patterns: BTreeMap<String, Vec<_>> = BTreeMap::new();
        for (pattern, actions) in all {
            let head = if is_glob(&pattern) { head(&pattern) } else { &pattern };
            patterns.entry(head.to_owned()).or_default().push((pattern, actions));
        }
        Self { patterns }
    }

    /// Returns the actions for a kind.
    pub(super) fn actions<'a>(
        &'a self,
        kind: &'a str,
    ) -> impl Iterator<Item = &'p str> + Clone + 'a {
        let ends = (0..=kind.len()).filter_map(|end| kind.get(..end));
        let alike = ends.filter_map(|head| self.patterns.get(head)).flatten();
        let fitting = alike.filter(|(pattern, _)| fits(pattern, kind));
        fitting.flat_map(|(_, actions)| actions.iter().copied())
    }
}
