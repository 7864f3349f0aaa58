//! Derived slots: the result of a test of a value, computed where the value is.
//!
//! The result is what the general path finds, an error of any kind being a missing value; a value
//! that is beyond a bound or of a form that is not tested here is unsupported, and the general path
//! decides.

use wardgate_engine::attr::Attr;
use wardgate_engine::cel::time::parse_timestamp;
use wardgate_engine::table::PolicyTable;
use wardgate_fastpath::layout::test::{
    self, ALL, CONTAINS, ENDS_WITH, EXISTS, FILLED_TOPIC, FITS, INTERSECTS, MAX_ELEMENTS,
    MAX_MOMENT, MAX_NEEDLE, MAX_PAIRS, MAX_TEXT, MAX_TOPIC, MEMBER, NEGATED, NOW, SIZE,
    STARTS_WITH, TIME, TOPIC,
};
use wardgate_fastpath::{SlotTest, Term as TermWords, word};

use crate::fast::input::{FastInput, SlotValue, read};
use crate::fast::json;
use crate::fast::moment;
use crate::fast::path::{Slot, SlotRoot};
use crate::fast::schema::Schema;
use crate::fast::topic;
use crate::field::{AsField, Copier, Field, Items};
use crate::text_set::TextSet;

/// The test of a slot, unpacked.
#[derive(Clone, Debug)]
pub(crate) struct Test {
    kind: u32,
    terms: Box<[Term]>,
    /// True if it looks for an element that is equal to its operand.
    is_search: bool,
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
            let terms = Box::default();
            return Some(Self { kind: FITS, terms, is_search: false, schema: Some(schema) });
        }
        let term = |words: &TermWords| Term::unpack(table, words, slots);
        let terms = test.terms.iter().map(term).collect::<Option<Box<[Term]>>>()?;
        let is_known = test.kind <= INTERSECTS;
        let is_plain = |term: &Term| term.member.is_none() && !term.is_negated;
        let is_search = test.kind <= EXISTS && terms.len() == 1 && terms.iter().all(is_plain);
        is_known.then_some(Self { kind: test.kind, terms, is_search, schema: None })
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

    /// Returns the slot with what this test searches for in a list: a text, or the elements of another list.
    /// `None` if it is no search, or one for a constant.
    pub(crate) fn searched(&self) -> Option<&Slot> {
        match self.terms.first().map(|term| &term.operand) {
            Some(Operand::Slot(slot)) if self.is_search || self.kind == INTERSECTS => Some(slot),
            _ => None,
        }
    }

    /// Returns the result of a search, if both values are usual ones: a list of texts, and a text or another
    /// such list.
    #[inline]
    pub(crate) fn found(&self, list: SlotValue<'_>, item: SlotValue<'_>) -> Option<bool> {
        match (list, item) {
            (SlotValue::Field(Field::List(items)), SlotValue::Field(Field::Text(text)))
                if self.is_search && text.len() <= MAX_NEEDLE =>
            {
                items.search(text)
            }
            (SlotValue::Field(Field::List(left)), SlotValue::Field(Field::List(right)))
                if self.kind == INTERSECTS =>
            {
                have_common_text(left, right)
            }
            (SlotValue::Json(json), SlotValue::Field(Field::Text(text)))
                if self.is_search && text.len() <= MAX_NEEDLE =>
            {
                json::search(json, text)
            }
            (SlotValue::Json(left), SlotValue::Json(right)) if self.kind == INTERSECTS => {
                have_common_text(&json::texts(left)?, &json::texts(right)?)
            }
            _ => None,
        }
    }

    /// Returns the elements of a list for searches by this test; `None` if it is no search, or if the list
    /// itself is as quick or the only way.
    pub(crate) fn hashed(&self, value: SlotValue<'_>) -> Option<TextSet> {
        let SlotValue::Field(Field::List(items)) = value else { return None };
        if !self.is_search || items.is_hashed() {
            return None;
        }
        let (mut texts, mut count, mut are_texts) = (Vec::new(), 0_usize, true);
        items.each(&mut |item| {
            count = count.saturating_add(1);
            match item {
                Field::Text(text) if count <= MAX_ELEMENTS => texts.push(Box::<str>::from(text)),
                _ => are_texts = false,
            }
        });
        (are_texts && count > MAX_SCANNED).then(|| texts.into_iter().collect())
    }

    /// Returns the same as [`Test::result`] for a list that was hashed.
    pub(crate) fn result_in<'r>(&self, texts: &TextSet, input: &impl FastInput) -> SlotValue<'r> {
        let operand = self.terms.first().map(|term| term.operand.read(input));
        match operand {
            Some(Ok(Field::Missing)) => SlotValue::Field(Field::Missing),
            Some(Ok(Field::Text(text))) => SlotValue::Field(Field::Bool(texts.contains(text))),
            Some(Ok(Field::Number(number))) if !number.is_finite() => SlotValue::Unsupported,
            Some(Ok(_)) => SlotValue::Field(Field::Bool(false)),
            Some(Err(Unsupported)) | None => SlotValue::Unsupported,
        }
    }

    /// Returns true if the test looks for an element that is equal to its operand.
    pub(crate) const fn is_search(&self) -> bool {
        self.is_search
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
            (INTERSECTS, Some(term)) => {
                let Operand::Slot(slot) = &term.operand else { return Err(Unsupported) };
                let other = read(input, slot);
                match self.found(value, other) {
                    Some(is_found) => Ok(Truth::of(is_found)),
                    None => intersects(value, other),
                }
            }
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
        if self.is_search
            && let [operand, ..] = operands
            && let Some(is_found) = self.found(value, SlotValue::Field(operand))
        {
            return Ok(Truth::of(is_found));
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

/// Returns true if two lists of texts have one in common; `None` if one has other elements, or if they are
/// too long for a test.
fn have_common_text(left: &dyn Items, right: &dyn Items) -> Option<bool> {
    let (of_left, of_right) = (left.count(), right.count());
    if !are_short(of_left, of_right) {
        return None;
    }
    // The shorter one is walked, unless only it is a set.
    let (short, long) = if of_left < of_right { (left, right) } else { (right, left) };
    let is_turned = short.is_hashed() && !long.is_hashed();
    let (walked, searched) = if is_turned { (long, short) } else { (short, long) };
    let mut found = Some(false);
    walked.each(&mut |item| {
        found = match (found, item) {
            (Some(is_found), Field::Text(text)) => {
                searched.search(text).map(|here| is_found | here)
            }
            _ => None,
        };
    });
    found
}

/// Returns true if a host tests two lists with so many elements.
const fn are_short(left: usize, right: usize) -> bool {
    left <= MAX_ELEMENTS && right <= MAX_ELEMENTS && right * (right + left) <= MAX_PAIRS
}

/// Tests two lists of scalars, each element with each.
fn intersects(left: SlotValue<'_>, right: SlotValue<'_>) -> Tested {
    let (Some(left), Some(right)) = (scalars(left)?, scalars(right)?) else {
        return Ok(Truth::Error);
    };
    if !are_short(left.len(), right.len()) {
        return Err(Unsupported);
    }
    let mut is_found = false;
    for one in &left {
        for other in &right {
            is_found |= equal(one.field(), other.field())?;
        }
    }
    Ok(Truth::of(is_found))
}

/// Returns the elements of a list of scalars; `None` for a value that is no list.
fn scalars(value: SlotValue<'_>) -> Tested<Option<Vec<Attr>>> {
    let mut copied = Vec::new();
    let mut are_scalars = true;
    let mut copy = |item: Field<'_>| {
        match Copier::new().attribute(item) {
            // A list has no gaps: a missing element is null, as in the general path.
            None => copied.push(Attr::Null),
            Some(Attr::Number(number)) if !number.is_finite() => are_scalars = false,
            Some(Attr::List(_) | Attr::Map(_)) => are_scalars = false,
            Some(scalar) => copied.push(scalar),
        }
        are_scalars = are_scalars && copied.len() <= MAX_ELEMENTS;
    };
    match value {
        SlotValue::Field(Field::List(items)) if items.count() <= MAX_ELEMENTS => {
            items.each(&mut copy)
        }
        SlotValue::Attr(Attr::List(items)) if items.len() <= MAX_ELEMENTS => items.each(&mut copy),
        SlotValue::Json(text) => match json::value(text) {
            Some(Attr::List(items)) if items.len() <= MAX_ELEMENTS => items.each(&mut copy),
            _ => return Err(Unsupported),
        },
        SlotValue::Field(Field::Missing | Field::Null | Field::Bool(_) | Field::Text(_))
        | SlotValue::Broken => return Ok(None),
        SlotValue::Field(Field::Number(number)) if number.is_finite() => return Ok(None),
        _ => return Err(Unsupported),
    }
    if are_scalars { Ok(Some(copied)) } else { Err(Unsupported) }
}

/// Returns the number of code points, elements or entries; a missing value is an error.
fn size<'r>(value: SlotValue<'_>, input: &impl FastInput) -> Tested<Field<'r>> {
    let count = match value {
        SlotValue::Field(Field::Text(text)) if text.len() <= MAX_TEXT => text.chars().count(),
        SlotValue::Field(Field::List(items)) => items.count(),
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
