//! The instruction set of the register machine: the compiler writes it and the machine runs it.
//!
//! An instruction is one word `op | a << 8 | b << 16 | c << 24`, followed by the extension words
//! named below (`w0`, `w1`). `a`, `b`, `c` are registers unless noted otherwise. Jump targets are
//! word offsets from the start of the program and always point forwards, except for the `Jump` that
//! closes a loop and points back at its `Next`. An operation that gets an error as an operand
//! results in that error (the first operand's, if several), unless noted otherwise.

macro_rules! ops {
    ($($(#[$doc:meta])* $name:ident = $code:literal / $words:literal;)*) => {
        /// One operation. See the module for the encoding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Op { $($(#[$doc])* $name = $code,)* }

        impl Op {
            /// Returns the operation with this code.
            #[must_use]
            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$name),)* _ => None }
            }

            /// Returns the code in the lowest byte of the instruction.
            #[must_use]
            pub const fn code(self) -> u8 {
                match self { $(Self::$name => $code,)* }
            }

            /// Returns the number of extension words that follow the instruction.
            #[must_use]
            pub const fn extension_words(self) -> usize {
                match self { $(Self::$name => $words,)* }
            }
        }
    };
}

ops! {
    /// Ends the program with the result `a`.
    Return = 0 / 0;
    /// `a = constant w0`.
    Const = 1 / 1;
    /// `a = value at slot w0`, or the error of the first step of its path that fails.
    Slot = 2 / 1;
    /// `a = has(slot w0)`: true if the last step of its path leads to a value.
    HasSlot = 3 / 1;
    /// `a = value of variable w0`; "undefined field" if evaluating it failed.
    Variable = 4 / 1;
    /// `a = true` if variable `w0` has a value, else `false`.
    HasVariable = 5 / 1;
    /// `a = b`.
    Move = 6 / 0;
    /// `a = b.field`, the field being string `w0`. On an optional: `b.?field`.
    Select = 7 / 1;
    /// `a = has(b.field)`, the field being string `w0`.
    Has = 8 / 1;
    /// `a = b.?field`, the field being string `w0`.
    OptSelect = 9 / 1;
    /// `a = b[c]`. On an optional: `b[?c]`.
    Index = 10 / 0;
    /// `a = b[?c]`.
    OptIndex = 11 / 0;
    /// `a = !b`.
    Not = 12 / 0;
    /// `a = -b`.
    Neg = 13 / 0;
    /// `a = b + c`.
    Add = 14 / 0;
    /// `a = b - c`.
    Sub = 15 / 0;
    /// `a = b * c`.
    Mul = 16 / 0;
    /// `a = b / c`.
    Div = 17 / 0;
    /// `a = b % c`.
    Mod = 18 / 0;
    /// `a = b == c`.
    Eq = 19 / 0;
    /// `a = b != c`.
    Ne = 20 / 0;
    /// `a = b < c`.
    Lt = 21 / 0;
    /// `a = b <= c`.
    Le = 22 / 0;
    /// `a = b > c`.
    Gt = 23 / 0;
    /// `a = b >= c`.
    Ge = 24 / 0;
    /// `a = b in c`.
    In = 25 / 0;
    /// `a = b && c`, absorbing an error or a wrong type on one side when the other is `false`.
    And = 26 / 0;
    /// `a = b || c`, absorbing an error or a wrong type on one side when the other is `true`.
    Or = 27 / 0;
    /// Jumps to `w0`.
    Jump = 28 / 1;
    /// Jumps to `w0` if `a` is exactly `false`.
    JumpIfFalse = 29 / 1;
    /// Jumps to `w0` if `a` is exactly `true`.
    JumpIfTrue = 30 / 1;
    /// Continues if `b` is `true`; jumps to `w0` if it is `false`; otherwise `a` becomes the error
    /// (of `b`, or "no such overload" for another type) and it jumps to `w1`.
    Branch = 31 / 2;
    /// `a = function w0 (registers b .. b + c)`; `c` is the number of arguments.
    Call = 32 / 1;
    /// `a = []`.
    List = 33 / 0;
    /// Appends `b` to the list under construction in `a`.
    ListPush = 34 / 0;
    /// Appends the value of the optional `b` to the list in `a`, unless it is empty.
    ListPushOptional = 35 / 0;
    /// `a = {}`.
    Map = 36 / 0;
    /// Puts key `b`, value `c` into the map in `a`; a repeated key is an error.
    MapPut = 37 / 0;
    /// Puts key `b` and the value of the optional `c` into the map in `a`, unless it is empty; a
    /// repeated key is an error.
    MapPutOptional = 38 / 0;
    /// Starts a loop over the list or map in `b`: registers `a` (the range) and `a + 1` (the
    /// cursor) belong to the loop. If `b` is an error or cannot be iterated, `c` becomes the error
    /// and it jumps to `w0`.
    Iterate = 39 / 1;
    /// Takes the next element of loop `a` into `b` (of a map: the key), or jumps to `w0` at its
    /// end.
    Next = 40 / 1;
    /// Takes the next pair of loop `a` into `b` (index or key) and `b + 1` (value), or jumps to
    /// `w0` at its end.
    NextPair = 41 / 1;
    /// `a = optional.of(b)` if `b` is a value of any type.
    OptionalOf = 42 / 0;
    /// `a = b.?value`: unwraps a non-empty optional into `a` and continues; jumps to `w0` if `b` is
    /// `optional.none()` (`a` becomes `optional.none()`); on an error or another type `a` becomes
    /// the error and it jumps to `w0`.
    OptionalUnwrap = 43 / 1;
    /// `a = b` merged entry-wise from map `b` into the map under construction in `a`
    /// (`transformMapEntry`); a repeated key is an error.
    MapMerge = 44 / 0;
    /// `a = the error "undefined field"`, the field being string `w0`.
    Undefined = 45 / 1;
}
