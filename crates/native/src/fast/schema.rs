//! Flat schemas: whether the attributes of a request fit them for certain.
//!
//! The general path reports what does not fit, so every doubt is its business: a list, an object, a
//! number that is not finite, a text beyond the bounds.

use wardgate_engine::table::PolicyTable;
use wardgate_fastpath::layout::test::MAX_TEXT;
use wardgate_fastpath::schema::{
    self, CLOSED, COUNTED, EQUAL, EQUAL_NUMBER, MAX_ATTRIBUTES, MAX_LENGTH, MAX_NAME, MAXIMUM,
    MIN_LENGTH, MINIMUM, REQUIRED, TYPES,
};
use wardgate_fastpath::{Term, word};

use crate::fast::input::{FastInput, SlotValue};
use crate::fast::path::SlotRoot;
use crate::field::Field;

/// The schema of all attributes of the principal or of the resource.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    root: SlotRoot,
    properties: Box<[Property]>,
    names: Names,
}

/// The schema of one attribute.
#[derive(Clone, Debug)]
struct Property {
    name: [Box<str>; 1],
    types: u32,
    /// The constants of which the value has to be one; empty if it may be any.
    constants: Vec<Constant>,
    /// The forms of the bounds, each with its number.
    bounds: Vec<(u32, i32)>,
}

/// A constant.
#[derive(Clone, Debug)]
enum Constant {
    Null,
    Bool(bool),
    Number(f64),
    Text(Box<str>),
}

/// The names that attributes may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    Any,
    /// Only those of the properties.
    Closed,
    /// Few and short ones.
    Counted,
}

impl Schema {
    /// Unpacks the terms of a test; `None` if it has a form that this host does not know.
    pub(crate) fn unpack(table: &PolicyTable, root: SlotRoot, terms: &[Term]) -> Option<Self> {
        if !matches!(root, SlotRoot::PrincipalAttr | SlotRoot::ResourceAttr) {
            return None;
        }
        let (mut properties, mut names) = (Vec::<Property>::new(), Names::Any);
        for [name, bits, operand] in terms {
            let [form, bits] = schema::form(*bits);
            match form {
                CLOSED => names = Names::Closed,
                COUNTED => names = Names::Counted,
                TYPES => properties.push(Property {
                    name: [table.string(name.checked_sub(1)?).into()],
                    types: bits,
                    constants: Vec::new(),
                    bounds: Vec::new(),
                }),
                _ => properties.last_mut()?.add(table, form, *operand)?,
            }
        }
        Some(Self { root, properties: properties.into(), names })
    }

    /// Returns true if the attributes fit for certain.
    pub(crate) fn is_fit(&self, input: &impl FastInput) -> bool {
        let fits = |property: &Property| {
            property.is_fit(match self.root {
                SlotRoot::PrincipalAttr => input.principal_attribute(&property.name),
                _ => input.resource_attribute(&property.name),
            })
        };
        self.properties.iter().all(fits) && self.has_names(input)
    }

    fn has_names(&self, input: &impl FastInput) -> bool {
        let mut count = 0_usize;
        let mut is_known = |name: &str| {
            count += 1;
            match self.names {
                Names::Closed => self.properties.iter().any(|known| &*known.name[0] == name),
                _ => count <= MAX_ATTRIBUTES && name.len() <= MAX_NAME,
            }
        };
        self.names == Names::Any || input.all_names(self.root, &mut is_known)
    }
}

impl Property {
    fn add(&mut self, table: &PolicyTable, form: u32, operand: u32) -> Option<()> {
        let number = schema::signed(operand);
        match form {
            EQUAL => self.constants.push(Constant::unpack(table, operand)?),
            EQUAL_NUMBER => self.constants.push(Constant::Number(number.into())),
            MINIMUM | MAXIMUM | MIN_LENGTH | MAX_LENGTH => self.bounds.push((form, number)),
            _ => return None,
        }
        Some(())
    }

    fn is_fit(&self, value: SlotValue<'_>) -> bool {
        let SlotValue::Field(value) = value else { return false };
        let types = match value {
            Field::Missing => return self.types & REQUIRED == 0,
            Field::Null => 1,
            Field::Bool(_) => 2,
            Field::Number(number) if number % 1.0 == 0.0 => 4 | 8,
            Field::Number(number) if number.is_finite() => 4,
            Field::Text(text) if text.len() <= MAX_TEXT => 16,
            _ => return false,
        };
        let constants = &self.constants;
        self.types & types != 0
            && (constants.is_empty() || constants.iter().any(|constant| constant.is(value)))
            && self.bounds.iter().all(|bound| is_within(*bound, value))
    }
}

impl Constant {
    fn unpack(table: &PolicyTable, word: u32) -> Option<Self> {
        Some(match word {
            word::NULL => Self::Null,
            word::FALSE | word::TRUE => Self::Bool(word == word::TRUE),
            word => Self::Text(table.string(word.checked_sub(word::FIRST_STRING)?).into()),
        })
    }

    #[expect(clippy::float_cmp, reason = "a number in an enum is that very number")]
    fn is(&self, value: Field<'_>) -> bool {
        match (self, value) {
            (Self::Null, Field::Null) => true,
            (Self::Bool(constant), Field::Bool(value)) => *constant == value,
            (Self::Number(constant), Field::Number(value)) => *constant == value,
            (Self::Text(constant), Field::Text(value)) => **constant == *value,
            _ => false,
        }
    }
}

/// Returns true if a bound holds; those of numbers hold for other values, as do those of texts.
fn is_within((form, bound): (u32, i32), value: Field<'_>) -> bool {
    let length = |text: &str| i32::try_from(text.chars().count()).unwrap_or(i32::MAX);
    match (form, value) {
        (MINIMUM, Field::Number(number)) => number >= bound.into(),
        (MAXIMUM, Field::Number(number)) => number <= bound.into(),
        (MIN_LENGTH, Field::Text(text)) => length(text) >= bound,
        (MAX_LENGTH, Field::Text(text)) => length(text) <= bound,
        _ => true,
    }
}
