//! Rules in files: `.spoc`, one rule a line, in canonical or advanced form.
//!
//! Empty lines and lines that begin with `#` or `;` say nothing. Folders are read in the order of the names in
//! them. A file that cannot be read in full is an error: half of the rules are other rules.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use wardgate_spocp::Normal;

use super::limits::{MAX_FOLDER_DEPTH, MAX_RULE_FILES};

/// Reads files, and folders of files that end in `.spoc`.
///
/// # Errors
/// Which file or line cannot be read, in words for the operator.
pub fn read(places: &[PathBuf]) -> Result<Vec<Normal>, String> {
    let mut rules = Vec::new();
    for file in files(places)? {
        read_file(&file, &mut rules)?;
    }
    Ok(rules)
}

fn read_file(path: &Path, rules: &mut Vec<Normal>) -> Result<(), String> {
    let failed = |error| format!("cannot read `{}`: {error}", path.display());
    let mut reader = BufReader::new(File::open(path).map_err(failed)?);
    let mut line = Vec::new();
    for number in 1_usize.. {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(failed)? == 0 {
            break;
        }
        let text = line.strip_prefix(b"\xef\xbb\xbf").filter(|_| number == 1).unwrap_or(&line);
        let text = text.trim_ascii();
        if text.is_empty() || text.starts_with(b"#") || text.starts_with(b";") {
            continue;
        }
        let rule =
            rule(text).map_err(|error| format!("`{}`, line {number}: {error}", path.display()))?;
        rules.push(rule);
    }
    Ok(())
}

/// What begins with the length of its tag is canonical: read in the other form, a wrong length would be a name.
fn rule(text: &[u8]) -> Result<Normal, wardgate_spocp::Error> {
    let tag = text.strip_prefix(b"(").unwrap_or_default();
    let rest = tag.trim_ascii_start();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_canonical = digits > 0 && rest.get(digits) == Some(&b':');
    if is_canonical { Normal::from_canonical(text) } else { Normal::from_advanced(text) }
}

/// The files of all places, in order.
fn files(places: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut waiting: Vec<(PathBuf, usize)> =
        places.iter().rev().map(|place| (place.clone(), 0)).collect();
    while let Some((place, depth)) = waiting.pop() {
        let failed = |error| format!("cannot read `{}`: {error}", place.display());
        if !fs::metadata(&place).map_err(failed)?.is_dir() {
            found.push(place);
        } else if depth < MAX_FOLDER_DEPTH {
            let mut inside: Vec<PathBuf> = Vec::new();
            for entry in fs::read_dir(&place).map_err(failed)? {
                let path = entry.map_err(failed)?.path();
                if path.is_dir() || path.extension().is_some_and(|extension| extension == "spoc") {
                    inside.push(path);
                }
            }
            inside.sort_by(|left, right| right.cmp(left));
            waiting.extend(inside.into_iter().map(|path| (path, depth + 1)));
        } else {
            return Err(format!("`{}` is deeper than {MAX_FOLDER_DEPTH} folders", place.display()));
        }
        if found.len() + waiting.len() > MAX_RULE_FILES {
            return Err(format!("there are more than {MAX_RULE_FILES} files of rules"));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_read_in_the_form_it_is_written_in() {
        let text = |line: &[u8]| rule(line).map(|rule| rule.expression().to_canonical());
        assert_eq!(text(b"(4:file4:path)"), Ok(b"(4:file4:path)".to_vec()));
        assert_eq!(text(b"(file path)"), Ok(b"(4:file4:path)".to_vec()));
        assert_eq!(text(b"(time 08:00:00)"), Ok(b"(4:time8:08:00:00)".to_vec()));
        assert!(text(b"(5:file4:path)").is_err());
        assert!(text(b"( 4:file)").is_err());
    }
}
