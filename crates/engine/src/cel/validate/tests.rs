use alloc::vec::Vec;

use super::*;
use crate::cel::op::Op;
use crate::cel::pool::{ConstTag, Root};

fn op(op: Op, a: u8, b: u8, c: u8) -> u32 {
    u32::from_le_bytes([op.code(), a, b, c])
}

const EMPTY: Pool<'static> = Pool {
    explanations: &[0, 1, 2],
    text: "ab",
    blob: &[1, 2, 3],
    strings: &[0, 1, 2],
    constants: &[],
    slots: &[],
    programs: &[],
    code: &[],
    variables: &[],
};

#[test]
fn strings_lie_in_the_text() {
    let check = |strings: &[u32], expected| {
        assert_eq!(validate(Pool { strings, ..EMPTY }), expected, "{strings:?}");
    };
    check(&[], Ok(()));
    check(&[0], Ok(()));
    check(&[0, 2], Ok(()));
    check(&[0, 3], Err(Invalid::Strings));
    check(&[2, 1], Err(Invalid::Strings));
}

#[test]
fn constants_are_made_of_earlier_constants() {
    let check = |constants: &[u32], expected| {
        assert_eq!(validate(Pool { constants, ..EMPTY }), expected, "{constants:?}");
    };
    let list = ConstTag::List.code();
    check(&[ConstTag::True.code(), list, 2, 0, 0], Ok(()));
    check(&[list, 1, 0], Err(Invalid::Constant(0)));
    check(&[list, 1, 3, ConstTag::Null.code()], Err(Invalid::Constant(0)));
    check(&[ConstTag::Some.code(), 0], Err(Invalid::Constant(0)));
    check(&[ConstTag::Int.code(), 1], Err(Invalid::Constant(0)));
    check(&[ConstTag::String.code(), 1], Ok(()));
    check(&[ConstTag::String.code(), 2], Err(Invalid::Constant(0)));
    check(&[ConstTag::Bytes.code(), 1, 2], Ok(()));
    check(&[ConstTag::Bytes.code(), 1, 3], Err(Invalid::Constant(0)));
    check(&[ConstTag::Timestamp.code(), 0, 0, 999_999_999], Ok(()));
    check(&[ConstTag::Timestamp.code(), 0, 0, 1_000_000_000], Err(Invalid::Constant(0)));
    check(&[ConstTag::Zone.code(), 0, 3, 0, 3600, 0], Ok(()));
    check(&[ConstTag::Zone.code(), 0, 3, 1, 3600, 0], Err(Invalid::Constant(0)));
    check(&[ConstTag::Regex.code(), 0, 0], Err(Invalid::Constant(0)));
    check(&[ConstTag::Null.code(), 99], Err(Invalid::Constant(1)));
    check(&[list, u32::MAX], Err(Invalid::Constant(0)));
}

#[test]
fn constants_nest_to_a_limit() {
    let nested = |depth: u32| -> Vec<u32> {
        let mut words = alloc::vec![ConstTag::Null.code()];
        let mut inner = 0;
        for _ in 0..depth {
            let id = u32::try_from(words.len()).unwrap();
            words.extend([ConstTag::Some.code(), inner]);
            inner = id;
        }
        words
    };
    assert_eq!(validate(Pool { constants: &nested(60), ..EMPTY }), Ok(()));
    assert!(validate(Pool { constants: &nested(70), ..EMPTY }).is_err());
}

#[test]
fn slots_name_their_root_and_path() {
    let check = |slots: &[u32], expected| {
        assert_eq!(validate(Pool { slots, ..EMPTY }), expected, "{slots:?}");
    };
    check(&[Root::PrincipalAttr.code(), 2, 0, 1], Ok(()));
    check(&[Root::PrincipalAttr.code(), 1, 2], Err(Invalid::Slot(0)));
    check(&[Root::PrincipalAttr.code(), 2, 0], Err(Invalid::Slot(0)));
    check(&[Root::PrincipalId.code(), 0, u32::MAX, 0], Err(Invalid::Slot(2)));
    check(&[Root::Free.code(), 0], Err(Invalid::Slot(0)));
}

#[test]
fn variables_cannot_recurse() {
    let code = [
        op(Op::Variable, 0, 0, 0),
        1,
        op(Op::Return, 0, 0, 0),
        op(Op::Variable, 0, 0, 0),
        0,
        op(Op::Return, 0, 0, 0),
        op(Op::List, 0, 0, 0),
        op(Op::Return, 0, 0, 0),
    ];
    let programs = [0, 3, 1, 0, 0, 3, 3, 1, 0, 0, 6, 2, 1, 0, 0];
    let check = |variables: &[u32], expected| {
        let pool = Pool { code: &code, programs: &programs, variables, ..EMPTY };
        assert_eq!(validate(pool), expected, "{variables:?}");
    };
    check(&[0, 0, 2, 1], Ok(()));
    check(&[0, 0, 1, 1], Err(Invalid::Variable(0)));
    check(&[2, 0, 0, 1], Err(Invalid::Variable(1)));
    check(&[2, 0, 9, 1], Err(Invalid::Variable(1)));
    check(&[2, 0, 2, 9], Err(Invalid::Variable(1)));
}

#[test]
fn programs_do_not_share_code() {
    let code = [op(Op::List, 0, 0, 0), op(Op::Return, 0, 0, 0)].repeat(2);
    let check = |programs: &[u32], expected| {
        let pool = Pool { code: &code, programs, ..EMPTY };
        assert_eq!(validate(pool), expected, "{programs:?}");
    };
    check(&[0, 2, 1, 0, 0, 2, 2, 1, 0, 0], Ok(()));
    check(&[0, 4, 1, 0, 0, 2, 2, 1, 0, 0], Err(Invalid::Program(1, 0)));
}
