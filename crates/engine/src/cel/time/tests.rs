use alloc::format;
use alloc::string::{String, ToString};

use super::*;

fn moment(text: &str) -> Timestamp {
    parse_timestamp(text).unwrap()
}

#[test]
fn a_moment_reads_and_writes_rfc_3339() {
    let check = |text: &str, expected: Result<&str, &str>| {
        let found = parse_timestamp(text).map(|moment| moment.to_string());
        let expected = expected.map(String::from);
        assert_eq!(
            found.map_err(|error| error.to_string()),
            expected.map_err(String::from),
            "{text}"
        );
    };
    let wrong = Err("type conversion error from 'string' to 'google.protobuf.Timestamp'");
    let range = Err("timestamp overflow");
    check("2009-02-13T23:31:30Z", Ok("2009-02-13T23:31:30Z"));
    check("2021-04-22T10:05:20.021-05:00", Ok("2021-04-22T10:05:20.021-05:00"));
    check("9999-12-31T23:59:59.999999999Z", Ok("9999-12-31T23:59:59.999999999Z"));
    check("2021-04-22T10:05:20.1234567899Z", Ok("2021-04-22T10:05:20.123456789Z"));
    check("2021-04-22T10:05:20,5Z", Ok("2021-04-22T10:05:20.5Z"));
    check("2021-04-22T1:05:20Z", Ok("2021-04-22T01:05:20Z"));
    check("2020-02-29T00:00:00+00:00", Ok("2020-02-29T00:00:00Z"));
    check("0001-01-01T00:00:00Z", Ok("0001-01-01T00:00:00Z"));
    check("0001-01-01T00:00:00+01:00", range);
    check("9999-12-31T23:59:59-01:00", range);
    check("0000-01-01T00:00:00Z", range);
    check("2021-02-29T00:00:00Z", wrong);
    check("2021-13-01T00:00:00Z", wrong);
    check("2021-04-22T24:00:00Z", wrong);
    check("2021-04-22T10:05:60Z", wrong);
    check("2021-04-22t10:05:20z", wrong);
    check("2021-04-22 10:05:20Z", wrong);
    check("2021-04-22T10:05:20", wrong);
    check("2021-04-22T10:05:20Zx", wrong);
    check("2021-04-22T10:05:20.Z", wrong);
    check("", wrong);
}

#[test]
fn a_duration_reads_as_in_go_and_writes_as_seconds() {
    let check = |text: &str, expected: Option<&str>| {
        let found = parse_duration(text).map(format_duration);
        assert_eq!(found.as_deref(), expected, "{text}");
    };
    check("1h30m", Some("5400s"));
    check("1.5s", Some("1.5s"));
    check("-3ms", Some("-0.003s"));
    check("+5m", Some("300s"));
    check("1h2m3.000000004s", Some("3723.000000004s"));
    check(".5h", Some("1800s"));
    check("5.s", Some("5s"));
    check("1us1\u{b5}s1\u{3bc}s", Some("0.000003s"));
    check("0", Some("0s"));
    check("-0", Some("0s"));
    check("1000000s", Some("1000000s"));
    check("9223372036854775807ns", Some("9223372036.854776s"));
    check("9223372036854775808ns", None);
    check("-9223372036854775808ns", Some("-9223372036.854776s"));
    check("-320000000000s", None);
    for wrong in ["", "-", "1", "s", ".s", "1x", "1h 2m", "1d", "--1s", "1e3s"] {
        check(wrong, None);
    }
}

#[test]
fn arithmetic_stays_in_range() {
    let last = moment("9999-12-31T23:59:59.999999999Z");
    assert_eq!(last.plus(1), Err(Error::TIMESTAMP_OVERFLOW));
    assert_eq!(last.plus(0), Ok(last));
    let first = moment("0001-01-01T00:00:00Z");
    assert_eq!(first.plus(-1), Err(Error::TIMESTAMP_OVERFLOW));
    assert_eq!(last.since(first), Err(Error::INT_OVERFLOW));
    assert_eq!(moment("1970-01-01T00:00:01.5Z").since(Timestamp::default()), Ok(1_500_000_000));
    assert_eq!(moment("1970-01-01T00:00:00.5Z").plus(-600_000_000).unwrap().nanos(), 900_000_000);
}

#[test]
fn equality_ignores_the_offset() {
    assert_eq!(moment("2021-01-01T00:00:00Z"), moment("2021-01-01T01:00:00+01:00"));
}

#[test]
fn the_calendar_knows_every_day() {
    let mut expected = (1, 1, 1);
    let first = Timestamp::MIN_SECONDS / 86_400;
    for day in first..=Timestamp::MAX_SECONDS / 86_400 {
        let civil = Civil::from_seconds(day * 86_400);
        assert_eq!((civil.year, civil.month, civil.day), expected);
        assert_eq!(civil::day_of(civil.year, civil.month, civil.day), day);
        let (year, month, date) = expected;
        expected = match (month, date + 1 > civil::days_in_month(year, month)) {
            (12, true) => (year + 1, 1, 1),
            (_, true) => (year, month + 1, 1),
            _ => (year, month, date + 1),
        };
    }
}

#[test]
fn parts_of_a_date() {
    let civil = moment("2009-02-13T23:31:30Z").civil();
    assert_eq!((civil.weekday(), civil.day_of_year()), (5, 43));
    let civil = moment("2009-02-13T23:31:30+02:00").civil();
    assert_eq!((civil.hour, civil.minute), (23, 31));
}

#[test]
fn offsets_read_as_in_cel_go() {
    let check = |text: &str, expected: Result<i32, ZoneError>| {
        assert_eq!(Zone::parse(text).map(|zone| zone.offset_at(0)), expected, "{text}");
    };
    check("UTC", Ok(0));
    check("", Ok(0));
    check("+01:30", Ok(5400));
    check("-08:00", Ok(-28800));
    check("-00:30", Ok(-1800));
    check("02:00", Ok(7200));
    check("2:00", Ok(7200));
    check("Europe/Berlin", Err(ZoneError::Name));
    check("02:75", Ok(11700));
    check("-02:75", Ok(-11700));
    check("02:-30", Ok(5400));
    check("99:99", Ok(362_340));
    check("x:00", Err(ZoneError::Range));
    check("+-1:00", Err(ZoneError::Range));
    check("1:2:3", Err(ZoneError::Range));
    check("999999:00", Err(ZoneError::Range));
    check("+99999999999:00", Err(ZoneError::Range));
}

/// Returns a zone that was at +1 h until the epoch, then follows the rule of central Europe.
fn berlin() -> [u32; 16] {
    let hour = 3600;
    [1, hour, 0, 0, hour, 2, 3, 5, 0, 2 * hour, 2 * hour, 10, 5, 0, 3 * hour, hour]
}

#[test]
fn a_zone_follows_its_changes_and_then_its_rule() {
    let words = berlin();
    assert!(Zone::is_valid(&words));
    let check = |text: &str, hours: i32| {
        let found = Zone::Place(&words).offset_at(moment(text).seconds());
        assert_eq!(found, hours * 3600, "{text}");
    };
    check("1969-07-01T00:00:00Z", 1);
    check("2024-03-31T00:59:59Z", 1);
    check("2024-03-31T01:00:00Z", 2);
    check("2024-10-27T00:59:59Z", 2);
    check("2024-10-27T01:00:00Z", 1);
    check("2023-12-31T23:30:00Z", 1);
    check("9999-07-01T00:00:00Z", 2);
}

#[test]
fn damaged_zones_are_refused() {
    let words = berlin();
    for length in 0..words.len() {
        assert!(!Zone::is_valid(&words[..length]), "{length}");
        assert_eq!(Zone::Place(&words[..length]).offset_at(0), 0);
    }
    let mut months = words;
    months[6] = 13;
    assert!(!Zone::is_valid(&months));
    assert!(!Zone::is_valid(&[u32::MAX, 0, 0]));
    let _ = format!("{:?}", Zone::Place(&months));
}
