//! The modules of the section `crypto`: our cryptography and that of the competitors, in
//! WebAssembly.
//!
//! Ours is built and optimised like the module of the package, the competitors for speed alone:
//! once with the vectors of WebAssembly, once without.

use std::path::{Path, PathBuf};

use crate::setup;
use crate::shell::{self, Outcome, command, root, target};
use crate::wasm;

/// Builds the modules and returns their folder.
pub(super) fn build() -> Outcome<PathBuf> {
    setup::all()?;
    let folder = target().join("host-bench-wasm");
    for module in MODULES {
        module.build(&folder)?;
    }
    Ok(folder)
}

/// One module.
struct Module {
    name: &'static str,
    profile: &'static [&'static str],
    features: &'static str,
    vectors: &'static str,
}

impl Module {
    fn build(&self, folder: &Path) -> Outcome {
        let Self { name, profile, features, vectors } = self;
        let mut wasm_pack = command("wasm-pack");
        wasm_pack.arg("build").arg(root().join("host-bench/wasm")).args(*profile);
        wasm_pack.args(["--target", "nodejs", "--no-pack", "--mode", "no-install"]);
        wasm_pack.args(["--out-name", "module", "--out-dir"]).arg(folder.join(name));
        wasm_pack.args(["--", "--features", features]);
        wasm_pack.env("CARGO_ENCODED_RUSTFLAGS", wasm::flags(vectors));
        shell::logged(&format!("wasm-pack {name}"), &mut wasm_pack)
    }
}

const MODULES: &[Module] = &[
    Module { name: "ours", profile: &["--profile", "wasm"], features: "ours", vectors: "+simd128" },
    Module {
        name: "rivals",
        profile: &["--release"],
        features: "rivals,simd",
        vectors: "+simd128",
    },
    Module {
        name: "rivals-plain",
        profile: &["--release"],
        features: "rivals",
        vectors: "-simd128",
    },
];
