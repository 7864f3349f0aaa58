//! Repositories of any size, made of the templates behind the load figures of Cerbos.
//!
//! Its generator writes each template a number of times: `{{ .NameMod "x" }}` becomes `x_00007` in
//! the eighth copy, and a file `x.yaml.tpl` the file `x_00007.yaml`. Files that are no templates
//! come once. The templates are read from the corpora.

use std::fs;
use std::path::Path;

use crate::conformance::text;

/// The templates of one set.
#[derive(Debug)]
pub struct Templates {
    /// Path without ending, ending, text.
    templates: Vec<(String, String, String)>,
    files: Vec<(String, Vec<u8>)>,
}

impl Templates {
    /// Reads the set `classic` or `multitenant`.
    ///
    /// # Errors
    /// If it is not there, or a template uses an unknown construct.
    pub fn read(corpora: &Path, set: &str) -> Result<Self, String> {
        let folder = corpora.join("cerbos/loadtest-templates/hack/loadtest/templates").join(set);
        let mut read = Self { templates: Vec::new(), files: Vec::new() };
        for (from, to) in [("policies", ""), ("schemas", "_schemas/")] {
            for (name, text) in listed(&folder.join(from))? {
                let name = name.strip_suffix(".tpl").unwrap_or(&name);
                let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
                copy(&text, 0)?;
                read.templates.push((format!("{to}{stem}"), ending.to_owned(), text));
            }
        }
        for (name, text) in listed(&folder.join("files/policies"))? {
            read.files.push((name, text.into_bytes()));
        }
        match read.templates.is_empty() {
            true => Err(format!("{}: no templates", folder.display())),
            false => Ok(read),
        }
    }

    /// Returns `copies` copies of each template, as files of one directory.
    #[must_use]
    pub fn repository(&self, copies: usize) -> Vec<(String, Vec<u8>)> {
        let mut files = self.files.clone();
        for number in 0..copies {
            for (stem, ending, text) in &self.templates {
                let text = copy(text, number).unwrap_or_default();
                files.push((format!("{stem}_{number:05}.{ending}"), text.into_bytes()));
            }
        }
        files
    }

    /// Returns the number of policies of each copy.
    #[must_use]
    pub fn policies_per_copy(&self) -> usize {
        self.templates.iter().filter(|(path, _, _)| !path.starts_with("_schemas/")).count()
    }
}

fn listed(folder: &Path) -> Result<Vec<(String, String)>, String> {
    let Ok(listing) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut paths: Vec<_> = listing.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let file = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, text(path)?))
    };
    paths.iter().map(file).collect()
}

/// Writes the copy with this number.
fn copy(template: &str, number: usize) -> Result<String, String> {
    let mut parts = template.split("{{");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (action, rest) = part.split_once("}}").ok_or("an action without end")?;
        let name =
            action.trim().strip_prefix(".NameMod ").map(|name| name.trim_matches(['"', '`']));
        let name = name.ok_or_else(|| format!("unknown action `{action}`"))?;
        out.push_str(&format!("{name}_{number:05}{rest}"));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::copy;

    #[test]
    fn names_get_the_number_of_their_copy() {
        let check = |template, expected: Result<&str, &str>| {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(copy(template, 7), expected, "{template}");
        };
        check("a: b\n", Ok("a: b\n"));
        check("a: {{ .NameMod \"b\" }}.c\n", Ok("a: b_00007.c\n"));
        check("\"x/{{ .NameMod `b` }}.json\"", Ok("\"x/b_00007.json\""));
        check("{{ .N }}", Err("unknown action ` .N `"));
        check("{{ .N", Err("an action without end"));
    }
}
