//! Feeds `wardgate_tests::fuzz::envelope`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| wardgate_tests::fuzz::envelope(input));
