use alloc::vec;
use alloc::vec::Vec;

use wardgate_fastpath::word;

use super::{Op, Predicate, simplified};

fn equality() -> Op {
    Op::EqualConst(7, word::NULL)
}

#[test]
fn one_equality_in_a_strict_table_needs_no_code() {
    let check = |code: Vec<Op>, negated: bool| {
        assert_eq!(simplified(code, true), Predicate::Equality(equality(), negated));
    };
    check(vec![equality(), Op::Leaf], false);
    check(vec![equality(), Op::Not, Op::Leaf], true);
    check(vec![equality(), Op::Leaf, Op::Invert], true);
    check(vec![equality(), Op::Not, Op::Leaf, Op::Invert], false);
    check(vec![equality(), Op::Leaf, Op::Invert, Op::Invert], false);
}

#[test]
fn a_lone_slot_is_compared_with_true() {
    let expected = Predicate::Equality(Op::EqualConst(7, word::TRUE), false);
    assert_eq!(simplified(vec![Op::Bool(7), Op::Leaf], true), expected);
    // A value other than true and false is an error behind `!`.
    let negated = vec![Op::Bool(7), Op::Not, Op::Leaf];
    assert_eq!(simplified(negated, true), Predicate::Code(vec![Op::Bool(7), Op::Not]));
}

#[test]
fn a_lenient_table_keeps_the_end_of_the_expression() {
    let code = vec![equality(), Op::Leaf];
    assert_eq!(simplified(code.clone(), false), Predicate::Code(code));
}

#[test]
fn constants_hold_always_or_never() {
    let check = |code: Vec<Op>, expected| assert_eq!(simplified(code, true), expected);
    check(vec![Op::Push(1)], Predicate::Always);
    check(vec![Op::Push(0), Op::Leaf], Predicate::Never);
    check(vec![Op::Push(3), Op::Leaf], Predicate::Never);
    check(vec![Op::Push(3), Op::Leaf, Op::Invert], Predicate::Always);
    check(vec![Op::Push(1), Op::Leaf, Op::Invert], Predicate::Never);
}
