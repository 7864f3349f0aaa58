//! Feeds `wardgate_tests::fuzz::sealed_text`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| wardgate_tests::fuzz::sealed_text(input));
