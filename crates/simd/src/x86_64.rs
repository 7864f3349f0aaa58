//! The x86-64 back ends: SSE2, which every such machine has, and AVX2, which has to be asked for.

mod avx2;
mod sse2;

pub use avx2::Avx2;
pub use sse2::Sse2;
