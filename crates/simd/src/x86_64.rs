//! The x86-64 back ends: SSE2, which every such machine has, and AVX2, which must be detected.
//! AVX-512 must be detected too, and serves the lanes only: columns gain no speed from it.

mod avx2;
mod avx512;
mod sse2;

pub use avx2::Avx2;
pub use avx512::Avx512;
pub use sse2::Sse2;
