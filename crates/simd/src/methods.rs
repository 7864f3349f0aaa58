//! The macros that stamp the methods of a back end, one for each row.
//!
//! A row is `method(arguments) => expression;`. The first line of a table has the attribute of all
//! its methods, and the type of an argument or a result that a row leaves out, nearly always the
//! vector: below `#[inline(always)] __m128i;` the row `xor(a, b) => _mm_xor_si128(a, b);` is
//!
//! ```text
//! #[inline(always)]
//! fn xor(self, a: __m128i, b: __m128i) -> __m128i {
//!     _mm_xor_si128(a, b)
//! }
//! ```

/// Stamps methods whose expressions are safe.
macro_rules! methods {
    (
        #[$attribute:meta] $vector:ty;
        $(
            $method:ident $(<$count:ident>)? ($($argument:ident $(: $type:ty)?),*) $(-> $result:ty)?
                => $expression:expr;
        )*
    ) => {$(
        #[$attribute]
        fn $method $(<const $count: i32>)? (
            self,
            $($argument: $crate::methods::type_or!($vector $(, $type)?)),*
        ) -> $crate::methods::type_or!($vector $(, $result)?) {
            $expression
        }
    )*};
}

/// Stamps methods whose expressions need the proof that `self` is, and valid memory operands. Each
/// table says why it has both.
#[cfg(any(target_arch = "x86_64", all(target_arch = "wasm32", target_feature = "simd128")))]
macro_rules! proven {
    (
        #[$attribute:meta] $vector:ty;
        $(
            $method:ident $(<$count:ident>)? ($($argument:ident $(: $type:ty)?),*) $(-> $result:ty)?
                => $expression:expr;
        )*
    ) => {
        $crate::methods::methods! {
            #[$attribute] $vector;
            $(
                $method $(<$count>)? ($($argument $(: $type)?),*) $(-> $result)?
                    // SAFETY: a row requires the features of its own tier only, which `self`
                    // proves, and reads and writes the whole of a borrowed array or a part of it.
                    => unsafe { $expression };
            )*
        }
    };
}

/// The type that a row has for an argument or a result, or else that of its table.
macro_rules! type_or {
    ($default:ty) => {
        $default
    };
    ($default:ty, $type:ty) => {
        $type
    };
}

#[cfg(any(target_arch = "x86_64", all(target_arch = "wasm32", target_feature = "simd128")))]
pub(crate) use proven;
pub(crate) use {methods, type_or};
