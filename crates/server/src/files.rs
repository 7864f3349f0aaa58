//! Files that are read whole, and bounded while they are read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::limits::MAX_SECRET_BYTES;

/// Reads a file of at most `most` bytes.
///
/// # Errors
/// The file cannot be read, or is longer.
pub(crate) fn bounded(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    rest(File::open(path)?, most)
}

/// Reads the rest of a file, at most `most` bytes.
///
/// # Errors
/// The file cannot be read, or is longer.
pub(crate) fn rest(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
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
    bounded(path, MAX_SECRET_BYTES).map_err(|error| unreadable(path, &error))
}

/// Says which file or folder cannot be read, and why.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> String {
    format!("cannot read `{}`: {}", path.display(), reason(error))
}

/// Returns the words of the system without its number, as a part of a sentence.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let mut letters = text.split(" (os error").next().unwrap_or_default().chars();
    let first = letters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_parts_of_sentences() {
        let check = |error: io::Error, expected: &str| assert_eq!(reason(&error), expected);
        check(io::Error::other("No space left on device (os error 28)"), "no space left on device");
        check(io::Error::other("it has more than 3 bytes"), "it has more than 3 bytes");
        check(io::Error::other(""), "");
    }

    #[test]
    fn one_byte_too_many_is_refused() {
        let path = std::env::temp_dir().join(format!("wardgate-files-{}", std::process::id()));
        std::fs::write(&path, b"abc").unwrap();
        assert_eq!(bounded(&path, 3).unwrap(), b"abc");
        assert_eq!(bounded(&path, 2).unwrap_err().to_string(), "it has more than 2 bytes");
        std::fs::remove_file(&path).unwrap();
    }
}
