//! Derived slots: the result of a test of a value, computed where the value is.
//!
//! The result is what the general path finds, an error of any kind being a missing value; a value
//! that is beyond a bound or of a form that is not tested here is unsupported, and the general path
//! decides.

use std::collections::HashSet;

use wardgate_engine::attr::Attr;
use wardgate_engine::cel::time::parse_timestamp;
use wardgate_engine::table::PolicyTable;
use wardgate_fastpath::layout::test::{
    self, ALL, CONTAINS, ENDS_WITH, EXISTS, FILLED_TOPIC, FITS, MAX_ELEMENTS, MAX_MOMENT,
    MAX_NEEDLE, MAX_TEXT, MAX_TOPIC, MEMBER, NEGATED, NOW, SIZE, STARTS_WITH, TIME, TOPIC,
};
use wardgate_fastpath::{SlotTest, Term as TermWords, word};

use crate::fast::input::{FastInput, SlotValue, read};
use crate::fast::json;
use crate::fast::moment;
use crate::fast::path::{Slot, SlotRoot};
use crate::fast::schema::Schema;
use crate::fast::topic;
use crate::field::{AsField, Field, Items};

/// The test of a slot, unpacked.
#[derive(Clone, Debug)]
pub(crate) struct Test {
    kind: u32,
    terms: Box<[Term]>,
    /// The schema of all attributes, instead of terms.
    schema: Option<Schema>,
}

/// One term of a test.
#[derive(Clone, Debug)]
struct Term {
    /// The member of the element; `None` is the element itself.
    member: Option<Box<str>>,
    is_negated: bool,
    operand: Operand,
}

/// The right side of a term.
#[derive(Clone, Debug)]
enum Operand {
    Null,
    Bool(bool),
    Text(Box<str>),
    Slot(Box<Slot>),
}

/// The elements of a long list of texts, hashed for searches.
pub(crate) struct HashedList(HashSet<Box<str>>);

/// A truth of CEL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Truth {
    False,
    True,
    Error,
}

/// The reason why the general path must decide.
#[derive(Clone, Copy, Debug)]
struct Unsupported;

/// A result; of reading an operand, [`Field::Missing`] is an error.
type Tested<T = Truth> = Result<T, Unsupported>;

impl Test {
    /// Unpacks a test of values below `root`, in a fast path whose earlier slots are `slots`.
    /// Returns `None` if it has a form that this host does not know.
    pub(crate) fn unpack(
        table: &PolicyTable,
        root: SlotRoot,
        test: SlotTest<'_>,
        slots: &[Slot],
    ) -> Option<Self> {
        if test.kind == FITS {
            let schema = Schema::unpack(table, root, test.terms)?;
            return Some(Self { kind: FITS, terms: Box::default(), schema: Some(schema) });
        }
        let term = |words: &TermWords| Term::unpack(table, words, slots);
        let terms = test.terms.iter().map(term).collect::<Option<_>>()?;
        let is_known = test.kind <= FILLED_TOPIC;
        is_known.then_some(Self { kind: test.kind, terms, schema: None })
    }

    /// Returns the result for the value of a slot in a request.
    #[inline(never)]
    pub(crate) fn result<'r>(&self, value: SlotValue<'_>, input: &impl FastInput) -> SlotValue<'r> {
        if let Some(schema) = &self.schema {
            let fits = schema.is_fit(input);
            return if fits { SlotValue::Field(Field::Bool(true)) } else { SlotValue::Unsupported };
        }
        match self.kind {
            SIZE => return size(value, input).map_or(SlotValue::Unsupported, SlotValue::Field),
            TIME => return time(value).map_or(SlotValue::Unsupported, SlotValue::Field),
            // The time is written when the other slots are.
            NOW => return SlotValue::Field(Field::Missing),
            _ => {}
        }
        match self.truth(value, input) {
            Ok(Truth::Error) => SlotValue::Field(Field::Missing),
            Ok(truth) => SlotValue::Field(Field::Bool(truth == Truth::True)),
            Err(Unsupported) => SlotValue::Unsupported,
        }
    }

    /// Returns the elements of a list for searches by this test; `None` if it is no search, or if a
    /// scan is as quick or the only way.
    pub(crate) fn hashed(&self, value: SlotValue<'_>) -> Option<HashedList> {
        let SlotValue::Field(Field::List(items)) = value else { return None };
        let is_search = |term: &Term| term.member.is_none() && !term.is_negated;
        if self.kind > EXISTS || self.terms.len() != 1 || !self.terms.iter().all(is_search) {
            return None;
        }
        let (mut texts, mut count, mut are_texts) = (HashSet::new(), 0_usize, true);
        items.each(&mut |item| {
            count = count.saturating_add(1);
            match item {
                Field::Text(text) if count <= MAX_ELEMENTS => {
                    texts.insert(Box::from(text));
                }
                _ => are_texts = false,
            }
        });
        (are_texts && count > MAX_SCANNED).then_some(HashedList(texts))
    }

    /// Returns the same as [`Test::result`] for a list that was hashed.
    pub(crate) fn result_in<'r>(
        &self,
        HashedList(texts): &HashedList,
        input: &impl FastInput,
    ) -> SlotValue<'r> {
        let operand = self.terms.first().map(|term| term.operand.read(input));
        match operand {
            Some(Ok(Field::Missing)) => SlotValue::Field(Field::Missing),
            Some(Ok(Field::Text(text))) => SlotValue::Field(Field::Bool(texts.contains(text))),
            Some(Ok(Field::Number(number))) if !number.is_finite() => SlotValue::Unsupported,
            Some(Ok(_)) => SlotValue::Field(Field::Bool(false)),
            Some(Err(Unsupported)) | None => SlotValue::Unsupported,
        }
    }

    /// Returns true if no decision is made without it, although no entry reads it.
    pub(crate) const fn is_guard(&self) -> bool {
        self.schema.is_some()
    }

    /// Returns true if the slot holds the time of the decision.
    pub(crate) const fn is_now(&self) -> bool {
        self.kind == NOW
    }

    fn truth(&self, value: SlotValue<'_>, input: &impl FastInput) -> Tested {
        match (self.kind, self.terms.first()) {
            (STARTS_WITH | ENDS_WITH | CONTAINS, Some(term)) => {
                self.text(value, term.operand.read(input)?)
            }
            (TOPIC | FILLED_TOPIC, _) => self.topic(value, input),
            (MEMBER, Some(term)) => {
                let operand = term.operand.read(input)?;
                match (value, operand) {
                    (_, Field::Missing) => Ok(Truth::Error),
                    (SlotValue::Field(Field::Map(map)), Field::Text(key)) => {
                        Ok(Truth::of(!matches!(map.get(key), Field::Missing)))
                    }
                    _ => self.over_elements(value, input),
                }
            }
            _ => self.over_elements(value, input),
        }
    }

    /// Tests a text, or a value that has no such function.
    fn text(&self, value: SlotValue<'_>, part: Field<'_>) -> Tested {
        let text = match value {
            SlotValue::Field(Field::Text(text)) if text.len() <= MAX_TEXT => text,
            SlotValue::Field(Field::Text(_)) | SlotValue::Unsupported => return Err(Unsupported),
            _ => return Ok(Truth::Error),
        };
        let Field::Text(part) = part else { return Ok(Truth::Error) };
        Ok(Truth::of(match self.kind {
            STARTS_WITH => text.starts_with(part),
            ENDS_WITH => text.ends_with(part),
            _ => text.contains(part),
        }))
    }

    /// Tests a topic of MQTT, or a value that is none.
    fn topic(&self, value: SlotValue<'_>, input: &impl FastInput) -> Tested {
        let mut texts = [""; test::MAX_TERMS];
        let mut are_texts = true;
        for (text, term) in texts.iter_mut().zip(&self.terms) {
            match term.operand.read(input)? {
                Field::Text(operand) => *text = operand,
                Field::Number(number) if !number.is_finite() => return Err(Unsupported),
                _ => are_texts = false,
            }
        }
        let topic = match value {
            SlotValue::Field(Field::Text(topic)) if topic.len() <= MAX_TOPIC => topic,
            SlotValue::Field(Field::Missing | Field::Null | Field::Bool(_)) | SlotValue::Broken => {
                return Ok(Truth::Error);
            }
            SlotValue::Field(Field::Number(number)) if number.is_finite() => {
                return Ok(Truth::Error);
            }
            _ => return Err(Unsupported),
        };
        let texts = texts.get(..self.terms.len()).filter(|_| are_texts).unwrap_or(&[]);
        let is_matched = match (self.kind, texts) {
            (_, []) => None,
            (TOPIC, patterns) => topic::is_matched(topic, patterns),
            (_, [pattern, words @ ..]) => topic::filled(pattern, words)
                .and_then(|pattern| topic::is_matched(topic, &[pattern])),
        };
        Ok(is_matched.map_or(Truth::Error, Truth::of))
    }

    /// Tests the elements of a list.
    fn over_elements(&self, value: SlotValue<'_>, input: &impl FastInput) -> Tested {
        let mut operands = [Field::Missing; test::MAX_TERMS];
        for (operand, term) in operands.iter_mut().zip(&self.terms) {
            *operand = term.operand.read(input)?;
        }
        let mut search = Search { test: self, operands, count: 0, result: Ok(self.start()) };
        match value {
            SlotValue::Field(Field::List(items)) => items.each(&mut |item| search.meet(item)),
            SlotValue::Roles => input.roles().for_each(|role| search.meet(Field::Text(role))),
            SlotValue::Attr(attr) => return self.over_attribute(attr.field(), input),
            SlotValue::Json(text) => {
                let attr = json::value(text).ok_or(Unsupported)?;
                return self.over_attribute(attr.field(), input);
            }
            SlotValue::Field(Field::Map(_)) | SlotValue::Unsupported => return Err(Unsupported),
            SlotValue::Field(_) | SlotValue::Broken => return Ok(Truth::Error),
        }
        search.result
    }

    fn over_attribute(&self, field: Field<'_>, input: &impl FastInput) -> Tested {
        match field {
            Field::List(_) | Field::Map(_) => self.truth(SlotValue::Field(field), input),
            _ => Err(Unsupported),
        }
    }

    /// Returns the truth over an empty list.
    const fn start(&self) -> Truth {
        if self.kind == ALL { Truth::True } else { Truth::False }
    }
}

/// The elements of a list, one after the other.
struct Search<'t, 'r> {
    test: &'t Test,
    operands: [Field<'r>; test::MAX_TERMS],
    count: usize,
    result: Tested,
}

impl Search<'_, '_> {
    fn meet(&mut self, element: Field<'_>) {
        self.count += 1;
        let Ok(result) = self.result else { return };
        self.result = if self.count > MAX_ELEMENTS {
            Err(Unsupported)
        } else {
            // A list has no gaps: a missing element is null, as in the general path.
            let element = if matches!(element, Field::Missing) { Field::Null } else { element };
            self.holds(element).map(|truth| match self.test.kind {
                ALL => result.and(truth),
                _ => result.or(truth),
            })
        };
    }

    /// Returns the conjunction of all terms.
    fn holds(&self, element: Field<'_>) -> Tested {
        let terms = self.test.terms.iter().zip(&self.operands);
        terms.into_iter().try_fold(Truth::True, |truth, (term, operand)| {
            Ok(truth.and(term.holds(element, *operand)?))
        })
    }
}

impl Term {
    fn unpack(
        table: &PolicyTable,
        [member, bits, operand]: &TermWords,
        slots: &[Slot],
    ) -> Option<Self> {
        let text = |id: u32| Box::from(table.string(id));
        let operand = match *operand {
            slot if bits & test::SLOT != 0 => {
                Operand::Slot(Box::new(slots.get(usize::try_from(slot).ok()?)?.clone()))
            }
            word::NULL => Operand::Null,
            word::FALSE | word::TRUE => Operand::Bool(*operand == word::TRUE),
            word => Operand::Text(text(word.checked_sub(word::FIRST_STRING)?)),
        };
        let member = member.checked_sub(1).map(text);
        Some(Self { member, is_negated: bits & NEGATED != 0, operand })
    }

    fn holds(&self, element: Field<'_>, operand: Field<'_>) -> Tested {
        let value = match (&self.member, element) {
            (None, element) => element,
            (Some(name), Field::Map(map)) => map.get(name),
            // Only an object has members.
            (Some(_), _) => Field::Missing,
        };
        if matches!(value, Field::Missing) || matches!(operand, Field::Missing) {
            return Ok(Truth::Error);
        }
        Ok(Truth::of(equal(value, operand)? != self.is_negated))
    }
}

impl Operand {
    /// Returns a scalar, or [`Field::Missing`] for an error.
    fn read<'r>(&'r self, input: &'r impl FastInput) -> Tested<Field<'r>> {
        let field = match self {
            Self::Null => Field::Null,
            Self::Bool(value) => Field::Bool(*value),
            Self::Text(text) => Field::Text(text),
            Self::Slot(slot) => match read(input, slot) {
                SlotValue::Field(field) => field,
                SlotValue::Broken => Field::Missing,
                _ => return Err(Unsupported),
            },
        };
        match field {
            Field::Text(text) if text.len() > MAX_NEEDLE => Err(Unsupported),
            Field::List(_) | Field::Map(_) => Err(Unsupported),
            field => Ok(field),
        }
    }
}

impl Truth {
    const fn of(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }

    const fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::False, _) | (_, Self::False) => Self::False,
            (Self::True, Self::True) => Self::True,
            _ => Self::Error,
        }
    }

    const fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::True, _) | (_, Self::True) => Self::True,
            (Self::False, Self::False) => Self::False,
            _ => Self::Error,
        }
    }
}

/// Compares a value with a scalar.
fn equal(value: Field<'_>, operand: Field<'_>) -> Tested<bool> {
    Ok(match (value, operand) {
        (Field::Text(value), Field::Text(operand)) => value == operand,
        (Field::Number(value), Field::Number(operand)) => {
            if !value.is_finite() || !operand.is_finite() {
                return Err(Unsupported);
            }
            value == operand
        }
        (Field::Number(number), _) | (_, Field::Number(number)) if !number.is_finite() => {
            return Err(Unsupported);
        }
        (Field::Bool(value), Field::Bool(operand)) => value == operand,
        (Field::Null, Field::Null) => true,
        _ => false,
    })
}

/// Returns the number of code points, elements or entries; a missing value is an error.
fn size<'r>(value: SlotValue<'_>, input: &impl FastInput) -> Tested<Field<'r>> {
    let count = match value {
        SlotValue::Field(Field::Text(text)) if text.len() <= MAX_TEXT => text.chars().count(),
        SlotValue::Field(Field::List(items)) => elements(items),
        SlotValue::Roles => input.roles().count(),
        SlotValue::Attr(attr) => return size_of(attr),
        SlotValue::Json(text) => return size_of(&json::value(text).ok_or(Unsupported)?),
        SlotValue::Field(Field::Text(_) | Field::Map(_)) | SlotValue::Unsupported => {
            return Err(Unsupported);
        }
        SlotValue::Field(_) | SlotValue::Broken => return Ok(Field::Missing),
    };
    counted(count)
}

fn size_of<'r>(attr: &Attr) -> Tested<Field<'r>> {
    match attr {
        Attr::List(items) => counted(items.len()),
        Attr::Map(entries) => counted(entries.entries().len()),
        _ => Err(Unsupported),
    }
}

fn elements(items: &dyn Items) -> usize {
    let mut count = 0_usize;
    items.each(&mut |_| count = count.saturating_add(1));
    count
}

fn counted<'r>(count: usize) -> Tested<Field<'r>> {
    let count = u32::try_from(count).map_err(|_| Unsupported)?;
    Ok(Field::Number(count.into()))
}

/// Returns the number of a moment; a value that is no moment is an error.
fn time<'r>(value: SlotValue<'_>) -> Tested<Field<'r>> {
    let text = match value {
        SlotValue::Field(Field::Text(text)) if text.len() <= MAX_MOMENT => text,
        SlotValue::Field(Field::Null | Field::Bool(_) | Field::Missing) | SlotValue::Broken => {
            return Ok(Field::Missing);
        }
        SlotValue::Field(Field::Number(number)) if number.is_finite() => return Ok(Field::Missing),
        _ => return Err(Unsupported),
    };
    match parse_timestamp(text) {
        Ok(moment) => moment::of_text(moment).map(Field::Number).ok_or(Unsupported),
        Err(_) => Ok(Field::Missing),
    }
}

/// The length up to which a list of texts is searched as quickly by a scan.
const MAX_SCANNED: usize = 16;
