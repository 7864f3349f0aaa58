//! The names of the rivals in a report: exactly as `Cargo.toml` pins them.

/// Returns all of them.
pub(crate) fn all() -> Vec<String> {
    let all = [ML_DSA, LIBCRUX, FIPS204, AWS_LC, RING, BLAKE3, CHACHA20POLY1305];
    let all = all.map(str::to_owned).to_vec();
    #[cfg(feature = "openssl")]
    let all = [all, vec![openssl()]].concat();
    all
}

/// Returns the version of the system's library.
#[cfg(feature = "openssl")]
pub(super) fn openssl() -> String {
    let text = openssl::version::version();
    text.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
}

pub(super) const ML_DSA: &str = "ml-dsa 0.1.2";
pub(super) const LIBCRUX: &str = "libcrux-ml-dsa 0.0.11";
pub(super) const FIPS204: &str = "fips204 0.5.0";
pub(super) const AWS_LC: &str = "aws-lc-rs 1.19.0";
pub(super) const RING: &str = "ring 0.17.14";
pub(super) const RING_CHACHA: &str = "ring 0.17.14 ChaCha20-Poly1305";
pub(super) const BLAKE3: &str = "blake3 1.8.7";
pub(super) const CHACHA20POLY1305: &str = "chacha20poly1305 0.11.0";
