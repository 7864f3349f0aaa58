//! Feeds `wardgate_tests::fuzz::mqtt_gate`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| wardgate_tests::fuzz::mqtt_gate(input));
