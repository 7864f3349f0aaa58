//! The conditions of `LIST`: one for each element of a rule, from the first on.
//!
//! `+` and an expression: the element of the rule allows it. `-` and an expression: it allows the
//! element. A missing element allows everything, and no named expression allows it.

use wardgate_spocp::Normal;

use super::codec;
use super::reply::Reply;

/// Which rules are wanted.
#[derive(Clone, Debug)]
pub struct Conditions(Vec<(Direction, Normal)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    /// The rule's element is greater than or equal to the expression.
    More,
    /// The rule's element is less than or equal to the expression.
    Less,
}

impl Conditions {
    /// Reads the arguments of `LIST`.
    ///
    /// # Errors
    /// The reply to a malformed argument.
    pub fn read(values: &[&[u8]]) -> Result<Self, Reply> {
        let one = |value: &&[u8]| {
            let (direction, text) = match value.split_first() {
                Some((b'+', text)) => (Direction::More, text),
                Some((b'-', text)) => (Direction::Less, text),
                _ => return Err(Reply::ArgumentError),
            };
            let named = Normal::from_canonical(text).map_err(|_| Reply::SyntaxError)?;
            Ok((direction, named))
        };
        values.iter().map(one).collect::<Result<_, _>>().map(Self)
    }

    /// Tells whether a rule is wanted, by its canonical text.
    #[must_use]
    pub fn hold(&self, rule: &[u8]) -> bool {
        let mut elements = Elements::of(rule);
        self.0.iter().all(|(direction, named)| match elements.next() {
            None => *direction == Direction::More,
            Some(element) => Normal::from_canonical(element).is_ok_and(|element| match direction {
                Direction::More => named.is_at_most(&element),
                Direction::Less => element.is_at_most(named),
            }),
        })
    }
}

/// The elements of a list, each as text.
struct Elements<'r>(&'r [u8]);

impl<'r> Elements<'r> {
    /// Looks into the canonical text of a list; anything else has no elements.
    fn of(rule: &'r [u8]) -> Self {
        Self(rule.strip_prefix(b"(").and_then(|rule| rule.strip_suffix(b")")).unwrap_or_default())
    }
}

impl<'r> Iterator for Elements<'r> {
    type Item = &'r [u8];

    fn next(&mut self) -> Option<&'r [u8]> {
        let (mut at, mut depth) = (0_usize, 0_usize);
        loop {
            let rest = self.0.get(at..)?;
            at = match rest.first()? {
                b'(' => {
                    depth = depth.saturating_add(1);
                    at.saturating_add(1)
                }
                b')' => {
                    depth = depth.saturating_sub(1);
                    at.saturating_add(1)
                }
                _ => at.saturating_add(codec::message(rest, rest.len()).ok()??.used),
            };
            if depth == 0 {
                break;
            }
        }
        let (element, rest) = self.0.split_at_checked(at)?;
        self.0 = rest;
        Some(element)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(conditions: &[&[u8]], rule: &[u8], expected: bool) {
        let read = Conditions::read(conditions).unwrap();
        assert_eq!(read.hold(rule), expected, "{conditions:?} {rule:?}");
    }

    #[test]
    fn the_example_of_the_draft_holds() {
        let conditions: [&[u8]; 4] =
            [b"+5:spocp", b"-(8:resource)", b"+(6:action4:read)", b"-(7:subject(3:uid))"];
        let rule =
            b"(5:spocp(8:resource(4:file3:etc6:groups))(6:action4:read)(7:subject(3:uid3:100)))";
        check(&conditions, rule, true);
        check(&conditions, b"(5:spocp(8:resource)(6:action5:write)(7:subject(3:uid)))", false);
        check(&conditions, b"(5:spocp(8:resource)(6:action)(7:subject(3:gid)))", false);
        check(&[b"+5:spocp", b"-(8:resource(4:file3:etc))"], rule, true);
    }

    #[test]
    fn ranges_are_covered_or_not() {
        let less: [&[u8]; 2] = [b"+3:age", b"-(1:*5:range7:numeric2:le2:10)"];
        check(&less, b"(3:age(1:*5:range7:numeric2:le1:6))", true);
        check(&less, b"(3:age(1:*5:range7:numeric2:ge1:72:le2:18))", false);
        check(&[b"+3:age", b"+2:10"], b"(3:age(1:*5:range7:numeric2:ge1:72:le2:18))", true);
    }

    #[test]
    fn missing_elements_of_a_rule_allow_everything() {
        check(&[], b"(1:a)", true);
        check(&[b"+1:a", b"+1:b"], b"(1:a)", true);
        check(&[b"+1:a", b"-1:b"], b"(1:a)", false);
        check(&[b"+1:a", b"-(1:*)"], b"(1:a(1:*6:prefix1:x))", true);
    }

    #[test]
    fn a_condition_has_a_direction() {
        let refused = |value: &[u8]| Conditions::read(&[value]).unwrap_err();
        assert_eq!(refused(b""), Reply::ArgumentError);
        assert_eq!(refused(b"5:spocp"), Reply::ArgumentError);
        assert_eq!(refused(b"+"), Reply::SyntaxError);
        assert_eq!(refused(b"-(5:spocp"), Reply::SyntaxError);
    }
}
