//! The x86-64 back ends: SSE2, which every such machine has, and AVX2, which has to be asked for. AVX-512 has
//! to be asked for too, and serves the lanes only: columns gain nothing more from it.

mod avx2;
mod avx512;
mod sse2;

pub use avx2::Avx2;
pub use avx512::Avx512;
pub use sse2::Sse2;
