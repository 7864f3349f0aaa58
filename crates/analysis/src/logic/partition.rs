//! Classes of values: what conditions can tell apart of a term.
//!
//! The classes of a path are: unreadable, missing, `null`, `true`, `false`, each text that it is compared
//! with, other texts, each number that it is compared with, the numbers between two of them, NaN, and
//! everything else. Each test has one outcome for all values of a class.

use wardgate_engine::cel::pool::Root;
use wardgate_engine::cel::{Function, Op};
use wardgate_engine::number::{int_to_double, uint_to_double};

use super::diagram::{Diagram, FAILS, FALSE, OTHER, TRUE};
use super::terms::{Head, Literal, Term, TermId, Terms, TextId};

/// A class of values of a term.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Class {
    /// A path whose last step but one leads to nothing or to a list: reading it fails, and so does `has`.
    Broken,
    /// A path whose last step leads to nothing: reading it fails, and `has` is false.
    Missing,
    /// The term fails.
    Fails,
    Null,
    True,
    False,
    Text(TextId),
    OtherText,
    Number(f64),
    /// The numbers between two others.
    Between(f64, f64),
    NaN,
    /// A list, a map, or a value of another type.
    Other,
}

/// A constant that values are compared with by their classes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scalar {
    Null,
    Bool(bool),
    Text(TextId),
    Number(f64),
}

/// A test of the value of one term.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test {
    /// The value as a truth.
    Truth,
    /// `has`.
    Exists,
    /// The value is one of these.
    Among(Vec<Scalar>),
    /// The value is less than a number, or not greater.
    Below(f64, bool),
    /// The value is greater than a number, or not less.
    Above(f64, bool),
    /// The value cannot be read: `TRUE` if so.
    Fails,
}

/// Reads a term as a test of another term; `None` if it is none.
pub(crate) fn test(terms: &Terms, term: &Term) -> Option<(TermId, Test)> {
    match (&term.head, &*term.parts) {
        (Head::Operation(code, None), [left, right]) => {
            let op = Op::from_code(*code)?;
            let (left, right) = (*left, *right);
            let scalar = |id| scalar(&terms.get(id));
            let number = |id| match scalar(id)? {
                Scalar::Number(number) => Some(number),
                _ => None,
            };
            let plain = |id: TermId| terms.is_plain(id).then_some(id);
            match op {
                Op::Eq => Some((plain(left)?, Test::Among(vec![scalar(right)?]))),
                Op::In => Some((plain(left)?, Test::Among(scalars(&terms.get(right))?))),
                Op::Lt | Op::Le => match (plain(left), plain(right)) {
                    (Some(term), None) => Some((term, Test::Below(number(right)?, op == Op::Le))),
                    (None, Some(term)) => Some((term, Test::Above(number(left)?, op == Op::Le))),
                    _ => None,
                },
                _ => None,
            }
        }
        _ => None,
    }
}

fn scalars(term: &Term) -> Option<Vec<Scalar>> {
    match &term.head {
        Head::Literal(Literal::List(items)) => items.iter().map(scalar_of).collect(),
        _ => None,
    }
}

fn scalar(term: &Term) -> Option<Scalar> {
    match &term.head {
        Head::Literal(literal) => scalar_of(literal),
        _ => None,
    }
}

/// Returns a constant as a scalar. An integer that a double does not hold exactly is none.
fn scalar_of(literal: &Literal) -> Option<Scalar> {
    Some(match literal {
        Literal::Null => Scalar::Null,
        Literal::Bool(value) => Scalar::Bool(*value),
        Literal::Text(text) => Scalar::Text(*text),
        Literal::Int(value) => Scalar::Number(exact(int_to_double(*value))?),
        Literal::Uint(value) => Scalar::Number(exact(uint_to_double(*value))?),
        Literal::Double(bits) => {
            let value = f64::from_bits(*bits);
            // Zero has two spellings that are equal.
            Scalar::Number(Some(value + 0.0).filter(|value| value.is_finite())?)
        }
        _ => return None,
    })
}

/// Returns a number below which doubles hold every integer.
fn exact(number: f64) -> Option<f64> {
    (number.abs() < 9_007_199_254_740_992.0).then_some(number)
}

/// The classes of a term that the tests of a question tell apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Domain {
    pub(crate) texts: Vec<TextId>,
    pub(crate) numbers: Vec<f64>,
}

impl Domain {
    /// Notes the constants of a test.
    pub(crate) fn note(&mut self, test: &Test) {
        match test {
            Test::Among(scalars) => scalars.iter().for_each(|scalar| self.note_scalar(*scalar)),
            Test::Below(number, _) | Test::Above(number, _) => {
                self.note_scalar(Scalar::Number(*number));
            }
            Test::Truth | Test::Exists | Test::Fails => {}
        }
    }

    fn note_scalar(&mut self, scalar: Scalar) {
        match scalar {
            Scalar::Text(text) if !self.texts.contains(&text) => self.texts.push(text),
            Scalar::Number(number) if !self.numbers.contains(&number) => self.numbers.push(number),
            _ => {}
        }
    }

    /// Returns the classes of a term.
    pub(crate) fn classes(&self, terms: &Terms, term: &Term) -> Vec<Class> {
        let texts = || self.texts.iter().map(|text| Class::Text(*text)).chain([Class::OtherText]);
        let mut classes = match kind(terms, term) {
            Kind::Text => return texts().collect(),
            Kind::Whole => return vec![Class::Other],
            Kind::Truth => return vec![Class::True, Class::False],
            Kind::Test => return vec![Class::True, Class::False, Class::Fails],
            Kind::Path { is_deep } => {
                let broken = is_deep.then_some(Class::Broken);
                [Class::Missing].into_iter().chain(broken).collect()
            }
            Kind::Any => vec![Class::Fails],
        };
        classes.extend([Class::True, Class::False, Class::Null]);
        classes.extend(texts());
        classes.extend(self.number_classes());
        // The numbers of a request are those of JSON.
        let has_nan = classes.first() == Some(&Class::Fails);
        classes.extend(has_nan.then_some(Class::NaN));
        classes.push(Class::Other);
        classes
    }

    fn number_classes(&self) -> Vec<Class> {
        let mut numbers = self.numbers.clone();
        numbers.sort_by(f64::total_cmp);
        let mut classes = Vec::new();
        let mut before = f64::NEG_INFINITY;
        for number in numbers {
            classes.extend([Class::Between(before, number), Class::Number(number)]);
            before = number;
        }
        classes.push(Class::Between(before, f64::INFINITY));
        classes
    }
}

/// What the values of a term can be.
enum Kind {
    Text,
    /// A map or list that is always there.
    Whole,
    /// True or false, once its operands do not fail.
    Truth,
    /// True, false or a failure.
    Test,
    /// An attribute.
    Path {
        is_deep: bool,
    },
    Any,
}

fn kind(terms: &Terms, term: &Term) -> Kind {
    match &term.head {
        Head::Slot(root, path) => match Root::from_code(*root) {
            Some(
                Root::PrincipalId
                | Root::PrincipalPolicyVersion
                | Root::PrincipalScope
                | Root::ResourceKind
                | Root::ResourceId
                | Root::ResourcePolicyVersion
                | Root::ResourceScope,
            ) if path.is_empty() => Kind::Text,
            Some(Root::PrincipalRoles) if path.is_empty() => Kind::Whole,
            Some(root) if is_attributes(root) && path.is_empty() => Kind::Whole,
            Some(root) if is_attributes(root) => Kind::Path { is_deep: path.len() > 1 },
            _ => Kind::Any,
        },
        Head::HasSlot(..) => Kind::Test,
        Head::Operation(code, _) => match Op::from_code(*code) {
            // Equality fails with its operands only, and those of paths are looked at before.
            Some(Op::Eq) if term.parts.iter().all(|part| is_known(terms, *part)) => Kind::Truth,
            Some(Op::Eq) => Kind::Test,
            Some(Op::Lt | Op::Le | Op::In | Op::Has) => Kind::Test,
            _ => Kind::Any,
        },
        Head::Call(function) => match Function::from_id(*function) {
            Some(Function::StartsWith | Function::EndsWith | Function::Contains) => Kind::Test,
            _ => Kind::Any,
        },
        _ => Kind::Any,
    }
}

/// Returns true if a term is a constant, or a path whose failure is looked at.
fn is_known(terms: &Terms, id: TermId) -> bool {
    let term = terms.get(id);
    match &term.head {
        Head::Literal(_) => true,
        Head::Slot(..) => !matches!(kind(terms, &term), Kind::Any),
        _ => false,
    }
}

/// Returns true if the members of a root are attributes: values that JSON has, in maps.
pub(crate) const fn is_attributes(root: Root) -> bool {
    matches!(root, Root::PrincipalAttr | Root::ResourceAttr | Root::AuxDataJwt | Root::AuxDataJwts)
}

/// Returns the paths whose failure is the failure of a term, whatever its other operands are.
pub(crate) fn fallible_parts(terms: &Terms, term: &Term) -> Vec<TermId> {
    let is_strict = match &term.head {
        Head::Operation(code, None) => {
            matches!(Op::from_code(*code), Some(Op::Eq | Op::Lt | Op::Le | Op::In))
        }
        Head::Call(function) => matches!(
            Function::from_id(*function),
            Some(Function::StartsWith | Function::EndsWith | Function::Contains)
        ),
        _ => false,
    };
    let is_path = |id: &TermId| matches!(kind(terms, &terms.get(*id)), Kind::Path { .. });
    term.parts.iter().copied().filter(|id| is_strict && is_path(id)).collect()
}

/// Returns the outcome of a test for the values of a class.
pub(crate) fn outcome(test: &Test, class: Class) -> Diagram {
    use Class::{Between, Broken, Fails, False, Missing, NaN, Number, Text, True};
    let is = |truth: bool| if truth { TRUE } else { FALSE };
    match (test, class) {
        (Test::Fails, class) => is(matches!(class, Broken | Missing | Fails)),
        (Test::Exists, Broken | Fails) => FAILS,
        (Test::Exists, class) => is(class != Missing),
        (_, Broken | Missing | Fails) => FAILS,
        (Test::Truth, True) => TRUE,
        (Test::Truth, False) => FALSE,
        (Test::Truth, _) => OTHER,
        (Test::Among(scalars), class) => is(scalars.iter().any(|scalar| match (scalar, class) {
            (Scalar::Null, Class::Null) => true,
            (Scalar::Bool(truth), True) => *truth,
            (Scalar::Bool(truth), False) => !truth,
            (Scalar::Text(wanted), Text(text)) => *wanted == text,
            (Scalar::Number(wanted), Number(number)) => *wanted == number,
            _ => false,
        })),
        (Test::Below(..) | Test::Above(..), NaN) => FALSE,
        (Test::Below(bound, equal), Number(number)) => {
            is(number < *bound || *equal && number == *bound)
        }
        (Test::Above(bound, equal), Number(number)) => {
            is(number > *bound || *equal && number == *bound)
        }
        (Test::Below(bound, _), Between(_, end)) => is(end <= *bound),
        (Test::Above(bound, _), Between(start, _)) => is(start >= *bound),
        (Test::Below(..) | Test::Above(..), _) => FAILS,
    }
}
