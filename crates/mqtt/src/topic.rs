//! Topic names and topic filters: what is valid, and which names a filter matches.
//!
//! A name is the topic of one message. A filter names a set of topics: `+` stands for one level,
//! `#` for any number of levels at the end, none included. Names that begin with `$` are matched
//! only by filters that begin with the same word [MQTT-4.7.2-1].
//!
//! `$share/group/filter` is taken apart once, at the front only: the filter after it is what is
//! decided, stored and matched. So `$share/g/$share/h/x` has the filter `$share/h/x`, which is an
//! ordinary filter over `$`-topics, as is `$queue/x`.

mod owned;

use core::fmt;

pub use owned::OwnedFilter;

use crate::blocks::{bits, block, has_zero, word_end};
use crate::limits::Limits;

/// A valid topic name.
///
/// # Examples
/// ```
/// use wardgate_mqtt::{Name, TopicError};
///
/// assert_eq!(Name::new("a/b")?.text(), "a/b");
/// assert_eq!(Name::new("a/+"), Err(TopicError::WildcardInName { at: 2 }));
/// # Ok::<(), TopicError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name<'t>(&'t str);

/// A valid topic filter, and the group of a shared subscription.
///
/// # Examples
/// ```
/// use wardgate_mqtt::{Filter, Name};
///
/// let filter = Filter::new("$share/workers/a/+")?;
/// assert_eq!((filter.group(), filter.text()), (Some("workers"), "a/+"));
/// assert!(filter.matches(Name::new("a/b")?));
/// # Ok::<(), wardgate_mqtt::TopicError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Filter<'t> {
    text: &'t str,
    group: Option<&'t str>,
}

/// A level of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level<'t> {
    /// The word itself, which may be empty.
    Word(&'t str),
    /// `+`: any one word.
    Any,
    /// `#`: any number of words, none included; always the last level.
    Rest,
}

impl<'t> Level<'t> {
    /// Returns the text of the level.
    #[must_use]
    pub const fn text(self) -> &'t str {
        match self {
            Self::Word(word) => word,
            Self::Any => "+",
            Self::Rest => "#",
        }
    }

    /// Returns true if a word from outside may stand for the level `{}` number `level` of a pattern, counted from zero:
    /// it is one level, no wildcard, and the beginning of no internal topic.
    #[must_use]
    pub fn may_fill(word: &str, level: usize) -> bool {
        let is_special = |byte| matches!(byte, b'/' | b'+' | b'#' | 0);
        let is_internal = level == 0 && word.starts_with('$');
        !word.is_empty() && !is_internal && !word.bytes().any(is_special)
    }
}

/// The reason why a text is no topic name or filter. Offsets count bytes of the whole text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TopicError {
    /// The text is empty [MQTT-4.7.3-1].
    Empty,
    /// The text is longer than the bound.
    TooLong {
        /// Its length in bytes.
        bytes: usize,
        /// The bound.
        most: u16,
    },
    /// The text has more levels than the bound.
    TooManyLevels {
        /// Its levels.
        levels: usize,
        /// The bound.
        most: u8,
    },
    /// U+0000 occurs [MQTT-4.7.3-2].
    Nul {
        /// Its offset.
        at: usize,
    },
    /// A `+` or `#` occurs in a name [MQTT-4.7.0-1].
    WildcardInName {
        /// Its offset.
        at: usize,
    },
    /// A `+` does not fill its level [MQTT-4.7.1-2].
    PlusInWord {
        /// Its offset.
        at: usize,
    },
    /// A `#` does not fill its level, or is not the last one [MQTT-4.7.1-1].
    HashNotLast {
        /// Its offset.
        at: usize,
    },
    /// The group after `$share/` is empty [MQTT-4.8.2-1].
    EmptyGroup,
    /// A `+` or `#` occurs in the group after `$share/` [MQTT-4.8.2-2].
    WildcardInGroup {
        /// Its offset.
        at: usize,
    },
    /// No filter follows `$share/` and its group [MQTT-4.8.2-2].
    GroupWithoutFilter,
}

impl<'t> Name<'t> {
    /// Checks a topic name with the default limits.
    ///
    /// # Errors
    /// The first reason why `text` is no topic name.
    pub fn new(text: &'t str) -> Result<Self, TopicError> {
        Self::within(text, &Limits::DEFAULT)
    }

    /// Checks a topic name.
    ///
    /// # Errors
    /// The first reason why `text` is no topic name within `limits`.
    pub fn within(text: &'t str, limits: &Limits) -> Result<Self, TopicError> {
        check_length(text, limits)?;
        check_levels(text, limits)?;
        if is_plain(text.as_bytes()) {
            return Ok(Self(text));
        }
        check_nul(text, 0)?;
        match text.bytes().position(|byte| matches!(byte, b'+' | b'#')) {
            Some(at) => Err(TopicError::WildcardInName { at }),
            None => Ok(Self(text)),
        }
    }

    /// Makes a name of the text of one that was checked before.
    pub(crate) const fn of_checked(text: &'t str) -> Self {
        Self(text)
    }

    /// Returns the text of the name.
    #[must_use]
    pub const fn text(self) -> &'t str {
        self.0
    }

    /// Returns the words between the slashes, of which there is at least one.
    #[must_use]
    pub fn words(self) -> core::str::Split<'t, char> {
        self.0.split('/')
    }

    /// Returns true if the name begins with `$`: no wildcard at the front matches it.
    #[must_use]
    pub fn is_internal(self) -> bool {
        self.0.starts_with('$')
    }
}

impl<'t> Filter<'t> {
    /// Checks a topic filter with the default limits.
    ///
    /// # Errors
    /// The first reason why `text` is no topic filter.
    pub fn new(text: &'t str) -> Result<Self, TopicError> {
        Self::within(text, &Limits::DEFAULT)
    }

    /// Checks a topic filter.
    ///
    /// # Errors
    /// The first reason why `text` is no topic filter within `limits`.
    pub fn within(text: &'t str, limits: &Limits) -> Result<Self, TopicError> {
        check_length(text, limits)?;
        let (group, filter) = match text.strip_prefix(SHARE) {
            None => (None, text),
            Some(shared) => split_share(shared)?,
        };
        check_filter(filter, text.len().saturating_sub(filter.len()), limits)?;
        Ok(Self { text: filter, group })
    }

    /// Checks a topic filter that is no subscription, or that was taken apart before: `$share` is a
    /// word like any other.
    ///
    /// # Errors
    /// The first reason why `text` is no topic filter within `limits`.
    pub fn unshared_within(text: &'t str, limits: &Limits) -> Result<Self, TopicError> {
        check_length(text, limits)?;
        check_filter(text, 0, limits)?;
        Ok(Self { text, group: None })
    }

    /// Returns the text of the filter, without `$share/` and its group.
    #[must_use]
    pub const fn text(self) -> &'t str {
        self.text
    }

    /// Returns the group of a shared subscription.
    #[must_use]
    pub const fn group(self) -> Option<&'t str> {
        self.group
    }

    /// Returns the levels, of which there is at least one.
    #[must_use]
    pub fn levels(self) -> Levels<'t> {
        Levels(Some(self.text))
    }

    /// Returns true if the filter has a wildcard.
    #[must_use]
    pub fn has_wildcard(self) -> bool {
        has_wildcard(self.text.as_bytes())
    }

    /// Returns true if the filter matches the name (MQTT 5.0, section 4.7).
    ///
    /// # Examples
    /// ```
    /// use wardgate_mqtt::{Filter, Name};
    ///
    /// assert!(Filter::new("sport/#")?.matches(Name::new("sport")?));
    /// assert!(!Filter::new("#")?.matches(Name::new("$SYS/uptime")?));
    /// # Ok::<(), wardgate_mqtt::TopicError>(())
    /// ```
    #[must_use]
    pub fn matches(self, name: Name<'_>) -> bool {
        if name.is_internal() && self.begins_with_wildcard() {
            return false;
        }
        let (mut filter, mut name) = (self.text.as_bytes(), name.0.as_bytes());
        // Byte by byte, which was faster than by blocks of eight for words of usual lengths: wherever
        // the filter has a wildcard, the name is at the beginning of a level too.
        loop {
            match (filter.split_first(), name.split_first()) {
                (Some((b'#', _)), _) | (None, None) => return true,
                (Some((b'+', after)), _) => {
                    name = name.get(word_end(name, 0)..).unwrap_or_default();
                    filter = after;
                }
                (Some((a, after)), Some((b, rest))) if a == b => (filter, name) = (after, rest),
                // `a/#` matches `a`.
                (Some((b'/', b"#")), None) => return true,
                _ => return false,
            }
        }
    }

    pub(crate) fn begins_with_wildcard(self) -> bool {
        self.text.starts_with(['+', '#'])
    }

    /// Makes a filter of the text of one that was checked before.
    pub(crate) const fn of_checked(text: &'t str) -> Self {
        Self { text, group: None }
    }
}

/// The levels of a filter, first to last.
#[derive(Clone, Debug)]
pub struct Levels<'t>(Option<&'t str>);

impl<'t> Iterator for Levels<'t> {
    type Item = Level<'t>;

    fn next(&mut self) -> Option<Level<'t>> {
        let rest = self.0?;
        let end = word_end(rest.as_bytes(), 0);
        self.0 = rest.get(end.saturating_add(1)..);
        Some(match rest.get(..end)? {
            "+" => Level::Any,
            "#" => Level::Rest,
            word => Level::Word(word),
        })
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Display for Filter<'_> {
    /// Writes the whole filter, with `$share/` and its group.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.group {
            None => f.write_str(self.text),
            Some(group) => write!(f, "{SHARE}{group}/{}", self.text),
        }
    }
}

impl TopicError {
    /// Returns the reason in words, without numbers.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Empty => "a topic has at least one character",
            Self::TooLong { .. } => "the topic is too long",
            Self::TooManyLevels { .. } => "the topic has too many levels",
            Self::Nul { .. } => "a topic has no U+0000",
            Self::WildcardInName { .. } => "a topic name has no wildcard",
            Self::PlusInWord { .. } => "`+` does not fill its level",
            Self::HashNotLast { .. } => "`#` is not the whole of the last level",
            Self::EmptyGroup => "the group after `$share/` is empty",
            Self::WildcardInGroup { .. } => "the group after `$share/` has a wildcard",
            Self::GroupWithoutFilter => "no filter after `$share/` and its group",
        }
    }
}

impl fmt::Display for TopicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())?;
        match self {
            Self::TooLong { bytes, most } => write!(f, ": {bytes} bytes, at most {most}"),
            Self::TooManyLevels { levels, most } => write!(f, ": {levels}, at most {most}"),
            Self::Nul { at }
            | Self::WildcardInName { at }
            | Self::PlusInWord { at }
            | Self::HashNotLast { at }
            | Self::WildcardInGroup { at } => write!(f, ", at byte {at}"),
            Self::Empty | Self::EmptyGroup | Self::GroupWithoutFilter => Ok(()),
        }
    }
}

impl core::error::Error for TopicError {}

/// Returns true if a valid filter has a wildcard.
#[inline]
pub(crate) fn has_wildcard(filter: &[u8]) -> bool {
    !is_plain(filter)
}

/// Returns true if a text has no wildcard and no U+0000.
#[inline]
fn is_plain(text: &[u8]) -> bool {
    let Some(last) = text.last_chunk::<8>() else {
        // What is behind the end becomes a byte that is not special.
        let fill = FILL.unbounded_shl(bits(text.len()));
        return !is_special(block(text, 0) | fill);
    };
    let (blocks, _) = text.as_chunks::<8>();
    let is_special = |block: &[u8; 8]| is_special(u64::from_le_bytes(*block));
    // Without an early end, for texts are short and nearly all are plain.
    !blocks.iter().fold(is_special(last), |special, block| special | is_special(block))
}

/// Returns true if a byte of a block is a wildcard or zero.
#[inline]
const fn is_special(block: u64) -> bool {
    // `#` and `+` differ in one bit.
    has_zero(block) | has_zero((block | PLUS_WITHOUT_HASH) ^ PLUSES)
}

#[inline]
fn check_levels(text: &str, limits: &Limits) -> Result<(), TopicError> {
    let most = limits.topic_levels.min(Limits::TOPIC_LEVELS);
    // A text has at most one level more than bytes.
    if text.len() < usize::from(most) {
        return Ok(());
    }
    let slashes = text.bytes().filter(|byte| *byte == b'/').count();
    let levels = slashes.saturating_add(1);
    if levels > usize::from(most) {
        return Err(TopicError::TooManyLevels { levels, most });
    }
    Ok(())
}

fn check_length(text: &str, limits: &Limits) -> Result<(), TopicError> {
    let (bytes, most) = (text.len(), limits.topic_bytes);
    match bytes {
        0 => Err(TopicError::Empty),
        _ if bytes > usize::from(most) => Err(TopicError::TooLong { bytes, most }),
        _ => Ok(()),
    }
}

fn check_nul(text: &str, start: usize) -> Result<(), TopicError> {
    match text.bytes().position(|byte| byte == 0) {
        Some(at) => Err(TopicError::Nul { at: start.saturating_add(at) }),
        None => Ok(()),
    }
}

/// Checks the levels of a filter that begins at `start`.
fn check_filter(filter: &str, start: usize, limits: &Limits) -> Result<(), TopicError> {
    check_levels(filter, limits)?;
    if !is_plain(filter.as_bytes()) {
        check_nul(filter, start)?;
        check_wildcards(filter, start)?;
    }
    Ok(())
}

/// Checks that each wildcard of a filter that begins at `start` fills its level.
fn check_wildcards(filter: &str, start: usize) -> Result<(), TopicError> {
    let bytes = filter.as_bytes();
    let mut before = b'/';
    for (at, byte) in bytes.iter().enumerate() {
        let (place, after) = (start.saturating_add(at), bytes.get(at.saturating_add(1)));
        match byte {
            b'+' if before != b'/' || after.is_some_and(|after| *after != b'/') => {
                return Err(TopicError::PlusInWord { at: place });
            }
            b'#' if before != b'/' || after.is_some() => {
                return Err(TopicError::HashNotLast { at: place });
            }
            _ => before = *byte,
        }
    }
    Ok(())
}

/// Takes `group/filter` apart.
fn split_share(shared: &str) -> Result<(Option<&str>, &str), TopicError> {
    let (group, filter) = shared.split_once('/').unwrap_or((shared, ""));
    if group.is_empty() {
        return Err(TopicError::EmptyGroup);
    }
    if let Some(at) = group.find(['+', '#']) {
        return Err(TopicError::WildcardInGroup { at: SHARE.len().saturating_add(at) });
    }
    check_nul(group, SHARE.len())?;
    if filter.is_empty() { Err(TopicError::GroupWithoutFilter) } else { Ok((Some(group), filter)) }
}

const FILL: u64 = u64::from_le_bytes([b'a'; 8]);
const PLUSES: u64 = u64::from_le_bytes([b'+'; 8]);
const PLUS_WITHOUT_HASH: u64 = u64::from_le_bytes([b'+' & !b'#'; 8]);

/// The beginning of a shared subscription (MQTT 5.0, section 4.8.2).
const SHARE: &str = "$share/";

#[cfg(test)]
mod tests;
