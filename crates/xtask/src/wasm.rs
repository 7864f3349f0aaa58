//! Builds the runtime module into `npm/wasm`, with vectors and without, and holds it to its size.
//!
//! wasm-pack drives cargo, wasm-bindgen and wasm-opt. A build is skipped when nothing that goes into
//! it has changed.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::setup;
use crate::shell::{self, Outcome, command, root, target};

/// Builds the runtime module, unless the one there is up to date.
pub(crate) fn build() -> Outcome {
    setup::all()?;
    let stamp = folder().join(".inputs");
    let inputs = digest_of_inputs(&[])?;
    if fs::read_to_string(&stamp).is_ok_and(|built| built == inputs) {
        return Ok(());
    }
    println!("  building the runtime module");
    let start = Instant::now();
    // Left over files of an older build must not reach the package.
    if folder().exists() {
        fs::remove_dir_all(folder()).map_err(|error| format!("cannot empty npm/wasm: {error}"))?;
    }
    pack("+simd128", &folder(), &target())?;
    add_plain()?;
    trim()?;
    println!("  built the runtime module in {}", shell::seconds(start.elapsed()));
    shell::write(&stamp, inputs)
}

/// Fails when a compressed module is larger than the promise.
pub(crate) fn check_size() -> Outcome {
    check_size_of(NAME)?;
    check_size_of(PLAIN)
}

fn check_size_of(name: &str) -> Outcome {
    let module = folder().join(format!("{name}_bg.wasm"));
    let raw =
        fs::read(&module).map_err(|error| format!("cannot read {}: {error}", module.display()))?;
    let print = "process.stdout.write(String(require('zlib').gzipSync(\
                 require('fs').readFileSync(process.argv[1]), { level: 9 }).length))";
    let text = shell::captured(command("node").args(["-e", print]).arg(&module))?;
    let packed: usize = text.parse().map_err(|_| format!("node printed `{text}` for a size"))?;
    println!("    module {name}: {} bytes, {packed} gzipped, at most {MOST_GZIPPED}", raw.len());
    if packed > MOST_GZIPPED {
        return Err(format!("the module {name} is {} bytes too large", packed - MOST_GZIPPED));
    }
    Ok(())
}

/// The folder of the built module.
fn folder() -> PathBuf {
    root().join("npm/wasm")
}

/// Builds the module with a target feature into a folder.
fn pack(feature: &str, folder: &Path, target: &Path) -> Outcome {
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
        .arg(folder)
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_ENCODED_RUSTFLAGS", flags(feature));
    shell::logged(&format!("wasm-pack {feature}"), &mut wasm_pack)
}

/// Adds the module without vectors, for engines that have none. Both of them share one glue.
fn add_plain() -> Outcome {
    // Its own folder: with other flags in the same one, each build would undo the other.
    let target = target().join("wasm-plain");
    let built = target.join("package");
    pack("-simd128", &built, &target)?;
    let glue = format!("{NAME}_bg.js");
    if shell::read(&folder().join(&glue))? != shell::read(&built.join(&glue))? {
        return Err("the modules with and without vectors do not fit one glue".into());
    }
    let plain = folder().join(format!("{PLAIN}_bg.wasm"));
    fs::copy(built.join(format!("{NAME}_bg.wasm")), &plain)
        .map_err(|error| format!("cannot write {}: {error}", plain.display()))?;
    let mut check = command("wasm-opt");
    // It refuses a module that uses what is not enabled.
    check.arg(&plain).args(["--all-features", "--disable-simd", "--disable-relaxed-simd"]);
    shell::logged("wasm-opt without vectors", &mut check)
}

/// Leaves what the package ships: the modules, their glue, and its types.
///
/// wasm-pack adds an entry that imports the module by itself. That one cannot start a second instance,
/// which the package needs after a trap.
fn trim() -> Outcome {
    let types = shell::read(&folder().join(format!("{NAME}.d.ts")))?;
    let setter = "export function __wbg_set_wasm(exports: WebAssembly.Exports): void;\n";
    let shipped = [format!("{NAME}_bg.js"), format!("{NAME}_bg.wasm"), format!("{PLAIN}_bg.wasm")];
    for file in shell::entries(&folder())? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if !shipped.iter().any(|kept| *kept == name) {
            fs::remove_file(&file)
                .map_err(|error| format!("cannot remove {}: {error}", file.display()))?;
        }
    }
    shell::write(&folder().join(format!("{NAME}_bg.d.ts")), types + setter)?;
    let compiled = "declare const module: WebAssembly.Module;\nexport default module;\n";
    shell::write(&folder().join("module.d.ts"), compiled)
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

/// Returns a digest of every file that can change the module, and of others.
pub(crate) fn digest_of_inputs(others: &[PathBuf]) -> Outcome<String> {
    let mut files = vec![root().join("Cargo.toml"), root().join("Cargo.lock")];
    files.extend_from_slice(others);
    for name in ["setup.rs", "wasm.rs"] {
        files.push(root().join("crates/xtask/src").join(name));
    }
    for folder in shell::entries(&root().join("crates"))? {
        if !NOT_IN_MODULES.iter().any(|name| folder.ends_with(name)) {
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
/// The module without vectors.
const PLAIN: &str = "wardgate_nosimd";

/// 190 KB after gzip: what a page may pay for the runtime, of which 35 are for signatures, hashing and
/// seals. See `docs/DESIGN.md`.
const MOST_GZIPPED: usize = 190 * 1000;

/// Crates that no module is made of.
const NOT_IN_MODULES: [&str; 3] = ["xtask", "cli", "wasmtime-host"];
