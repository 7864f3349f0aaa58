//! Lists of short texts, written as one text.

/// Returns the items of a text, which semicolons separate.
#[must_use]
pub fn items(text: &str) -> Vec<&str> {
    text.split(';').map(str::trim).collect()
}
