//! Comparisons of moments, such as `timestamp(R.attr.until) > now()`, as those of numbers.
//!
//! A host reads the text, and writes the time, as milliseconds since 1970.

use alloc::vec::Vec;

use wardgate_engine::cel::time::parse_timestamp;
use wardgate_engine::cel::value::constant;
use wardgate_engine::cel::{Timestamp, Value};
use wardgate_engine::number::int_to_double;
use wardgate_fastpath::layout::{relation, test};

use super::derived::Test;
use super::fuse::{Fuser, Op, mirrored};
use super::trees::{Node, NodeId};

/// One side of a comparison.
#[derive(Clone, Copy)]
enum Moment {
    /// The bits of a number.
    Constant(u64),
    /// A slot of the table.
    Slot(u32),
    Now,
}

impl Fuser<'_> {
    /// Returns the comparison of a moment of the request with another moment; `None` if one side is
    /// none.
    pub(super) fn moments(&mut self, relation: u32, left: NodeId, right: NodeId) -> Option<Op> {
        if !self.has_tests() {
            return None;
        }
        let is_order = relation <= relation::GREATER_EQUAL;
        Some(match (self.moment(left)?, self.moment(right)?) {
            (Moment::Slot(slot), Moment::Constant(bits)) => {
                Op::Compare(self.derive(test::TIME, slot), relation, bits)
            }
            (Moment::Constant(bits), Moment::Slot(slot)) => {
                Op::Compare(self.derive(test::TIME, slot), mirrored(relation), bits)
            }
            (Moment::Slot(a), Moment::Slot(b)) if is_order => {
                let (a, b) = (self.derive(test::TIME, a), self.derive(test::TIME, b));
                Op::CompareSlots(a, b, relation)
            }
            // The time has no path of its own, so it takes that of the other side.
            (Moment::Slot(slot), Moment::Now) if is_order => {
                let (moment, now) = (self.derive(test::TIME, slot), self.derive(test::NOW, slot));
                Op::CompareSlots(moment, now, relation)
            }
            (Moment::Now, Moment::Slot(slot)) if is_order => {
                let (moment, now) = (self.derive(test::TIME, slot), self.derive(test::NOW, slot));
                Op::CompareSlots(now, moment, relation)
            }
            _ => return None,
        })
    }

    fn derive(&mut self, kind: u32, slot: u32) -> u32 {
        self.slot_of(Test { slot, kind, terms: Vec::new() })
    }

    fn moment(&self, node: NodeId) -> Option<Moment> {
        let constant = |id: u32| constant(self.pool(), id);
        let found = match self.node(node)? {
            Node::Now => return Some(Moment::Now),
            Node::Const(id) => constant(id),
            Node::Time(inner) => match self.node(inner)? {
                Node::Slot(slot) => return self.readable(slot).map(Moment::Slot),
                Node::Const(id) => match constant(id) {
                    Value::String(text) => Value::Timestamp(parse_timestamp(&text).ok()?),
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        };
        let Value::Timestamp(moment) = found else { return None };
        number(moment).map(|number| Moment::Constant(number.to_bits()))
    }
}

/// Returns the whole milliseconds from 1970 to a moment, which a double holds exactly.
fn number(moment: Timestamp) -> Option<f64> {
    let is_whole = moment.nanos().is_multiple_of(NANOS_PER_MILLISECOND);
    let rest = i64::from(moment.nanos() / NANOS_PER_MILLISECOND);
    let number = moment.seconds().checked_mul(1000)?.checked_add(rest)?;
    is_whole.then(|| int_to_double(number))
}

const NANOS_PER_MILLISECOND: u32 = 1_000_000;
