//! Values in, constants of the pool out.

use wardgate_engine::attr::Attr;
use wardgate_engine::cel::Value;
use wardgate_engine::cel::pool::ConstTag;

use super::super::ast::Literal;
use super::super::types::Type;
use crate::pool::PoolBuilder;
use crate::words::index;

pub(super) fn literal(literal: &Literal, pool: &mut PoolBuilder) -> u32 {
    match literal {
        Literal::Null => pool.constant(ConstTag::Null, &[]),
        Literal::Bool(value) => boolean(*value, pool),
        Literal::Int(value) => wide(ConstTag::Int, value.cast_unsigned(), pool),
        Literal::Uint(value) => wide(ConstTag::Uint, *value, pool),
        Literal::Double(value) => wide(ConstTag::Double, value.to_bits(), pool),
        Literal::String(text) => string(text, pool),
        Literal::Bytes(bytes) => pool.bytes(bytes),
    }
}

/// Returns the value that a protobuf field of this type has before it is set.
pub(super) fn default_of(of: Option<&Type>) -> Literal {
    match of {
        Some(Type::Bool) => Literal::Bool(false),
        Some(Type::Int) => Literal::Int(0),
        Some(Type::Uint) => Literal::Uint(0),
        Some(Type::Double) => Literal::Double(0.0),
        Some(Type::String) => Literal::String(String::new()),
        Some(Type::Bytes) => Literal::Bytes(Vec::new()),
        _ => Literal::Null,
    }
}

/// Returns the constant of an attribute. Its depth was bounded when it was read.
pub(super) fn attr(of: &Attr, pool: &mut PoolBuilder) -> u32 {
    match of {
        Attr::Null => pool.constant(ConstTag::Null, &[]),
        Attr::Bool(value) => boolean(*value, pool),
        Attr::Number(value) => wide(ConstTag::Double, value.to_bits(), pool),
        Attr::String(text) => string(text, pool),
        Attr::List(items) => {
            let ids: Vec<_> = items.iter().map(|item| attr(item, pool)).collect();
            sequence(ConstTag::List, items.len(), &ids, pool)
        }
        Attr::Map(map) => {
            let entries = map.entries().iter();
            let ids: Vec<_> =
                entries.flat_map(|(key, value)| [string(key, pool), attr(value, pool)]).collect();
            sequence(ConstTag::Map, map.entries().len(), &ids, pool)
        }
    }
}

/// Returns the constant of a computed value. `None` if constants have no such kind or `room`,
/// counted in values and in bytes of text, is used up.
pub(super) fn value(of: &Value<'_>, pool: &mut PoolBuilder, room: &mut usize) -> Option<u32> {
    *room = room.checked_sub(1)?;
    Some(match of {
        Value::Null => pool.constant(ConstTag::Null, &[]),
        Value::Bool(value) => boolean(*value, pool),
        Value::Int(value) => wide(ConstTag::Int, value.cast_unsigned(), pool),
        Value::Uint(value) => wide(ConstTag::Uint, *value, pool),
        Value::Double(value) => wide(ConstTag::Double, value.to_bits(), pool),
        Value::Duration(nanos) => wide(ConstTag::Duration, nanos.cast_unsigned(), pool),
        Value::String(text) => {
            *room = room.checked_sub(text.len())?;
            string(text, pool)
        }
        Value::Bytes(bytes) => {
            *room = room.checked_sub(bytes.len())?;
            pool.bytes(bytes)
        }
        Value::Timestamp(at) if at.offset() == 0 => {
            let [low, high] = halves(at.seconds().cast_unsigned());
            pool.constant(ConstTag::Timestamp, &[low, high, at.nanos()])
        }
        Value::List(list) => {
            let ids =
                list.iter().map(|item| value(&item, pool, room)).collect::<Option<Vec<_>>>()?;
            sequence(ConstTag::List, ids.len(), &ids, pool)
        }
        Value::Map(map) => {
            let mut ids = Vec::new();
            for (key, item) in map.iter() {
                ids.extend([value(&key, pool, room)?, value(&item, pool, room)?]);
            }
            sequence(ConstTag::Map, ids.len() / 2, &ids, pool)
        }
        Value::Type(name) => {
            let name = pool.string(name);
            pool.constant(ConstTag::Type, &[name])
        }
        Value::Optional(None) => pool.constant(ConstTag::None, &[]),
        Value::Optional(Some(inner)) => {
            let inner = value(inner, pool, room)?;
            pool.constant(ConstTag::Some, &[inner])
        }
        _ => return None,
    })
}

fn boolean(value: bool, pool: &mut PoolBuilder) -> u32 {
    pool.constant(if value { ConstTag::True } else { ConstTag::False }, &[])
}

fn string(text: &str, pool: &mut PoolBuilder) -> u32 {
    let text = pool.string(text);
    pool.constant(ConstTag::String, &[text])
}

fn sequence(tag: ConstTag, length: usize, ids: &[u32], pool: &mut PoolBuilder) -> u32 {
    let mut rest = vec![index(length)];
    rest.extend_from_slice(ids);
    pool.constant(tag, &rest)
}

fn wide(tag: ConstTag, bits: u64, pool: &mut PoolBuilder) -> u32 {
    pool.constant(tag, &halves(bits))
}

fn halves(bits: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = bits.to_le_bytes();
    [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
}
