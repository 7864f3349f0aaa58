//! Reads several files out of one text: each begins with a line `-- NAME --`, and the text before
//! the first of them is a comment.

/// Returns the files of an archive, in its order.
#[must_use]
pub fn files(archive: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    for line in archive.split_inclusive('\n') {
        if let Some(name) = name(line) {
            files.push((name.to_owned(), String::new()));
        } else if let Some((_, text)) = files.last_mut() {
            text.push_str(line);
        }
    }
    files
}

fn name(line: &str) -> Option<&str> {
    let name = line.trim_end_matches(['\n', '\r']).strip_prefix("-- ")?.strip_suffix(" --")?.trim();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::files;

    #[test]
    fn a_line_between_dashes_begins_a_file() {
        let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let check = |archive: &str, expected: &[(String, String)]| {
            assert_eq!(files(archive), expected, "{archive}");
        };
        check("", &[]);
        check("only a comment\n", &[]);
        check(
            "comment\n-- a/b.yaml --\nx: 1\n\n-- c --\r\n-- d\n",
            &[file("a/b.yaml", "x: 1\n\n"), file("c", "-- d\n")],
        );
        check("-- --\n", &[]);
    }
}
