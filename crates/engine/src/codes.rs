//! Enums whose variants are words of a policy table.

/// Declares an enum with the code of each variant, and the conversions between both.
///
/// The codes are part of the format of bundles: a code is never given to another variant.
macro_rules! codes {
    ($(#[$about:meta])* pub enum $type:ident {
        $($(#[$doc:meta])* $name:ident = $code:literal,)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $type { $($(#[$doc])* $name,)* }

        impl $type {
            /// All variants, in the order of their declaration.
            pub const ALL: [Self; [$($code,)*].len()] = [$(Self::$name,)*];

            /// Returns the variant with this code.
            #[must_use]
            pub const fn from_code(code: u32) -> Option<Self> {
                match code { $($code => Some(Self::$name),)* _ => None }
            }

            /// Returns the code, a word of the table.
            #[must_use]
            pub const fn code(self) -> u32 {
                match self { $(Self::$name => $code,)* }
            }
        }
    };
}
pub(crate) use codes;
