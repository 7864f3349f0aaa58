//! Logs as streams of bytes, unpacked.

use std::io::{self, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

/// A log that can be read on any thread.
pub struct Source<'s> {
    pub(crate) lines: Box<dyn Read + Send + 's>,
    /// The number of the first line.
    pub(crate) first: u64,
}

impl<'s> Source<'s> {
    /// Returns a log of lines, of which the first one has this number.
    pub fn numbered_from(first: u64, lines: impl Read + Send + 's) -> Self {
        Self { lines: Box::new(lines), first }
    }
}

/// Returns the content of a log, which may be packed by gzip or zstd: its first bytes say so. Its lines are numbered from 1.
///
/// # Errors
/// The log cannot be read.
pub fn open<'s>(mut log: impl Read + Send + 's) -> io::Result<Source<'s>> {
    let mut head = Vec::new();
    log.by_ref().take(4).read_to_end(&mut head)?;
    let (is_gzip, is_zstd) = (head.starts_with(&GZIP), head == ZSTD);
    let whole = BufReader::with_capacity(BUFFER_BYTES, io::Cursor::new(head).chain(log));
    Ok(match (is_gzip, is_zstd) {
        (true, _) => Source::numbered_from(1, MultiGzDecoder::new(whole)),
        (_, true) => Source::numbered_from(1, Frames { rest: Some(whole), frame: None }),
        _ => Source::numbered_from(1, whole),
    })
}

/// The frames of zstd, one after the other.
struct Frames<R: Read> {
    rest: Option<BufReader<R>>,
    frame: Option<StreamingDecoder<BufReader<R>, ruzstd::decoding::FrameDecoder>>,
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                match frame.read(buffer)? {
                    0 => self.rest = self.frame.take().map(StreamingDecoder::into_inner),
                    read => return Ok(read),
                }
            }
            let Some(mut rest) = self.rest.take() else { return Ok(0) };
            if io::BufRead::fill_buf(&mut rest)?.is_empty() {
                return Ok(0);
            }
            let frame = StreamingDecoder::new(rest);
            self.frame = Some(frame.map_err(|error| io::Error::other(error.to_string()))?);
        }
    }
}

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const BUFFER_BYTES: usize = 64 << 10;
