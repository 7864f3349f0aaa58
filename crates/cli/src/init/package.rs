//! The `package.json` of a folder: what it has, and what a new one holds.

use std::path::Path;

use serde_json::{Value as Json, json};
use wardgate_compiler::reading;

use crate::arguments::Framework;
use crate::failure::{Failure, Result};
use crate::json::message;
use crate::output::InOneLine;

/// The `package.json` of a folder, which may have none.
pub(super) struct Package(Option<Json>);

impl Package {
    /// Reads the `package.json` of a folder, if it has one.
    pub(super) fn of(directory: &Path) -> Result<Self> {
        let path = directory.join("package.json");
        if !reading::exists(&path) {
            return Ok(Self(None));
        }
        let bytes = reading::file(&path).map_err(|error| Failure::reading(&path, &error))?;
        let shown = path.in_one_line();
        let malformed = |error: serde_json::Error| {
            let (line, column) = (error.line(), error.column());
            let why = message(&error);
            Failure::system(format!("`{shown}`, line {line}, column {column}: invalid JSON: {why}"))
        };
        serde_json::from_slice(&bytes).map(Some).map(Self).map_err(malformed)
    }

    /// Returns true if the folder has no `package.json`.
    pub(super) const fn is_missing(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the framework that the package depends on.
    pub(super) fn framework(&self) -> Framework {
        // Next may come with Express, and Vite with any of them.
        let known = [Framework::Next, Framework::Express, Framework::Hono, Framework::Vite];
        known.into_iter().find(|known| self.has(*known)).unwrap_or(Framework::Node)
    }

    /// Returns true if the package depends on the package of a framework. There is none for Node.
    pub(super) fn has(&self, framework: Framework) -> bool {
        required(framework).is_none_or(|(name, _)| self.dependencies().any(|found| found == name))
    }

    /// Returns true if nothing but the package of policies was installed: the folder holds no app yet.
    pub(super) fn is_bare(&self) -> bool {
        self.dependencies().all(|name| name == "wardgate")
    }

    /// Returns true if `npm run` knows a script of this name.
    pub(super) fn has_script(&self, name: &str) -> bool {
        self.member("scripts").is_some_and(|scripts| scripts.get(name).is_some())
    }

    /// Returns true if the `.js` files of the package are CommonJS, which Next holds them to.
    pub(super) fn is_common_js(&self) -> bool {
        self.member("type").is_some_and(|kind| kind == "commonjs")
    }

    fn dependencies(&self) -> impl Iterator<Item = &str> {
        let lists = ["dependencies", "devDependencies"].into_iter();
        let lists = lists.filter_map(|key| self.member(key)?.as_object());
        lists.flat_map(|list| list.keys().map(String::as_str))
    }

    fn member(&self, name: &str) -> Option<&Json> {
        self.0.as_ref()?.get(name)
    }
}

/// Returns the package of a framework, and the versions that the example is for.
pub(super) const fn required(framework: Framework) -> Option<(&'static str, &'static str)> {
    match framework {
        Framework::Node => None,
        Framework::Express => Some(("express", "^5")),
        Framework::Hono => Some(("hono", "^4")),
        Framework::Next => Some(("next", "^16")),
        Framework::Vite => Some(("vite", "^8")),
    }
}

/// Returns the `package.json` of a folder that has none.
pub(super) fn new(framework: Framework) -> Json {
    let mut dependencies = json!({ "wardgate": concat!("^", env!("CARGO_PKG_VERSION")) });
    if let (Some((name, version)), Some(all)) = (required(framework), dependencies.as_object_mut())
    {
        all.insert(name.to_owned(), version.into());
    }
    let scripts = match framework {
        Framework::Vite => {
            json!({ "dev": "vite", "build": "vite build", "test": "wardgate test policies" })
        }
        _ => json!({
            "policies": "wardgate compile policies -o policies.wardgate",
            "test": "wardgate test policies",
        }),
    };
    json!({
        "private": true,
        "type": "module",
        "scripts": scripts,
        "dependencies": dependencies,
    })
}

#[cfg(test)]
impl From<Json> for Package {
    fn from(content: Json) -> Self {
        Self(Some(content))
    }
}
