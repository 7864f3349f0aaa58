//! The container image: the command, the libraries that it is linked with, and no shell.
//!
//! It is an OCI layout of two layers that only files of this machine go into, so that it needs no registry and no
//! daemon. The first layer is what images called "distroless" have; the second is the command.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::archive::{self, Archive};
use super::facts::Facts;
use super::report::{self, Report, ensure};
use super::{binaries, image_test};
use crate::shell::{self, Outcome, command, root};

/// Makes the image, and has it decide.
pub(super) fn check(facts: &Facts, report: &mut Report) -> Outcome {
    let program = binaries::program(facts)?;
    let layers = [base(&program)?, own(&program)?];
    let blobs = Blobs::new()?;
    let manifest = blobs.image(&layers, facts)?;
    let path = report::folder().join(format!("wardgate-{}-image-{}.tar", facts.version, cpu()));
    shell::write(&path, blobs.layout(&manifest, facts)?.tar(facts.epoch)?)?;
    let what = "the image runs as a user, on a root that it cannot write, and decides";
    report.check(what, image_test::decides(&blobs.layers()?));
    report.check("crates/server/Containerfile says the same", containerfile());
    report.add(&path, "forge")
}

/// Returns the layer of libraries, roots of certificates and names of users.
fn base(program: &Path) -> Outcome<Archive> {
    let mut layer = Archive::default();
    let mut needed = libraries(program)?;
    needed.insert(CERTIFICATES.into());
    for file in &needed {
        layer.copy(Path::new(file), file, 0o755)?;
    }
    for package in packages(&needed)? {
        let licence = format!("/usr/share/doc/{package}/copyright");
        layer.copy(Path::new(&licence), &licence, 0o644)?;
    }
    layer.file("/etc/passwd", PASSWD, 0o644);
    layer.file("/etc/group", GROUP, 0o644);
    layer.file("/etc/nsswitch.conf", "hosts: files dns\n", 0o644);
    Ok(layer)
}

/// Returns the layer of the command, its licence, and the empty folder of the configuration.
fn own(program: &Path) -> Outcome<Archive> {
    let mut layer = Archive::default();
    layer.copy(program, "/usr/local/bin/wardgate", 0o755)?;
    layer.copy(&root().join("LICENSE"), "/usr/share/doc/wardgate/LICENSE", 0o644)?;
    layer.folder("/etc/wardgate", 0o755);
    Ok(layer)
}

/// Returns the paths of all libraries that a program loads, and of its loader.
fn libraries(program: &Path) -> Outcome<BTreeSet<String>> {
    let text = shell::captured(command("ldd").arg(program))?;
    let path = |line: &str| {
        let named = line.split_once("=>").map_or(line, |(_, path)| path);
        named.split_whitespace().next().filter(|word| word.starts_with('/')).map(str::to_owned)
    };
    Ok(text.lines().filter_map(path).collect())
}

/// Returns the packages of the system that these files come from.
fn packages(files: &BTreeSet<String>) -> Outcome<BTreeSet<String>> {
    let mut found = BTreeSet::from(["ca-certificates".to_owned()]);
    for file in files.iter().filter(|file| *file != CERTIFICATES) {
        // Debian knows a library by its path with or without `/usr`, which are one folder.
        let owner = [file.clone(), format!("/usr{file}")].iter().find_map(|path| {
            let output = command("dpkg").arg("-S").arg(path).output().ok()?;
            let text = String::from_utf8(output.stdout).ok()?;
            Some(text.split(':').next()?.to_owned()).filter(|name| !name.is_empty())
        });
        found.insert(owner.ok_or_else(|| format!("no package of this machine has {file}"))?);
    }
    Ok(found)
}

/// The files of a layout that are named by their digest.
struct Blobs {
    folder: PathBuf,
}

impl Blobs {
    fn new() -> Outcome<Self> {
        Ok(Self { folder: report::empty_folder("image")? })
    }

    /// Writes layers, configuration and manifest, and returns the description of the manifest.
    fn image(&self, layers: &[Archive], facts: &Facts) -> Outcome<Value> {
        let (mut described, mut plain_digests) = (Vec::new(), Vec::new());
        for (at, layer) in layers.iter().enumerate() {
            let plain = self.folder.join(format!("layer-{at}.tar"));
            let packed = self.folder.join(format!("layer-{at}.tar.gz"));
            shell::write(&plain, layer.tar(facts.epoch)?)?;
            archive::gzip(&plain, &packed)?;
            plain_digests.push(format!("sha256:{}", archive::sha256(&plain)?));
            let bytes =
                std::fs::read(&packed).map_err(|error| format!("{}: {error}", packed.display()))?;
            described.push(self.add(bytes, "application/vnd.oci.image.layer.v1.tar+gzip")?);
        }
        let config = configuration(&plain_digests, facts)?;
        let config =
            self.add(config.to_string().into(), "application/vnd.oci.image.config.v1+json")?;
        let manifest = json!({
            "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": described,
            "annotations": labels(facts)?,
        });
        self.add(manifest.to_string().into(), MANIFEST)
    }

    /// Returns the paths of the layers, the lowest first.
    fn layers(&self) -> Outcome<Vec<PathBuf>> {
        let all = shell::entries(&self.folder)?;
        Ok(all.into_iter().filter(|path| path.extension().is_some_and(|it| it == "tar")).collect())
    }

    /// Returns the whole layout.
    fn layout(&self, manifest: &Value, facts: &Facts) -> Outcome<Archive> {
        let mut layout = Archive::default();
        layout.tree(&self.folder.join("blobs"), "blobs")?;
        layout.file("oci-layout", r#"{"imageLayoutVersion":"1.0.0"}"#, 0o644);
        let mut manifest = manifest.clone();
        if let Some(map) = manifest.as_object_mut() {
            let name = json!({ "org.opencontainers.image.ref.name": facts.version });
            map.insert("annotations".into(), name);
            map.insert("platform".into(), json!({ "os": "linux", "architecture": cpu() }));
        }
        let index = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": [manifest] });
        layout.file("index.json", index.to_string(), 0o644);
        Ok(layout)
    }

    fn add(&self, bytes: Vec<u8>, media: &str) -> Outcome<Value> {
        let size = bytes.len();
        let draft = self.folder.join("draft");
        shell::write(&draft, &bytes)?;
        let digest = archive::sha256(&draft)?;
        shell::write(&self.folder.join("blobs/sha256").join(&digest), bytes)?;
        Ok(json!({ "mediaType": media, "digest": format!("sha256:{digest}"), "size": size }))
    }
}

fn configuration(layers: &[String], facts: &Facts) -> Outcome<Value> {
    let second: u64 = 1_000_000_000;
    let created = facts.time()?;
    let history = ["libraries and certificates", "the command"]
        .map(|text| json!({ "created": created, "created_by": text }));
    Ok(json!({
        "created": created, "architecture": cpu(), "os": "linux",
        "config": {
            "User": USER, "WorkingDir": "/", "Entrypoint": ["/usr/local/bin/wardgate"],
            "Cmd": ["serve", "--config", "/etc/wardgate/wardgate.toml"],
            "Env": ["PATH=/usr/local/bin"], "ExposedPorts": { "3592/tcp": {}, "4751/tcp": {} },
            "Labels": labels(facts)?,
            // Not of OCI: Docker and Podman read it.
            "Healthcheck": {
                "Test": ["CMD", "/usr/local/bin/wardgate", "healthcheck"],
                "Interval": 10 * second, "Timeout": 5 * second, "StartPeriod": 5 * second, "Retries": 3,
            },
        },
        "rootfs": { "type": "layers", "diff_ids": layers },
        "history": history,
    }))
}

fn labels(facts: &Facts) -> Outcome<Value> {
    Ok(json!({
        "org.opencontainers.image.title": "wardgate",
        "org.opencontainers.image.description": "Policy decisions over HTTP, from one signed bundle",
        "org.opencontainers.image.version": facts.version,
        "org.opencontainers.image.revision": facts.revision,
        "org.opencontainers.image.created": facts.time()?,
        "org.opencontainers.image.licenses": facts.license,
        "org.opencontainers.image.source": facts.repository,
        "org.opencontainers.image.url": facts.repository,
    }))
}

/// Checks that the Containerfile, for those who build with a daemon, has the same user and commands.
fn containerfile() -> Outcome {
    let text = shell::read(&root().join("crates/server/Containerfile"))?;
    for expected in ["FROM scratch", "USER 65532:65532", HEALTHCHECK, ENTRYPOINT, COMMAND] {
        ensure(text.contains(expected), format!("crates/server/Containerfile lacks `{expected}`"))?;
    }
    Ok(())
}

/// Returns the processor as images name it.
fn cpu() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// An account of its own, which images without a shell share by custom.
const USER: &str = "65532:65532";
const PASSWD: &str =
    "root:x:0:0:root:/:/sbin/nologin\nwardgate:x:65532:65532:wardgate:/:/sbin/nologin\n";
const GROUP: &str = "root:x:0:\nwardgate:x:65532:\n";

/// For `rediss` addresses of stores of rate limits.
const CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const HEALTHCHECK: &str = r#"CMD ["/usr/local/bin/wardgate", "healthcheck"]"#;
const ENTRYPOINT: &str = r#"ENTRYPOINT ["/usr/local/bin/wardgate"]"#;
const COMMAND: &str = r#"CMD ["serve", "--config", "/etc/wardgate/wardgate.toml"]"#;
