//! The memory for compiling a large repository: a bound for each policy, the same one in larger
//! repositories.

use wardgate_compiler::{Enforcement, Options, compile_files};
use wardgate_tests::loadtest::Templates;
use wardgate_tests::program::root;

#[test]
fn memory_grows_with_the_policies_and_no_faster() {
    let corpora = root().join("../shared/corpora");
    if !corpora.is_dir() {
        println!("no corpora: nothing to compile");
        return;
    }
    for set in ["classic", "multitenant"] {
        let templates = Templates::read(&corpora, set).unwrap();
        let few = peak(&templates, FEW);
        let many = peak(&templates, FEW * 8);
        println!("{set}: {few} and {many} bytes for each policy");
        assert!(few < BYTES_PER_POLICY && many < BYTES_PER_POLICY, "{set}: {few}, {many}");
        assert!(many < few.saturating_mul(2), "{set}: {few} bytes, then {many}");
    }
}

/// Returns the peak of bytes in use while this many copies are compiled, for each policy.
fn peak(templates: &Templates, copies: usize) -> u64 {
    let files = templates.repository(copies);
    let options = Options { schema_enforcement: Enforcement::Reject, ..Options::default() };
    let mut policies = 0;
    let used = allocation_counter::measure(|| {
        policies = compile_files(&files, &options).map_or(0, |compiled| compiled.policies);
    });
    assert!(policies >= copies * templates.policies_per_copy(), "{policies} policies");
    used.bytes_max / u64::try_from(policies).unwrap_or(1)
}

/// Copies of each template.
const FEW: usize = 8;

/// 10,000 policies must compile in 1 GB; this leaves room for their files and for the bundle.
const BYTES_PER_POLICY: u64 = 50_000;
