//! Samples as text: a time in nanoseconds on each line, packed with gzip.

use std::fmt::Write as _;
use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

/// Returns the packed text of samples.
pub(super) fn packed(samples: &[f32]) -> Result<Vec<u8>, String> {
    let mut text = String::new();
    for sample in samples {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{sample}");
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).map_err(|error| error.to_string())?;
    encoder.finish().map_err(|error| error.to_string())
}

/// Reads packed samples, at most [`MAX_BYTES`] of text.
pub(super) fn unpacked(bytes: &[u8]) -> Result<Vec<f32>, String> {
    let mut text = String::new();
    let limit = MAX_BYTES.saturating_add(1);
    let read = GzDecoder::new(bytes).take(limit).read_to_string(&mut text);
    read.map_err(|error| error.to_string())?;
    if u64::try_from(text.len()).is_ok_and(|length| length >= limit) {
        return Err(format!("more than {MAX_BYTES} bytes of samples"));
    }
    let sample = |line: &str| match line.parse::<f32>() {
        Ok(time) if time.is_finite() && time >= 0.0 => Ok(time),
        _ => Err(format!("`{}` is no time", line.chars().take(40).collect::<String>())),
    };
    text.lines().map(sample).collect()
}

/// Ten million samples of six digits.
const MAX_BYTES: u64 = 80 << 20;

#[cfg(test)]
mod tests {
    use super::{packed, unpacked};

    #[test]
    fn samples_come_back_as_they_were() {
        let samples = vec![0.0, 12.0, 3.4, 1.0e9, 123_456.7];
        assert_eq!(unpacked(&packed(&samples).unwrap()), Ok(samples));
        assert!(unpacked(b"no gzip").is_err());
        assert!(unpacked(&packed(&[f32::NAN]).unwrap()).is_err());
        assert!(unpacked(&packed(&[-1.0]).unwrap()).is_err());
    }
}
