//! Every bound on suites, in one place.

/// Tests of one suite: principals times resources, over all of its tables.
pub const MAX_TESTS: usize = 1_000_000;

/// Decisions of one suite: its tests times their actions.
pub const MAX_CASES: usize = 4_000_000;

/// Tests that a host decides at once.
pub const MAX_QUESTIONS: usize = 256;

/// Tables that are kept for different options of tests.
pub const MAX_TABLES: usize = 16;

/// Steps that a pattern of test names may take on one name.
pub const MAX_NAME_STEPS: u32 = 10_000_000;
