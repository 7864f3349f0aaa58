//! Sentences of messages: an expectation after the error, and lists of bounded length.

/// Returns a message with the found and the expected text.
pub(crate) fn sentence(message: &str, found: Option<&str>, expected: Option<&str>) -> String {
    match (found, expected) {
        (Some(found), Some(expected)) => format!("{message}: expected {expected}, found {found}"),
        (Some(found), None) => format!("{message}: found {found}"),
        (None, Some(expected)) => format!("{message}: expected {expected}"),
        (None, None) => message.to_owned(),
    }
}

/// Lists things in a message: the first few, and how many there are besides.
pub(crate) fn joined(things: &[String]) -> String {
    let (shown, more) = things.split_at_checked(MOST_LISTED).unwrap_or((things, &[]));
    match more.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Things that one message lists.
const MOST_LISTED: usize = 8;
