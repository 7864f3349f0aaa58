//! Feeds `wardgate_tests::fuzz::limits`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| wardgate_tests::fuzz::limits(input));
