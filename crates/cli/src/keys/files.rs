//! Files of keys.
//!
//! A file with a secret is created for its owner alone and never replaces another one. One that
//! others can read is refused: the secret may be known already.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use wardgate_compiler::reading;
use zeroize::Zeroizing;

use super::{Key, cose, jwk};
use crate::failure::{Failure, Result};
use crate::limits::MAX_KEY_FILE_BYTES;
use crate::output::InOneLine;
use crate::replace;

/// Returns bytes from the random source of the operating system.
pub(crate) fn random<const N: usize>() -> Result<Zeroizing<[u8; N]>> {
    let mut bytes = Zeroizing::new([0; N]);
    getrandom::fill(&mut *bytes).map_err(|error| {
        Failure::system(format!("the system cannot provide random bytes: {error}"))
    })?;
    Ok(bytes)
}

/// Writes a secret to a new file that only its owner can read.
pub(crate) fn create(path: &Path, content: &[u8]) -> Result<()> {
    replace::make_folder(path).map_err(|error| Failure::writing(path, &error))?;
    let mut file = owned().open(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            let shown = path.in_one_line();
            Failure::system(format!(
                "`{shown}` exists already, and a key is never overwritten: name another file"
            ))
        }
        _ => Failure::writing(path, &error),
    })?;
    let written = file.write_all(content).and_then(|()| file.sync_all());
    written.map_err(|error| {
        // A part of a key is useless.
        discard(path);
        Failure::writing(path, &error)
    })
}

/// Removes a secret that was just created, because its public key cannot be written.
pub(crate) fn discard(path: &Path) {
    // The error that counts is the one before.
    let _ = fs::remove_file(path);
}

/// Writes a public key, in the place of an older one but never in that of a secret or of another file.
pub(crate) fn publish(path: &Path, content: &[u8]) -> Result<()> {
    if hold_secret(path) {
        return Err(never_overwritten(path));
    }
    if path.is_file() && !is_public(path) {
        let shown = path.in_one_line();
        return Err(Failure::system(format!(
            "`{shown}` exists and is not a public key, so it is not overwritten: name another file"
        )));
    }
    replace::file(path, content)
}

/// Returns true if a file holds a secret key, of this program or of another. A path that is no regular file has nothing
/// to lose, and might block.
pub(crate) fn hold_secret(path: &Path) -> bool {
    path.is_file()
        && match look(path) {
            Ok((keys, _)) => hold_secrets(&keys),
            Err(_) => start(path).is_some_and(|bytes| is_foreign_secret(&bytes)),
        }
}

/// Returns the failure of a command that would overwrite a secret.
pub(crate) fn never_overwritten(path: &Path) -> Failure {
    let shown = path.in_one_line();
    let message =
        format!("`{shown}` holds a secret, and a key is never overwritten: name another file");
    Failure::system(message)
}

/// Returns true if a file is empty or holds public keys, or the key of a log: `name+id+key`.
fn is_public(path: &Path) -> bool {
    let of_log = |bytes: &[u8]| bytes.split(|byte| *byte == b'+').nth(1).is_some_and(is_key_id);
    look(path).is_ok_and(|(keys, _)| !hold_secrets(&keys))
        || start(path).is_some_and(|bytes| bytes.is_empty() || of_log(&bytes))
}

/// Returns true for the id of the key of a log: 8 hexadecimal digits.
fn is_key_id(bytes: &[u8]) -> bool {
    bytes.len() == 8 && bytes.iter().all(u8::is_ascii_hexdigit)
}

/// Returns true for secrets in forms that signing and sealing do not take: the key of a log, PEM, and JSON Web Keys of
/// other algorithms.
fn is_foreign_secret(bytes: &[u8]) -> bool {
    let begins = |line: &str| bytes.trim_ascii_start().starts_with(line.as_bytes());
    let is_pem = || bytes.windows(PEM.len()).any(|window| window == PEM);
    let is_jwk = || {
        let has = |name: &str| {
            let quoted = format!("\"{name}\"");
            bytes.windows(quoted.len()).any(|window| window == quoted.as_bytes())
        };
        begins("{") && has("kty") && ["d", "priv", "k"].into_iter().any(has)
    };
    begins("PRIVATE+KEY+") || is_pem() || is_jwk()
}

/// Returns the beginning of a file, as much as a file of keys may have.
fn start(path: &Path) -> Option<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::new());
    reading::open(path).ok()?.take(MAX_KEY_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

pub(super) fn hold_secrets(keys: &[Key]) -> bool {
    keys.iter().any(|key| !matches!(key, Key::Public(_)))
}

/// Returns options that create a file, fail if it exists, and set permissions from the beginning.
fn owned() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Reads the keys of a file, secrets only if no other user can read it.
pub(super) fn read(path: &Path) -> Result<Vec<Key>> {
    let (keys, exposed) = look(path)?;
    match exposed {
        Some(mode) if hold_secrets(&keys) => Err(Failure::policies(format!(
            "`{shown}` holds a secret and others can read it (mode {mode:o}): \
                 make another key, or run `chmod 600 {shown}` if no other user has read it",
            shown = path.display()
        ))),
        _ => Ok(keys),
    }
}

/// Reads the keys of a file, and the mode of one that others can read.
pub(super) fn look(path: &Path) -> Result<(Vec<Key>, Option<u32>)> {
    let failed = |error: &io::Error| Failure::reading(path, error);
    let file = reading::open(path).map_err(|error| failed(&error))?;
    // The permissions of the open file, not of the file that has its name a moment later.
    let exposed = exposed(path, &file).map_err(|error| failed(&error))?;
    let mut bytes = Zeroizing::new(Vec::new());
    file.take(MAX_KEY_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    let keys = parse(&bytes).map_err(|why| {
        Failure::policies(format!("`{}` cannot be used as a key: {why}", path.display()))
    })?;
    Ok((keys, exposed))
}

fn parse(bytes: &[u8]) -> Result<Vec<Key>, String> {
    if bytes.is_empty() {
        return Err("it is empty".to_owned());
    }
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_KEY_FILE_BYTES) {
        return Err(format!("it has more than {MAX_KEY_FILE_BYTES} bytes"));
    }
    match bytes.trim_ascii_start().first() {
        Some(b'{') => jwk::read(bytes),
        Some(b'[') => {
            Err("expected a JSON Web Key, or a set of them as `{\"keys\": [...]}`, found a list"
                .to_owned())
        }
        Some(b'-') => Err("expected a JSON Web Key, found PEM".to_owned()),
        _ => cose::read(bytes).map(|key| vec![key]),
    }
}

const PEM: &[u8] = b"PRIVATE KEY-----";

/// Returns the mode of a file that others than its owner can read.
#[cfg(unix)]
fn exposed(_: &Path, file: &File) -> io::Result<Option<u32>> {
    let mode = std::os::unix::fs::MetadataExt::mode(&file.metadata()?) & 0o777;
    Ok(Some(mode).filter(|mode| mode & 0o077 != 0))
}

/// Returns the mode of a file that others than its owner can read. WASI has no modes: the host tells those of the files
/// that arguments name, as lines of a mode and a path.
#[cfg(target_os = "wasi")]
fn exposed(path: &Path, _: &File) -> io::Result<Option<u32>> {
    let told = std::env::var("WARDGATE_EXPOSED").unwrap_or_default();
    let mode = told
        .lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(_, told)| path == Path::new(told));
    Ok(mode.and_then(|(mode, _)| u32::from_str_radix(mode, 8).ok()))
}

#[cfg(not(any(unix, target_os = "wasi")))]
fn exposed(_: &Path, _: &File) -> io::Result<Option<u32>> {
    Ok(None)
}
