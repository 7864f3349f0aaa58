//! Types of the host as principals and resources.
//!
//! An attribute is the same field in every value of a type. So its accessor is found once, when a
//! question is prepared, and not for each decision.

use crate::field::{Field, Lookup};

/// A function that reads one attribute of a value.
pub type Accessor<T> = fn(&T) -> Field<'_>;

/// A type whose attributes are known by name. [`attributes!`](crate::attributes) implements it.
pub trait Attributes: Lookup + Sized {
    /// Returns the accessor of the attribute `name`, or `None` if values of this type never have
    /// it.
    ///
    /// The accessor returns the same as [`Lookup::get`].
    fn accessor(name: &str) -> Option<Accessor<Self>>;
}

/// A type whose values are principals.
pub trait AsPrincipal: Attributes {
    /// Returns the unique id of the principal.
    fn id(&self) -> &str;

    /// Returns the roles, in the order in which they are tried.
    fn roles(&self) -> impl Iterator<Item = &str>;

    /// Returns the version of the principal policies to use; empty means the default of the table.
    fn policy_version(&self) -> &str {
        ""
    }

    /// Returns the scope where the search for principal policies starts; empty is the root.
    fn scope(&self) -> &str {
        ""
    }
}

/// A type whose values are resources.
pub trait AsResource: Attributes {
    /// Returns the id of this one resource.
    fn id(&self) -> &str;
}

/// Makes the named fields of a struct its attributes: implements [`Attributes`], [`Lookup`] and
/// [`AsField`](crate::AsField).
///
/// Every field must be [`AsField`](crate::AsField); an `Option` that is `None` is an attribute that
/// is missing. A field may have another name in policies.
///
/// ```
/// struct Document {
///     id: String,
///     owner: String,
///     is_locked: bool,
/// }
///
/// wardgate_native::attributes! { Document { owner, is_locked as "locked" } }
///
/// impl wardgate_native::AsResource for Document {
///     fn id(&self) -> &str {
///         &self.id
///     }
/// }
/// ```
#[macro_export]
macro_rules! attributes {
    ($type:ty { $($field:ident $(as $name:literal)?),* $(,)? }) => {
        impl $crate::Attributes for $type {
            fn accessor(name: &str) -> Option<$crate::Accessor<Self>> {
                $(
                    if name == $crate::attributes!(@name $field $($name)?) {
                        fn read(value: &$type) -> $crate::Field<'_> {
                            $crate::AsField::field(&value.$field)
                        }
                        return Some(read);
                    }
                )*
                let _ = name;
                None
            }
        }

        impl $crate::Lookup for $type {
            fn get(&self, name: &str) -> $crate::Field<'_> {
                $(
                    if name == $crate::attributes!(@name $field $($name)?) {
                        return $crate::AsField::field(&self.$field);
                    }
                )*
                let _ = name;
                $crate::Field::Missing
            }

            fn each(&self, visit: &mut dyn FnMut(&str, $crate::Field<'_>)) {
                $(
                    visit(
                        $crate::attributes!(@name $field $($name)?),
                        $crate::AsField::field(&self.$field),
                    );
                )*
                let _ = visit;
            }
        }

        impl $crate::AsField for $type {
            fn field(&self) -> $crate::Field<'_> {
                $crate::Field::Map(self)
            }
        }
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:literal) => { $name };
}
