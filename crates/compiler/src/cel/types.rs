//! Types, and the rule by which a value of one type may take the place of another.
//!
//! Type variables are bound as the checker goes, as in Hindley and Milner, except that `dyn` agrees
//! with everything. Both the size of a type and the work of one comparison are bounded: past the
//! bound the answer is the lenient one, which leaves the question to the machine.

use std::fmt;

/// The type of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// Anything; checked when it is evaluated.
    Dyn,
    /// An expression that was reported already.
    Error,
    /// `null`.
    Null,
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// `uint`.
    Uint,
    /// `double`.
    Double,
    /// `string`.
    String,
    /// `bytes`.
    Bytes,
    /// `google.protobuf.Timestamp`.
    Timestamp,
    /// `google.protobuf.Duration`.
    Duration,
    /// A list of one type.
    List(Box<Type>),
    /// A map from one type to another.
    Map(Box<Type>, Box<Type>),
    /// A type as a value, and which one if that is known.
    Type(Option<Box<Type>>),
    /// A primitive or `null`.
    Wrapper(Box<Type>),
    /// A message by its full name; its fields are the environment's to know.
    Message(String),
    /// Any other type: its name and parameters.
    Opaque(String, Vec<Type>),
    /// A parameter in the signature of a function.
    Param(String),
    /// A type to be found; see `Unifier`.
    Var(usize),
}

impl Type {
    /// Returns `list(element)`.
    #[must_use]
    pub fn list(element: Self) -> Self {
        Self::List(Box::new(element)).bounded()
    }

    /// Returns `map(key, value)`.
    #[must_use]
    pub fn map(key: Self, value: Self) -> Self {
        Self::Map(Box::new(key), Box::new(value)).bounded()
    }

    /// Returns `optional_type(value)`.
    #[must_use]
    pub fn optional(value: Self) -> Self {
        Self::Opaque(OPTIONAL.to_owned(), vec![value]).bounded()
    }

    /// Returns `type(of)`.
    #[must_use]
    pub fn type_of(of: Self) -> Self {
        Self::Type(Some(Box::new(of))).bounded()
    }

    /// Returns the type inside an optional, and true if the type is one.
    #[must_use]
    pub fn unwrap_optional(self) -> (Self, bool) {
        match self {
            Self::Opaque(name, mut params) if name == OPTIONAL && params.len() == 1 => {
                (params.pop().unwrap_or(Self::Dyn), true)
            }
            other => (other, false),
        }
    }

    pub(super) const fn is_dyn_or_error(&self) -> bool {
        matches!(self, Self::Dyn | Self::Error)
    }

    fn params(&self) -> Vec<&Self> {
        match self {
            Self::List(element) => vec![element],
            Self::Map(key, value) => vec![key, value],
            Self::Type(of) => of.iter().map(AsRef::as_ref).collect(),
            Self::Opaque(_, params) => params.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the type, or `dyn` if it is too large. A type that shares its parts can grow by
    /// doubling.
    fn bounded(self) -> Self {
        if self.size() > MAX_TYPE_SIZE { Self::Dyn } else { self }
    }

    fn size(&self) -> usize {
        self.params().into_iter().map(Self::size).sum::<usize>() + 1
    }

    /// Returns true if this type accepts `null` although it is not one of the nullable primitives.
    const fn is_nullable(&self) -> bool {
        matches!(
            self,
            Self::Null
                | Self::Dyn
                | Self::Wrapper(_)
                | Self::Opaque(..)
                | Self::Message(_)
                | Self::Duration
                | Self::Timestamp
        )
    }

    fn unwrapped(&self) -> &Self {
        match self {
            Self::Wrapper(inner) => inner,
            other => other,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Dyn => "dyn",
            Self::Error => "!error!",
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Timestamp => "timestamp",
            Self::Duration => "duration",
            Self::List(_) => "list",
            Self::Map(..) => "map",
            Self::Type(_) => "type",
            Self::Wrapper(inner) => return write!(out, "wrapper({inner})"),
            Self::Message(name) | Self::Opaque(name, _) | Self::Param(name) => name,
            Self::Var(number) => return write!(out, "_var{number}"),
        };
        out.write_str(name)?;
        let params = self.params();
        if params.is_empty() { Ok(()) } else { write!(out, "({})", join(params)) }
    }
}

/// Writes types with commas between them.
pub(super) fn join<'a>(types: impl IntoIterator<Item = &'a Type>) -> String {
    types.into_iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The types that type variables are bound to so far.
#[derive(Debug, Default)]
pub(super) struct Unifier {
    bindings: Vec<Option<Type>>,
    /// The overwritten binding of each change, so that a failed attempt can be undone.
    trail: Vec<(usize, Option<Type>)>,
    fuel: u32,
}

impl Unifier {
    pub(super) fn fresh(&mut self) -> Type {
        self.bindings.push(None);
        Type::Var(self.bindings.len() - 1)
    }

    /// Returns true if each type of `from` may take the place of its type of `to`. If so the
    /// variables are bound accordingly; if not nothing changes.
    pub(super) fn assignable(&mut self, from: &[Type], to: &[Type]) -> bool {
        self.fuel = MAX_COMPARISONS;
        let mark = self.trail.len();
        if from.len() == to.len() && from.iter().zip(to).all(|(from, to)| self.agrees(from, to)) {
            return true;
        }
        while self.trail.len() > mark {
            if let Some((variable, before)) = self.trail.pop()
                && let Some(binding) = self.bindings.get_mut(variable)
            {
                *binding = before;
            }
        }
        false
    }

    /// Returns the type with its variables replaced, unbound ones by `dyn` if `to_dyn`.
    pub(super) fn substitute(&mut self, of: &Type, to_dyn: bool) -> Type {
        self.fuel = MAX_COMPARISONS;
        self.replace(of, to_dyn)
    }

    fn replace(&mut self, of: &Type, to_dyn: bool) -> Type {
        if !self.burn() {
            return Type::Dyn;
        }
        match of {
            Type::Var(variable) => match self.binding(*variable) {
                Some(bound) => self.replace(&bound, to_dyn),
                None if to_dyn => Type::Dyn,
                None => of.clone(),
            },
            Type::List(element) => Type::list(self.replace(element, to_dyn)),
            Type::Map(key, value) => {
                Type::map(self.replace(key, to_dyn), self.replace(value, to_dyn))
            }
            Type::Type(Some(inner)) => Type::type_of(self.replace(inner, to_dyn)),
            Type::Opaque(name, params) => {
                let params = params.iter().map(|param| self.replace(param, to_dyn)).collect();
                Type::Opaque(name.clone(), params).bounded()
            }
            _ => of.clone(),
        }
    }

    fn agrees(&mut self, from: &Type, to: &Type) -> bool {
        if !self.burn() {
            return true;
        }
        if let Type::Var(variable) = to {
            match self.bind(*variable, to, from) {
                Bound::Agrees => return true,
                Bound::Conflicts => return false,
                Bound::Impossible => {}
            }
        }
        if let Type::Var(variable) = from {
            return matches!(self.bind(*variable, from, to), Bound::Agrees);
        }
        match (from, to) {
            _ if from.is_dyn_or_error() || to.is_dyn_or_error() => true,
            (Type::Null, other) | (other, Type::Null) => other.is_nullable(),
            (Type::Type(_), Type::Type(_)) => true,
            (Type::List(a), Type::List(b)) => self.agrees(a, b),
            (Type::Map(ak, av), Type::Map(bk, bv)) => self.agrees(ak, bk) && self.agrees(av, bv),
            (Type::Opaque(a, from), Type::Opaque(b, to)) => {
                a == b
                    && from.len() == to.len()
                    && from.iter().zip(to).all(|(a, b)| self.agrees(a, b))
            }
            _ => from.unwrapped() == to.unwrapped(),
        }
    }

    /// Makes `variable` (which `itself` spells) stand for `other` too, if the two can agree.
    fn bind(&mut self, variable: usize, itself: &Type, other: &Type) -> Bound {
        if itself == other {
            return Bound::Agrees;
        }
        let Some(bound) = self.binding(variable) else {
            if self.occurs(variable, other) {
                return Bound::Impossible;
            }
            self.set(variable, other.clone());
            return Bound::Agrees;
        };
        if bound == *other {
            return Bound::Agrees;
        }
        if !self.agrees(other, &bound) {
            return Bound::Conflicts;
        }
        let general = more_general(other.clone(), bound);
        if !self.occurs(variable, &general) {
            self.set(variable, general);
        }
        Bound::Agrees
    }

    fn occurs(&mut self, variable: usize, within: &Type) -> bool {
        if !self.burn() {
            return true;
        }
        match within {
            Type::Var(other) if *other == variable => true,
            Type::Var(other) => {
                self.binding(*other).is_some_and(|bound| self.occurs(variable, &bound))
            }
            _ => within.params().into_iter().any(|param| self.occurs(variable, param)),
        }
    }

    fn set(&mut self, variable: usize, to: Type) {
        if let Some(binding) = self.bindings.get_mut(variable) {
            self.trail.push((variable, binding.replace(to)));
        }
    }

    fn binding(&self, variable: usize) -> Option<Type> {
        self.bindings.get(variable).cloned().flatten()
    }

    fn burn(&mut self) -> bool {
        self.fuel = self.fuel.saturating_sub(1);
        self.fuel > 0
    }
}

enum Bound {
    Agrees,
    /// The variable is bound to something that does not agree.
    Conflicts,
    /// The variable is unbound, yet the other type contains it.
    Impossible,
}

/// Returns the more general of two types that agree.
pub(super) fn more_general(first: Type, second: Type) -> Type {
    if is_at_least_as_general(&first, &second) { first } else { second }
}

fn is_at_least_as_general(first: &Type, second: &Type) -> bool {
    match (first, second) {
        (Type::Dyn | Type::Var(_), _) => true,
        (_, Type::Dyn | Type::Var(_)) => false,
        (Type::Type(_), Type::Type(_)) => true,
        (_, Type::Null) => first.is_nullable(),
        (Type::List(_), Type::List(_))
        | (Type::Map(..), Type::Map(..))
        | (Type::Opaque(..), Type::Opaque(..)) => {
            let (a, b) = (first.params(), second.params());
            a.len() == b.len() && a.into_iter().zip(b).all(|(a, b)| is_at_least_as_general(a, b))
        }
        _ => first == second,
    }
}

/// The name of the type of optional values.
pub(super) const OPTIONAL: &str = "optional_type";

const MAX_TYPE_SIZE: usize = 600;

/// Also bounds how deep a comparison recurses.
const MAX_COMPARISONS: u32 = 2_000;
