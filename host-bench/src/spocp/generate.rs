//! Rules and queries, the same in every run.

use std::fmt::Write;

/// Numbers that look random (SplitMix64), from the seed of the benchmark of go-spocp.
pub(super) struct Generator {
    state: u64,
}

impl Generator {
    pub(super) const fn new() -> Self {
        Self { state: SEED }
    }

    /// Makes rules about a resource, an action and a subject.
    pub(super) fn rules(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.rule()).collect()
    }

    /// Makes queries, half of them from a rule.
    pub(super) fn queries(&mut self, rules: &[String], count: usize) -> Vec<String> {
        let one = |_| match self.below(2) {
            0 => self.rule(),
            _ => self.one_of(rules).clone(),
        };
        (0..count).map(one).collect()
    }

    fn rule(&mut self) -> String {
        let kind = self.word(&RESOURCES);
        let resource = atom(&self.below(1000).to_string());
        let action = self.word(&ACTIONS);
        let subject = self.word(&SUBJECTS);
        let user = atom(&format!("user{}", self.below(100)));
        format!(
            "({kind}(2:id{resource})(6:action{action})(7:subject(4:type{subject})(2:id{user})))"
        )
    }

    /// Makes rules of all star forms, and queries that are like them.
    pub(super) fn starred(&mut self, rules: usize, queries: usize) -> (Vec<String>, Vec<String>) {
        let rules = (0..rules).map(|_| self.access(true)).collect();
        let queries = (0..queries).map(|_| self.access(false)).collect();
        (rules, queries)
    }

    /// Makes an expression of a path, an action, a time and a user.
    fn access(&mut self, has_stars: bool) -> String {
        let stars = |generator: &mut Self, share| has_stars && generator.below(10) < share;
        let folder = format!("/{}/{}", self.one_of(&RESOURCES), self.below(200));
        let path = match stars(self, 5) {
            false => atom(&format!("{folder}/{}{}", self.below(50), self.one_of(&ENDS))),
            true if self.below(4) == 0 => format!("(1:*6:suffix{})", self.word(&ENDS)),
            true => format!("(1:*6:prefix{})", atom(&folder)),
        };
        let action = match stars(self, 6) {
            false => self.word(&ACTIONS),
            true if self.below(3) == 0 => "(1:*)".to_owned(),
            true => format!("(1:*3:set{}{})", self.word(&ACTIONS), self.word(&ACTIONS)),
        };
        let hour = self.below(12);
        let time = match has_stars {
            false => atom(&format!("{hour:02}:30:00")),
            true => format!("(1:*5:range4:time2:ge8:{hour:02}:00:002:le8:{:02}:00:00)", hour + 4),
        };
        let mut text = format!("(6:access(4:path{path})(6:action{action})(4:time{time})");
        if !stars(self, 5) {
            let _ = write!(text, "(4:user{})", atom(&format!("user{}", self.below(100))));
        }
        text.push(')');
        text
    }

    fn word(&mut self, words: &[&'static str]) -> String {
        let word: &&str = self.one_of(words);
        atom(word)
    }

    fn one_of<'t, T>(&mut self, things: &'t [T]) -> &'t T {
        #[expect(clippy::indexing_slicing, reason = "the index is below the length")]
        &things[self.below(things.len())]
    }

    fn below(&mut self, bound: usize) -> usize {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        let bound = u64::try_from(bound).unwrap_or(1);
        usize::try_from(mixed % bound).unwrap_or_default()
    }
}

fn atom(text: &str) -> String {
    format!("{}:{text}", text.len())
}

const SEED: u64 = 42;
const RESOURCES: [&str; 5] = ["account", "document", "file", "user", "project"];
const ACTIONS: [&str; 5] = ["can_read", "can_write", "can_delete", "can_update", "can_create"];
const SUBJECTS: [&str; 3] = ["user", "service", "admin"];
const ENDS: [&str; 4] = [".pdf", ".txt", ".log", ".json"];
