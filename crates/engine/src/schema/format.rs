//! The formats that JSON Schema names, as strict and as lax as Cerbos checks them.
//!
//! Every text has an unknown format.

use crate::cel::functions::network::address::parse_address;
use crate::number::{parse_int, parse_uint};
use crate::text::{cut_last, has};

/// Returns true if `text` has the format called `name`.
#[must_use]
pub fn is_valid(name: &str, text: &str) -> bool {
    match name {
        "date-time" => is_date_time(text),
        "date" => is_date(text),
        "time" => is_time(text),
        "duration" => is_duration(text),
        "period" => is_period(text),
        "hostname" => is_hostname(text),
        "email" => is_email(text),
        "ip-address" | "ipv4" => is_ipv4(text),
        "ipv6" => is_ipv6(text),
        "uri" | "iri" => url_path(text, true).is_some(),
        "uri-reference" | "uriref" | "iri-reference" => {
            url_path(text, false).is_some() && !has(text, '\\')
        }
        "uri-template" => url_path(text, false).is_some_and(has_flat_braces),
        "json-pointer" => is_json_pointer(text),
        "relative-json-pointer" => is_relative_json_pointer(text),
        "uuid" => is_uuid(text),
        _ => true,
    }
}

/// RFC 3339, section 5.6: `date-time`.
fn is_date_time(text: &str) -> bool {
    match (text.get(..10), text.get(10..11), text.get(11..)) {
        (Some(date), Some("T" | "t"), Some(time)) => is_date(date) && is_time(time),
        _ => false,
    }
}

/// RFC 3339, section 5.6: `full-date`.
fn is_date(text: &str) -> bool {
    let [y @ .., b'-', _, _, b'-', _, _] = text.as_bytes() else { return false };
    let part = |range| text.get(range).and_then(digits);
    let (Some(year), Some(month), Some(day)) = (part(0..4), part(5..7), part(8..10)) else {
        return false;
    };
    y.len() == 4 && (1..=days_in(year, month)).contains(&day)
}

const fn days_in(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        1..=12 => 31,
        _ => 0,
    }
}

/// RFC 3339, section 5.6: `full-time`. A leap second comes at 23:59:60 UTC only.
fn is_time(text: &str) -> bool {
    let Some((clock, rest)) = text.split_at_checked(8) else { return false };
    let [_, _, b':', _, _, b':', _, _] = clock.as_bytes() else { return false };
    let part = |range, most| clock.get(range).and_then(|text| number(text, most));
    let (Some(hour), Some(minute), Some(second)) = (part(0..2, 23), part(3..5, 59), part(6..8, 60))
    else {
        return false;
    };
    let zone = match rest.strip_prefix('.') {
        None => rest,
        Some(fraction) => match fraction.trim_start_matches(|c: char| c.is_ascii_digit()) {
            zone if zone.len() == fraction.len() => return false,
            zone => zone,
        },
    };
    let Some(offset) = zone_minutes(zone) else { return false };
    let utc = hour * 60 + minute - offset;
    second < 60 || utc.rem_euclid(24 * 60) == 23 * 60 + 59
}

fn zone_minutes(zone: &str) -> Option<i64> {
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    let [sign @ (b'+' | b'-'), _, _, b':', _, _] = zone.as_bytes() else { return None };
    let offset = number(zone.get(1..3)?, 23)? * 60 + number(zone.get(4..6)?, 59)?;
    Some(if *sign == b'+' { offset } else { -offset })
}

/// Reads a number from 0 to `most`; as in Cerbos, a sign may replace its first digit.
fn number(text: &str, most: i64) -> Option<i64> {
    parse_int(text).filter(|value| (0..=most).contains(value))
}

/// RFC 3339, appendix A.
fn is_duration(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('P') else { return false };
    let (date, time) = rest.split_once('T').map_or((rest, None), |(date, time)| (date, Some(time)));
    if weeks(date) {
        return time.is_none();
    }
    let date_fits = (date.is_empty() && time.is_some()) || has_units(date, "YMD");
    date_fits && time.is_none_or(|time| has_units(time, "HMS"))
}

fn weeks(date: &str) -> bool {
    date.strip_suffix('W')
        .is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()) && !number.is_empty())
}

/// Returns true if `text` is numbers, each followed by a unit, the units being neighbours in
/// `units`.
fn has_units(text: &str, units: &str) -> bool {
    let mut allowed = units;
    let mut rest = text;
    let mut started = false;
    while !rest.is_empty() {
        let unit_and_rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let Some(unit) = unit_and_rest.chars().next() else { return false };
        match allowed.find(unit) {
            Some(at) if unit_and_rest.len() < rest.len() && (at == 0 || !started) => {
                allowed = allowed.get(at + 1..).unwrap_or("");
            }
            _ => return false,
        }
        started = true;
        rest = unit_and_rest.get(1..).unwrap_or("");
    }
    started
}

fn is_period(text: &str) -> bool {
    text.split_once('/').is_some_and(|(start, end)| match is_date_time(start) {
        true => is_date_time(end) || is_duration(end),
        false => is_duration(start) && is_date_time(end),
    })
}

/// RFC 1123, section 2.1. Only the first label is refused a hyphen in front, as in Cerbos.
fn is_hostname(text: &str) -> bool {
    let text = text.strip_suffix('.').unwrap_or(text);
    let label_fits = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    text.len() <= 253 && !text.starts_with('-') && text.split('.').all(label_fits)
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = cut_last(text, b'@') else { return false };
    if text.len() > 254 || local.len() > 64 {
        return false;
    }
    if let Some(ip) = domain.strip_prefix('[').and_then(|domain| domain.strip_suffix(']')) {
        return ip.strip_prefix("IPv6:").map_or_else(|| is_ipv4(ip), is_ipv6);
    }
    is_hostname(domain)
        && !domain.ends_with('.')
        && is_local_part(local.trim_start_matches([' ', '\t']))
}

/// RFC 5322, section 3.4.1: a dot-atom or a quoted string; RFC 6532 adds all that is not ASCII.
fn is_local_part(local: &str) -> bool {
    if let Some(inner) = local.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        let mut escaped = false;
        let fits = inner.chars().all(|c| {
            let fits = escaped || c != '"';
            escaped = !escaped && c == '\\';
            fits && (c == '\t' || !c.is_control())
        });
        return fits && !escaped && !inner.is_empty();
    }
    let is_text =
        |c: char| c.is_ascii_alphanumeric() || !c.is_ascii() || has("!#$%&'*+-/=?^_`{|}~", c);
    local.split('.').all(|atom| !atom.is_empty() && atom.chars().all(is_text))
}

/// RFC 2673, section 3.2: a dotted quad without leading zeros.
fn is_ipv4(text: &str) -> bool {
    let fits = |group: &str| {
        parse_int(group)
            .is_some_and(|n| (0..=255).contains(&n) && (n == 0 || !group.starts_with('0')))
    };
    text.split('.').count() == 4 && text.split('.').all(fits)
}

/// RFC 4291, section 2.2, without a zone.
fn is_ipv6(text: &str) -> bool {
    parse_address(text).is_ok_and(|parsed| parsed.address.is_ipv6() && !parsed.has_zone)
}

/// Returns the path if Go's URL parser accepts the text, with a scheme if `absolute`. The text
/// behind a scheme without a slash is opaque and has no path.
fn url_path(text: &str, absolute: bool) -> Option<&str> {
    if text.bytes().any(|b| b < 0x20 || b == 0x7f) {
        return None;
    }
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    let (scheme, rest) = split_scheme(text)?;
    let (rest, _) = rest.split_once('?').unwrap_or((rest, ""));
    if !has_whole_escapes(fragment) || (absolute && scheme.is_empty()) {
        return None;
    }
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) if !scheme.is_empty() || !rest.starts_with('/') => {
            rest.split_at_checked(rest.find('/').unwrap_or(rest.len())).unwrap_or((rest, ""))
        }
        _ if !scheme.is_empty() && !rest.starts_with('/') => return Some(""),
        _ => ("", rest),
    };
    let first_segment = path.split('/').next().unwrap_or_default();
    let fits = (!scheme.is_empty() || !has(first_segment, ':'))
        && is_authority(authority)
        && has_whole_escapes(path);
    fits.then_some(path)
}

/// Splits off the scheme, which may be empty; `None` if the text starts with a colon.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')));
    match end.and_then(|end| text.split_at_checked(end)) {
        Some(("", rest)) if rest.starts_with(':') => None,
        Some((scheme, rest))
            if rest.starts_with(':') && scheme.starts_with(|c: char| c.is_ascii_alphabetic()) =>
        {
            Some((scheme, rest.get(1..).unwrap_or("")))
        }
        _ => Some(("", text)),
    }
}

fn is_authority(authority: &str) -> bool {
    let (login, host) = cut_last(authority, b'@').unwrap_or(("", authority));
    let login_fits =
        login.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&b));
    let (host, port) = match host.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((ip, port)) if is_ipv6(ip) => ("", port),
            _ => return false,
        },
        None => host
            .split_at_checked(cut_last(host, b':').map_or(host.len(), |(host, _)| host.len()))
            .unwrap_or((host, "")),
    };
    let port_fits = port.is_empty()
        || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()));
    login_fits && has_whole_escapes(login) && port_fits && !has(host, ':') && is_url_host(host)
}

/// Checks the host of a URL. An escape in it means a byte outside ASCII, or the percent sign.
fn is_url_host(host: &str) -> bool {
    let allowed =
        |b: u8| b >= 0x80 || b.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:]<>\"%".contains(&b);
    let may_be_escaped = |rest: &str| rest.starts_with("25") || !rest.starts_with(|c| c < '8');
    host.bytes().all(allowed)
        && has_whole_escapes(host)
        && host.split('%').skip(1).all(may_be_escaped)
}

fn has_whole_escapes(text: &str) -> bool {
    let is_hex = |b: Option<&u8>| b.is_some_and(u8::is_ascii_hexdigit);
    text.split('%')
        .skip(1)
        .all(|rest| is_hex(rest.as_bytes().first()) && is_hex(rest.as_bytes().get(1)))
}

/// RFC 6570, as far as Cerbos checks it: braces in the path do not nest and are all closed.
fn has_flat_braces(text: &str) -> bool {
    text.split('/').all(|segment| {
        let mut open = false;
        let fits = segment.chars().all(|c| match c {
            '{' => !core::mem::replace(&mut open, true),
            '}' => core::mem::replace(&mut open, false),
            _ => true,
        });
        fits && !open
    })
}

/// RFC 6901.
fn is_json_pointer(text: &str) -> bool {
    let whole = |segment: &str| segment.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    (text.is_empty() || text.starts_with('/')) && text.split('/').all(whole)
}

fn is_relative_json_pointer(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = text.get(..text.len() - rest.len()).unwrap_or_default();
    let canonical = number == "0" || (!number.is_empty() && !number.starts_with('0'));
    canonical && (rest == "#" || is_json_pointer(rest))
}

/// RFC 4122, section 3.
fn is_uuid(text: &str) -> bool {
    let is_group = |(group, length): (&str, usize)| {
        group.len() == length && group.bytes().all(|b| b.is_ascii_hexdigit())
    };
    text.split('-').count() == 5 && text.split('-').zip([8, 4, 4, 4, 12]).all(is_group)
}

fn digits(text: &str) -> Option<u32> {
    parse_uint(text)?.try_into().ok()
}

#[cfg(test)]
mod tests;
