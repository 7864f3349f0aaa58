//! Lines for the log of mosquitto.
//!
//! mosquitto may publish its log as messages, and asks the plugin about their deliveries. So no line
//! is written while the plugin works: lines are collected, and written when it has answered.
#![forbid(unsafe_code)]

use std::fmt;

use crate::limits::MAX_LINE_BYTES;

/// The levels of mosquitto that the plugin uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// What operators may want to know.
    Info,
    /// What a client did wrong.
    Notice,
    /// What operators should look at.
    Warning,
    /// What keeps the plugin from its work.
    Error,
}

/// A line for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its level.
    pub level: Level,
    /// Its text: one line without control characters, and bounded.
    pub text: String,
}

impl Line {
    /// Makes a line of a message, with the name of the plugin in front.
    pub(crate) fn new(level: Level, message: impl fmt::Display) -> Self {
        let mut text = String::from("wardgate: ");
        for character in message.to_string().chars() {
            if text.len() >= MAX_LINE_BYTES {
                text.push_str("...");
                break;
            }
            if character.is_control() {
                text.extend(character.escape_default());
            } else {
                text.push(character);
            }
        }
        Self { level, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_single_and_bounded() {
        let line = Line::new(Level::Info, "a\nb\0é");
        assert_eq!(line.text, "wardgate: a\\nb\\u{0}é");
        let long = Line::new(Level::Info, "é".repeat(10_000));
        assert!(long.text.len() < MAX_LINE_BYTES + 8, "{}", long.text.len());
    }
}
