//! Results that one request needs more than once: a program is evaluated at most once.

use alloc::vec::Vec;

use crate::cel::Value;

/// How many results are kept without allocating.
const INLINE: usize = 16;

/// Results by program.
pub(crate) struct Memo<'a> {
    inline: [Option<(u32, Value<'a>)>; INLINE],
    more: Vec<(u32, Value<'a>)>,
}

impl<'a> Memo<'a> {
    pub(crate) fn new() -> Self {
        Self { inline: [const { None }; INLINE], more: Vec::new() }
    }

    pub(crate) fn get(&self, program: u32) -> Option<Value<'a>> {
        let inline = self.inline.iter().map_while(Option::as_ref);
        let mut entries = inline.chain(&self.more);
        entries.find(|(known, _)| *known == program).map(|(_, value)| value.clone())
    }

    pub(crate) fn put(&mut self, program: u32, value: &Value<'a>) {
        match self.inline.iter_mut().find(|entry| entry.is_none()) {
            Some(entry) => *entry = Some((program, value.clone())),
            None => self.more.push((program, value.clone())),
        }
    }
}
