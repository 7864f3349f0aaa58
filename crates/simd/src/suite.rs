//! The macros that stamp a suite of tests on every tier.

/// Stamps tests on every tier of the target: each row `name => check;` is a test that calls `check`
/// with the tier. For the tests of this workspace only.
#[doc(hidden)]
#[macro_export]
macro_rules! test_every_tier {
    ($($rows:tt)*) => {
        $crate::test_tier! { on_portable, Some($crate::Portable); $($rows)* }
        #[cfg(target_arch = "x86_64")]
        $crate::test_tier! { on_sse2, Some($crate::Sse2::new()); $($rows)* }
        #[cfg(target_arch = "x86_64")]
        $crate::test_tier! { on_avx2, $crate::Avx2::detect(); $($rows)* }
        #[cfg(target_arch = "x86_64")]
        $crate::test_tier! { on_avx512, $crate::Avx512::detect(); $($rows)* }
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        $crate::test_tier! { on_simd128, Some($crate::Simd128::new()); $($rows)* }
    };
}

/// Stamps tests on one tier, in a module; `None` where the machine cannot run it.
#[doc(hidden)]
#[macro_export]
macro_rules! test_tier {
    ($name:ident, $tier:expr; $($test:ident => $check:ident;)*) => {
        mod $name {
            use super::*;

            $(
                #[test]
                fn $test() {
                    if let Some(tier) = $tier {
                        $check(tier);
                    }
                }
            )*
        }
    };
}
