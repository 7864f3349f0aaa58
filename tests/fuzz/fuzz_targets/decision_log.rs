//! Feeds `wardgate_tests::fuzz::decision_log`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| wardgate_tests::fuzz::decision_log(input));
