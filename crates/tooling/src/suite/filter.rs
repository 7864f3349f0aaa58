//! The filter of tests: a pattern of names, and globs for the parts of a test.

use wardgate_engine::glob;
use wardgate_engine::names::policy_key;
use wardgate_engine::regex::Regex;
use wardgate_engine::request::{Principal, Resource};

use super::limits::MAX_NAME_STEPS;
use super::matrix::Test;
use super::model::{Settings, Suite};
use super::results::{Dimension, Skip};
use wardgate_compiler::regex;

/// Which tests to run. By default all of them.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// A pattern that the name of a test must match.
    name: Option<Regex>,
    /// Globs by the part that they match; one of each part must match.
    globs: Vec<(Dimension, String)>,
    /// Keys of resource policies whose tests are left out.
    pub excluded_resources: Vec<String>,
    /// Keys of principal policies whose tests are left out.
    pub excluded_principals: Vec<String>,
}

impl Filter {
    /// Runs only tests whose name has a match of `pattern`. A test has two names:
    /// `suite/table/principal/resource`, and the one that Cerbos gives it.
    ///
    /// # Errors
    /// The pattern is not a regular expression.
    pub fn name(mut self, pattern: &str) -> Result<Self, String> {
        self.name = Some(regex::compile(pattern).map_err(|error| error.message(pattern))?);
        Ok(self)
    }

    /// Adds globs in the form `suite=a,b;test=c*;principal=d;resource=e;action=f`.
    ///
    /// # Errors
    /// The text has another form.
    pub fn globs(mut self, text: &str) -> Result<Self, String> {
        let before = self.globs.len();
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((name, globs)) = part.split_once('=') else {
                return Err(format!("expected `NAME=GLOB,...`, found `{part}`"));
            };
            let dimension = dimension(name)?;
            let globs = globs.split(',').map(str::trim).filter(|glob| !glob.is_empty());
            for glob in globs {
                glob::validate(glob)
                    .map_err(|error| format!("`{glob}` is not a glob pattern: {error}"))?;
                self.globs.push((dimension, glob.to_owned()));
            }
        }
        match self.globs.len() == before && !text.trim().is_empty() {
            true => Err(format!("expected `NAME=GLOB,...`, found `{text}`")),
            false => Ok(self),
        }
    }

    /// Returns why a test is left out, if it is.
    pub(super) fn skip(&self, suite: &Suite, test: &Test<'_>) -> Option<Skip> {
        let left_out = |dimension, name: &str| (!self.takes(dimension, name)).then_some(dimension);
        if !self.takes_name(suite, test) {
            return Some(Skip::Name);
        }
        if self.excluded_resources.contains(&resource_key(test.resource, test.settings)) {
            return Some(Skip::ExcludedResource);
        }
        if self.excluded_principals.contains(&principal_key(test.principal, test.settings)) {
            return Some(Skip::ExcludedPrincipal);
        }
        let by_filter = left_out(Dimension::Suite, &suite.name)
            .or_else(|| left_out(Dimension::Test, &test.table.name.name))
            .or_else(|| left_out(Dimension::Principal, test.principal_name))
            .or_else(|| left_out(Dimension::Resource, test.resource_name))
            .or_else(|| {
                let actions = &test.table.input.actions;
                let none = !actions.iter().any(|action| self.takes_action(&action.name));
                none.then_some(Dimension::Action)
            });
        match (by_filter, &test.table.skip) {
            (Some(dimension), _) => Some(Skip::Filter(dimension)),
            (None, Some(reason)) => Some(Skip::Author(reason.clone())),
            (None, None) => None,
        }
    }

    pub(super) fn takes_action(&self, action: &str) -> bool {
        self.takes(Dimension::Action, action)
    }

    fn takes(&self, dimension: Dimension, name: &str) -> bool {
        let mut globs = self.globs.iter().filter(|(of, _)| *of == dimension).peekable();
        globs.peek().is_none() || globs.any(|(_, glob)| glob::matches(glob, name))
    }

    fn takes_name(&self, suite: &Suite, test: &Test<'_>) -> bool {
        let Some(pattern) = &self.name else { return true };
        let (suite, table) = (&suite.name, &test.table.name.name);
        let (principal, resource) = (test.principal_name, test.resource_name);
        let names = [
            format!("{suite}/{table}/{principal}/{resource}"),
            format!(
                "{suite}/test_table_name:{table:?} principal_key:{principal:?} resource_key:{resource:?}"
            ),
        ];
        let matches = |name: &String| {
            pattern.program().is_match(name, &mut MAX_NAME_STEPS.clone()).unwrap_or(false)
        };
        names.iter().any(matches)
    }
}

fn dimension(name: &str) -> Result<Dimension, String> {
    Ok(match name.trim().to_lowercase().as_str() {
        "suite" => Dimension::Suite,
        "test" => Dimension::Test,
        "principal" => Dimension::Principal,
        "resource" => Dimension::Resource,
        "action" => Dimension::Action,
        _ => {
            let expected = "`suite`, `test`, `principal`, `resource` or `action`";
            return Err(format!("expected {expected}, found `{name}`"));
        }
    })
}

fn resource_key(resource: &Resource, settings: &Settings) -> String {
    let (version, scope) = version_and_scope(&resource.policy_version, &resource.scope, settings);
    policy_key("resource", &resource.kind, version, scope)
}

fn principal_key(principal: &Principal, settings: &Settings) -> String {
    let (version, scope) = version_and_scope(&principal.policy_version, &principal.scope, settings);
    policy_key("principal", &principal.id, version, scope)
}

fn version_and_scope<'s>(
    version: &'s str,
    scope: &'s str,
    settings: &'s Settings,
) -> (&'s str, &'s str) {
    let first = |names: [&'s str; 3]| names.into_iter().find(|name| !name.is_empty());
    let version = first([version, &settings.default_version, "default"]);
    let scope = first([scope.trim_start_matches('.'), &settings.default_scope, ""]);
    (version.unwrap_or_default(), scope.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&[(Dimension, &str)], &str>) {
        let globs = Filter::default().globs(text).map(|filter| filter.globs);
        let expected = expected.map_err(str::to_owned).map(|globs| {
            globs.iter().map(|(dimension, glob)| (*dimension, (*glob).to_owned())).collect()
        });
        assert_eq!(globs, expected, "{text}");
    }

    #[test]
    fn globs_are_read_by_what_they_look_at() {
        use Dimension::{Action, Resource, Suite, Test};
        check("", Ok(&[]));
        check(" suite = a , b* ; TEST=c", Ok(&[(Suite, "a"), (Suite, "b*"), (Test, "c")]));
        check(";resource=a=b;;action=x:*", Ok(&[(Resource, "a=b"), (Action, "x:*")]));
        check("test=a;principal=", Ok(&[(Test, "a")]));
    }

    #[test]
    fn malformed_filters_are_refused() {
        check("album", Err("expected `NAME=GLOB,...`, found `album`"));
        check("test=,;", Err("expected `NAME=GLOB,...`, found `test=,;`"));
        let expected = "expected `suite`, `test`, `principal`, `resource` or `action`";
        check("role=a", Err(&format!("{expected}, found `role`")));
        check("test=[", Err("`[` is not a glob pattern: class at offset 0 is not closed"));
        assert!(Filter::default().name("(").is_err());
    }
}
