//! Strings and byte strings, borrowed or shared.
//!
//! The two forms of a value behave alike: comparison and hashing use the content.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;
use core::ops::{Deref, Range};

macro_rules! shared {
    ($(#[$doc:meta])* $name:ident: $target:ty, $owned:ty) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub enum $name<'a> {
            /// Part of the table or the request.
            Borrowed(&'a $target),
            /// Built by an expression.
            Owned(Rc<$target>),
        }

        impl<'a> $name<'a> {
            /// Returns the part at `range`; `None` if it is not inside. Borrows where it can.
            #[must_use]
            pub fn part(&self, range: Range<usize>) -> Option<Self> {
                match self {
                    Self::Borrowed(all) => all.get(range).map(Self::Borrowed),
                    Self::Owned(all) => all.get(range).map(|part| Self::Owned(Rc::from(part))),
                }
            }
        }

        impl Deref for $name<'_> {
            type Target = $target;

            fn deref(&self) -> &$target {
                match self {
                    Self::Borrowed(content) => content,
                    Self::Owned(content) => content,
                }
            }
        }

        impl<'a> From<&'a $target> for $name<'a> {
            fn from(content: &'a $target) -> Self {
                Self::Borrowed(content)
            }
        }

        impl From<$owned> for $name<'_> {
            fn from(content: $owned) -> Self {
                Self::Owned(Rc::from(content))
            }
        }

        impl PartialEq for $name<'_> {
            fn eq(&self, other: &Self) -> bool {
                **self == **other
            }
        }

        impl Eq for $name<'_> {}

        impl PartialOrd for $name<'_> {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $name<'_> {
            fn cmp(&self, other: &Self) -> Ordering {
                (**self).cmp(&**other)
            }
        }

        impl fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

shared! {
    /// A string; dereferences to `str`.
    Str: str, String
}

shared! {
    /// A byte string; dereferences to `[u8]`.
    Bytes: [u8], Vec<u8>
}

impl fmt::Display for Str<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}
