//! How far a log was exported, in a file of it, so that a restart goes on.

use std::io;

use wardgate_bundle::hexadecimal;
use wardgate_crypto::blake3;

use crate::decision_log::error::{LogError, Result};
use crate::decision_log::folder::Folder;

/// A place in a log between two frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    /// The number of the next frame.
    pub(super) frame: u64,
    /// The number of the first record that is not sent.
    pub(super) record: u64,
}

impl Position {
    /// Reads how far a log was exported to an endpoint. Returns `None` if it never was.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub(super) fn read(log: &Folder, endpoint: &str) -> Result<Option<Self>> {
        let path = log.path().join(NAME);
        let bytes = match crate::files::bounded(&path, MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(LogError::Read(path, error)),
        };
        let text = String::from_utf8(bytes).unwrap_or_default();
        let mut lines = text.lines();
        let is_ours = lines.next() == Some(IDENTITY) && lines.next() == Some(&*digest(endpoint));
        let mut number = || lines.next()?.parse().ok();
        let position = number().zip(number());
        Ok(position.filter(|_| is_ours).map(|(frame, record)| Self { frame, record }))
    }

    /// Writes how far a log was exported to an endpoint.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn write(self, log: &Folder, endpoint: &str) -> Result<()> {
        let Self { frame, record } = self;
        let text = format!("{IDENTITY}\n{}\n{frame}\n{record}\n", digest(endpoint));
        log.replace(NAME, text.as_bytes())
    }
}

/// Returns a digest by which an endpoint is known again: its URL may have a secret.
fn digest(endpoint: &str) -> String {
    hexadecimal(&blake3::hash(endpoint.as_bytes()))
}

/// The name of the file in the folder of the log.
const NAME: &str = "exported";

/// The first line of the file.
const IDENTITY: &str = "wardgate exported records 1";

/// The most bytes of the file.
const MAX_BYTES: u64 = 1024;
