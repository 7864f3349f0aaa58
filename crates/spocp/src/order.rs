//! The partial order of section 6 of the draft, over normal forms.
//!
//! An element of a set is compared with an element of another at most once, so the work is at most
//! the product of the sizes.

use crate::expression::Element;

/// Returns true if `right` allows all that `left` denotes.
///
/// The numbers are those of the nine cases of the draft. Ranges, prefixes and suffixes are not
/// compared with each other, as the draft requires.
pub(crate) fn at_most(left: Element<'_>, right: Element<'_>) -> bool {
    use Element::{Any, Atom, List, Prefix, Range, Set, Suffix};
    match (left, right) {
        (_, Any) => true,                                                          // 1
        (Set(mut elements), _) => elements.all(|element| at_most(element, right)), // 8
        (_, Set(mut elements)) => elements.any(|element| at_most(left, element)),  // 9, and 3
        (Atom(atom), Atom(other)) => atom == other,                                // 2
        (Atom(atom), Range(range)) => range.holds(atom),                           // 3
        (Atom(atom) | Prefix(atom), Prefix(prefix)) => atom.starts_with(prefix),   // 3 and 5
        (Atom(atom) | Suffix(atom), Suffix(suffix)) => atom.ends_with(suffix),     // 3 and 6
        (Range(inner), Range(outer)) => outer.covers(inner),                       // 4
        (List(mut longer), List(mut shorter)) => {
            shorter.all(|right| longer.next().is_some_and(|left| at_most(left, right))) // 7
        }
        _ => false,
    }
}
