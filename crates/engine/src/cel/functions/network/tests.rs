use super::super::testing::{call, i, s, show};
use crate::cel::function::Function::{self, *};
use crate::cel::value::Value;

fn check(function: Function, args: &[Value<'static>], expected: &str) {
    assert_eq!(show(function, args), expected, "{} of {args:?}", function.name());
}

fn address(text: &'static str) -> Value<'static> {
    call(Ip, &[s(text)])
}

fn network(text: &'static str) -> Value<'static> {
    call(Cidr, &[s(text)])
}

#[test]
fn one_text_means_one_address() {
    check(Ip, &[s("2001:DB8::0:1")], "2001:db8::1");
    check(
        Ip,
        &[s("1.2.3.x")],
        "error: IP Address \"1.2.3.x\" parse error during conversion from string: \
         ParseAddr(\"1.2.3.x\"): unexpected character (at \"x\")",
    );
    check(
        Ip,
        &[s("fe80::1%en0")],
        "error: IP address \"fe80::1%en0\" with zone value is not allowed",
    );
    check(
        Ip,
        &[s("::ffff:1.2.3.4")],
        "error: IPv4-mapped IPv6 address \"::ffff:1.2.3.4\" is not allowed",
    );
    check(IsIp, &[s("::1")], "true");
    check(IsIp, &[s("::ffff:1.2.3.4")], "false");
    check(IpIsCanonical, &[s("2001:db8::1")], "true");
    check(IpIsCanonical, &[s("2001:DB8::1")], "false");
}

#[test]
fn networks_keep_their_host_bits() {
    check(Cidr, &[s("192.168.1.5/24")], "192.168.1.5/24");
    check(CidrIp, &[network("192.168.1.5/24")], "192.168.1.5");
    check(CidrMasked, &[network("192.168.1.5/24")], "192.168.1.0/24");
    check(CidrMasked, &[network("2001:db8::1/0")], "::/0");
    check(CidrIsMask, &[network("192.168.1.5/24")], "false");
    check(CidrIsMask, &[network("192.168.1.0/24")], "true");
    check(CidrPrefixLength, &[network("::/64")], "64");
    check(IsCidr, &[s("10.0.0.0/8")], "true");
    check(IsCidr, &[s("10.0.0.0")], "false");
    check(IsCidr, &[s("::ffff:10.0.0.0/104")], "false");
    check(
        Cidr,
        &[s("10.0.0.0/x")],
        "error: CIDR \"10.0.0.0/x\" parse error during conversion from string: \
         netip.ParsePrefix(\"10.0.0.0/x\"): bad bits after slash: \"x\"",
    );
}

#[test]
fn networks_contain_addresses_of_their_family() {
    check(CidrContainsIp, &[network("10.9.9.9/8"), s("10.1.1.1")], "true");
    check(CidrContainsIp, &[network("10.0.0.0/8"), address("11.0.0.0")], "false");
    check(CidrContainsIp, &[network("0.0.0.0/0"), address("::1")], "false");
    check(CidrContainsCidr, &[network("10.0.0.0/8"), s("10.1.0.0/16")], "true");
    check(CidrContainsCidr, &[network("10.1.0.0/16"), network("10.0.0.0/8")], "false");
    check(CidrContainsCidr, &[network("::/0"), network("0.0.0.0/0")], "false");
}

#[test]
fn kinds_of_addresses() {
    let is = |function, text| show(function, &[address(text)]) == "true";
    assert_eq!(show(IpFamily, &[address("1.2.3.4")]), "4");
    assert_eq!(show(IpFamily, &[address("::")]), "6");
    assert!(is(IpIsLoopback, "127.9.9.9") && is(IpIsLoopback, "::1"));
    assert!(is(IpIsUnspecified, "0.0.0.0") && is(IpIsUnspecified, "::"));
    assert!(is(IpIsLinkLocalUnicast, "169.254.1.1") && is(IpIsLinkLocalUnicast, "febf::1"));
    assert!(is(IpIsLinkLocalMulticast, "224.0.0.9") && is(IpIsLinkLocalMulticast, "ff12::1"));
    for text in ["10.0.0.1", "240.0.0.1", "fc00::1", "fec0::1"] {
        assert!(is(IpIsGlobalUnicast, text), "`{text}`");
    }
    for text in ["255.255.255.255", "224.0.0.1", "127.0.0.1", "ff02::1", "fe80::1", "::"] {
        assert!(!is(IpIsGlobalUnicast, text), "`{text}`");
    }
    check(IpFamily, &[i(4)], "error: no such overload");
}
