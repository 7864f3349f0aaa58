use super::super::testing::{d, i, l, s, show};
use crate::cel::function::Function::{self, *};
use crate::cel::value::Value;

fn check(function: Function, args: &[Value<'static>], expected: &str) {
    assert_eq!(show(function, args), expected, "{} of {args:?}", function.name());
}

#[test]
fn extremes_compare_across_types_and_keep_the_first() {
    check(MathGreatest, &[i(1), d(1.5), Value::Uint(1)], "1.5");
    check(MathGreatest, &[d(1.0), i(1)], "1.0");
    check(MathLeast, &[l([i(3), Value::Uint(2), d(2.0)])], "2u");
    check(MathLeast, &[i(5)], "5");
    check(MathGreatest, &[i(i64::MAX), d(9_223_372_036_854_775_808.0)], "9223372036854775807");
    check(MathLeast, &[l([i(1), s("x")])], "error: no such overload: math.@min");
    check(MathGreatest, &[s("x")], "error: no such overload: math.@max");
    check(MathGreatest, &[l([])], "error: math.@max(list) argument must not be empty");
    check(MathLeast, &[d(f64::NAN), i(1)], "error: no such overload: math.@min");
}

#[test]
fn signs_and_roots() {
    check(MathAbs, &[i(-3)], "3");
    check(MathAbs, &[i(i64::MIN)], "error: integer overflow");
    check(MathAbs, &[d(-0.5)], "0.5");
    check(MathSign, &[i(-3)], "-1");
    check(MathSign, &[d(-0.0)], "0.0");
    check(MathSign, &[d(f64::NAN)], "NaN");
    check(MathSign, &[Value::Uint(9)], "1u");
    check(MathSqrt, &[i(81)], "9.0");
    check(MathSqrt, &[d(985.25)], "31.388692231439016");
    check(MathSqrt, &[i(-15)], "NaN");
}

#[test]
fn bits_move_as_patterns() {
    check(MathBitAnd, &[i(5), i(3)], "1");
    check(MathBitOr, &[Value::Uint(5), Value::Uint(3)], "7u");
    check(MathBitXor, &[i(-1), i(1)], "-2");
    check(MathBitNot, &[Value::Uint(0)], "18446744073709551615u");
    check(MathBitShiftLeft, &[i(1), i(63)], "-9223372036854775808");
    check(MathBitShiftLeft, &[i(1), i(64)], "0");
    check(MathBitShiftRight, &[i(-1), i(60)], "15");
    check(MathBitShiftRight, &[Value::Uint(8), i(i64::MAX)], "0u");
    check(MathBitShiftLeft, &[i(1), i(-1)], "error: math.bitShiftLeft() negative offset: -1");
    check(MathBitAnd, &[i(5), Value::Uint(3)], "error: no such overload");
}

#[test]
fn rounding_is_for_doubles() {
    check(MathRound, &[d(-1.5)], "-2.0");
    check(MathCeil, &[d(1.2)], "2.0");
    check(MathFloor, &[d(-1.2)], "-2.0");
    check(MathTrunc, &[d(-1.9)], "-1.0");
    check(MathFloor, &[i(1)], "error: no such overload");
    check(MathIsNaN, &[d(f64::NAN)], "true");
    check(MathIsInf, &[d(f64::NEG_INFINITY)], "true");
    check(MathIsFinite, &[d(1.0)], "true");
}
