//! `wardgate init`: an example in a folder: a policy, a test of it, and a program that asks.
//!
//! The program is for the framework that the `package.json` of the folder names. No file is replaced: either all are
//! written or none.

use std::path::Path;

use serde_json::{Value as Json, json};
use wardgate_compiler::reading;

use crate::arguments::{Framework, Init};
use crate::failure::{Failure, Result, Status};
use crate::json::message;
use crate::output::{InOneLine, Output};
use crate::replace;

pub(crate) fn run(init: &Init, out: &mut Output) -> Result<Status> {
    let package = package(&init.directory)?;
    let framework = init.framework.unwrap_or_else(|| found(package.as_ref()));
    if framework == Framework::Next && package.is_none() {
        return Err(needs_app(&init.directory));
    }
    let mut files = files(framework, package.as_ref());
    let config = vite_config(&init.directory);
    if framework == Framework::Vite && config.is_none() {
        files.push((VITE_CONFIG, include_str!("init/files/vite.config.mjs").to_owned()));
    }
    if package.is_none() {
        if framework == Framework::Vite {
            files.push(("index.html", include_str!("init/files/vite.html").to_owned()));
        }
        files.push(("package.json", format!("{:#}\n", own_package(framework))));
        files.push((".gitignore", GITIGNORE.to_owned()));
    }
    let taken = files
        .iter()
        .map(|(name, _)| *name)
        .find(|name| reading::exists(&init.directory.join(name)));
    if let Some(name) = taken {
        let shown = init.directory.join(name);
        let message = format!("`{}` exists already; nothing was written", shown.in_one_line());
        return Err(Failure::system(message));
    }
    for (name, text) in &files {
        let path = init.directory.join(name);
        replace::file(&path, text.as_bytes())?;
        out.line(format_args!("wrote {}", path.in_one_line()))?;
    }
    next_steps(init, (framework, package.is_none()), config.as_deref(), out)?;
    Ok(Status::Done)
}

/// Returns the failure for a folder without an app: the program that makes one takes no folder with files in it.
fn needs_app(directory: &Path) -> Failure {
    let shown = directory.in_one_line();
    Failure::usage(format!(
        "`{shown}` has no package.json: `npx create-next-app@latest {shown}` makes an app for Next, and \
         `wardgate init {shown}` then adds the example to it"
    ))
}

/// Returns the name of the configuration of Vite in a folder, if it has one.
fn vite_config(directory: &Path) -> Option<String> {
    let endings = ["js", "mjs", "ts", "cjs", "mts", "cts"];
    let names = endings.map(|ending| format!("vite.config.{ending}"));
    names.into_iter().find(|name| reading::exists(&directory.join(name)))
}

fn next_steps(
    init: &Init,
    (framework, is_new): (Framework, bool),
    config: Option<&str>,
    out: &mut Output,
) -> Result<()> {
    let program = program(framework);
    out.line("")?;
    if init.directory != Path::new(".") {
        out.line(format_args!("  cd {}", init.directory.in_one_line()))?;
    }
    let is_installed = reading::exists(&init.directory.join("node_modules/wardgate"));
    if is_new || !is_installed {
        out.line(if is_new { "  npm install" } else { "  npm install wardgate" })?;
    }
    out.line("  npx wardgate test policies")?;
    match framework {
        Framework::Vite => {
            if let Some(config) = config {
                out.line(format_args!(
                    "  add to {config}: import {{ wardgate }} from \"wardgate/vite\"; plugins: [wardgate()]"
                ))?;
            }
            if !is_new {
                out.line(format_args!("  import \"./{program}\" from a page"))?;
            }
            return out.line("  npm run dev, then look at the console of the page");
        }
        _ => out.line("  npx wardgate compile policies -o policies.wardgate")?,
    }
    match framework {
        Framework::Next => {
            out.line("  npm run dev, then curl -H 'x-user: ann' localhost:3000/api/documents/d1")
        }
        _ => out.line(format_args!("  node {program}")),
    }
}

/// Returns the `package.json` of a folder, if it has one.
fn package(directory: &Path) -> Result<Option<Json>> {
    let path = directory.join("package.json");
    if !reading::exists(&path) {
        return Ok(None);
    }
    let bytes = reading::file(&path).map_err(|error| Failure::reading(&path, &error))?;
    let shown = path.in_one_line();
    let malformed = |error: serde_json::Error| {
        let (line, column) = (error.line(), error.column());
        let why = message(&error);
        Failure::system(format!("`{shown}`, line {line}, column {column}: invalid JSON: {why}"))
    };
    serde_json::from_slice(&bytes).map(Some).map_err(malformed)
}

/// Returns the framework that a package depends on.
fn found(package: Option<&Json>) -> Framework {
    let depends = |name: &str| {
        ["dependencies", "devDependencies"]
            .iter()
            .any(|key| package.and_then(|package| package.get(key)?.get(name)).is_some())
    };
    let known = [
        ("next", Framework::Next),
        ("express", Framework::Express),
        ("hono", Framework::Hono),
        ("vite", Framework::Vite),
    ];
    known.into_iter().find(|(name, _)| depends(name)).map_or(Framework::Node, |(_, found)| found)
}

/// Returns true if the `.js` files of a package are CommonJS, which Next holds them to.
fn is_common_js(package: Option<&Json>) -> bool {
    package.and_then(|package| package.get("type")).is_some_and(|kind| kind == "commonjs")
}

/// Returns the files of an example with their texts.
fn files(framework: Framework, package: Option<&Json>) -> Vec<(&'static str, String)> {
    let text = match framework {
        Framework::Node => include_str!("init/files/check.mjs"),
        Framework::Express => include_str!("init/files/express.mjs"),
        Framework::Hono => include_str!("init/files/hono.mjs"),
        Framework::Next if is_common_js(package) => include_str!("init/files/next-route.cjs"),
        Framework::Next => include_str!("init/files/next-route.mjs"),
        Framework::Vite => include_str!("init/files/vite.mjs"),
    };
    vec![
        ("policies/document.yaml", include_str!("init/files/document.yaml").to_owned()),
        ("policies/document_test.yaml", include_str!("init/files/document_test.yaml").to_owned()),
        (program(framework), text.to_owned()),
    ]
}

const fn program(framework: Framework) -> &'static str {
    match framework {
        Framework::Node => "check.mjs",
        Framework::Express | Framework::Hono => "server.mjs",
        Framework::Next => "app/api/documents/[id]/route.js",
        Framework::Vite => "src/documents.js",
    }
}

/// Returns the `package.json` of a folder that has none.
fn own_package(framework: Framework) -> Json {
    let mut dependencies = json!({ "wardgate": concat!("^", env!("CARGO_PKG_VERSION")) });
    let others = match framework {
        Framework::Express => Some(("express", "^5")),
        Framework::Hono => Some(("hono", "^4")),
        Framework::Vite => Some(("vite", "^8")),
        Framework::Node | Framework::Next => None,
    };
    if let (Some((name, version)), Some(all)) = (others, dependencies.as_object_mut()) {
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

const VITE_CONFIG: &str = "vite.config.mjs";

const GITIGNORE: &str = include_str!("init/files/gitignore");

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks how the route for Next begins in a package of this type.
    #[track_caller]
    fn check(package: Option<Json>, expected: &str) {
        let files = files(Framework::Next, package.as_ref());
        let text = files.iter().find(|(name, _)| name.ends_with("route.js")).map(|(_, text)| text);
        let line = text.and_then(|text| text.lines().nth(1)).unwrap_or_default();
        assert_eq!(line, expected);
    }

    #[test]
    fn a_route_for_next_has_the_module_format_of_its_package() {
        let imports = "import { readFile } from \"node:fs/promises\";";
        check(None, imports);
        check(Some(json!({})), imports);
        check(Some(json!({ "type": "module" })), imports);
        let requires = "const { readFile } = require(\"node:fs/promises\");";
        check(Some(json!({ "type": "commonjs" })), requires);
    }
}
