//! Texts as small numbers.

use std::collections::HashMap;
use std::rc::Rc;

/// Numbers texts in the order in which they come.
#[derive(Debug, Default)]
pub(crate) struct Names {
    numbers: HashMap<Rc<str>, u32>,
    texts: Vec<Rc<str>>,
}

impl Names {
    /// Returns the number of a text, which is new if the text is.
    pub(crate) fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        let text: Rc<str> = text.into();
        self.texts.push(Rc::clone(&text));
        self.numbers.insert(text, number);
        number
    }

    /// Returns the number of a text that is known.
    pub(crate) fn known(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }
}
