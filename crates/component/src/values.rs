//! Requests as values: the fast path of the component.
//!
//! A host reads the slots of a fast path and passes their values, without text. An invalid fast
//! path, number of values or value gives Unsure: a doubt never becomes an answer.

use std::cell::RefCell;

use wardgate_engine::cel::pool::Root;
use wardgate_engine::table::PolicyTable;
use wardgate_fastpath::layout::{BY_CLASS, PROGRAMS};
use wardgate_fastpath::{Answer, Frame, SlotRecord, word};

use crate::component::types;
use crate::opened::Opened;

/// Returns the fast path of a target. `None` if requests must be sent as text.
pub(crate) fn fast_path(opened: &Opened, target: &types::Target) -> Option<types::Plan> {
    let table = opened.table();
    let list = table.fast_path_list(&target.kind, &target.policy_version, &target.scope)?;
    let id = table.fast_path_of_action(list, &target.action)?;
    let fast_path =
        table.fast_path(id).filter(|fast_path| fast_path.flags() & (PROGRAMS | BY_CLASS) == 0)?;
    Some(types::Plan {
        id: u64::from(opened.tag()) << 32 | u64::from(id),
        slots: fast_path.slots().map(|record| slot(table, record)).collect::<Option<_>>()?,
        roles: fast_path
            .roles()
            .iter()
            .map(|[id, mask]| (table.string(*id).into(), *mask))
            .collect(),
        others: fast_path.others(),
    })
}

/// Decides by a fast path, for roles with these masks.
pub(crate) fn decide(
    opened: &Opened,
    (fast_path, roles): (u64, u32),
    values: &[types::Value],
) -> types::Answer {
    let [id, tag] =
        [fast_path, fast_path >> 32].map(|half| u32::try_from(half & u64::from(u32::MAX)));
    if tag != Ok(opened.tag()) {
        return types::Answer::Stale;
    }
    let Ok(id) = id else { return types::Answer::Unsure };
    FRAME.with_borrow_mut(|frame| match fill(frame, values, slots(opened.table(), id)) {
        Some(()) => answer(opened.table().decide(id, roles, frame)),
        None => types::Answer::Unsure,
    })
}

/// Writes the values of a fast path with `slots` slots; returns `None` if they do not fit.
fn fill(frame: &mut Frame, values: &[types::Value], slots: usize) -> Option<()> {
    if values.len() != slots {
        return None;
    }
    for (slot, value) in values.iter().enumerate() {
        match value {
            types::Value::Missing => frame.set(slot, word::MISSING),
            types::Value::Broken => frame.set(slot, word::BROKEN),
            types::Value::Null => frame.set(slot, word::NULL),
            types::Value::Boolean(false) => frame.set(slot, word::FALSE),
            types::Value::Boolean(true) => frame.set(slot, word::TRUE),
            types::Value::Number(number) if number.is_finite() => frame.set_number(slot, *number),
            types::Value::Text(text) if *text >= word::FIRST_STRING => frame.set(slot, *text),
            types::Value::Number(_) | types::Value::Text(_) => return None,
        }
    }
    Some(())
}

/// Returns the number of slots of a fast path; `usize::MAX` if it does not exist, which no host can
/// fill.
fn slots(table: &PolicyTable, fast_path: u32) -> usize {
    table.fast_path(fast_path).map_or(usize::MAX, |fast_path| fast_path.slots().count())
}

fn slot(table: &PolicyTable, record: SlotRecord<'_>) -> Option<types::Slot> {
    // The interface has no tests: a list or a text is sent as text.
    if record.test.is_some() {
        return None;
    }
    let (root, path) = table.slot_path(record.slot)?;
    let text = |id: &u32| (table.string(*id).into(), id.saturating_add(word::FIRST_STRING));
    Some(types::Slot {
        root: match root {
            Root::PrincipalId => types::Root::PrincipalId,
            Root::PrincipalAttr => types::Root::PrincipalAttr,
            Root::ResourceKind => types::Root::ResourceKind,
            Root::ResourceId => types::Root::ResourceId,
            Root::ResourceAttr => types::Root::ResourceAttr,
            // A list is sent as text.
            _ => return None,
        },
        path: path.map(str::to_owned).collect(),
        texts: record.constants.iter().map(text).collect(),
    })
}

const fn answer(answer: Answer) -> types::Answer {
    match answer {
        Answer::Deny => types::Answer::Deny,
        Answer::Allow => types::Answer::Allow,
        Answer::Unsure => types::Answer::Unsure,
    }
}

thread_local! {
    static FRAME: RefCell<Frame> = const { RefCell::new(Frame::new()) };
}
