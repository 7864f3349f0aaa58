//! Checking attributes against JSON Schemas that the compiler wrote into the policy table.
//!
//! The schemas are trees of words, read in place. What is reported, and in which words, is what
//! Cerbos reports; where Cerbos goes through a map in no particular order, names are sorted. The work
//! is bounded, and a check that runs out of it has failed: an unchecked attribute is never a valid one.

pub mod format;
pub mod keyword;
mod number;
mod text;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub use keyword::Keyword;
pub use text::quoted;

use crate::attr::{Attr, AttrMap};
use crate::cel::Pool;
use crate::cel::pool::ConstTag;
use crate::limits::{MAX_SCHEMA_DEPTH, MAX_SCHEMA_STEPS, MAX_VALUE_DEPTH};
use crate::regex::Program;
use crate::text::joined;

/// A read-only view of all schemas of a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Schemas<'a> {
    /// Strings and constants.
    pub pool: Pool<'a>,
    /// A node's id is the index of the word that says where the node starts: with the number of its
    /// keywords, then of each its code ([`Keyword`]), the number of words that follow, and these.
    pub words: &'a [u32],
}

/// One thing that is wrong with the attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The JSON pointer of the attribute; `/` is all of them.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
}

/// Stands for a node that is not there, such as the `else` of a schema without one.
pub const NO_NODE: u32 = u32::MAX;

impl Schemas<'_> {
    /// Returns everything about `attributes` that the schema at `node` forbids.
    #[must_use]
    pub fn violations(&self, node: u32, attributes: &AttrMap) -> Vec<Violation> {
        let mut walk = Walk {
            schemas: *self,
            found: Vec::new(),
            path: String::new(),
            steps: MAX_SCHEMA_STEPS,
        };
        let finished = walk.node(node, Json::Map(attributes), 0);
        let mut found = walk.found;
        if finished.is_none() {
            let message = "the schema is too complex to check the value".to_string();
            found.push(Violation { path: "/".to_string(), message });
        }
        found
    }
}

/// What a schema looks at: an attribute, all attributes, or the name of one.
#[derive(Clone, Copy)]
enum Json<'v> {
    Null,
    Bool(bool),
    Number(f64),
    String(&'v str),
    List(&'v [Attr]),
    Map(&'v AttrMap),
}

struct Walk<'a> {
    schemas: Schemas<'a>,
    found: Vec<Violation>,
    path: String,
    steps: u32,
}

/// Nothing means that the check could not be finished: the bounds were reached, or the words make no
/// sense.
type Done = Option<()>;

impl<'a> Walk<'a> {
    fn node(&mut self, id: u32, value: Json<'_>, depth: usize) -> Done {
        if depth > MAX_SCHEMA_DEPTH {
            return None;
        }
        let node = Node::at(self.schemas.words, id)?;
        for (keyword, words) in node.keywords() {
            self.step()?;
            let before = self.found.len();
            self.keyword(Clause { node, words, value, depth }, keyword?)?;
            // A value of the wrong type is told only that.
            if keyword == Some(Keyword::Type) && self.found.len() > before {
                break;
            }
        }
        Some(())
    }

    fn keyword(&mut self, clause: Clause<'a, '_>, keyword: Keyword) -> Done {
        match (keyword, clause.value) {
            (Keyword::Never, _) => self.report("not allowed".to_string()),
            (Keyword::Type, _) => self.types(clause),
            (Keyword::Const | Keyword::Enum, _) => self.one_of_constants(clause),
            (Keyword::Format, Json::String(text)) => self.format(clause, text),
            (Keyword::Ref, _) => self.node(clause.first()?, clause.value, clause.depth + 1),
            (Keyword::Not, _) => {
                let valid = self.holds(clause.first()?, clause)?;
                self.report_if(valid, || "not failed".to_string())
            }
            (Keyword::AllOf, _) => clause
                .words
                .iter()
                .try_for_each(|id| self.node(*id, clause.value, clause.depth + 1)),
            (Keyword::AnyOf, _) => self.any_of(clause),
            (Keyword::OneOf, _) => self.exactly_one_of(clause),
            (Keyword::If, _) => self.if_then_else(clause),
            (_, Json::Map(map)) => self.object(clause, keyword, map),
            (_, Json::List(items)) => self.array(clause, keyword, items),
            (_, Json::String(text)) => self.string(clause, keyword, text),
            (_, Json::Number(value)) => self.number(clause, keyword, value),
            _ => Some(()),
        }
    }

    fn types(&mut self, clause: Clause<'a, '_>) -> Done {
        let [mask, names] = clause.words else { return None };
        if mask & clause.value.type_bits() != 0 {
            return Some(());
        }
        let names = self.schemas.pool.string(*names)?;
        self.report(format!("expected {names}, but got {}", clause.value.type_name()))
    }

    fn one_of_constants(&mut self, clause: Clause<'a, '_>) -> Done {
        let (message, constants) = clause.words.split_first()?;
        for constant in constants {
            self.step()?;
            if equals_constant(self.schemas.pool, *constant, clause.value, 0)? {
                return Some(());
            }
        }
        self.report(self.schemas.pool.string(*message)?.to_string())
    }

    fn format(&mut self, clause: Clause<'a, '_>, text: &str) -> Done {
        let name = self.schemas.pool.string(clause.first()?)?;
        self.spend(text.len())?;
        self.report_if(!format::is_valid(name, text), || {
            format!("{} is not valid {}", quoted(text, '\''), quoted(name, '\''))
        })
    }

    fn object(&mut self, clause: Clause<'a, '_>, keyword: Keyword, map: &AttrMap) -> Done {
        let count = map.entries().len();
        match keyword {
            Keyword::MinProperties => self.at_least(clause, count, |limit| {
                format!("minimum {limit} properties allowed, but found {count} properties")
            }),
            Keyword::MaxProperties => self.at_most(clause, count, |limit| {
                format!("maximum {limit} properties allowed, but found {count} properties")
            }),
            Keyword::Required => self.required(clause, map),
            Keyword::Properties => self.properties(clause, map),
            Keyword::PropertyNames => map.entries().iter().try_for_each(|(name, _)| {
                self.inside(name, |walk| {
                    walk.node(clause.first()?, Json::String(name), clause.depth + 1)
                })
            }),
            Keyword::PatternProperties => self.pattern_properties(clause, map),
            Keyword::AdditionalProperties => self.additional_properties(clause, map),
            Keyword::DependentRequired => self.dependent_required(clause, map),
            Keyword::DependentSchemas => clause.pairs().try_for_each(|(name, id)| {
                match map.get(self.schemas.pool.string(name)?) {
                    Some(_) => self.node(id, clause.value, clause.depth + 1),
                    None => Some(()),
                }
            }),
            _ => Some(()),
        }
    }

    fn required(&mut self, clause: Clause<'a, '_>, map: &AttrMap) -> Done {
        let mut missing = Vec::new();
        for id in clause.words {
            self.step()?;
            let name = self.schemas.pool.string(*id)?;
            if map.get(name).is_none() {
                missing.push(quoted(name, '\''));
            }
        }
        self.report_if(!missing.is_empty(), || {
            format!("missing properties: {}", joined(&mut missing.iter().map(String::as_str), ", "))
        })
    }

    fn properties(&mut self, clause: Clause<'a, '_>, map: &AttrMap) -> Done {
        clause.pairs().try_for_each(|(name, id)| {
            self.step()?;
            let name = self.schemas.pool.string(name)?;
            match map.get(name) {
                Some(value) => {
                    self.inside(name, |walk| walk.node(id, value.into(), clause.depth + 1))
                }
                None => Some(()),
            }
        })
    }

    fn pattern_properties(&mut self, clause: Clause<'a, '_>, map: &AttrMap) -> Done {
        for (pattern, id) in clause.pairs() {
            for (name, value) in map.entries() {
                if self.matches(pattern, name)? {
                    self.inside(name, |walk| walk.node(id, value.into(), clause.depth + 1))?;
                }
            }
        }
        Some(())
    }

    fn additional_properties(&mut self, clause: Clause<'a, '_>, map: &AttrMap) -> Done {
        let id = clause.first()?;
        let mut refused = Vec::new();
        for (name, value) in map.entries() {
            if self.is_named(clause.node, name)? {
                continue;
            }
            if id == NO_NODE {
                refused.push(quoted(name, '\''));
            } else {
                self.inside(name, |walk| walk.node(id, value.into(), clause.depth + 1))?;
            }
        }
        self.report_if(!refused.is_empty(), || {
            format!(
                "additionalProperties {} not allowed",
                joined(&mut refused.iter().map(String::as_str), ", ")
            )
        })
    }

    /// Whether `properties` or `patternProperties` of the same node speak of `name`.
    fn is_named(&mut self, node: Node<'a>, name: &str) -> Option<bool> {
        for (id, _) in node.pairs(Keyword::Properties) {
            self.step()?;
            if self.schemas.pool.string(id)? == name {
                return Some(true);
            }
        }
        for (pattern, _) in node.pairs(Keyword::PatternProperties) {
            if self.matches(pattern, name)? {
                return Some(true);
            }
        }
        Some(false)
    }

    fn dependent_required(&mut self, clause: Clause<'a, '_>, map: &AttrMap) -> Done {
        clause.pairs().try_for_each(|(name, wanted)| {
            self.step()?;
            let (name, wanted) =
                (self.schemas.pool.string(name)?, self.schemas.pool.string(wanted)?);
            self.report_if(map.get(name).is_some() && map.get(wanted).is_none(), || {
                let (name, wanted) = (quoted(name, '\''), quoted(wanted, '\''));
                format!("property {wanted} is required, if {name} property exists")
            })
        })
    }

    fn array(&mut self, clause: Clause<'a, '_>, keyword: Keyword, items: &[Attr]) -> Done {
        let count = items.len();
        match keyword {
            Keyword::MinItems => self.at_least(clause, count, |limit| {
                format!("minimum {limit} items required, but found {count} items")
            }),
            Keyword::MaxItems => self.at_most(clause, count, |limit| {
                format!("maximum {limit} items required, but found {count} items")
            }),
            Keyword::UniqueItems => self.unique(items),
            Keyword::PrefixItems => {
                clause.words.iter().zip(items).enumerate().try_for_each(|(at, (id, item))| {
                    self.inside(&at.to_string(), |walk| {
                        walk.node(*id, item.into(), clause.depth + 1)
                    })
                })
            }
            Keyword::Items => {
                let [id, skipped] = clause.words else { return None };
                let skipped = usize::try_from(*skipped).ok()?;
                items.iter().enumerate().skip(skipped).try_for_each(|(at, item)| {
                    self.inside(&at.to_string(), |walk| {
                        walk.node(*id, item.into(), clause.depth + 1)
                    })
                })
            }
            Keyword::NoMoreItems => self.at_most(clause, count, |limit| {
                format!("only {limit} items are allowed, but found {count} items")
            }),
            Keyword::Contains => self.contains(clause, items),
            _ => Some(()),
        }
    }

    fn unique(&mut self, items: &[Attr]) -> Done {
        for (second, b) in items.iter().enumerate() {
            for (first, a) in items.iter().take(second).enumerate() {
                self.step()?;
                if a == b {
                    return self.report(format!("items at index {first} and {second} are equal"));
                }
            }
        }
        Some(())
    }

    fn contains(&mut self, clause: Clause<'a, '_>, items: &[Attr]) -> Done {
        let [id, least, most] = clause.words else { return None };
        let before = self.found.len();
        let mut matched = 0_u32;
        for (at, item) in items.iter().enumerate() {
            let errors = self.found.len();
            self.inside(&at.to_string(), |walk| walk.node(*id, item.into(), clause.depth + 1))?;
            matched = matched.saturating_add(u32::from(self.found.len() == errors));
        }
        if matched >= *least {
            self.found.truncate(before);
        } else if self.found.len() == before {
            self.report(format!("valid must be >= {least}, but got {matched}"))?;
        }
        self.report_if(matched > *most, || format!("valid must be <= {most}, but got {matched}"))
    }

    fn string(&mut self, clause: Clause<'a, '_>, keyword: Keyword, text: &str) -> Done {
        let length = text.chars().count();
        self.spend(text.len())?;
        match keyword {
            Keyword::MinLength => self.at_least(clause, length, |limit| {
                format!("length must be >= {limit}, but got {length}")
            }),
            Keyword::MaxLength => self.at_most(clause, length, |limit| {
                format!("length must be <= {limit}, but got {length}")
            }),
            Keyword::Pattern => {
                let [pattern, source] = clause.words else { return None };
                let matches = self.matches(*pattern, text)?;
                let source = self.schemas.pool.string(*source)?;
                self.report_if(!matches, || {
                    format!("does not match pattern {}", quoted(source, '\''))
                })
            }
            _ => Some(()),
        }
    }

    fn number(&mut self, clause: Clause<'a, '_>, keyword: Keyword, value: f64) -> Done {
        let bound = || number::from_words(clause.words);
        let (relation, broken) = match keyword {
            Keyword::Minimum => (">=", value < bound()?),
            Keyword::ExclusiveMinimum => (">", value <= bound()?),
            Keyword::Maximum => ("<=", value > bound()?),
            Keyword::ExclusiveMaximum => ("<", value >= bound()?),
            Keyword::MultipleOf => {
                let factor = bound()?;
                return self.report_if(!number::is_multiple(value, factor), || {
                    format!("{} not multipleOf {}", number::text(value), number::text(factor))
                });
            }
            _ => return Some(()),
        };
        let limit = bound()?;
        self.report_if(broken, || {
            format!("must be {relation} {} but found {}", number::text(limit), number::text(value))
        })
    }

    fn any_of(&mut self, clause: Clause<'a, '_>) -> Done {
        let before = self.found.len();
        let mut matched = false;
        for id in clause.words {
            let errors = self.found.len();
            self.node(*id, clause.value, clause.depth + 1)?;
            matched |= self.found.len() == errors;
        }
        if matched {
            self.found.truncate(before);
        }
        Some(())
    }

    fn exactly_one_of(&mut self, clause: Clause<'a, '_>) -> Done {
        let before = self.found.len();
        let mut matched = None;
        for (at, id) in clause.words.iter().enumerate() {
            let errors = self.found.len();
            self.node(*id, clause.value, clause.depth + 1)?;
            match matched {
                _ if self.found.len() > errors => {}
                None => matched = Some(at),
                Some(first) => {
                    self.found.truncate(before);
                    return self
                        .report(format!("valid against schemas at indexes {first} and {at}"));
                }
            }
        }
        if matched.is_some() {
            self.found.truncate(before);
        }
        Some(())
    }

    fn if_then_else(&mut self, clause: Clause<'a, '_>) -> Done {
        let [condition, then, otherwise] = clause.words else { return None };
        let branch = if self.holds(*condition, clause)? { then } else { otherwise };
        if *branch == NO_NODE {
            Some(())
        } else {
            self.node(*branch, clause.value, clause.depth + 1)
        }
    }

    /// Whether the value satisfies the schema at `id`; nothing is reported.
    fn holds(&mut self, id: u32, clause: Clause<'a, '_>) -> Option<bool> {
        let before = self.found.len();
        self.node(id, clause.value, clause.depth + 1)?;
        let holds = self.found.len() == before;
        self.found.truncate(before);
        Some(holds)
    }

    fn at_least(
        &mut self,
        clause: Clause<'a, '_>,
        count: usize,
        message: impl FnOnce(u32) -> String,
    ) -> Done {
        let limit = clause.first()?;
        self.report_if(count < usize::try_from(limit).ok()?, || message(limit))
    }

    fn at_most(
        &mut self,
        clause: Clause<'a, '_>,
        count: usize,
        message: impl FnOnce(u32) -> String,
    ) -> Done {
        let limit = clause.first()?;
        self.report_if(count > usize::try_from(limit).ok()?, || message(limit))
    }

    fn matches(&mut self, pattern: u32, text: &str) -> Option<bool> {
        let words = regex_words(self.schemas.pool, pattern)?;
        Program::view(words).is_match(text, &mut self.steps).ok()
    }

    /// Runs `check` on the value called `name` inside the current one.
    fn inside(&mut self, name: &str, check: impl FnOnce(&mut Self) -> Done) -> Done {
        let length = self.path.len();
        self.path.push('/');
        text::push_pointer_segment(&mut self.path, name);
        let done = check(self);
        self.path.truncate(length);
        done
    }

    fn report_if(&mut self, broken: bool, message: impl FnOnce() -> String) -> Done {
        if broken { self.report(message()) } else { Some(()) }
    }

    fn report(&mut self, message: String) -> Done {
        let path = if self.path.is_empty() { "/".to_string() } else { self.path.clone() };
        self.found.push(Violation { path, message });
        Some(())
    }

    fn step(&mut self) -> Done {
        self.steps = self.steps.checked_sub(1)?;
        Some(())
    }

    fn spend(&mut self, bytes: usize) -> Done {
        self.steps = self.steps.checked_sub(u32::try_from(bytes / BYTES_PER_STEP).ok()?)?;
        Some(())
    }
}

/// A keyword at work: where it stands and what it looks at.
#[derive(Clone, Copy)]
struct Clause<'a, 'v> {
    node: Node<'a>,
    words: &'a [u32],
    value: Json<'v>,
    depth: usize,
}

impl<'a> Clause<'a, '_> {
    fn first(&self) -> Option<u32> {
        self.words.first().copied()
    }

    fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + use<'a> {
        pairs(self.words)
    }
}

/// One schema: the words of its keywords.
#[derive(Clone, Copy)]
struct Node<'a> {
    words: &'a [u32],
    count: u32,
}

impl<'a> Node<'a> {
    fn at(words: &'a [u32], id: u32) -> Option<Self> {
        let start = *words.get(usize::try_from(id).ok()?)?;
        let (count, words) = words.get(usize::try_from(start).ok()?..)?.split_first()?;
        Some(Self { words, count: *count })
    }

    /// Returns the keywords in the order in which they are checked; the last one is nothing if the
    /// words end too early.
    fn keywords(self) -> impl Iterator<Item = (Option<Keyword>, &'a [u32])> {
        let mut rest = self.words;
        (0..self.count).map(move |_| {
            let Some(([code, length], after)) = rest.split_first_chunk() else {
                return (None, &[][..]);
            };
            let length = usize::try_from(*length).unwrap_or(usize::MAX);
            let Some((words, after)) = after.split_at_checked(length) else {
                return (None, &[][..]);
            };
            rest = after;
            (Keyword::from_code(*code), words)
        })
    }

    fn pairs(self, wanted: Keyword) -> impl Iterator<Item = (u32, u32)> + use<'a> {
        let found = self.keywords().find(|(keyword, _)| *keyword == Some(wanted));
        pairs(found.map_or(&[][..], |(_, words)| words))
    }
}

impl Json<'_> {
    const fn type_name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::List(_) => "array",
            Self::Map(_) => "object",
        }
    }

    /// Returns the types that the value has; a whole number is an integer too.
    fn type_bits(self) -> u32 {
        match self {
            Self::Null => keyword::NULL,
            Self::Bool(_) => keyword::BOOLEAN,
            Self::Number(value) if number::is_whole(value) => keyword::NUMBER | keyword::INTEGER,
            Self::Number(_) => keyword::NUMBER,
            Self::String(_) => keyword::STRING,
            Self::List(_) => keyword::ARRAY,
            Self::Map(_) => keyword::OBJECT,
        }
    }
}

impl<'v> From<&'v Attr> for Json<'v> {
    fn from(attr: &'v Attr) -> Self {
        match attr {
            Attr::Null => Self::Null,
            Attr::Bool(value) => Self::Bool(*value),
            Attr::Number(value) => Self::Number(*value),
            Attr::String(text) => Self::String(text),
            Attr::List(items) => Self::List(items),
            Attr::Map(map) => Self::Map(map),
        }
    }
}

/// Whether `value` is the constant `id`; nothing if there is no such constant.
#[expect(clippy::float_cmp, reason = "a number in an enum is that very number")]
fn equals_constant(pool: Pool<'_>, id: u32, value: Json<'_>, depth: usize) -> Option<bool> {
    let words = pool.constants.get(usize::try_from(id).ok()?..)?;
    let (tag, rest) = words.split_first()?;
    let parts = |per: usize| {
        let (count, parts) = rest.split_first()?;
        parts.get(..usize::try_from(*count).ok()?.checked_mul(per)?)
    };
    if depth > MAX_VALUE_DEPTH {
        return None;
    }
    Some(match (ConstTag::from_code(*tag)?, value) {
        (ConstTag::Null, Json::Null)
        | (ConstTag::True, Json::Bool(true))
        | (ConstTag::False, Json::Bool(false)) => true,
        (ConstTag::Double, Json::Number(value)) => number::from_words(rest.get(..2)?)? == value,
        (ConstTag::String, Json::String(text)) => pool.string(*rest.first()?)? == text,
        (ConstTag::List, Json::List(items)) => {
            let ids = parts(1)?;
            ids.len() == items.len()
                && all(ids.iter().zip(items), |(id, item)| {
                    equals_constant(pool, *id, item.into(), depth + 1)
                })?
        }
        (ConstTag::Map, Json::Map(map)) => {
            let entries = parts(2)?;
            entries.len() == map.entries().len().checked_mul(2)?
                && all(pairs(entries).zip(map.entries()), |((key, id), (name, item))| {
                    Some(
                        equals_constant(pool, key, Json::String(name), depth + 1)?
                            && equals_constant(pool, id, item.into(), depth + 1)?,
                    )
                })?
        }
        _ => false,
    })
}

fn all<T>(
    mut items: impl Iterator<Item = T>,
    mut holds: impl FnMut(T) -> Option<bool>,
) -> Option<bool> {
    items.try_fold(true, |so_far, item| Some(so_far && holds(item)?))
}

fn regex_words(pool: Pool<'_>, id: u32) -> Option<&[u32]> {
    let words = pool.constants.get(usize::try_from(id).ok()?..)?;
    match words {
        [tag, _, length, rest @ ..] if *tag == ConstTag::Regex.code() => {
            rest.get(..usize::try_from(*length).ok()?)
        }
        _ => None,
    }
}

fn pairs(words: &[u32]) -> impl Iterator<Item = (u32, u32)> + use<'_> {
    words.as_chunks::<2>().0.iter().map(|[a, b]| (*a, *b))
}

/// Going through text costs one step for this many bytes, as in expressions.
const BYTES_PER_STEP: usize = 16;
