//! The ratios that Wardgate promises of its cryptography.

use super::versions::{AWS_LC, BLAKE3, CHACHA20POLY1305, LIBCRUX, RING, RING_CHACHA};
use crate::ratios::Others::Named;
use crate::ratios::Promise;
use crate::report::NATIVE;

const NODE: &str = "Node";
const VERIFY: &str = "crypto-ml-dsa-87";
const MANY: &str = "crypto-blake3-1000x64";

pub(crate) const PROMISES: &[Promise] = &[
    (VERIFY, NODE, "Wardgate, prepared key", Named(LIBCRUX), 10.0),
    (VERIFY, NATIVE, "Wardgate, prepared key", Named(AWS_LC), 5.0),
    (VERIFY, NATIVE, "Wardgate, batch of 8", Named(AWS_LC), 8.0),
    (VERIFY, NATIVE, "Wardgate, batch of 128", Named("all cores, batch of 128: aws-lc-rs"), 8.0),
    (MANY, NATIVE, "Wardgate hash_many", Named(BLAKE3), 10.0),
    (MANY, NODE, "Wardgate hashMany, in place", Named(BLAKE3), 1.8),
    ("crypto-aead-65536", NODE, "Wardgate ChaCha20-Poly1305", Named(CHACHA20POLY1305), 1.7),
    ("crypto-aead-65536", NATIVE, "Wardgate ChaCha20-Poly1305", Named(RING_CHACHA), 1.0),
    ("crypto-aead-64", NATIVE, "Wardgate AEGIS-256X4", Named(RING), 1.7),
    ("crypto-aead-1024", NATIVE, "Wardgate AEGIS-256X4", Named(RING), 2.5),
    ("crypto-aead-1048576", NATIVE, "Wardgate AEGIS-256X4", Named(RING), 4.0),
];
