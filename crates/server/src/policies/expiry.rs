//! The expiry of the policies in use, and the notices of it.
//!
//! It reads no clock: seconds since 1970 are arguments, so that tests can choose the date.

use std::time::Duration;

use wardgate_bundle::Label;

use crate::limits::{EXPIRY_NOTICE_SECONDS, EXPIRY_PACE};

/// The notices that were given about a bundle.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    expires: Option<u64>,
    stage: Stage,
}

/// The distance of a bundle to its expiry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// There is no notice yet.
    #[default]
    Valid,
    /// The expiry is near: the operator should replace the bundle.
    Ending,
    /// It has passed.
    Expired,
}

impl Notices {
    /// Returns the notice that is due at `now`, each stage once.
    pub(crate) fn due(&mut self, label: &Label, now: u64) -> Option<Stage> {
        if self.expires != label.expires {
            *self = Self { expires: label.expires, stage: Stage::Valid };
        }
        let stage = Stage::at(label, now);
        let is_news = stage > self.stage;
        self.stage = self.stage.max(stage);
        is_news.then_some(stage)
    }
}

impl Stage {
    /// Returns how near the end is at `now`.
    pub(crate) fn at(label: &Label, now: u64) -> Self {
        match (label.expires, ending(label)) {
            (Some(expires), _) if now >= expires => Self::Expired,
            (_, Some(ending)) if now >= ending => Self::Ending,
            _ => Self::Valid,
        }
    }
}

/// Returns the time after `now` of the next look at the expiry. It is bounded, because clocks are
/// set.
pub(crate) fn until_next(label: &Label, now: u64) -> Option<Duration> {
    let expires = label.expires.filter(|expires| *expires > now)?;
    let next = ending(label).filter(|ending| *ending > now).unwrap_or(expires);
    Some(Duration::from_secs(next.saturating_sub(now)).min(EXPIRY_PACE))
}

/// Returns the begin of the notice: a day before the expiry, or a tenth of a shorter life.
fn ending(label: &Label) -> Option<u64> {
    let expires = label.expires?;
    let begin = label.not_before.unwrap_or(0).max(label.created);
    let tenth = expires.saturating_sub(begin) / 10;
    Some(expires.saturating_sub(tenth.min(EXPIRY_NOTICE_SECONDS)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use wardgate_bundle::Label;

    use super::{Notices, Stage, until_next};

    const DAY: u64 = 86_400;

    fn label(created: u64, expires: Option<u64>) -> Label {
        Label { created, expires, ..Label::default() }
    }

    #[test]
    fn each_stage_is_reported_once() {
        let (mut notices, long) = (Notices::default(), label(0, Some(100 * DAY)));
        for (now, expected) in [
            (0, None),
            (99 * DAY - 1, None),
            (99 * DAY, Some(Stage::Ending)),
            (99 * DAY + 1, None),
            (100 * DAY - 1, None),
            (100 * DAY, Some(Stage::Expired)),
            (200 * DAY, None),
        ] {
            assert_eq!(notices.due(&long, now), expected, "{now}");
        }
        let next = label(100 * DAY, Some(200 * DAY));
        assert_eq!(notices.due(&next, 150 * DAY), None);
        assert_eq!(notices.due(&next, 300 * DAY), Some(Stage::Expired));
    }

    #[test]
    fn a_short_life_is_reported_in_its_last_tenth() {
        assert_eq!(Stage::at(&label(1000, Some(2000)), 1899), Stage::Valid);
        assert_eq!(Stage::at(&label(1000, Some(2000)), 1900), Stage::Ending);
        let later = Label { not_before: Some(1900), ..label(1000, Some(2000)) };
        assert_eq!(Stage::at(&later, 1989), Stage::Valid);
        assert_eq!(Stage::at(&later, 1990), Stage::Ending);
        assert_eq!(Stage::at(&later, 2000), Stage::Expired);
    }

    #[test]
    fn a_bundle_without_expiry_is_never_reported() {
        assert_eq!(Stage::at(&label(0, None), u64::MAX), Stage::Valid);
        assert_eq!(until_next(&label(0, None), 0), None);
    }

    #[test]
    fn the_next_look_is_at_the_next_stage_or_soon() {
        let seconds = |now| until_next(&label(1000, Some(2000)), now).map(|wait| wait.as_secs());
        assert_eq!(seconds(0), Some(60));
        assert_eq!(seconds(1890), Some(10));
        assert_eq!(seconds(1999), Some(1));
        assert_eq!(seconds(2000), None);
        assert_eq!(until_next(&label(0, Some(u64::MAX)), 0), Some(Duration::from_secs(60)));
    }
}
