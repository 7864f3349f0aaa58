//! The texts of internet addresses and networks.
//!
//! Accepts the forms that RFC 4291 and RFC 4632 allow and no others: no octal, no leading zeros.
//! The names of the faults are those that Go's `net/netip` gives, because they end up in evaluation
//! errors.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::number::parse_uint;

/// An address, and true if the text gave it a zone (`fe80::1%eth0`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parsed {
    pub(crate) address: IpAddr,
    pub(crate) has_zone: bool,
}

/// Reads an address.
pub(crate) fn parse_address(text: &str) -> Result<Parsed, Fault<'_>> {
    match text.find(['.', ':', '%']).and_then(|at| text.get(at..)?.chars().next()) {
        Some('.') => parse_v4(text)
            .map(|bits| Parsed { address: Ipv4Addr::from_bits(bits).into(), has_zone: false }),
        Some(':') => parse_v6(text),
        Some(_) => Err(Fault::new("missing IPv6 address")),
        None => Err(Fault::new("unable to parse IP")),
    }
}

/// Reads `address/length`.
pub(crate) fn parse_network(text: &str) -> Result<(IpAddr, u8), NetworkFault<'_>> {
    let (address, length) = crate::text::cut_last(text, b'/').ok_or(NetworkFault::NoSlash)?;
    let parsed =
        parse_address(address).map_err(|fault| NetworkFault::Address { text: address, fault })?;
    if parsed.has_zone {
        return Err(NetworkFault::Zone);
    }
    let length = parse_length(length)?;
    match u8::try_from(length) {
        Ok(length) if length <= width(parsed.address) => Ok((parsed.address, length)),
        _ => Err(NetworkFault::LengthOutOfRange),
    }
}

/// Returns the number of bits of an address.
pub(crate) const fn width(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

/// A fault in the text of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault<'t> {
    /// The rule that is broken.
    pub(crate) rule: &'static str,
    /// The rest of the text, from the offending character.
    pub(crate) at: Option<&'t str>,
}

impl<'t> Fault<'t> {
    const fn new(rule: &'static str) -> Self {
        Self { rule, at: None }
    }

    const fn at(rule: &'static str, rest: &'t str) -> Self {
        Self { rule, at: Some(rest) }
    }
}

/// A fault in the text of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NetworkFault<'t> {
    /// There is no `/`.
    NoSlash,
    /// The text before the `/` is not an address.
    Address {
        /// The text before the `/`.
        text: &'t str,
        /// The fault in it.
        fault: Fault<'t>,
    },
    /// The address has a zone.
    Zone,
    /// The text after the `/` is not a number.
    BadLength {
        /// The text after the `/`.
        text: &'t str,
    },
    /// The length is more than the bits of the address.
    LengthOutOfRange,
}

/// Reads the length of a prefix: digits without sign or padding.
fn parse_length(text: &str) -> Result<u32, NetworkFault<'_>> {
    let plain = text.bytes().all(|b| b.is_ascii_digit());
    let padded = text.len() > 1 && text.starts_with('0');
    if text.is_empty() || !plain || padded {
        return Err(NetworkFault::BadLength { text });
    }
    // All digits, so the only fault left is a number that is too large.
    let length = parse_uint(text).and_then(|length| length.try_into().ok());
    length.ok_or(NetworkFault::LengthOutOfRange)
}

fn parse_v4(text: &str) -> Result<u32, Fault<'_>> {
    let mut bits = 0_u32;
    let mut fields = 0;
    let mut field = Octet::default();
    for (at, byte) in text.bytes().enumerate() {
        let rest = text.get(at..).unwrap_or_default();
        match byte {
            b'0'..=b'9' => field.push(byte)?,
            b'.' if field.digits == 0 || rest.len() == 1 => {
                return Err(Fault::at("IPv4 field must have at least one digit", rest));
            }
            b'.' if fields == 3 => return Err(Fault::new("IPv4 address too long")),
            b'.' => {
                bits = bits << 8 | field.value;
                fields += 1;
                field = Octet::default();
            }
            _ => return Err(Fault::at("unexpected character", rest)),
        }
    }
    if fields < 3 {
        return Err(Fault::new("IPv4 address too short"));
    }
    Ok(bits << 8 | field.value)
}

#[derive(Default)]
struct Octet {
    digits: u32,
    value: u32,
}

impl Octet {
    fn push(&mut self, digit: u8) -> Result<(), Fault<'static>> {
        if self.digits == 1 && self.value == 0 {
            return Err(Fault::new("IPv4 field has octet with leading zero"));
        }
        self.value = self.value * 10 + u32::from(digit.saturating_sub(b'0'));
        self.digits += 1;
        if self.value > 255 {
            return Err(Fault::new("IPv4 field has value >255"));
        }
        Ok(())
    }
}

fn parse_v6(text: &str) -> Result<Parsed, Fault<'_>> {
    let (text, has_zone) = match text.split_once('%') {
        Some((_, "")) => return Err(Fault::new("zone must be a non-empty string")),
        Some((text, _)) => (text, true),
        None => (text, false),
    };
    let bits = parse_groups(text)?;
    Ok(Parsed { address: Ipv6Addr::from_bits(bits).into(), has_zone })
}

/// The groups read so far.
#[derive(Default)]
struct Groups {
    bits: u128,
    count: u32,
    /// The number of groups before the `::`.
    ellipsis: Option<u32>,
}

impl Groups {
    fn push(&mut self, value: u32, width: u32) {
        self.bits = self.bits << (16 * width) | u128::from(value);
        self.count += width;
    }

    /// Inserts the zeros of the `::`.
    fn finish(self) -> Result<u128, Fault<'static>> {
        match (self.ellipsis, 8_u32.checked_sub(self.count)) {
            (None, Some(0)) => Ok(self.bits),
            (None, _) => Err(Fault::new("address string too short")),
            (Some(_), None | Some(0)) => {
                Err(Fault::new("the :: must expand to at least one field of zeros"))
            }
            (Some(before), Some(missing)) => {
                let after = 16 * self.count.saturating_sub(before);
                let tail = self.bits & !u128::MAX.checked_shl(after).unwrap_or(0);
                let head = self.bits.checked_shr(after).unwrap_or(0);
                Ok(head.checked_shl(after + 16 * missing).unwrap_or(0) | tail)
            }
        }
    }
}

fn parse_groups(text: &str) -> Result<u128, Fault<'_>> {
    let mut groups = Groups::default();
    let mut rest = text;
    if let Some(after) = text.strip_prefix("::") {
        groups.ellipsis = Some(0);
        rest = after;
        if rest.is_empty() {
            return Ok(0);
        }
    }
    while groups.count < 8 {
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        let (group, after) = rest.split_at_checked(digits).unwrap_or((rest, ""));
        if after.starts_with('.') && (1..=4).contains(&digits) {
            push_embedded_v4(&mut groups, rest)?;
            rest = "";
            break;
        }
        groups.push(parse_group(group, rest)?, 1);
        rest = match next_group(after)? {
            (rest, true) if groups.ellipsis.is_some() => {
                return Err(Fault::at("multiple :: in address", rest));
            }
            (rest, true) => {
                groups.ellipsis = Some(groups.count);
                rest.strip_prefix(':').unwrap_or(rest)
            }
            (rest, false) => rest,
        };
        if rest.is_empty() {
            break;
        }
    }
    if !rest.is_empty() {
        return Err(Fault::at("trailing garbage after address", rest));
    }
    groups.finish()
}

fn parse_group<'t>(group: &str, rest: &'t str) -> Result<u32, Fault<'t>> {
    match group.len() {
        0 => Err(Fault::at("each colon-separated field must have at least one digit", rest)),
        1..=4 => {
            let digits = group.chars().filter_map(|c| c.to_digit(16));
            Ok(digits.fold(0, |value, digit| value << 4 | digit))
        }
        _ => Err(Fault::at("each group must have 4 or less digits", rest)),
    }
}

/// Skips the colon after a group. The flag is true if a second colon follows.
fn next_group(after: &str) -> Result<(&str, bool), Fault<'_>> {
    if after.is_empty() {
        return Ok(("", false));
    }
    match after.strip_prefix(':') {
        None => Err(Fault::at("unexpected character, want colon", after)),
        Some("") => Err(Fault::at("colon must be followed by more characters", after)),
        Some(rest) => Ok((rest, rest.starts_with(':'))),
    }
}

fn push_embedded_v4<'t>(groups: &mut Groups, rest: &'t str) -> Result<(), Fault<'t>> {
    if groups.ellipsis.is_none() && groups.count != 6 {
        let rule = "embedded IPv4 address must replace the final 2 fields of the address";
        return Err(Fault::at(rule, rest));
    }
    if groups.count > 6 {
        let rule = "too many hex fields to fit an embedded IPv4 at the end of the address";
        return Err(Fault::at(rule, rest));
    }
    groups.push(parse_v4(rest)?, 2);
    Ok(())
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::{NetworkFault, parse_address, parse_network};

    fn check(text: &str, canonical: &str) {
        let parsed = parse_address(text).unwrap();
        assert_eq!(parsed.address.to_string(), canonical, "`{text}`");
    }

    #[test]
    fn all_texts_of_an_address_are_read() {
        check("192.168.0.1", "192.168.0.1");
        check("::", "::");
        check("::1", "::1");
        check("1::", "1::");
        check("2001:DB8:0:0:0:0:0:1", "2001:db8::1");
        check("1:0:0:2:0:0:3:4", "1::2:0:0:3:4");
        check("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0");
        check("::ffff:1.2.3.4", "::ffff:1.2.3.4");
        check("1:2:3:4:5:6:7.8.9.10", "1:2:3:4:5:6:708:90a");
        check("1::7.8.9.10", "1::708:90a");
        check("fe80::1%eth0", "fe80::1");
    }

    #[test]
    fn looser_texts_are_refused() {
        let cases = [
            ("", "unable to parse IP"),
            ("localhost", "unable to parse IP"),
            ("1.2.3", "IPv4 address too short"),
            ("1.2.3.4.5", "IPv4 address too long"),
            ("1.2..4", "IPv4 field must have at least one digit"),
            ("1.2.3.", "IPv4 field must have at least one digit"),
            (".2.3.4", "IPv4 field must have at least one digit"),
            ("1.2.3.256", "IPv4 field has value >255"),
            ("1.2.3.04", "IPv4 field has octet with leading zero"),
            ("1.2.3.x", "unexpected character"),
            ("1:2", "address string too short"),
            ("1:2:3:4:5:6:7:8:9", "trailing garbage after address"),
            ("1::2::3", "multiple :: in address"),
            (":::", "each colon-separated field must have at least one digit"),
            ("12345::", "each group must have 4 or less digits"),
            ("1:2:3:4:5:6:7::8", "the :: must expand to at least one field of zeros"),
            ("::1.2.3", "IPv4 address too short"),
            ("1:1.2.3.4", "embedded IPv4 address must replace the final 2 fields of the address"),
            ("1:", "colon must be followed by more characters"),
            ("1:g::", "each colon-separated field must have at least one digit"),
            ("1g::", "unexpected character, want colon"),
            ("%eth0", "missing IPv6 address"),
            ("fe80::1%", "zone must be a non-empty string"),
        ];
        for (text, rule) in cases {
            assert_eq!(parse_address(text).unwrap_err().rule, rule, "`{text}`");
        }
    }

    #[test]
    fn agrees_with_the_standard_library() {
        let pieces = ["", ":", "::", "0", "1", "ffff", "12345", ".", "1.2.3.4", "01", "256", "g"];
        let mut texts = alloc::vec![alloc::string::String::new()];
        for _ in 0..4 {
            let longer = texts.iter().flat_map(|t| pieces.map(|p| alloc::format!("{t}{p}")));
            texts = longer.collect();
        }
        for text in &texts {
            let expected = text.parse::<core::net::IpAddr>().ok();
            let found = parse_address(text).ok().map(|parsed| parsed.address);
            assert_eq!(found, expected, "`{text}`");
        }
    }

    #[test]
    fn a_network_needs_an_address_and_a_plain_length() {
        assert!(parse_network("10.1.2.3/8").is_ok() && parse_network("::/0").is_ok());
        assert_eq!(parse_network("10.0.0.0"), Err(NetworkFault::NoSlash));
        assert_eq!(parse_network("fe80::1%eth0/64"), Err(NetworkFault::Zone));
        for text in ["10.0.0.0/33", "::/129", "::/4294967296"] {
            assert_eq!(parse_network(text), Err(NetworkFault::LengthOutOfRange), "`{text}`");
        }
        for text in ["10.0.0.0/", "10.0.0.0/08", "10.0.0.0/+8", "1.2.3.4/x"] {
            assert!(matches!(parse_network(text), Err(NetworkFault::BadLength { .. })), "`{text}`");
        }
        assert!(matches!(parse_network("1/2/3"), Err(NetworkFault::Address { .. })));
    }
}
