//! Reads S-expressions, and queries sets of rules.

use wardgate_spocp::{Expression, Normal, RuleSet};

/// Reads every line as an expression. Those that can be read are put into a set of rules, of which
/// every other one is deleted again, and queried.
///
/// # Panics
/// If an expression is not read back as it was written, or if the set does not answer as its rules
/// do.
pub fn spocp(input: &[u8]) {
    let mut set = RuleSet::new();
    let mut rules = Vec::new();
    for line in input.split(|byte| *byte == b'\n').take(LINES) {
        for expression in read(line) {
            let rule = Normal::new(expression);
            if let Ok(inserted) = set.insert(&rule) {
                rules.push((inserted.id(), rule));
            }
        }
    }
    compare(&set, &rules);
    let gone: Vec<_> = rules.iter().map(|(id, _)| *id).filter(|id| id.number() % 2 == 1).collect();
    rules.retain(|(id, _)| !gone.contains(id));
    for id in gone {
        set.remove(id);
    }
    compare(&set, &rules);
}

/// Returns the expressions that a line holds in either form.
fn read(line: &[u8]) -> Vec<Expression> {
    let mut found = Vec::new();
    if let Ok(expression) = Expression::from_canonical(line) {
        assert!(expression.to_canonical() == line, "canonical form");
        found.push(expression);
    }
    if let Ok(expression) = Expression::from_advanced(line) {
        let again = Expression::from_advanced(&expression.to_advanced());
        let same = again.is_ok_and(|again| again.to_canonical() == expression.to_canonical());
        assert!(same, "advanced form");
        found.push(expression);
    }
    found
}

fn compare(set: &RuleSet, rules: &[(wardgate_spocp::RuleId, Normal)]) {
    for (_, query) in rules {
        let allowing = rules.iter().filter(|(_, rule)| query.is_at_most(rule));
        let mut expected: Vec<_> = allowing.map(|(id, _)| *id).collect();
        expected.sort_unstable();
        expected.dedup();
        assert!(set.matches(query).eq(expected.iter().copied()), "all that allow");
        assert!(set.first(query) == expected.first().copied(), "the first that allows");
        assert!(set.allows(query) && set.find(query).is_some(), "a rule allows itself");
    }
}

/// Returns texts of rules, several in each.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    TEXTS.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// The most lines that are read: a set is compared with each of its rules, and each of them with
/// all.
const LINES: usize = 32;

const TEXTS: &[&str] = &[
    "(http (page index.html)(action GET)(user olav))\n(http (page index.html)(action)(user olav))\n(http)",
    "(4:http(4:page10:index.html)(6:action3:GET)(4:user4:olav))\n(4:http(1:*6:prefix2:in)(1:*))",
    "(t (* set (a x) (b (a y)) (c) a) a)\n(t (* set a b) a)\n(t (a x y) a)\n(t (*) a)",
    "(worktime (* range time ge 08:00:00 le 17:00:00))\n(worktime 12:30:00)\n(worktime (* range time))",
    "(n (* range numeric lt 15 ge 10))\n(n (* set 10 11))\n(n 12)\n(n (* range numeric))\n(n (* set 1 2 x))",
    "(d (* range date ge 2002-12-31T23:59:59+01:00))\n(d 2003-01-01_00:00:00)",
    "(a (* range ipv4 ge 10.0.0.0 lt 11.0.0.0))\n(a (* range ipv6 le fe80::))\n(a 10.1.2.3)\n(a fe7f::1)",
    "(f (* set (* prefix ab) (* suffix ba)))\n(f aba)\n(f (* prefix abc))\n(f (* suffix ba))\n(f #ff00#)",
    "\"a b\\x41\"\n|YWI=|\n(a (* range alpha gt b lt d))\n(a c)\n(a (b (c (d))) (* set (e (* set f g)) h))",
];
