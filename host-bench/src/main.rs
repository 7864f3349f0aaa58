//! Measures decisions natively and in Node, beside hand-written code and rivals.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    wardgate_host_bench::bench()
}
