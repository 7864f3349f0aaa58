use alloc::string::ToString;
use alloc::vec::Vec;

use super::*;
use crate::attr::Attr;
use crate::cel::pool::{ConstTag, Root};
use crate::cel::time::Timestamp;
use crate::cel::{Value, validate};

/// `x` is 5, variable 0 is 7, variable 1 fails; all others are missing.
struct Surroundings;

impl<'a> Activation<'a> for Surroundings {
    fn root(&self, _: Root, name: &'a str) -> Value<'a> {
        match name {
            "x" => Value::Int(5),
            _ => Value::Error(Error::NoSuchAttribute(name)),
        }
    }

    fn variable(&self, id: u32) -> Value<'a> {
        match id {
            0 => Value::Int(7),
            _ => Value::Error(Error::NoSuchKey("k".into())),
        }
    }

    fn now(&self) -> Timestamp {
        Timestamp::default()
    }
}

/// Constants by offset: 0 true, 1 false, 2 int 1, 5 int 2, 8 string "x", 10 list [1, 2].
const CONSTANTS: [u32; 14] = [
    ConstTag::True.code(),
    ConstTag::False.code(),
    ConstTag::Int.code(),
    1,
    0,
    ConstTag::Int.code(),
    2,
    0,
    ConstTag::String.code(),
    0,
    ConstTag::List.code(),
    2,
    2,
    5,
];

/// Slots by offset: 0 `x`, 3 `y`, 6 `x.y`.
const SLOTS: [u32; 10] = [17, 1, 0, 17, 1, 1, 17, 2, 0, 1];

fn with_pool<R>(code: &[u32], read: impl FnOnce(&Pool<'_>) -> R) -> R {
    let length = u32::try_from(code.len()).unwrap();
    let programs = [0, length, 20, 0, 0, length, 1, 1, 0, 0];
    let code = &[code, &[op(Op::Return, 0, 0, 0)]].concat();
    let pool = Pool {
        text: "xy",
        strings: &[0, 1, 2],
        constants: &CONSTANTS,
        slots: &SLOTS,
        programs: &programs,
        code,
        variables: &[1, 0, 1, 1],
        explanations: &[0, 1, 2],
        ..Pool::default()
    };
    read(&pool)
}

fn op(op: Op, a: u8, b: u8, c: u8) -> u32 {
    u32::from_le_bytes([op.code(), a, b, c])
}

/// Runs a program with 20 registers and returns its result.
fn run_code(code: &[u32]) -> Result<Attr, alloc::string::String> {
    with_pool(code, |pool| {
        eval(pool, 0, &Surroundings, &Cell::new(10_000))
            .to_attr(&Cell::new(10_000))
            .map_err(|error| error.to_string())
    })
}

#[track_caller]
fn check(code: &[u32], expected: Result<Attr, &str>) {
    assert_eq!(run_code(code), expected.map_err(ToString::to_string));
}

#[test]
fn arithmetic_and_errors_travel_through_registers() {
    let load = |register, constant| [op(Op::Const, register, 0, 0), constant];
    let binary = |operation, left, right| {
        [
            load(0, left).as_slice(),
            &load(1, right),
            &[op(operation, 2, 0, 1)],
            &[op(Op::Return, 2, 0, 0)],
        ]
        .concat()
    };
    check(&binary(Op::Add, 2, 5), Ok(Attr::Number(3.0)));
    check(&binary(Op::Lt, 2, 5), Ok(Attr::Bool(true)));
    check(&binary(Op::In, 2, 10), Ok(Attr::Bool(true)));
    check(&binary(Op::Index, 10, 2), Ok(Attr::Number(2.0)));
    check(&binary(Op::Index, 10, 5), Err("index out of bounds: 2"));
    check(&binary(Op::Add, 0, 2), Err("no such overload: _+_"));
    check(&binary(Op::Add, 2, 0), Err("no such overload"));
    check(&binary(Op::Sub, 8, 2), Err("no such overload"));
    check(&binary(Op::Lt, 10, 2), Err("no such overload: _<_"));
    check(&binary(Op::Lt, 0, 2), Err("no such overload"));
    check(&binary(Op::And, 1, 2), Ok(Attr::Bool(false)));
    check(&binary(Op::And, 2, 1), Ok(Attr::Bool(false)));
    check(&binary(Op::And, 0, 2), Err("no such overload"));
    check(&binary(Op::Or, 2, 0), Ok(Attr::Bool(true)));
}

#[test]
fn slots_and_variables_name_the_missing_field() {
    let check = |operation, id, expected| {
        check(&[op(operation, 0, 0, 0), id, op(Op::Return, 0, 0, 0)], expected);
    };
    check(Op::Slot, 0, Ok(Attr::Number(5.0)));
    check(Op::Slot, 3, Err("no such attribute(s): y"));
    check(Op::Slot, 6, Err("no such key: y"));
    check(Op::HasSlot, 6, Ok(Attr::Bool(false)));
    check(Op::Variable, 0, Ok(Attr::Number(7.0)));
    check(Op::Variable, 1, Err("undefined field 'y'"));
    check(Op::HasVariable, 1, Ok(Attr::Bool(false)));
    check(Op::HasVariable, 0, Ok(Attr::Bool(true)));
}

#[test]
fn a_loop_builds_a_list_in_place() {
    // [1, 2].map(i, i + 1)
    let code = [
        op(Op::Const, 0, 0, 0),
        10,
        op(Op::Const, 5, 0, 0),
        2,
        op(Op::List, 1, 0, 0),
        op(Op::Iterate, 2, 0, 1),
        13,
        op(Op::Next, 2, 4, 0),
        13,
        op(Op::Add, 6, 4, 5),
        op(Op::ListPush, 1, 6, 0),
        op(Op::Jump, 0, 0, 0),
        7,
        op(Op::Return, 1, 0, 0),
    ];
    check(&code, Ok(Attr::List([2.0, 3.0].map(Attr::Number).to_vec())));
    with_pool(&code, |pool| assert_eq!(validate(*pool), Ok(())));
}

#[test]
fn a_spent_budget_is_an_error() {
    let endless = [op(Op::Jump, 0, 0, 0), 0];
    check(&endless, Err("evaluation limit exceeded"));
}

#[test]
fn malformed_programs_are_errors_and_are_refused() {
    let check = |code: &[u32]| {
        assert_eq!(run_code(code), Err("malformed program".to_string()), "{code:?}");
        with_pool(code, |pool| assert!(validate(*pool).is_err(), "{code:?}"));
    };
    check(&[]);
    check(&[255]);
    check(&[op(Op::Return, 20, 0, 0)]);
    check(&[op(Op::Const, 0, 0, 0)]);
    check(&[op(Op::Const, 0, 0, 0), 2]);
    check(&[op(Op::Jump, 0, 0, 0), 99]);
    check(&[op(Op::Variable, 0, 0, 0), 9, op(Op::Return, 0, 0, 0)]);
}

#[test]
fn no_words_make_the_machine_panic() {
    let mut random = fastrand::Rng::with_seed(0x9E37_79B9_7F4A_7C15);
    let mut valid = 0;
    for _ in 0..20_000 {
        let length = random.usize(..12);
        let code: Vec<u32> = (0..length)
            .map(|_| match random.u32(..3) {
                0 => random.u32(..16),
                _ => random.u32(..46) | (random.u32(..) & 0x0707_0700),
            })
            .chain([op(Op::Return, 0, 0, 0)])
            .collect();
        let _ = run_code(&code);
        if with_pool(&code, |pool| validate(*pool).is_ok()) {
            valid += 1;
        }
    }
    assert!(valid > 100, "too few valid programs: {valid}");
}

#[test]
fn a_loop_cannot_nest_values_without_end() {
    let wraps = [op(Op::OptionalOf, 0, 0, 0), op(Op::Jump, 0, 0, 0), 0];
    let pushes = [
        op(Op::List, 1, 0, 0),
        op(Op::ListPush, 1, 0, 0),
        op(Op::Move, 0, 1, 0),
        op(Op::Jump, 0, 0, 0),
        0,
    ];
    for code in [&wraps[..], &pushes] {
        let value = with_pool(code, |pool| {
            let steps = Cell::new(1_000_000);
            alloc::format!("{:?}", eval(pool, 0, &Surroundings, &steps))
        });
        assert_eq!(value, "Error(Limit)");
    }
}
