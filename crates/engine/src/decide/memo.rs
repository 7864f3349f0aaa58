//! Results that one request needs more than once: a program is evaluated at most once for each view.

use alloc::vec::Vec;

use crate::cel::Value;

/// What a program can see of the walk.
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

/// How many results are kept without allocating.
const INLINE: usize = 16;

/// Results by program and view.
pub(crate) struct Memo<'a> {
    inline: [Option<(Key, Value<'a>)>; INLINE],
    more: Vec<(Key, Value<'a>)>,
}

impl<'a> Memo<'a> {
    pub(crate) fn new() -> Self {
        Self { inline: [const { None }; INLINE], more: Vec::new() }
    }

    pub(crate) fn get(&self, key: Key) -> Option<Value<'a>> {
        let inline = self.inline.iter().map_while(Option::as_ref);
        let mut entries = inline.chain(&self.more);
        entries.find(|(known, _)| *known == key).map(|(_, value)| value.clone())
    }

    pub(crate) fn put(&mut self, key: Key, value: &Value<'a>) {
        match self.inline.iter_mut().find(|entry| entry.is_none()) {
            Some(entry) => *entry = Some((key, value.clone())),
            None => self.more.push((key, value.clone())),
        }
    }
}
