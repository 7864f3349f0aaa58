//! The walk over a schema and a value: the keywords for any value, and the helpers of all keywords.
//!
//! Every visit, comparison and report takes steps, so a walk ends for any schema and value.
//!
//! A property or item counts as evaluated if a keyword of the node checked it, or one of a node
//! that is applied to the same value and holds. Such properties and items are listed in the order
//! of their checks: those since a node began are its own, and those of a node that fails are
//! removed.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::keyword::Keyword;
use super::node::{Node, pairs};
use super::value::Json;
use super::{NO_NODE, Schemas, Violation, text};
use crate::cel::Pool;
use crate::cel::pool::ConstTag;
use crate::limits::MAX_SCHEMA_DEPTH;
use crate::regex::Program;

/// One check of one value.
pub(super) struct Walk<'a> {
    pub(super) schemas: Schemas<'a>,
    pub(super) found: Vec<Violation>,
    path: String,
    pub(super) steps: u32,
    /// The entries or items of the value at hand that are evaluated; [`EVERYTHING`] means all of
    /// them.
    pub(super) evaluated: Vec<u32>,
}

/// The result of a check; `None` if it could not be finished: the bounds were reached, or the words
/// are malformed.
pub(super) type Done = Option<()>;

impl<'a> Walk<'a> {
    /// Begins a walk of at most `steps` steps.
    pub(super) fn new(schemas: Schemas<'a>, steps: u32) -> Self {
        let (found, evaluated) = (Vec::new(), Vec::new());
        Self { schemas, found, path: String::new(), steps, evaluated }
    }

    pub(super) fn node(&mut self, id: u32, value: Json<'_>, depth: usize) -> Done {
        if depth > MAX_SCHEMA_DEPTH {
            return None;
        }
        let node = Node::at(self.schemas.words, id)?;
        let evaluated = self.evaluated.len();
        for (keyword, words) in node.keywords() {
            self.step()?;
            let before = self.found.len();
            self.keyword(Clause { evaluated, words, value, depth }, keyword?)?;
            // A value of the wrong type is reported for its type only.
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
            (Keyword::Ref | Keyword::AllOf, _) => {
                clause.words.iter().try_for_each(|id| self.in_place(*id, clause).map(drop))
            }
            (Keyword::Not, _) => {
                let valid = self.holds(clause.first()?, clause)?;
                self.report_if(valid, || "not failed".to_string())
            }
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
            if self.is_constant(*constant, clause.value, 0)? {
                return Some(());
            }
        }
        self.report(self.schemas.pool.string(*message)?.to_string())
    }

    fn any_of(&mut self, clause: Clause<'a, '_>) -> Done {
        let before = self.found.len();
        let mut matched = false;
        for id in clause.words {
            matched |= self.in_place(*id, clause)?;
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
            let holds = self.in_place(*id, clause)?;
            match matched {
                _ if !holds => {}
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
        if *branch == NO_NODE { Some(()) } else { self.in_place(*branch, clause).map(drop) }
    }

    /// Checks the value of `clause` against another schema too, and returns true if it holds.
    pub(super) fn in_place(&mut self, id: u32, clause: Clause<'a, '_>) -> Option<bool> {
        let (errors, evaluated) = (self.found.len(), self.evaluated.len());
        self.node(id, clause.value, clause.depth + 1)?;
        let holds = self.found.len() == errors;
        if !holds {
            self.evaluated.truncate(evaluated);
        }
        Some(holds)
    }

    /// Returns true if the value satisfies the schema at `id`; reports no violation.
    fn holds(&mut self, id: u32, clause: Clause<'a, '_>) -> Option<bool> {
        let before = self.found.len();
        let holds = self.in_place(id, clause)?;
        self.found.truncate(before);
        Some(holds)
    }

    pub(super) fn at_least(
        &mut self,
        clause: Clause<'a, '_>,
        count: usize,
        message: impl FnOnce(u32) -> String,
    ) -> Done {
        let limit = clause.first()?;
        self.report_if(count < usize::try_from(limit).ok()?, || message(limit))
    }

    pub(super) fn at_most(
        &mut self,
        clause: Clause<'a, '_>,
        count: usize,
        message: impl FnOnce(u32) -> String,
    ) -> Done {
        let limit = clause.first()?;
        self.report_if(count > usize::try_from(limit).ok()?, || message(limit))
    }

    pub(super) fn matches(&mut self, pattern: u32, text: &str) -> Option<bool> {
        let words = regex_words(self.schemas.pool, pattern)?;
        Program::view(words).is_match(text, &mut self.steps).ok()
    }

    /// Returns true if the node of `clause`, or one applied to the same value, evaluated entry or
    /// item `at`.
    pub(super) fn is_evaluated(&mut self, clause: Clause<'a, '_>, at: u32) -> Option<bool> {
        let own = self.evaluated.get(clause.evaluated..)?;
        let known = own.iter().any(|position| *position == at || *position == EVERYTHING);
        let looked_at = own.len();
        self.spend(looked_at)?;
        Some(known)
    }

    /// Runs `check` on the value called `name` inside the current one.
    pub(super) fn inside(&mut self, name: &str, check: impl FnOnce(&mut Self) -> Done) -> Done {
        self.spend(name.len())?;
        let (length, evaluated) = (self.path.len(), self.evaluated.len());
        self.path.push('/');
        text::push_pointer_segment(&mut self.path, name);
        let done = check(self);
        self.path.truncate(length);
        self.evaluated.truncate(evaluated);
        done
    }

    pub(super) fn report_if(&mut self, broken: bool, message: impl FnOnce() -> String) -> Done {
        if broken { self.report(message()) } else { Some(()) }
    }

    pub(super) fn report(&mut self, message: String) -> Done {
        // A long name on the path would be copied for each violation inside of it.
        self.spend(self.path.len().saturating_add(message.len()))?;
        let path = if self.path.is_empty() { "/".to_string() } else { self.path.clone() };
        self.found.push(Violation { path, message });
        Some(())
    }

    pub(super) fn step(&mut self) -> Done {
        self.steps = self.steps.checked_sub(1)?;
        Some(())
    }

    pub(super) fn spend(&mut self, bytes: usize) -> Done {
        self.steps = self.steps.checked_sub(u32::try_from(bytes / BYTES_PER_STEP).ok()?)?;
        Some(())
    }
}

/// A keyword being checked: its words, and the value that it is checked on.
#[derive(Clone, Copy)]
pub(super) struct Clause<'a, 'v> {
    /// The index of the first item that the node evaluated.
    evaluated: usize,
    pub(super) words: &'a [u32],
    pub(super) value: Json<'v>,
    pub(super) depth: usize,
}

impl<'a> Clause<'a, '_> {
    pub(super) fn first(&self) -> Option<u32> {
        self.words.first().copied()
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + use<'a> {
        pairs(self.words)
    }
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

/// The number that means every entry or item.
pub(super) const EVERYTHING: u32 = u32::MAX;

/// The bytes of text that cost one step, as in expressions.
const BYTES_PER_STEP: usize = 16;
