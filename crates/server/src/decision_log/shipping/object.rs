//! Objects: what is shipped under a name, and the comparison with what has the name already.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

/// Bytes with a name, which stay as they are.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) name: String,
    pub(super) content: Content,
}

/// The bytes of an object.
#[derive(Debug)]
pub(super) enum Content {
    /// In memory, since the file is replaced.
    Bytes(Vec<u8>),
    /// The first bytes of a file.
    File { path: PathBuf, bytes: u64 },
}

/// A comparison of an object with bytes that come one after the other.
pub(super) struct Comparison {
    expected: Box<dyn Read + Send>,
    buffer: Vec<u8>,
}

impl Object {
    pub(super) fn of(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self { name: name.into(), content: Content::Bytes(bytes) }
    }

    /// Returns the number of its bytes.
    pub(super) fn bytes(&self) -> u64 {
        match &self.content {
            Content::Bytes(bytes) => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            Content::File { bytes, .. } => *bytes,
        }
    }

    /// Opens it.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match &self.content {
            Content::Bytes(bytes) => Box::new(io::Cursor::new(bytes.clone())),
            Content::File { path, bytes } => Box::new(File::open(path)?.take(*bytes)),
        })
    }

    /// Begins to compare it.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn comparison(&self) -> io::Result<Comparison> {
        Ok(Comparison { expected: self.open()?, buffer: Vec::new() })
    }
}

impl Comparison {
    /// Returns true if the object goes on with these bytes.
    pub(super) fn goes_on_with(&mut self, found: &[u8]) -> io::Result<bool> {
        self.buffer.clear();
        let most = u64::try_from(found.len()).unwrap_or(u64::MAX);
        self.expected.by_ref().take(most).read_to_end(&mut self.buffer)?;
        Ok(self.buffer == found)
    }

    /// Returns true if the object ends here.
    pub(super) fn ends(mut self) -> io::Result<bool> {
        Ok(self.expected.read(&mut [0])? == 0)
    }
}
