//! Feeds `wardgate_tests::fuzz::spocp_tcp`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| wardgate_tests::fuzz::spocp_tcp(input));
