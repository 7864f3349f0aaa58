//! What a journal must know of its frames to find their end again.

/// The frames of a file.
pub(crate) trait Format {
    /// The beginning of a file; the last byte is the version of the format.
    const START: &'static [u8; 16];

    /// The first bytes of a frame.
    const MAGIC: &'static [u8; 4];

    /// The bytes of a head.
    const HEAD_BYTES: usize;

    /// The content of a frame that was read.
    type Content;

    /// Reads the head at the beginning of `bytes`, if it is one and undamaged.
    fn head(bytes: &[u8]) -> Option<Extent>;

    /// Reads a whole frame, if nothing of it is damaged.
    fn read(frame: &[u8]) -> Option<(Extent, Self::Content)>;
}

/// The length of a frame, and its place among the records of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The bytes of the frame, its head included.
    pub(crate) bytes: usize,
    /// The number of its first record.
    pub(crate) first: u64,
    /// The number of the record after its last one.
    pub(crate) next: u64,
    /// All records before this one were known to be on the disk when the frame was written.
    pub(crate) durable: u64,
}
