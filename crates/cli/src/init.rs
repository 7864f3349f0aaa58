//! `wardgate init`: an example in a folder: a policy, a test of it, and a program that asks.
//!
//! The program is for the framework that the `package.json` of the folder names. No file is replaced: either all are
//! written or none.

mod package;

use std::path::Path;

use wardgate_compiler::reading;

use crate::arguments::{Framework, Init};
use crate::failure::{Failure, Result, Status};
use crate::output::{InOneLine, Output};
use crate::replace;

use package::Package;

pub(crate) fn run(init: &Init, out: &mut Output) -> Result<Status> {
    let package = Package::of(&init.directory)?;
    let framework = init.framework.unwrap_or_else(|| package.framework());
    let app = App { directory: &init.directory, framework, package };
    if framework == Framework::Next && !app.package.has(framework) {
        return Err(app.needs_next());
    }
    let files = app.files();
    let taken = files.iter().map(|(name, _)| *name).find(|name| app.has_file(name));
    if let Some(name) = taken {
        let shown = app.directory.join(name);
        let message = format!("`{}` exists already; nothing was written", shown.in_one_line());
        return Err(Failure::system(message));
    }
    let steps = app.next_steps();
    for (name, text) in &files {
        let path = app.directory.join(name);
        replace::file(&path, text.as_bytes())?;
        out.line(format_args!("wrote {}", path.in_one_line()))?;
    }
    out.line("")?;
    steps.iter().try_for_each(|step| out.line(format_args!("  {step}")))?;
    Ok(Status::Done)
}

/// The folder that gets the example.
struct App<'i> {
    directory: &'i Path,
    framework: Framework,
    package: Package,
}

impl App<'_> {
    fn has_file(&self, name: &str) -> bool {
        reading::exists(&self.directory.join(name))
    }

    /// Returns the files of the example with their texts.
    fn files(&self) -> Vec<(&'static str, String)> {
        let mut files = vec![
            ("policies/document.yaml", include_str!("init/files/document.yaml").to_owned()),
            (
                "policies/document_test.yaml",
                include_str!("init/files/document_test.yaml").to_owned(),
            ),
            (program(self.framework), self.program_text().to_owned()),
        ];
        if self.framework == Framework::Vite && self.vite_config().is_none() {
            files.push(("vite.config.mjs", include_str!("init/files/vite.config.mjs").to_owned()));
        }
        if self.has_own_page() {
            files.push((PAGE, include_str!("init/files/vite.html").to_owned()));
        }
        if self.package.is_missing() {
            files.push(("package.json", format!("{:#}\n", package::new(self.framework))));
        }
        if self.package.is_missing() || self.package.is_bare() && !self.has_file(".gitignore") {
            files.push((".gitignore", include_str!("init/files/gitignore").to_owned()));
        }
        files
    }

    fn program_text(&self) -> &'static str {
        match self.framework {
            Framework::Node => include_str!("init/files/check.mjs"),
            Framework::Express => include_str!("init/files/express.mjs"),
            Framework::Hono => include_str!("init/files/hono.mjs"),
            Framework::Next if self.package.is_common_js() => {
                include_str!("init/files/next-route.cjs")
            }
            Framework::Next => include_str!("init/files/next-route.mjs"),
            Framework::Vite => include_str!("init/files/vite.mjs"),
        }
    }

    /// Returns true if the example has a page of its own, since the folder holds no app of Vite.
    fn has_own_page(&self) -> bool {
        let is_app =
            self.package.has(Framework::Vite) || !self.package.is_missing() && self.has_file(PAGE);
        self.framework == Framework::Vite && !is_app
    }

    /// Returns the name of the configuration of Vite in the folder, if it has one.
    fn vite_config(&self) -> Option<String> {
        let endings = ["js", "mjs", "ts", "cjs", "mts", "cts"];
        let names = endings.map(|ending| format!("vite.config.{ending}"));
        names.into_iter().find(|name| self.has_file(name))
    }

    /// Returns the failure for a folder without an app: the program that makes one takes no folder with files in it.
    fn needs_next(&self) -> Failure {
        let shown = self.directory.in_one_line();
        if self.package.is_missing() {
            return Failure::usage(format!(
                "`{shown}` has no package.json: `npx create-next-app@latest {shown}` makes an app for Next, and \
                 `wardgate init {shown}` then adds the example to it"
            ));
        }
        Failure::usage(format!(
            "the package.json of `{shown}` does not depend on `next`: `npx create-next-app@latest app` makes an app \
             for Next in a new folder, and `wardgate init app` then adds the example to it"
        ))
    }

    /// Returns what to do with the files, before they are written.
    fn next_steps(&self) -> Vec<String> {
        let program = program(self.framework);
        let mut steps = Vec::new();
        if self.directory != Path::new(".") {
            steps.push(format!("cd {}", self.directory.in_one_line()));
        }
        steps.extend(self.installation());
        steps.push("npx wardgate test policies".to_owned());
        if self.framework != Framework::Vite {
            steps.push("npx wardgate compile policies -o policies.wardgate".to_owned());
        }
        match self.framework {
            Framework::Vite => steps.extend(self.steps_of_vite(program)),
            Framework::Next => steps.push(
                "npm run dev, then curl -H 'x-user: ann' localhost:3000/api/documents/d1"
                    .to_owned(),
            ),
            _ => steps.push(format!("node {program}")),
        }
        steps
    }

    /// Returns the command that installs what is missing.
    fn installation(&self) -> Option<String> {
        if self.package.is_missing() {
            return Some("npm install".to_owned());
        }
        let needed =
            package::required(self.framework).filter(|_| !self.package.has(self.framework));
        let own = (!self.has_file("node_modules/wardgate")).then_some("wardgate");
        let missing: Vec<_> = own.into_iter().chain(needed.map(|(name, _)| name)).collect();
        (!missing.is_empty()).then(|| format!("npm install {}", missing.join(" ")))
    }

    fn steps_of_vite(&self, program: &str) -> Vec<String> {
        let mut steps = Vec::new();
        if let Some(config) = self.vite_config() {
            steps.push(format!(
                "add to {config}: import {{ wardgate }} from \"wardgate/vite\"; plugins: [wardgate()]"
            ));
        }
        if !self.has_own_page() {
            steps.push(format!("import \"./{program}\" from a page"));
        }
        let has_script = self.package.is_missing() || self.package.has_script("dev");
        let command = if has_script { "npm run dev" } else { "npx vite" };
        steps.push(format!("{command}, then look at the console of the page"));
        steps
    }
}

const fn program(framework: Framework) -> &'static str {
    match framework {
        Framework::Node => "check.mjs",
        Framework::Express | Framework::Hono => "server.mjs",
        Framework::Next => "app/api/documents/[id]/route.js",
        Framework::Vite => "src/documents.js",
    }
}

const PAGE: &str = "index.html";

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    /// Checks how the route for Next begins in a package of this type.
    #[track_caller]
    fn check(package: Json, expected: &str) {
        let package = Package::from(package);
        let app = App { directory: Path::new("none"), framework: Framework::Next, package };
        let line = app.program_text().lines().nth(1).unwrap_or_default();
        assert_eq!(line, expected);
    }

    #[test]
    fn a_route_for_next_has_the_module_format_of_its_package() {
        let imports = "import { readFile } from \"node:fs/promises\";";
        check(json!({}), imports);
        check(json!({ "type": "module" }), imports);
        let requires = "const { readFile } = require(\"node:fs/promises\");";
        check(json!({ "type": "commonjs" }), requires);
    }
}
