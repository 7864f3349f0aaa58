//! A rule without its place: what it says, in one spelling.

use std::borrow::Cow;
use std::rc::Rc;

use wardgate_compiler::policy::model::Effect as Written;

use crate::normal::Normal;

/// What a rule does where it applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// It allows.
    Allow,
    /// It denies.
    Deny,
    /// It names actions that a role may do at most, in a role policy.
    Narrow,
}

impl Effect {
    /// Returns the effect as a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Narrow => "narrow",
        }
    }
}

impl From<Written> for Effect {
    fn from(effect: Written) -> Self {
        match effect {
            Written::Allow => Self::Allow,
            Written::Deny => Self::Deny,
        }
    }
}

/// Whom a rule is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Holder {
    /// What it means: the name of a role, or the definition of a derived role.
    pub(crate) meaning: Rc<str>,
    /// Its name as authors know it.
    pub(crate) name: Rc<str>,
}

impl Holder {
    /// Returns the name of the role, derived role or principal.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The condition of a rule.
#[derive(Debug)]
pub(crate) struct ConditionText {
    /// The normal form as text; empty if there is no condition.
    pub(crate) text: Rc<str>,
    /// The text without constants.
    pub(crate) shape: Rc<str>,
    /// The constants, in the order of the shape.
    pub(crate) constants: Vec<String>,
    /// The comparisons and calls, each once, sorted.
    pub(crate) atoms: Vec<Rc<str>>,
    /// The same without constants.
    pub(crate) shapes: Vec<Rc<str>>,
    /// The reads, each once, sorted.
    pub(crate) reads: Vec<Rc<str>>,
    /// The parts that all hold where the condition holds, and nowhere else.
    pub(crate) conjuncts: Vec<Rc<str>>,
}

impl ConditionText {
    /// Describes a condition. `owner` is the policy outside of which the condition means nothing.
    pub(crate) fn of(condition: Option<&Normal>, owner: Option<&str>) -> Self {
        let Some(condition) = condition else { return Self::none() };
        let (mut atoms, mut shapes, mut reads) = (Vec::new(), Vec::new(), Vec::new());
        let mut constants = Vec::new();
        condition.each(&mut |node| {
            constants.extend(node.shape_and_holes().1);
            node.each_atom(&mut |atom| {
                atoms.push(Rc::from(atom.text()));
                shapes.push(Rc::from(atom.shape()));
            });
            node.each_read(&mut |read| reads.push(Rc::clone(read)));
        });
        for list in [&mut atoms, &mut shapes, &mut reads] {
            list.sort();
            list.dedup();
        }
        let own = |text: String| match owner {
            Some(owner) => format!("{text} \u{1}{owner}").into(),
            None => text.into(),
        };
        let (text, shape) = (own(condition.text()), own(condition.shape()));
        let mut conjuncts = Vec::new();
        condition.each_conjunct(&mut |part| conjuncts.push(own(part)));
        Self { text, shape, constants, atoms, shapes, reads, conjuncts }
    }

    fn none() -> Self {
        let none = || Rc::from("");
        Self {
            text: none(),
            shape: none(),
            constants: Vec::new(),
            atoms: Vec::new(),
            shapes: Vec::new(),
            reads: Vec::new(),
            conjuncts: Vec::new(),
        }
    }

    /// Returns the condition for a reader.
    pub(crate) fn shown(&self) -> &str {
        self.text.split(" \u{1}").next().unwrap_or_default()
    }
}

/// What a rule says. Rules with equal bodies are one class.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) effect: Effect,
    /// The patterns of the actions, each once, sorted.
    pub(crate) actions: Vec<Rc<str>>,
    /// Whom it is for, each once, sorted.
    pub(crate) holders: Vec<Holder>,
    pub(crate) condition: Rc<ConditionText>,
    /// The outputs in normal form; empty if there are none.
    pub(crate) output: Rc<str>,
}

impl Body {
    /// Returns effect, actions, holders, condition and output, each as one text. Bodies with equal parts are equal.
    pub(crate) fn parts(&self) -> [Cow<'_, str>; 5] {
        let holders: Vec<&str> = self.holders.iter().map(|holder| &*holder.meaning).collect();
        [
            self.effect.name().into(),
            self.actions.join("\u{1}").into(),
            holders.join("\u{1}").into(),
            (&*self.condition.text).into(),
            (&*self.output).into(),
        ]
    }

    /// Returns the names of the features, each once.
    pub(crate) fn features(&self) -> Vec<String> {
        let mut features = vec![format!("effect {}", self.effect.name())];
        features.extend(self.actions.iter().map(|action| format!("action {action}")));
        features.extend(
            self.actions
                .iter()
                .filter_map(|action| Some(format!("actions {}", action.split_once(':')?.0))),
        );
        features.extend(self.holders.iter().map(|holder| format!("role {}", holder.meaning)));
        let condition = &self.condition;
        features.extend(condition.atoms.iter().map(|atom| format!("atom {atom}")));
        features.extend(condition.shapes.iter().map(|shape| format!("shape {shape}")));
        features.extend(condition.reads.iter().map(|read| format!("read {read}")));
        if !condition.shape.is_empty() {
            features.push(format!("whole {}", condition.shape));
        }
        if !self.output.is_empty() {
            features.push(format!("output {}", self.output));
        }
        features
    }
}
