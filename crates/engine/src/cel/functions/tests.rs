use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use super::testing::{call, d, i, l, s, strings};
use crate::cel::error::Error;
use crate::cel::function::Function;
use crate::cel::time::Timestamp;
use crate::cel::value::Value;

/// Numbers are part of bundles: an earlier bundle must call the same functions.
#[test]
fn numbers_and_names_are_those_of_earlier_bundles() {
    let numbers: BTreeMap<u32, &str> = include_str!("numbers.txt")
        .lines()
        .map(|line| line.split_once(' ').unwrap())
        .map(|(number, name)| (number.parse().unwrap(), name))
        .collect();
    let rows: BTreeMap<u32, &str> =
        Function::ALL.iter().map(|function| (function.id(), function.name())).collect();
    assert_eq!(rows, numbers, "a new function gets a new line and a number that no other ever had");
    assert!(
        (0..=u32::from(u16::MAX)).filter_map(Function::from_id).eq(Function::ALL.iter().copied())
    );
}

/// A row whose module does not implement the function would compile, and fail in every decision.
#[test]
fn the_module_of_each_row_implements_its_function() {
    for function in Function::ALL {
        assert!(has_overload(*function), "no arguments of the samples suit {function:?}");
    }
}

fn has_overload(function: Function) -> bool {
    let samples = samples();
    let is_known = |args: &[Value<'static>]| !matches!(call(function, args), Value::Error(error) if error == Error::NoSuchOverload);
    is_known(&[])
        || samples.iter().any(|a| {
            is_known(core::slice::from_ref(a))
                || samples.iter().any(|b| {
                    is_known(&[a.clone(), b.clone()])
                        || samples.iter().any(|c| is_known(&[a.clone(), b.clone(), c.clone()]))
                })
        })
}

/// One value of each type that some function takes.
fn samples() -> Vec<Value<'static>> {
    let made = |function, text| call(function, &[s(text)]);
    vec![
        i(1),
        Value::Uint(1),
        d(1.5),
        s("a"),
        strings(&["a"]),
        l([Value::Optional(None)]),
        Value::Bool(true),
        Value::Bytes(b"a".to_vec().into()),
        Value::Duration(1),
        Value::Timestamp(Timestamp::new(0, 0).unwrap()),
        Value::Optional(None),
        made(Function::Ip, "10.0.0.1"),
        made(Function::Cidr, "10.0.0.0/8"),
        made(Function::Hierarchy, "a.b"),
        made(Function::SpiffeId, "spiffe://a/b"),
        made(Function::SpiffeTrustDomain, "a"),
        l([made(Function::SpiffeId, "spiffe://a/b")]),
        call(Function::SpiffeMatchAny, &[]),
    ]
}
