use super::super::testing::{d, i, l, s, show};
use crate::cel::function::Function::{self, *};
use crate::cel::time::Timestamp;
use crate::cel::value::Value;

fn check(function: Function, args: &[Value<'static>], expected: &str) {
    assert_eq!(show(function, args), expected, "{} of {args:?}", function.name());
}

#[test]
fn set_operations_keep_the_order_of_the_shorter_list() {
    check(Intersect, &[l([i(3), i(1), i(2)]), l([i(1), i(2), i(3)])], "[3, 1, 2]");
    check(Intersect, &[l([i(3), i(1), i(2)]), l([d(1.0), d(3.0)])], "[1.0, 3.0]");
    check(Except, &[l([i(1), i(3), i(5)]), l([i(5), d(3.0)])], "[1]");
    check(HasIntersection, &[l([i(1)]), l([d(1.0), i(2)])], "true");
    check(IsSubset, &[l([i(1), i(1)]), l([i(1)])], "true");
    check(IsSubset, &[l([i(1), i(2)]), l([i(1)])], "false");
    check(Except, &[l([]), s("x")], "error: no such overload");
}

#[test]
fn now_is_the_time_of_the_check() {
    check(
        Now,
        &[],
        &super::super::testing::text(&Value::Timestamp(Timestamp::new(1000, 0).unwrap())),
    );
    let since = |seconds| {
        super::elapsed(Timestamp::new(seconds, 0).unwrap(), Timestamp::new(1000, 0).unwrap())
    };
    assert_eq!(since(999), 1_000_000_000);
    assert_eq!(since(1001), -1_000_000_000);
    assert_eq!(since(Timestamp::MIN_SECONDS), i64::MAX);
    assert_eq!(since(Timestamp::MAX_SECONDS), i64::MIN);
}

#[test]
fn addresses_are_in_ranges_of_their_family() {
    let cases = [
        ("192.168.0.10", "192.168.0.0/24", "true"),
        ("192.168.1.10", "192.168.0.0/24", "false"),
        ("192.168.0.10", "192.168.0.99/024", "true"),
        ("::ffff:10.0.0.1", "10.0.0.0/8", "true"),
        ("10.0.0.1", "::ffff:10.0.0.0/104", "true"),
        ("10.0.0.1", "::ffff:0.0.0.0/90", "false"),
        ("10.0.0.1", "::/0", "false"),
        ("2001:db8::1", "2001:db8::/48", "true"),
        ("test", "10.0.0.0/8", "error: invalid IP address: test"),
        ("fe80::1%eth0", "fe80::/10", "error: invalid IP address: fe80::1%eth0"),
        ("10.0.0.1", "10.0.0.0", "error: invalid CIDR address: 10.0.0.0"),
        ("10.0.0.1", "10.0.0.0/33", "error: invalid CIDR address: 10.0.0.0/33"),
        ("10.0.0.1", "10.0.0.0/", "error: invalid CIDR address: 10.0.0.0/"),
    ];
    for (address, range, expected) in cases {
        check(InIpAddrRange, &[s(address), s(range)], expected);
    }
    check(InIpAddrRange, &[s("0.0.0.0"), s("10.0.0.0/0")], "true");
}
