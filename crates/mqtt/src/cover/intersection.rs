//! The names that two filters share: those of one filter, or none.
//!
//! Level by level the narrower one remains, and where one filter is at `#`, what is left of the
//! other.

use alloc::string::String;

use super::overlap;
use crate::topic::{Filter, Level, OwnedFilter};

/// Returns the filter of the names that both filters match, if there are any.
///
/// # Examples
/// ```
/// use wardgate_mqtt::{Filter, intersection};
///
/// let both = |a, b| Some(intersection(Filter::new(a).ok()?, Filter::new(b).ok()?)?.to_string());
/// assert_eq!(both("a/#", "+/b/+"), Some("a/b/+".into()));
/// assert_eq!(both("a/#", "a"), Some("a".into()));
/// assert_eq!(both("#", "$SYS/#"), None);
/// ```
#[must_use]
pub fn intersection(a: Filter<'_>, b: Filter<'_>) -> Option<OwnedFilter> {
    if !overlap(a, b) {
        return None;
    }
    let (mut lefts, mut rights) = (a.levels(), b.levels());
    let (mut left, mut right) = (lefts.next(), rights.next());
    let mut text = String::new();
    for number in 0_usize.. {
        let level = match (left, right) {
            (None, _) | (_, None) => break,
            (Some(Level::Rest), Some(level)) | (Some(level), Some(Level::Rest)) => level,
            (Some(Level::Any), Some(level)) | (Some(level), Some(_)) => level,
        };
        if number > 0 {
            text.push('/');
        }
        text.push_str(level.text());
        if level == Level::Rest {
            break;
        }
        // Once a filter is at `#`, it stays there.
        left = left.filter(|level| *level == Level::Rest).or_else(|| lefts.next());
        right = right.filter(|level| *level == Level::Rest).or_else(|| rights.next());
    }
    Some(OwnedFilter::of_checked(text))
}
