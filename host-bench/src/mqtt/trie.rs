//! A plain trie of filters with a hash map at each node: what one writes by hand.

use std::collections::HashMap;

/// A node.
#[derive(Default)]
pub(super) struct Trie {
    words: HashMap<String, Trie>,
    any: Option<Box<Trie>>,
    rest: Vec<u32>,
    here: Vec<u32>,
}

impl Trie {
    pub(super) fn insert(&mut self, filter: &str, value: u32) {
        let mut at = self;
        for word in filter.split('/') {
            at = match word {
                "#" => return at.rest.push(value),
                "+" => at.any.get_or_insert_default(),
                word => at.words.entry(word.to_owned()).or_default(),
            };
        }
        at.here.push(value);
    }

    /// Calls `found` with the value of each filter that matches the name.
    pub(super) fn matches(&self, name: &str, found: &mut impl FnMut(&u32)) {
        self.below(Some(name), name.starts_with('$'), found);
    }

    fn below(&self, name: Option<&str>, is_internal: bool, found: &mut impl FnMut(&u32)) {
        if !is_internal {
            self.rest.iter().for_each(&mut *found);
        }
        let Some(name) = name else { return self.here.iter().for_each(found) };
        let (word, after) = match name.split_once('/') {
            Some((word, after)) => (word, Some(after)),
            None => (name, None),
        };
        if let Some(node) = self.words.get(word) {
            node.below(after, false, found);
        }
        if let (Some(node), false) = (&self.any, is_internal) {
            node.below(after, false, found);
        }
    }
}
