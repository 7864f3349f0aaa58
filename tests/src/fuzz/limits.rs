//! Bytes as operations of rate limits, on keys of a table and on bare states.
//!
//! Keys with places have the outcomes of bare states, whatever rule, time and state come. A charge is
//! allowed only if its tokens were there, and numbers of any state stay within the rule.

use wardgate_ratelimit::{
    Algorithm, MAX_TIME, Operation, Outcome, Rule, Set, State, Table, TableCounts, WhenFull, Window,
};

/// Reads a rule and operations, and compares the table with bare states.
pub fn limits(input: &[u8]) {
    let Some((head, steps)) = input.split_first_chunk::<HEAD>() else { return };
    let Ok(rule) = rule(head) else { return };
    let (table, mut states) = (Table::new([Set::default()], WhenFull::Deny), [State::NONE; KEYS]);
    let mut now = 0_u64;
    let (steps, _) = steps.as_chunks::<STEP>();
    for [key, what, cost @ .., late, near, far] in steps.iter().take(MAX_STEPS) {
        // A table takes the time at which it last gave a place away for one before it, so times go on.
        now = now.saturating_add(u64::from(*near) << (late % 8) << (far % 48));
        let operation = operation(*what, u64::from(u16::from_le_bytes(*cost)));
        let number = usize::from(*key) % KEYS;
        let Some(state) = states.get_mut(number) else { return };
        let (next, outcome) = rule.apply(*state, now, operation);
        check(&rule, operation, &outcome);
        let fingerprint = u64::try_from(number).unwrap_or(0) << 8;
        assert_eq!(table.apply(fingerprint, &rule, now, operation), outcome, "the table differs");
        *state = next;
    }
    assert_eq!(table.counts(), TableCounts::default(), "a key had no place");
    // Any bits may lie in a store.
    let bits = head.first_chunk().copied().map(u64::from_le_bytes).unwrap_or_default();
    for operation in [Operation::Charge(1), Operation::Look(1), Operation::Refund(1)] {
        check(
            &rule,
            operation,
            &rule.apply(State::from_bits(bits), now.min(MAX_TIME), operation).1,
        );
    }
}

/// Returns inputs of each algorithm.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let seed = |algorithm: u8| {
        let mut seed = vec![algorithm, 10, 0, 0, 0, 0x40, 0x42, 0x0f, 0, 5];
        for step in 0..40_u8 {
            seed.extend([step % 5, step % 7, 1, 0, 1 + step % 3, 200, 4]);
        }
        seed
    };
    (0..4).map(seed).collect()
}

fn rule(head: &[u8; HEAD]) -> Result<Rule, wardgate_ratelimit::RuleError> {
    let [algorithm, a, b, c, d, e, f, g, h, burst] = *head;
    let quota = u32::from_le_bytes([a, b, c, d]).into();
    let window = Window::Micros(u32::from_le_bytes([e, f, g, h]).into());
    match algorithm % 4 {
        0 => Rule::new(Algorithm::Gcra { burst: Some(burst.into()) }, quota, window),
        1 => Rule::new(Algorithm::Fixed, quota, window),
        2 => Rule::new(Algorithm::Sliding, quota, window),
        _ => Rule::new(Algorithm::Fixed, quota, Window::Month),
    }
}

const fn operation(what: u8, cost: u64) -> Operation {
    match what % 8 {
        0 => Operation::Look(cost),
        1 => Operation::Refund(cost),
        2 => Operation::Reset,
        _ => Operation::Charge(cost),
    }
}

/// Proves that an outcome is one of this rule.
fn check(rule: &Rule, operation: Operation, outcome: &Outcome) {
    let full = rule.capacity();
    assert!(outcome.remaining <= full, "more remains than a full key has");
    assert!(outcome.reset > 0 || outcome.remaining == full, "a full key lacks tokens");
    if let (Operation::Charge(cost), true) = (operation, outcome.is_allowed()) {
        assert!(cost <= full, "a cost above a full key was charged");
    }
}

/// The bytes of a rule, and of a step.
const HEAD: usize = 10;
const STEP: usize = 7;

/// The keys, all of which have places.
const KEYS: usize = 5;
const MAX_STEPS: usize = 10_000;
