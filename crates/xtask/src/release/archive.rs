//! Archives whose bytes depend on their content only: tar (POSIX.1-1988, "ustar") and gzip.
//!
//! Entries stand in the order of their paths, belong to root, and have the time of the commit; gzip writes
//! neither name nor time.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::shell::{self, Outcome, command};

/// The entries of an archive.
#[derive(Default)]
pub(super) struct Archive {
    entries: BTreeMap<String, Entry>,
}

struct Entry {
    content: Vec<u8>,
    mode: u32,
    is_folder: bool,
}

impl Archive {
    /// Adds a file, and the folders above it.
    pub(super) fn file(&mut self, path: &str, content: impl Into<Vec<u8>>, mode: u32) {
        self.folders_above(path);
        self.entries.insert(path.into(), Entry { content: content.into(), mode, is_folder: false });
    }

    /// Adds an empty folder, and those above it.
    pub(super) fn folder(&mut self, path: &str, mode: u32) {
        self.folders_above(path);
        let entry = Entry { content: Vec::new(), mode, is_folder: true };
        self.entries.insert(format!("{path}/"), entry);
    }

    /// Adds a copy of a file on the disk.
    pub(super) fn copy(&mut self, from: &Path, path: &str, mode: u32) -> Outcome {
        let content = fs::read(from);
        let content =
            content.map_err(|error| format!("cannot read {}: {error}", from.display()))?;
        self.file(path, content, mode);
        Ok(())
    }

    /// Adds copies of all files in a folder, readable by all.
    pub(super) fn tree(&mut self, from: &Path, path: &str) -> Outcome {
        for entry in shell::entries(from)? {
            let name = entry.file_name().unwrap_or_default().to_string_lossy();
            let below = format!("{path}/{name}");
            if entry.is_dir() {
                self.tree(&entry, &below)?
            } else {
                self.copy(&entry, &below, 0o644)?
            }
        }
        Ok(())
    }

    /// Returns the bytes of the tar file, with `epoch` as the time of each entry.
    pub(super) fn tar(&self, epoch: u64) -> Outcome<Vec<u8>> {
        let mut bytes = Vec::new();
        for (path, entry) in &self.entries {
            bytes.extend(header(path, entry, epoch)?);
            bytes.extend(&entry.content);
            bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
        }
        bytes.resize(bytes.len() + 2 * BLOCK, 0);
        Ok(bytes)
    }

    /// Writes the archive, compressed.
    pub(super) fn write_gzipped(&self, epoch: u64, to: &Path) -> Outcome {
        let plain = to.with_extension("plain");
        shell::write(&plain, self.tar(epoch)?)?;
        gzip(&plain, to)?;
        fs::remove_file(&plain)
            .map_err(|error| format!("cannot remove {}: {error}", plain.display()))
    }

    fn folders_above(&mut self, path: &str) {
        for (at, _) in path.match_indices('/').filter(|(at, _)| *at > 0) {
            let folder = path.get(..=at).unwrap_or_default();
            let entry = Entry { content: Vec::new(), mode: 0o755, is_folder: true };
            self.entries.entry(folder.into()).or_insert(entry);
        }
    }
}

/// Compresses a file as strongly as gzip can.
pub(super) fn gzip(from: &Path, to: &Path) -> Outcome {
    let compressed = command("gzip").args(["-9", "-n", "-c"]).arg(from).output();
    let compressed = compressed.map_err(|error| format!("cannot run `gzip`: {error}"))?;
    if !compressed.status.success() {
        return Err(format!("cannot compress {}", from.display()));
    }
    shell::write(to, compressed.stdout)
}

/// Returns the SHA-256 digest of a file, in hexadecimal digits.
pub(super) fn sha256(path: &Path) -> Outcome<String> {
    let text = shell::captured(command("sha256sum").arg(path))?;
    let digest = text.split_whitespace().next().unwrap_or_default();
    Ok(digest.trim_start_matches('\\').to_owned())
}

/// Returns the block before the content of an entry.
fn header(path: &str, entry: &Entry, epoch: u64) -> Outcome<Vec<u8>> {
    let name = path.trim_start_matches('/');
    if name.len() > LONGEST_NAME {
        return Err(format!(
            "`{name}` is longer than the {LONGEST_NAME} bytes of a name in a tar file"
        ));
    }
    let mut block = vec![0; BLOCK];
    let kind = if entry.is_folder { "5" } else { "0" };
    let fields = [
        (0, name.to_owned()),
        (100, format!("{:07o}", entry.mode)),
        (108, format!("{:07o}", 0)),
        (116, format!("{:07o}", 0)),
        (124, format!("{:011o}", entry.content.len())),
        (136, format!("{epoch:011o}")),
        // The sum counts its own field as blanks.
        (148, " ".repeat(8)),
        (156, kind.to_owned()),
        (257, "ustar\u{0}00".to_owned()),
        (265, "root".to_owned()),
        (297, "root".to_owned()),
    ];
    for (at, text) in fields {
        put(&mut block, at, &text);
    }
    let sum: u64 = block.iter().map(|byte| u64::from(*byte)).sum();
    put(&mut block, 148, &format!("{sum:06o}\u{0} "));
    Ok(block)
}

fn put(block: &mut [u8], at: usize, text: &str) {
    for (to, from) in block.iter_mut().skip(at).zip(text.bytes()) {
        *to = from;
    }
}

const BLOCK: usize = 512;
const LONGEST_NAME: usize = 100;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Archive, sha256};
    use crate::shell;

    #[test]
    fn an_archive_is_read_by_tar_and_depends_on_its_content_only() {
        let folder = std::env::temp_dir().join(format!("xtask-archive-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (one, other) = (folder.join("one.tar.gz"), folder.join("other.tar.gz"));
        for (path, names) in [(&one, ["a/b", "a/c"]), (&other, ["a/c", "a/b"])] {
            let mut archive = Archive::default();
            for name in names {
                archive.file(name, name.as_bytes(), 0o755);
            }
            archive.folder("d", 0o700);
            archive.write_gzipped(1_000_000_000, path).unwrap();
        }
        assert_eq!(sha256(&one).unwrap(), sha256(&other).unwrap());
        let mut tar = std::process::Command::new("tar");
        let list = shell::captured(tar.env("TZ", "UTC").arg("-tvzf").arg(&one)).unwrap();
        let found: Vec<Vec<&str>> =
            list.lines().map(|line| line.split_whitespace().collect()).collect();
        let expected = [
            "drwxr-xr-x root/root 0 2001-09-09 01:46 a/",
            "-rwxr-xr-x root/root 3 2001-09-09 01:46 a/b",
            "-rwxr-xr-x root/root 3 2001-09-09 01:46 a/c",
            "drwx------ root/root 0 2001-09-09 01:46 d/",
        ];
        let expected: Vec<Vec<&str>> =
            expected.iter().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(found, expected);
        fs::remove_dir_all(&folder).unwrap();
    }
}
