//! The instructions that build collections and loop over them.
//!
//! A collection under construction is taken out of its register while it grows, so it is not shared
//! and growing it copies nothing.

use alloc::rc::Rc;

use super::{Machine, calc};
use crate::cel::access::show;
use crate::cel::error::{Answer, Error};
use crate::cel::value::{Key, Map, OwnedMap, Value};
use crate::limits::MAX_ELEMENTS;

/// Returns `{}`, ready to grow.
pub(super) fn empty_map<'a>() -> Value<'a> {
    Value::Map(Map::Owned(Rc::new(OwnedMap::default())))
}

impl<'a> Machine<'a, '_, '_> {
    pub(super) fn list_push(&mut self, a: u8, b: u8) -> Result<(), Error<'a>> {
        let item = self.get(b)?.clone();
        self.grow(a, |list| push(list, item))
    }

    pub(super) fn list_push_optional(&mut self, a: u8, b: u8) -> Result<(), Error<'a>> {
        let item = match self.get(b)? {
            Value::Optional(None) => return Ok(()),
            Value::Optional(Some(item)) => Value::clone(item),
            other => Value::Error(not_optional("list element", other)),
        };
        self.grow(a, |list| push(list, item))
    }

    pub(super) fn map_put(&mut self, a: u8, b: u8, c: u8) -> Result<(), Error<'a>> {
        let (key, value) = (self.get(b)?.clone(), self.get(c)?.clone());
        self.context.charge(steps_of_an_entry(self.get(a)?))?;
        self.grow(a, |map| put(map, key, value))
    }

    pub(super) fn map_put_optional(&mut self, a: u8, b: u8, c: u8) -> Result<(), Error<'a>> {
        let key = self.get(b)?.clone();
        let value = match self.get(c)? {
            Value::Optional(None) if key.error().is_none() => return Ok(()),
            Value::Optional(None) => Value::Null,
            Value::Optional(Some(value)) => Value::clone(value),
            other => Value::Error(not_optional("entry", other)),
        };
        self.context.charge(steps_of_an_entry(self.get(a)?))?;
        self.grow(a, |map| put(map, key, value))
    }

    pub(super) fn map_merge(&mut self, a: u8, b: u8) -> Result<(), Error<'a>> {
        let entries = self.get(b)?.clone();
        if let Value::Map(entries) = &entries {
            let each = steps_of_an_entry(self.get(a)?);
            self.context.charge(entries.len().saturating_mul(each))?;
        }
        self.grow(a, |map| merge(map, &entries))
    }

    /// Replaces the collection in register `a` by the result of `change`; an error stays.
    fn grow(
        &mut self,
        a: u8,
        change: impl FnOnce(Value<'a>) -> Answer<'a>,
    ) -> Result<(), Error<'a>> {
        let answer = self.take(a)?.into_answer().and_then(change).map_err(Error::of_operand);
        self.set(a, answer)
    }

    pub(super) fn iterate(&mut self, a: u8, b: u8, c: u8, end: u32) -> Result<(), Error<'a>> {
        let range = self.get(b)?.clone();
        match range {
            Value::List(_) | Value::Map(_) => {
                self.set(a, Ok(range))?;
                self.set(cursor(a)?, Ok(Value::Int(0)))
            }
            other => {
                self.set(c, Err(not_iterable(&other).of_operand()))?;
                self.jump(end)
            }
        }
    }

    pub(super) fn next(&mut self, a: u8, b: u8, end: u32) -> Result<(), Error<'a>> {
        let at = self.advance(a)?;
        let item = match self.get(a)? {
            Value::List(list) => list.get(at),
            Value::Map(map) => map.entry(at).map(|(key, _)| key),
            _ => return Err(Error::Malformed),
        };
        match item {
            Some(item) => self.set(b, Ok(item)),
            None => self.jump(end),
        }
    }

    pub(super) fn next_pair(&mut self, a: u8, b: u8, end: u32) -> Result<(), Error<'a>> {
        let at = self.advance(a)?;
        let pair = match self.get(a)? {
            Value::List(list) => list.get(at).map(|item| (Value::length(at), item)),
            Value::Map(map) => map.entry(at),
            _ => return Err(Error::Malformed),
        };
        let Some((first, second)) = pair else { return self.jump(end) };
        self.set(b, Ok(first))?;
        self.set(b.checked_add(1).ok_or(Error::Malformed)?, Ok(second))
    }

    /// Returns the position of the loop, and moves it on.
    fn advance(&mut self, a: u8) -> Result<usize, Error<'a>> {
        let cursor = cursor(a)?;
        let Value::Int(at) = *self.get(cursor)? else { return Err(Error::Malformed) };
        self.set(cursor, Ok(Value::Int(at.saturating_add(1))))?;
        usize::try_from(at).map_err(|_| Error::Malformed)
    }
}

/// Returns the steps charged for adding an entry to `map`, whose keys are sorted: six, and two for
/// each key that the new one is compared with.
fn steps_of_an_entry(map: &Value<'_>) -> usize {
    let length = if let Value::Map(map) = map { map.len() } else { 0 };
    let compared = usize::BITS.saturating_sub(length.leading_zeros());
    usize::try_from(compared).unwrap_or(0).saturating_mul(2).saturating_add(6)
}

fn cursor<'a>(range: u8) -> Result<u8, Error<'a>> {
    range.checked_add(1).ok_or(Error::Malformed)
}

fn push<'a>(list: Value<'a>, item: Value<'a>) -> Answer<'a> {
    let item = item.into_answer()?;
    let Value::List(mut list) = list else { return Err(Error::Malformed) };
    if list.len() >= MAX_ELEMENTS {
        return Err(Error::Limit);
    }
    list.push(item);
    Value::List(list).bounded().into_answer()
}

fn put<'a>(map: Value<'a>, key: Value<'a>, value: Value<'a>) -> Answer<'a> {
    let (key, value) = (key.into_answer()?, value.into_answer()?);
    let Value::Map(Map::Owned(mut map)) = map else { return Err(Error::Malformed) };
    insert(&mut map, key, value)?;
    Value::Map(Map::Owned(map)).bounded().into_answer()
}

fn merge<'a>(map: Value<'a>, entries: &Value<'a>) -> Answer<'a> {
    let Value::Map(Map::Owned(mut map)) = map else { return Err(Error::Malformed) };
    let Value::Map(entries) = entries else { return Err(calc::wrong_type(entries)) };
    for (key, value) in entries.iter() {
        insert(&mut map, key, value)?;
    }
    Value::Map(Map::Owned(map)).bounded().into_answer()
}

fn insert<'a>(
    map: &mut Rc<OwnedMap<'a>>,
    key: Value<'a>,
    value: Value<'a>,
) -> Result<(), Error<'a>> {
    let map = Rc::make_mut(map);
    if Key::of(&key).is_none() {
        return Err(Error::Fixed("unsupported key type"));
    }
    if map.len() >= MAX_ELEMENTS {
        return Err(Error::Limit);
    }
    let shown = key.clone();
    if map.insert(key, value) {
        return Ok(());
    }
    Err(Error::text(format_args!("insert failed: key {} already exists", show(&shown))))
}

fn not_optional<'a>(what: &str, value: &Value<'a>) -> Error<'a> {
    value.error().cloned().unwrap_or_else(|| {
        let shown = show(value);
        Error::text(format_args!(
            "cannot initialize optional {what} from non-optional value {shown}"
        ))
    })
}

fn not_iterable<'a>(value: &Value<'a>) -> Error<'a> {
    value.error().cloned().unwrap_or_else(|| {
        let found = value.type_name();
        Error::text(format_args!("got '{found}', expected iterable type"))
    })
}
