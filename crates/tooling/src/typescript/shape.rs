//! What is known of a value of JSON, and the type that accepts it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::text::name;

/// The values that an attribute may have. One of which nothing is known may be anything.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Shape {
    /// True if it may be anything, whatever else is known.
    pub(super) is_any: bool,
    pub(super) scalars: BTreeSet<Scalar>,
    /// The members, if it may be an object.
    pub(super) members: Option<Members>,
    /// The elements, if it may be a list.
    pub(super) element: Option<Box<Self>>,
}

/// The members of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Members {
    pub(super) named: BTreeMap<String, Member>,
    /// True if there are no others.
    pub(super) is_closed: bool,
}

/// A member of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Member {
    pub(super) shape: Shape,
    pub(super) is_required: bool,
}

/// Where a value goes, which determines the type that it has in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// From a program into a request: a `Set` is a list there, and a member may be `undefined`.
    Request,
    /// From a decision into a program: a value of JSON.
    Decision,
}

impl Direction {
    /// Returns the type of a value of which nothing is known.
    fn any(self) -> &'static str {
        match self {
            Self::Request => "unknown",
            Self::Decision => JSON,
        }
    }
}

/// The name of the type of all values of JSON.
pub(super) const JSON: &str = "Json";

/// A type of values without parts, in the order in which they are written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scalar {
    Text,
    /// A moment, as text or as a `Date`.
    Time,
    Number,
    Bool,
    /// One value, as JSON.
    Literal(String),
    Null,
}

impl Shape {
    pub(super) fn any() -> Self {
        Self { is_any: true, ..Self::default() }
    }

    pub(super) fn of(scalar: Scalar) -> Self {
        Self { scalars: BTreeSet::from([scalar]), ..Self::default() }
    }

    pub(super) fn list(element: Self) -> Self {
        Self { element: Some(Box::new(element)), ..Self::default() }
    }

    pub(super) fn object(members: Members) -> Self {
        Self { members: Some(members), ..Self::default() }
    }

    pub(super) fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn has_members(&self) -> bool {
        !self.is_any
            && self.members.as_ref().is_some_and(|all| !all.named.is_empty() || all.is_closed)
    }

    /// Returns the place of a member, which an object may lack.
    pub(super) fn member(&mut self, name: &str) -> &mut Self {
        let members = self.members.get_or_insert_with(Members::default);
        &mut members.named.entry(name.to_owned()).or_default().shape
    }

    /// Returns the place of the elements.
    pub(super) fn elements(&mut self) -> &mut Self {
        self.element.get_or_insert_with(Box::default)
    }

    /// Accepts the values of another shape too. What is unknown adds nothing.
    pub(super) fn add(&mut self, other: &Self) {
        self.is_any |= other.is_any;
        self.scalars.extend(other.scalars.iter().cloned());
        if let Some(element) = &other.element {
            self.elements().add(element);
        }
        match (&mut self.members, &other.members) {
            (Some(members), Some(more)) => members.add(more),
            (members @ None, Some(more)) => *members = Some(more.clone()),
            (_, None) => {}
        }
    }

    /// Accepts `null` in every place of which something is known: columns of databases have it, and
    /// a comparison with it is false.
    pub(super) fn with_null(mut self) -> Self {
        self.element = self.element.map(|element| Box::new(element.with_null()));
        if let Some(members) = &mut self.members {
            for member in members.named.values_mut() {
                member.shape = std::mem::take(&mut member.shape).with_null();
            }
        }
        if !self.is_any && !self.is_unknown() {
            self.scalars.insert(Scalar::Null);
        }
        self
    }

    /// Writes the type. `indent` is that of the line on which it begins.
    pub(super) fn written(&self, direction: Direction, indent: usize) -> String {
        if self.is_any || self.is_unknown() {
            return direction.any().to_owned();
        }
        let mut parts: Vec<String> = Vec::new();
        if let Some(element) = &self.element {
            let element = element.written(direction, indent);
            let inner = if element.contains('|') || element.starts_with("readonly ") {
                format!("({element})")
            } else {
                element.clone()
            };
            parts.push(match direction {
                Direction::Request => format!("readonly {inner}[] | ReadonlySet<{element}>"),
                Direction::Decision => format!("readonly {inner}[]"),
            });
        }
        parts.extend(self.members.as_ref().map(|members| members.written(direction, indent)));
        parts.extend(self.scalars.iter().map(|scalar| scalar.written(&self.scalars)));
        parts.retain(|part| !part.is_empty());
        parts.join(" | ")
    }
}

impl Members {
    fn add(&mut self, other: &Self) {
        for (name, member) in &mut self.named {
            member.is_required &= other.named.get(name).is_some_and(|other| other.is_required);
        }
        for (name, more) in &other.named {
            self.named.entry(name.clone()).or_default().shape.add(&more.shape);
        }
        self.is_closed &= other.is_closed;
    }

    /// Writes the type of the object.
    pub(super) fn written(&self, direction: Direction, indent: usize) -> String {
        if self.named.is_empty() {
            return if self.is_closed { "{ [name: string]: never }" } else { "object" }.to_owned();
        }
        let inner = indent.saturating_add(2);
        let mut text = String::from("{\n");
        for (key, Member { shape, is_required }) in &self.named {
            let written = shape.written(direction, inner);
            let (mark, absent) = match (is_required, direction, written.as_str()) {
                (true, _, _) => ("", ""),
                (false, Direction::Decision, _) | (false, _, "unknown") => ("?", ""),
                (false, Direction::Request, _) => ("?", " | undefined"),
            };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{:inner$}{}{mark}: {written}{absent};", "", name(key));
        }
        let _ = write!(text, "{:indent$}}}", "");
        if self.is_closed { text } else { format!("Open<{text}>") }
    }
}

impl Scalar {
    /// Writes the type; nothing if another of `all` has its values.
    fn written(&self, all: &BTreeSet<Self>) -> String {
        let has_text = all.contains(&Self::Text);
        let has_all = |json: &str| match json.as_bytes().first() {
            Some(b'"') => has_text,
            Some(b't' | b'f') => all.contains(&Self::Bool),
            Some(b'-' | b'0'..=b'9') => all.contains(&Self::Number),
            _ => false,
        };
        match self {
            Self::Text => "string".to_owned(),
            Self::Time if has_text => "Date".to_owned(),
            Self::Time => "string | Date".to_owned(),
            Self::Number => "number".to_owned(),
            Self::Bool => "boolean".to_owned(),
            Self::Literal(json) if has_all(json) => String::new(),
            Self::Literal(json) => json.clone(),
            Self::Null => "null".to_owned(),
        }
    }
}
