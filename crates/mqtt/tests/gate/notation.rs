//! Packets as tests write them: hexadecimal digits; `'a'` is a text with its length before it, `"a"` one
//! without.

/// Makes a packet of its first byte and what follows the length.
pub(crate) fn packet(text: &str) -> Vec<u8> {
    let (first, body) = text.split_once(':').unwrap_or_else(|| panic!("{text}"));
    let body = plain(body);
    let mut bytes = plain(first);
    let mut left = body.len();
    loop {
        let low = u8::try_from(left % 128).unwrap();
        left /= 128;
        bytes.push(if left > 0 { low | 128 } else { low });
        if left == 0 {
            break;
        }
    }
    bytes.extend(body);
    bytes
}

/// Returns the bytes of hexadecimal digits and texts.
pub(crate) fn plain(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in text.split_whitespace() {
        if let Some(text) = between(part, '\'') {
            bytes.extend(u16::try_from(text.len()).unwrap().to_be_bytes());
            bytes.extend(text.as_bytes());
        } else if let Some(text) = between(part, '"') {
            bytes.extend(text.as_bytes());
        } else {
            assert!(part.len().is_multiple_of(2), "{part}");
            let digits = (0..part.len()).step_by(2).map(|at| &part[at..at + 2]);
            bytes.extend(digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()));
        }
    }
    bytes
}

fn between(part: &str, quote: char) -> Option<&str> {
    part.strip_prefix(quote)?.strip_suffix(quote)
}
