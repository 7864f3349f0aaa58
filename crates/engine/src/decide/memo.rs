//! Results that one request needs more than once: a program is evaluated at most once for each
//! view.

use alloc::vec::Vec;

use crate::cel::Value;
use crate::table::at;

/// The part of the walk's state that a program can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// The request, and no derived roles.
    Plain,
    /// The same from within a condition of a derived role, where lenient tables read variables that
    /// failed as null.
    DerivedRole,
    /// The derived roles of the resource policy in the scope with this string id.
    Scope(u32),
}

/// A program and its view.
pub(crate) type Key = (u32, View);

/// The number of results that are stored without allocating.
const INLINE: usize = 8;

/// Results by program and view.
pub(crate) struct Memo<'a> {
    inline: [Option<(Key, Value<'a>)>; INLINE],
    more: Vec<MemoEntry<'a>>,
    /// By program, the index in `more` of its last result plus one: a table may have too many
    /// programs for a search from the front.
    last: Vec<usize>,
}

struct MemoEntry<'a> {
    view: View,
    value: Value<'a>,
    /// The index of the program's result before this one plus one.
    before: usize,
}

impl<'a> Memo<'a> {
    pub(crate) fn new() -> Self {
        Self { inline: [const { None }; INLINE], more: Vec::new(), last: Vec::new() }
    }

    pub(crate) fn get(&self, key: Key) -> Option<Value<'a>> {
        let mut inline = self.inline.iter().map_while(Option::as_ref);
        let found = inline.find(|(known, _)| *known == key).map(|(_, value)| value);
        found.or_else(|| self.search(key)).cloned()
    }

    pub(crate) fn put(&mut self, key: Key, value: &Value<'a>) {
        match self.inline.iter_mut().find(|entry| entry.is_none()) {
            Some(entry) => *entry = Some((key, value.clone())),
            None => self.push(key, value.clone()),
        }
    }

    /// Returns the result of a program and view. A program has one result for each scope at most,
    /// so its chain is short.
    fn search(&self, (program, view): Key) -> Option<&Value<'a>> {
        let mut position = *self.last.get(at(program))?;
        while let Some(entry) = position.checked_sub(1).and_then(|position| self.more.get(position))
        {
            if entry.view == view {
                return Some(&entry.value);
            }
            position = entry.before;
        }
        None
    }

    fn push(&mut self, (program, view): Key, value: Value<'a>) {
        let program = at(program);
        if self.last.len() <= program {
            self.last.resize(program.saturating_add(1), 0);
        }
        if let Some(last) = self.last.get_mut(program) {
            self.more.push(MemoEntry { view, value, before: *last });
            *last = self.more.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Memo, View};
    use crate::cel::Value;

    #[test]
    fn every_result_is_found_under_its_own_key() {
        let mut memo = Memo::new();
        let keys: alloc::vec::Vec<_> = (0..40)
            .flat_map(|program| [(program, View::Plain), (program, View::Scope(program % 3))])
            .collect();
        for (number, key) in (0..).zip(&keys) {
            assert!(memo.get(*key).is_none());
            memo.put(*key, &Value::Int(number));
        }
        for (number, key) in (0..).zip(&keys) {
            assert_eq!(memo.get(*key), Some(Value::Int(number)));
        }
        assert!(memo.get((3, View::DerivedRole)).is_none());
        assert!(memo.get((40, View::Plain)).is_none());
    }
}
