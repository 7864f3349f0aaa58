//! Files that are read whole, and bounded while they are read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::limits::MAX_SECRET_BYTES;

/// Reads a file of at most so many bytes.
///
/// # Errors
/// It cannot be read, or is longer.
pub(crate) fn bounded(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(length).unwrap_or(u64::MAX) > most {
        let message = format!("it has more than {most} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// Reads a certificate, a key, a token or a set of keys.
///
/// # Errors
/// It cannot be read, in words for the operator.
pub(crate) fn secret(path: &Path) -> Result<Vec<u8>, String> {
    bounded(path, MAX_SECRET_BYTES)
        .map_err(|error| format!("cannot read `{}`: {error}", path.display()))
}
