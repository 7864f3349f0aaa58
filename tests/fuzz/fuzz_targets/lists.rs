//! Feeds `wardgate_tests::fuzz::lists`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| wardgate_tests::fuzz::lists(input));
