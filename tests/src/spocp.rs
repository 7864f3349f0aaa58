//! S-expressions in the most obvious way: the set that an expression stands for, and the queries
//! that a rule allows.
//!
//! The definition of section 5.3 of draft-hedberg-spocp-sexp-00 alone: an expression stands for a
//! set of simple ones, and a rule allows it if it allows each of them. There is no normal form
//! here.

pub mod generate;

use std::cmp::Ordering;

/// An expression as a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// An octet string.
    Atom(String),
    /// A list that begins with a tag.
    List(Vec<Tree>),
    /// Anything.
    Any,
    /// Any of these.
    Set(Vec<Tree>),
    /// The numbers, or the texts, between two bounds.
    Range(Type, Vec<(Relation, String)>),
    /// Everything with this beginning.
    Prefix(String),
    /// Everything with this ending.
    Suffix(String),
}

/// The types of range that the oracle knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Texts.
    Alpha,
    /// Numbers.
    Numeric,
}

/// The relation of an atom to the constant of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `lt`
    Less,
    /// `le`
    LessOrEqual,
    /// `gt`
    Greater,
    /// `ge`
    GreaterOrEqual,
}

impl Tree {
    /// Writes the canonical form.
    #[must_use]
    pub fn text(&self) -> String {
        let words = |words: &[&str]| words.iter().map(|word| atom(word)).collect::<String>();
        let inside = |trees: &[Self]| trees.iter().map(Self::text).collect::<String>();
        match self {
            Self::Atom(text) => atom(text),
            Self::List(elements) => format!("({})", inside(elements)),
            Self::Any => "(1:*)".to_owned(),
            Self::Set(elements) => format!("({}{})", words(&["*", "set"]), inside(elements)),
            Self::Prefix(text) => format!("({})", words(&["*", "prefix", text])),
            Self::Suffix(text) => format!("({})", words(&["*", "suffix", text])),
            Self::Range(kind, bounds) => {
                let kind = if *kind == Type::Alpha { "alpha" } else { "numeric" };
                let bounds: String =
                    bounds.iter().map(|(by, to)| words(&[by.name(), to])).collect();
                format!("({}{bounds})", words(&["*", "range", kind]))
            }
        }
    }

    /// Returns true if the rule allows a simple expression, one of atoms and lists.
    #[must_use]
    pub fn allows(&self, simple: &Self) -> bool {
        match (self, simple) {
            (Self::Any, _) => true,
            (Self::Set(rules), _) => rules.iter().any(|rule| rule.allows(simple)),
            (Self::List(rules), Self::List(elements)) => {
                rules.len() <= elements.len()
                    && rules.iter().zip(elements).all(|(rule, element)| rule.allows(element))
            }
            (Self::Atom(rule), Self::Atom(atom)) => rule == atom,
            (Self::Prefix(prefix), Self::Atom(atom)) => atom.starts_with(prefix),
            (Self::Suffix(suffix), Self::Atom(atom)) => atom.ends_with(suffix),
            (Self::Range(kind, bounds), Self::Atom(atom)) => {
                bounds.iter().all(|(by, to)| kind.compare(atom, to).is_some_and(|it| by.holds(it)))
                    && kind.compare(atom, atom).is_some()
            }
            _ => false,
        }
    }

    /// Returns every simple expression that this one stands for, with numbers up to `most`; `None`
    /// if they are infinitely many.
    #[must_use]
    pub fn members(&self, most: u32) -> Option<Vec<Self>> {
        match self {
            Self::Atom(_) => Some(vec![self.clone()]),
            Self::Range(Type::Numeric, _) => {
                let numbers = (0..=most).map(|number| Self::Atom(number.to_string()));
                Some(numbers.filter(|number| self.allows(number)).collect())
            }
            Self::Set(elements) => {
                let each: Option<Vec<Vec<Self>>> =
                    elements.iter().map(|element| element.members(most)).collect();
                Some(each?.concat())
            }
            Self::List(elements) => {
                let none = vec![Vec::new()];
                let lists = elements.iter().try_fold(none, |lists: Vec<Vec<Self>>, element| {
                    let members = element.members(most)?;
                    let with = |list: &Vec<Self>| {
                        members
                            .iter()
                            .map(|last| [list.as_slice(), std::slice::from_ref(last)].concat())
                            .collect()
                    };
                    Some(lists.iter().flat_map(|list| -> Vec<Vec<Self>> { with(list) }).collect())
                })?;
                Some(lists.into_iter().map(Self::List).collect())
            }
            Self::Any | Self::Range(Type::Alpha, _) | Self::Prefix(_) | Self::Suffix(_) => None,
        }
    }
}

impl Type {
    fn compare(self, atom: &str, constant: &str) -> Option<Ordering> {
        match self {
            Self::Alpha => Some(atom.as_bytes().cmp(constant.as_bytes())),
            Self::Numeric => Some(number(atom)?.cmp(&number(constant)?)),
        }
    }
}

impl Relation {
    /// Every relation.
    pub const ALL: [Self; 4] = [Self::Less, Self::LessOrEqual, Self::Greater, Self::GreaterOrEqual];

    const fn name(self) -> &'static str {
        match self {
            Self::Less => "lt",
            Self::LessOrEqual => "le",
            Self::Greater => "gt",
            Self::GreaterOrEqual => "ge",
        }
    }

    /// Returns true if this bounds a range from below.
    #[must_use]
    pub const fn is_lower(self) -> bool {
        matches!(self, Self::Greater | Self::GreaterOrEqual)
    }

    fn holds(self, ordering: Ordering) -> bool {
        match self {
            Self::Less => ordering.is_lt(),
            Self::LessOrEqual => ordering.is_le(),
            Self::Greater => ordering.is_gt(),
            Self::GreaterOrEqual => ordering.is_ge(),
        }
    }
}

fn atom(text: &str) -> String {
    format!("{}:{text}", text.len())
}

/// Reads a number, which is written without leading zeros.
fn number(text: &str) -> Option<u32> {
    text.parse::<u32>().ok().filter(|number| number.to_string() == text)
}
