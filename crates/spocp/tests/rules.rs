//! The behaviour of a set of rules that no property covers.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests stand outside of the functions that clippy knows as tests"
)]

use wardgate_spocp::{Normal, Refused, RuleId, RuleSet};

fn normal(text: &str) -> Normal {
    Normal::from_advanced(text.as_bytes()).unwrap()
}

fn set(rules: &[&str]) -> RuleSet {
    let mut set = RuleSet::new();
    for rule in rules {
        set.insert(&normal(rule)).unwrap();
    }
    set
}

fn numbers(set: &RuleSet, query: &str) -> Vec<u32> {
    set.matches(&normal(query)).map(RuleId::number).collect()
}

fn texts(set: &RuleSet) -> Vec<String> {
    let text = |rule: Normal| String::from_utf8(rule.expression().to_advanced()).unwrap();
    set.iter().map(|(_, rule)| text(rule)).collect()
}

#[test]
fn a_rule_is_in_a_set_once_however_it_is_written() {
    let mut set = set(&["(a (* set 1 2 x))"]);
    let again = set.insert(&normal("(a (* set x (* range numeric lt 3 gt 0)))")).unwrap();
    assert!(!again.is_new());
    assert_eq!((again.id().number(), set.len()), (0, 1));
    assert_eq!(set.find(&normal("(a (* set 2 1 x))")), Some(again.id()));
    assert_eq!(set.find(&normal("(a (* set 2 1))")), None);
    assert_eq!(set.find(&normal("(a)")), None);
}

#[test]
fn the_first_rule_is_the_one_with_the_lowest_number() {
    let mut set = set(&["(b)", "(a (*))", "(a)", "(a x)", "(*)"]);
    assert_eq!(numbers(&set, "(a x)"), [1, 2, 3, 4]);
    assert_eq!(set.first(&normal("(a x)")), Some(RuleId::new(1)));
    assert!(set.remove(RuleId::new(1)) && !set.remove(RuleId::new(1)));
    assert_eq!(set.first(&normal("(a x)")), Some(RuleId::new(2)));
    assert_eq!(set.first(&normal("(c)")), Some(RuleId::new(4)));
}

#[test]
fn a_number_is_never_reused() {
    let mut set = set(&["(a)"]);
    assert!(set.remove(RuleId::new(0)));
    assert!(set.is_empty() && !set.allows(&normal("(a)")));
    assert_eq!(set.insert(&normal("(a)")).unwrap().id(), RuleId::new(1));
    assert_eq!((set.rule(RuleId::new(0)).is_none(), set.len()), (true, 1));
}

#[test]
fn rules_are_listed_by_number_in_normal_form() {
    let rules = ["(z (* prefix a) (b (c)) d)", "x", "(a (* set (l 1) b (* suffix q)) (*))", "(*)"];
    assert_eq!(
        texts(&set(&rules)),
        ["(z (* prefix a)(b (c)) d)", "x", "(a (* set (* suffix q)(l 1) b)(*))", "(*)"]
    );
    assert_eq!(
        texts(&set(&["(a (* range numeric gt 1 lt 4))"])),
        ["(a (* range numeric ge 2 le 3))"]
    );
}

#[test]
fn an_empty_expression_is_no_rule_and_no_query() {
    let mut set = set(&["(*)"]);
    assert_eq!(set.insert(&Normal::default()), Err(Refused::Empty));
    assert!(!set.allows(&Normal::default()));
    assert_eq!(set.find(&Normal::default()), None);
}

#[test]
fn a_query_reuses_the_memory_of_the_last_one() {
    let set = set(&["(a 1)", "(a (* range numeric ge 3))"]);
    let mut query = Normal::default();
    let mut ask = |text: &str| {
        query
            .read_canonical(text.as_bytes())
            .map(|()| set.first(&query))
            .map_err(|error| error.offset)
    };
    assert_eq!(ask("(1:a1:1)"), Ok(Some(RuleId::new(0))));
    assert_eq!(ask("(1:a1:1"), Err(7));
    assert_eq!(ask("(1:a(1:*5:range7:numeric2:gt1:3))"), Ok(Some(RuleId::new(1))));
    assert_eq!(ask("(1:a(1:*3:set1:41:1))"), Ok(None));
}

#[test]
fn a_rule_is_found_once_however_many_elements_of_its_sets_fit() {
    let both = "(* set (* prefix a) (* suffix a) (* range alpha ge aa))".to_owned();
    let set = set(&[&format!("(t {})", vec![both; 200].join(" "))]);
    // Followed one by one, the paths would be three to the power of 200.
    let query = |last: &str| format!("(t {} {last})", ["aa"; 199].join(" "));
    assert_eq!(numbers(&set, &query("aa")), [0]);
    assert_eq!(numbers(&set, &query("(* set aa (* prefix aab))")), [0]);
    assert!(numbers(&set, &query("Z")).is_empty());
}

#[test]
fn wildcards_at_every_level_lead_to_each_rule_once() {
    let word = |bits: usize, at: usize| if bits >> at & 1 == 1 { "(*)" } else { "(b)" };
    let rule =
        |bits| format!("(t {})", (0..10).map(|at| word(bits, at)).collect::<Vec<_>>().join(" "));
    let rules: Vec<String> = (0..1024).map(rule).collect();
    let set = set(&rules.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(numbers(&set, &rule(0)).into_iter().eq(0..1024));
    assert_eq!(numbers(&set, "(t c c c c c c c c c (b x) y)"), [511, 1023]);
}

#[test]
fn ranges_at_one_node_are_distinguished() {
    let rule = |at: usize| format!("(n (* range numeric ge {at} le {}))", at + 3);
    // In an order that is neither that of the bounds nor its reverse.
    let order: Vec<usize> = (0..5000).map(|at| at * 1999 % 5000).collect();
    let rules: Vec<String> = order.iter().map(|at| rule(*at)).collect();
    let mut set = set(&rules.iter().map(String::as_str).collect::<Vec<_>>());
    let found = |set: &RuleSet, query: &str| {
        let mut lows: Vec<usize> = set
            .matches(&normal(query))
            .map(|id| order[usize::try_from(id.number()).unwrap()])
            .collect();
        lows.sort_unstable();
        lows
    };
    assert_eq!(found(&set, "(n 1000)"), [997, 998, 999, 1000]);
    assert_eq!(found(&set, "(n (* range numeric ge 1000 le 1002))"), [999, 1000]);
    assert_eq!(found(&set, "(n (* set 10 12))"), [9, 10]);
    for (number, low) in order.iter().enumerate().filter(|(_, low)| **low % 2 == 1) {
        assert!(set.remove(RuleId::new(u32::try_from(number).unwrap())), "{low}");
    }
    assert_eq!(found(&set, "(n 1000)"), [998, 1000]);
    assert!(found(&set, "(n 9000)").is_empty());
}

#[test]
fn removal_frees_texts_and_nodes() {
    // Each round restores the set, so no memory may grow.
    let mut set = set(&["(keep (* set a (* prefix b)))"]);
    for round in 0..20_000 {
        let rule = normal(&format!(
            "(r{round} (* set x{round} (* suffix y{round})) (* range numeric ge {}))",
            round + 1
        ));
        let id = set.insert(&rule).unwrap().id();
        assert!(set.allows(&rule) && set.remove(id) && !set.allows(&rule));
    }
    assert_eq!(texts(&set), ["(keep (* set (* prefix b) a))"]);
    assert_eq!(set.first(&normal("(keep bb)")), Some(RuleId::new(0)));
}
