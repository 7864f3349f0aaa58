//! From resolved policies to rules with bodies.
//!
//! Conditions recur in many policies, so each text is brought into normal form once for all
//! policies that give its names the same meaning.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::rc::Rc;

use wardgate_compiler::policy::model::{Condition, Output, ResourceRule};
use wardgate_compiler::resolve::model::{
    DerivedRole, Head, PrincipalPolicy, Resolved, ResourcePolicy, RolePolicy, Variable,
};
use wardgate_compiler::source::Location;
use wardgate_engine::attr::Attr;

use super::body::{Body, ConditionText, Effect, Holder};
use crate::normal::{Normal, Parsed, Scope};

/// The place of a rule.
#[derive(Clone, Debug)]
pub struct Place {
    /// The key of its policy.
    pub policy: Rc<str>,
    /// Its name; empty where a role policy gives none.
    pub rule: Rc<str>,
    /// The kind of the resource, or a pattern of kinds.
    pub kind: Rc<str>,
    /// The version.
    pub version: Rc<str>,
    /// The scope; empty is the root.
    pub scope: Rc<str>,
    /// The location.
    pub location: Location,
}

/// A rule with its place.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    pub(crate) place: Place,
    pub(crate) body: Body,
}

/// Describes rules, and remembers conditions.
#[derive(Debug, Default)]
pub(crate) struct Describer {
    parsed: Parsed,
    conditions: HashMap<String, Rc<ConditionText>>,
    texts: HashMap<String, Rc<str>>,
    always: Option<Rc<ConditionText>>,
}

/// The names of a policy, for the conditions in it.
struct Names<'p> {
    constants: &'p BTreeMap<String, Attr>,
    variables: &'p [Variable],
    is_of_derived_role: bool,
    /// The policy or set.
    owner: &'p str,
    /// What the names mean, as text.
    meaning: String,
}

impl<'p> Names<'p> {
    fn new(
        constants: &'p BTreeMap<String, Attr>,
        variables: &'p [Variable],
        owner: &'p str,
        is_of_derived_role: bool,
    ) -> Self {
        let mut meaning = String::new();
        if is_of_derived_role {
            meaning.push('\u{4}');
        }
        for variable in variables {
            let _ = write!(meaning, "{}\u{1}{}\u{1}", variable.name, variable.expr.text);
        }
        for (name, value) in constants {
            let _ = write!(meaning, "{name}\u{2}{value:?}\u{2}");
        }
        Self { constants, variables, is_of_derived_role, owner, meaning }
    }

    fn of(head: &'p Head) -> Self {
        Self::new(&head.constants, &head.variables, &head.key, false)
    }
}

impl Describer {
    /// Describes each rule of the policies, in order.
    pub(crate) fn each(&mut self, resolved: &Resolved, visit: &mut dyn FnMut(Described)) {
        for policy in &resolved.resource {
            self.resource(policy, visit);
        }
        for policy in &resolved.principal {
            self.principal(policy, visit);
        }
        for policy in &resolved.role {
            self.role(policy, visit);
        }
    }

    fn resource(&mut self, policy: &ResourcePolicy, visit: &mut dyn FnMut(Described)) {
        let names = Names::of(&policy.head);
        let place = Place::of(&policy.head, &policy.head.name);
        let derived: BTreeMap<&str, Holder> = policy
            .derived_roles
            .iter()
            .map(|(name, role)| (name.as_str(), self.derived(role)))
            .collect();
        for rule in &policy.rules {
            let body = Body {
                effect: rule.effect.into(),
                actions: sorted(rule.actions.iter().map(|action| action.as_str().into())),
                holders: holders(rule, &derived),
                condition: self.condition(rule.condition.as_ref(), &names),
                output: self.output(&rule.output, &names),
            };
            visit(Described { place: place.at(&rule.name, &rule.location), body });
        }
    }

    fn principal(&mut self, policy: &PrincipalPolicy, visit: &mut dyn FnMut(Described)) {
        let names = Names::of(&policy.head);
        let holder = plain(&format!("principal {}", policy.head.name), &policy.head.name);
        for of_kind in &policy.rules {
            let place = Place::of(&policy.head, &of_kind.resource);
            for rule in &of_kind.actions {
                let body = Body {
                    effect: rule.effect.into(),
                    actions: vec![rule.action.as_str().into()],
                    holders: vec![holder.clone()],
                    condition: self.condition(rule.condition.as_ref(), &names),
                    output: self.output(&rule.output, &names),
                };
                visit(Described { place: place.at(&rule.name, &rule.location), body });
            }
        }
    }

    fn role(&mut self, policy: &RolePolicy, visit: &mut dyn FnMut(Described)) {
        let names = Names::of(&policy.head);
        let holder = plain(&policy.head.name, &policy.head.name);
        for rule in &policy.rules {
            let place = Place::of(&policy.head, &rule.resource);
            let body = Body {
                effect: Effect::Narrow,
                actions: sorted(rule.allow_actions.iter().map(|action| action.as_str().into())),
                holders: vec![holder.clone()],
                condition: self.condition(rule.condition.as_ref(), &names),
                output: self.output(&rule.output, &names),
            };
            visit(Described { place: place.at(&rule.name, &rule.location), body });
        }
    }

    /// Returns what a derived role means: its parents and its condition, whatever its name is.
    fn derived(&mut self, role: &DerivedRole) -> Holder {
        let names = Names::new(&role.constants, &role.variables, &role.origin, true);
        let condition = self.condition(role.condition.as_ref(), &names);
        let parents = sorted(role.parent_roles.iter().map(|role| role.as_str().into()));
        let meaning = format!("\u{1}{} if {}", parents.join(", "), condition.text);
        plain(&meaning, &role.name)
    }

    fn condition(&mut self, condition: Option<&Condition>, names: &Names<'_>) -> Rc<ConditionText> {
        let Some(condition) = condition else {
            let always = self.always.get_or_insert_with(|| Rc::new(ConditionText::of(None, None)));
            return Rc::clone(always);
        };
        let mut key = String::with_capacity(names.meaning.len().saturating_add(64));
        key.push_str(&names.meaning);
        write_key(condition, &mut key);
        if let Some(known) = self.conditions.get(&key) {
            return Rc::clone(known);
        }
        let scope = names.scope(&self.parsed);
        let normal = Normal::of(condition, &scope);
        if scope.is_own() {
            return Rc::new(ConditionText::of(Some(&normal), Some(names.owner)));
        }
        let described = Rc::new(ConditionText::of(Some(&normal), None));
        self.conditions.insert(key, Rc::clone(&described));
        described
    }

    fn output(&mut self, output: &Output, names: &Names<'_>) -> Rc<str> {
        if output.expressions().next().is_none() {
            return "".into();
        }
        let mut key = names.meaning.clone();
        for expression in [&output.activated, &output.condition_not_met] {
            key.push('\u{3}');
            key.push_str(expression.as_ref().map_or("", |expression| &*expression.text));
        }
        if let Some(known) = self.texts.get(&key) {
            return Rc::clone(known);
        }
        let scope = names.scope(&self.parsed);
        let mut text = String::new();
        for (word, expression) in
            [("activated", &output.activated), ("not met", &output.condition_not_met)]
        {
            if let Some(expression) = expression {
                let between = if text.is_empty() { "" } else { "; " };
                let value = scope.normal(&expression.text).text();
                let _ = write!(text, "{between}{word}: {value}");
            }
        }
        if scope.is_own() {
            let _ = write!(text, "\u{1}{}", names.owner);
            return text.into();
        }
        let text: Rc<str> = text.into();
        self.texts.insert(key, Rc::clone(&text));
        text
    }
}

impl<'p> Names<'p> {
    fn scope<'s>(&'s self, parsed: &'s Parsed) -> Scope<'s>
    where
        'p: 's,
    {
        let scope = Scope::new(parsed, self.constants, self.variables);
        if self.is_of_derived_role { scope.of_derived_role() } else { scope }
    }
}

impl Place {
    fn of(head: &Head, kind: &str) -> Self {
        Self {
            policy: head.key.as_str().into(),
            rule: "".into(),
            kind: kind.into(),
            version: head.version.as_str().into(),
            scope: head.scope.as_str().into(),
            location: head.location.clone(),
        }
    }

    fn at(&self, rule: &str, location: &Location) -> Self {
        Self { rule: rule.into(), location: location.clone(), ..self.clone() }
    }
}

fn plain(meaning: &str, name: &str) -> Holder {
    Holder { meaning: meaning.into(), name: name.into() }
}

fn holders(rule: &ResourceRule, derived: &BTreeMap<&str, Holder>) -> Vec<Holder> {
    let roles = rule.roles.iter().map(|role| plain(role, role));
    let derived = rule.derived_roles.iter().filter_map(|named| derived.get(named.name.as_str()));
    let mut holders: Vec<Holder> = roles.chain(derived.cloned()).collect();
    holders.sort();
    holders.dedup_by(|later, earlier| later.meaning == earlier.meaning);
    holders
}

fn sorted(texts: impl Iterator<Item = Rc<str>>) -> Vec<Rc<str>> {
    let mut texts: Vec<Rc<str>> = texts.collect();
    texts.sort();
    texts.dedup();
    texts
}

/// Writes a condition as it stands in its file.
fn write_key(condition: &Condition, key: &mut String) {
    let (word, parts) = match condition {
        Condition::Expr(expression) => {
            key.push('\u{3}');
            return key.push_str(&expression.text);
        }
        Condition::All(parts) => ('\u{5}', parts),
        Condition::Any(parts) => ('\u{6}', parts),
        Condition::None(parts) => ('\u{7}', parts),
    };
    key.push(word);
    parts.iter().for_each(|part| write_key(part, key));
    key.push('\u{8}');
}
