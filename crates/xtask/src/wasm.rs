//! Builds the runtime module into `npm/wasm`, and holds it to its size.
//!
//! wasm-pack drives cargo, wasm-bindgen and wasm-opt. A build is skipped when nothing that goes into
//! it has changed.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::setup;
use crate::shell::{self, Outcome, command, root};

/// Builds the runtime module, unless the one there is up to date.
pub(crate) fn build() -> Outcome {
    setup::all()?;
    let stamp = folder().join(".inputs");
    let inputs = digest_of_inputs()?;
    if fs::read_to_string(&stamp).is_ok_and(|built| built == inputs) {
        return Ok(());
    }
    println!("  building the runtime module");
    let start = Instant::now();
    pack()?;
    declare_glue()?;
    println!("  built the runtime module in {}", shell::seconds(start.elapsed()));
    shell::write(&stamp, inputs)
}

/// Fails when the compressed module is larger than the promise.
pub(crate) fn check_size() -> Outcome {
    let module = folder().join(format!("{NAME}_bg.wasm"));
    let raw =
        fs::read(&module).map_err(|error| format!("cannot read {}: {error}", module.display()))?;
    let print = "process.stdout.write(String(require('zlib').gzipSync(\
                 require('fs').readFileSync(process.argv[1]), { level: 9 }).length))";
    let text = shell::captured(command("node").args(["-e", print]).arg(&module))?;
    let packed: usize = text.parse().map_err(|_| format!("node printed `{text}` for a size"))?;
    println!("    runtime module: {} bytes, {packed} gzipped, at most {MOST_GZIPPED}", raw.len());
    if packed > MOST_GZIPPED {
        return Err(format!("the runtime module is {} bytes too large", packed - MOST_GZIPPED));
    }
    Ok(())
}

/// The folder of the built module.
fn folder() -> PathBuf {
    root().join("npm/wasm")
}

fn pack() -> Outcome {
    // Left over files of an older build must not reach the package.
    if folder().exists() {
        fs::remove_dir_all(folder()).map_err(|error| format!("cannot empty npm/wasm: {error}"))?;
    }
    let arguments = [
        "build",
        "crates/wasm",
        "--profile",
        "wasm",
        "--target",
        "bundler",
        "--no-pack",
        "--mode",
        "no-install",
    ];
    let mut wasm_pack = command("wasm-pack");
    wasm_pack
        .args(arguments)
        .args(["--out-name", NAME, "--out-dir"])
        .arg(folder())
        .env("CARGO_ENCODED_RUSTFLAGS", flags("+simd128"));
    shell::logged("wasm-pack", &mut wasm_pack)?;
    // It says `*`, and npm obeys it when it packs the package.
    fs::remove_file(folder().join(".gitignore"))
        .map_err(|error| format!("no .gitignore from wasm-pack: {error}"))
}

/// The flags of the compiler with this target feature, in the form that allows spaces in a path.
///
/// The module holds the path of each source file that can panic. Those of the building machine are
/// replaced, so that every machine builds the same bytes.
pub(crate) fn flags(feature: &str) -> String {
    let home = std::env::home_dir().map(|home| home.join(".cargo"));
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from).or(home).unwrap_or_default();
    let remapped = |from: &Path, to| format!("--remap-path-prefix={}={to}", from.display());
    let feature = format!("-Ctarget-feature={feature}");
    [feature, remapped(&cargo, "cargo"), remapped(&root(), "wardgate")].join("\x1f")
}

/// Declares the types of the glue without its loader, which is what `npm/src` imports.
///
/// wasm-pack declares only the entry that imports the module by itself. That one cannot start a
/// second instance, which the package needs after a trap.
fn declare_glue() -> Outcome {
    let text = format!(
        "export * from \"./{NAME}.js\";\n\
         export function __wbg_set_wasm(exports: WebAssembly.Exports): void;\n"
    );
    shell::write(&folder().join(format!("{NAME}_bg.d.ts")), text)
}

/// Returns a digest of every file that can change the module.
fn digest_of_inputs() -> Outcome<String> {
    let mut files = vec![root().join("Cargo.toml"), root().join("Cargo.lock")];
    for name in ["setup.rs", "wasm.rs"] {
        files.push(root().join("crates/xtask/src").join(name));
    }
    for folder in shell::entries(&root().join("crates"))? {
        if !folder.ends_with("xtask") && !folder.ends_with("cli") {
            files.push(folder.join("Cargo.toml"));
            collect(&folder.join("src"), &mut files)?;
        }
    }
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.strip_prefix(root()).unwrap_or(&file).hash(&mut hasher);
        fs::read(&file)
            .map_err(|error| format!("cannot read {}: {error}", file.display()))?
            .hash(&mut hasher);
    }
    Ok(format!("{:016x}\n", hasher.finish()))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Outcome {
    for entry in shell::entries(folder)? {
        if entry.is_dir() {
            collect(&entry, files)?;
        } else {
            files.push(entry);
        }
    }
    Ok(())
}

const NAME: &str = "wardgate";

/// 190 KB after gzip: what a page may pay for the runtime, of which 35 are for signatures, hashing and
/// seals. See `docs/DESIGN.md`.
const MOST_GZIPPED: usize = 190 * 1000;
