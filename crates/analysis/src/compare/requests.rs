//! Requests out of classes of values.
//!
//! A way through a diagram names a class for some terms. Paths get a value of their class; terms that are
//! not taken apart, such as `a == b` or `x in list`, get operands that make them so, where that is
//! plain. All other paths that the conditions read get values at random, from the constants of the
//! conditions. Whether such a request shows what is searched, the engine says.

use std::collections::BTreeMap;

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::cel::pool::Root;
use wardgate_engine::cel::{Function, Op};
use wardgate_engine::request::Request;

use crate::logic::partition::{Class, is_attributes};
use crate::logic::region;
use crate::logic::terms::{Head, Literal, Term, TermId, Terms, TextId};

/// The values of a request under construction, by their paths.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) values: BTreeMap<(u32, Box<[TextId]>), Attr>,
    /// Ids of the principal and of the resource, if conditions want other ones.
    pub(super) ids: BTreeMap<u32, TextId>,
}

/// A source of numbers, the same in every run.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

/// The values that requests are made of.
pub(super) struct Pool<'t> {
    terms: &'t Terms,
    /// The paths that conditions read.
    paths: Vec<TermId>,
    texts: Vec<String>,
    numbers: Vec<f64>,
    fields: Vec<TextId>,
    /// The id of the principal.
    principal: &'t str,
}

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `end`, and 0 if that is 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        let end = u64::try_from(end).unwrap_or(u64::MAX);
        let number = (word ^ word >> 31).checked_rem(end).unwrap_or(0);
        usize::try_from(number).unwrap_or(0)
    }
}

impl<'t> Pool<'t> {
    /// Collects the paths and constants of conditions.
    pub(super) fn new(
        terms: &'t Terms,
        conditions: &[TermId],
        (principal, names): (&'t str, &[&str]),
    ) -> Self {
        let mut pool = Self {
            terms,
            paths: Vec::new(),
            texts: Vec::new(),
            numbers: Vec::new(),
            fields: Vec::new(),
            principal,
        };
        for id in terms.below(conditions, |_| true) {
            let term = terms.get(id);
            match &term.head {
                Head::Slot(root, path) if is_path(*root, path) => pool.paths.push(id),
                Head::Literal(literal) => pool.literal(literal),
                Head::Region(tokens) => pool.fields.extend(region::fields(tokens)),
                Head::Operation(_, Some(field)) => pool.fields.push(*field),
                _ => {}
            }
        }
        pool.texts.extend(names.iter().map(|name| (*name).to_owned()));
        pool.texts.push("other".to_owned());
        pool
    }

    fn literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Text(text) => self.texts.push(self.terms.name(*text).to_owned()),
            Literal::Double(bits) => self.numbers.push(f64::from_bits(*bits)),
            Literal::Int(value) => {
                self.numbers.extend(i32::try_from(*value).ok().map(f64::from));
            }
            Literal::List(items) => items.iter().for_each(|item| self.literal(item)),
            Literal::Map(items) => items.iter().for_each(|item| self.literal(item)),
            _ => {}
        }
    }

    /// Returns a value at random.
    fn value(&self, dice: &mut Dice, depth: usize) -> Attr {
        match dice.below(if depth == 0 { 8 } else { 12 }) {
            0 => Attr::Bool(true),
            1 => Attr::Bool(false),
            2 => Attr::Null,
            3 => Attr::Number(self.number(dice)),
            4..=7 => Attr::String(self.text(dice).into()),
            8 | 9 => {
                let count = dice.below(3);
                Attr::List((0..count).map(|_| self.value(dice, depth - 1)).collect())
            }
            _ => {
                let fields = self.fields.iter().filter(|_| dice_is_even(dice));
                let fields: Vec<TextId> = fields.copied().collect();
                let entries = fields
                    .into_iter()
                    .map(|field| (self.terms.name(field).into(), self.value(dice, depth - 1)));
                Attr::Map(entries.collect())
            }
        }
    }

    fn text(&self, dice: &mut Dice) -> &str {
        self.texts.get(dice.below(self.texts.len())).map_or("other", String::as_str)
    }

    fn number(&self, dice: &mut Dice) -> f64 {
        let known = self.numbers.get(dice.below(self.numbers.len() + 1)).copied().unwrap_or(0.0);
        let number = known + [0.0, 0.0, 1.0, -1.0].get(dice.below(4)).copied().unwrap_or(0.0);
        if number.is_finite() { number } else { 0.0 }
    }

    /// Returns a value of a class; the outer `None` if a request holds none, the inner one if the path has to
    /// be missing.
    fn of_class(&self, class: Class, dice: &mut Dice) -> Option<Option<Attr>> {
        Some(Some(match class {
            Class::Broken | Class::Missing | Class::Fails => return Some(None),
            Class::Null => Attr::Null,
            Class::True => Attr::Bool(true),
            Class::False => Attr::Bool(false),
            Class::Text(text) => Attr::String(self.terms.name(text).into()),
            Class::OtherText => {
                Attr::String(["other", "another"].get(dice.below(2))?.to_string().into())
            }
            Class::Number(number) => Attr::Number(number),
            Class::Between(from, to) => Attr::Number(between(from, to)),
            Class::NaN => return None,
            Class::Other if dice.below(2) == 0 => Attr::List(Vec::new()),
            Class::Other => Attr::List(vec![self.value(dice, 1)]),
        }))
    }

    /// Makes a draft in which the terms have these classes; everything else is left out, or at random.
    pub(super) fn draft(
        &self,
        classes: &[(TermId, Class)],
        is_random: bool,
        dice: &mut Dice,
    ) -> Option<Draft> {
        let mut draft = Draft::default();
        if is_random {
            for path in &self.paths {
                if dice.below(4) > 0 {
                    let value = self.value(dice, 2);
                    draft.set(&self.terms.get(*path), Some(value));
                }
            }
        }
        if is_random && dice.below(4) == 0 {
            let id = self.terms.text_id(self.text(dice));
            draft.ids.extend(id.map(|id| (Root::PrincipalId.code(), id)));
        }
        for (id, class) in classes {
            let term = self.terms.get(*id);
            if let Head::Slot(root, path) = &term.head {
                if let (true, Class::Text(text)) = (path.is_empty(), class) {
                    draft.ids.insert(*root, *text);
                } else {
                    draft.set(&term, self.of_class(*class, dice)?);
                }
            }
        }
        for (id, class) in classes {
            self.arrange(&mut draft, &self.terms.get(*id), *class);
        }
        Some(draft)
    }

    /// Sets operands so that a term is true or false.
    fn arrange(&self, draft: &mut Draft, term: &Term, class: Class) {
        let is_true = match class {
            Class::True => true,
            Class::False => false,
            _ => return,
        };
        let parts: Vec<_> = term.parts.iter().map(|part| self.terms.get(*part)).collect();
        let [left, right] = parts.as_slice() else { return };
        let known = |term: &Term| self.known(draft, term);
        match &term.head {
            Head::Operation(code, None) => match Op::from_code(*code) {
                Some(Op::In) => {
                    let item = known(left).unwrap_or_else(|| Attr::String("other".into()));
                    let list = if is_true { vec![item.clone()] } else { Vec::new() };
                    draft.set(left, Some(item));
                    draft.set(right, Some(Attr::List(list)));
                }
                Some(Op::Eq) if is_true => {
                    let value = known(left).or_else(|| known(right));
                    let value = value.unwrap_or_else(|| Attr::String("other".into()));
                    draft.set(left, Some(value.clone()));
                    draft.set(right, Some(value));
                }
                Some(Op::Eq) => {
                    let value = known(left).unwrap_or_else(|| Attr::String("other".into()));
                    let other = if value == Attr::Null { Attr::Bool(true) } else { Attr::Null };
                    let other = known(right).filter(|right| *right != value).unwrap_or(other);
                    draft.set(left, Some(value));
                    draft.set(right, Some(other));
                }
                Some(Op::Lt | Op::Le) => {
                    let numbers = if is_true { [1.0, 2.0] } else { [2.0, 1.0] };
                    draft.set(left, Some(Attr::Number(numbers[0])));
                    draft.set(right, Some(Attr::Number(numbers[1])));
                }
                _ => {}
            },
            Head::Call(function) => {
                let Some(Attr::String(part)) = known(right) else { return };
                let text = match Function::from_id(*function) {
                    Some(Function::StartsWith) => format!("{part}x"),
                    Some(Function::EndsWith) => format!("x{part}"),
                    Some(Function::Contains) => format!("x{part}x"),
                    _ => return,
                };
                let text = if is_true { text } else { "-".to_owned() };
                draft.set(left, Some(Attr::String(text.into())));
            }
            _ => {}
        }
    }

    /// Returns the value of a term, if it is a constant or set already.
    fn known(&self, draft: &Draft, term: &Term) -> Option<Attr> {
        match &term.head {
            Head::Literal(literal) => self.constant(literal),
            Head::Slot(root, path) if path.is_empty() => {
                let id = draft.ids.get(root).map(|id| self.terms.name(*id));
                let default = match Root::from_code(*root)? {
                    Root::PrincipalId => self.principal,
                    Root::ResourceId => RESOURCE,
                    _ => return None,
                };
                Some(Attr::String(id.unwrap_or(default).into()))
            }
            Head::Slot(root, path) => draft.values.get(&(*root, path.clone())).cloned(),
            _ => None,
        }
    }

    fn constant(&self, literal: &Literal) -> Option<Attr> {
        Some(match literal {
            Literal::Null => Attr::Null,
            Literal::Bool(value) => Attr::Bool(*value),
            Literal::Text(text) => Attr::String(self.terms.name(*text).into()),
            Literal::Double(bits) => Attr::Number(f64::from_bits(*bits)),
            Literal::Int(value) => Attr::Number(f64::from(i32::try_from(*value).ok()?)),
            _ => return None,
        })
    }
}

fn dice_is_even(dice: &mut Dice) -> bool {
    dice.below(2) == 0
}

/// Returns a number between two others, which may be infinite.
fn between(from: f64, to: f64) -> f64 {
    match (from.is_finite(), to.is_finite()) {
        (true, true) => {
            let whole = from.floor() + 1.0;
            if whole < to { whole } else { from + (to - from) / 2.0 }
        }
        (true, false) => from + 1.0,
        (false, true) => to - 1.0,
        (false, false) => 1.0,
    }
}

/// Returns true if a request can be given a value at this path.
fn is_path(root: u32, path: &[TextId]) -> bool {
    !path.is_empty() && Root::from_code(root).is_some_and(is_attributes)
}

impl Draft {
    /// Sets or removes the value of a path; other terms are left alone.
    fn set(&mut self, term: &Term, value: Option<Attr>) {
        let Head::Slot(root, path) = &term.head else { return };
        if !is_path(*root, path) {
            return;
        }
        let key = (*root, path.clone());
        match value {
            Some(value) => drop(self.values.insert(key, value)),
            None => {
                // Nor is there anything below it.
                self.values.retain(|(of, known), _| of != root || !known.starts_with(path));
            }
        }
    }

    /// Writes the values into a request.
    pub(super) fn write(&self, terms: &Terms, request: &mut Request) {
        let values = |root: Root| {
            let of_root = self.values.iter().filter(move |((of, _), _)| *of == root.code());
            let paths: Vec<_> = of_root.map(|((_, path), value)| (&**path, value)).collect();
            map(terms, &paths, 0)
        };
        request.principal.attr = values(Root::PrincipalAttr);
        request.resource.attr = values(Root::ResourceAttr);
        request.aux_data.jwt = values(Root::AuxDataJwt);
        request.aux_data.jwts = values(Root::AuxDataJwts);
        for (root, text) in &self.ids {
            let text = terms.name(*text).to_owned();
            match Root::from_code(*root) {
                Some(Root::PrincipalId) => request.principal.id = text,
                Some(Root::ResourceId) => request.resource.id = text,
                _ => {}
            }
        }
    }
}

/// Returns the members at one depth of sorted paths. A value that is no map has no members.
fn map(terms: &Terms, paths: &[(&[TextId], &Attr)], depth: usize) -> AttrMap {
    let mut entries: Vec<(Box<str>, Attr)> = Vec::new();
    for group in paths.chunk_by(|(a, _), (b, _)| a.get(depth) == b.get(depth)) {
        let Some((first, value)) = group.first() else { continue };
        let Some(name) = first.get(depth) else { continue };
        let own = (first.len() == depth + 1).then(|| Attr::clone(value));
        let value = match own {
            Some(Attr::Map(own)) => {
                let inner = map(terms, group.get(1..).unwrap_or(&[]), depth + 1);
                Attr::Map(own.into_iter().chain(inner).collect())
            }
            Some(own) => own,
            None => Attr::Map(map(terms, group, depth + 1)),
        };
        entries.push((terms.name(*name).into(), value));
    }
    entries.into_iter().collect()
}

/// The id of the resource in a witness, unless conditions want another one.
pub(super) const RESOURCE: &str = "r1";
