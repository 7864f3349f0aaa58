//! Feeds `wardgate_tests::fuzz::signature`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| wardgate_tests::fuzz::signature(input));
