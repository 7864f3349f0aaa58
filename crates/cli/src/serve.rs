//! `wardgate serve`: a policy decision point as a server.
//!
//! The server knows no compiler and no files of keys. The command provides both: a source of
//! bundles, and the keys that must have signed them.

mod directory;
mod trial;

use std::path::Path;

use wardgate_bundle::limits::MAX_NUMBER;
use wardgate_bundle::{Conditions, sealed};
use wardgate_server::config::{self, Environment, Location, Policies};
use wardgate_server::{
    Config, FileSource, Lookup, Origin, Server, ServerError, Source, SourceError, UrlSource,
};

use crate::arguments::{Mode, Opening, Schemas, Serve, TableOptions};
use crate::failure::{Failure, Result, Status};
use crate::keys;
use crate::opening::Terms;
use crate::output::{InOneLine, Output};
use directory::Directory;

pub(crate) fn run(serve: &Serve, out: &mut Output) -> Result<Status> {
    if let Some(path) = &serve.policies {
        return trial::run(path, serve, out);
    }
    let config = configuration(serve)?;
    let origin = origin(&config)?;
    if serve.check_config {
        Server::check(config, origin).map_err(failed)?;
        match &serve.config {
            Some(path) => out.line(format_args!("`{}` is fine", path.in_one_line()))?,
            None => out.line("the environment is fine")?,
        }
        return Ok(Status::Done);
    }
    let server = Server::bind(config, origin).map_err(failed)?;
    list_addresses(&server, out)?;
    server.run().map_err(failed)?;
    Ok(Status::Done)
}

/// Reads the configuration: a file whose keys the environment overrides, or the environment alone.
fn configuration(serve: &Serve) -> Result<Config> {
    if let Some(option) = serve.opening.given().or_else(|| serve.options.given()) {
        let message = format!(
            "`{option}` is for `wardgate serve FILE|DIR`: a configuration says it under `[policies]`"
        );
        return Err(Failure::usage(message));
    }
    let environment = environment()?;
    match &serve.config {
        Some(path) => Config::read(path, &environment).map_err(|error| {
            Failure::usage(format!("the configuration `{}`: {error}", path.in_one_line()))
        }),
        None if environment.first().is_none() => Err(Failure::usage(
            "give the policies to serve, as in `wardgate serve policies`, or a configuration with `--config`",
        )),
        None => Config::parse_with("", Path::new(""), &environment)
            .map_err(|error| Failure::usage(format!("the environment: {error}"))),
    }
}

fn environment() -> Result<Environment> {
    Environment::new(std::env::vars_os())
        .map_err(|error| Failure::usage(format!("the environment: {error}")))
}

/// Says why the server does not start.
fn failed(error: ServerError) -> Failure {
    match error.is_about_address() {
        true => Failure::system(error.to_string()),
        false => Failure::policies(error.to_string()),
    }
}

fn list_addresses(server: &Server, out: &mut Output) -> Result<()> {
    let protocols = [
        ("HTTP", server.http_addresses()),
        ("SPOCP", server.spocp_addresses()),
        ("MQTT", server.mqtt_addresses()),
    ];
    for (name, addresses) in protocols {
        for address in addresses {
            out.line(format_args!("{name} at {address}"))?;
        }
    }
    out.flush()
}

/// The source of policies, and the conditions for its bundles.
pub(crate) fn origin(config: &Config) -> Result<Origin> {
    let directory = config.authzen.index.clone();
    let Some(policies) = &config.policies else {
        return Ok(Origin { directory, ..Origin::default() });
    };
    let opening = Opening {
        trust: policies.trust.clone(),
        at_least: policies.at_least,
        require: policies.require.clone(),
        min_revision: policies.min_revision,
        expect_name: policies.name.clone(),
        unseal: policies.unseal.clone(),
    };
    let source: Box<dyn Source> = match &policies.location {
        Location::Directory(path) => {
            Box::new(Directory::new(path.clone(), table_options(policies)?))
        }
        Location::Bundle(path) => Box::new(FileSource::new(path.clone())),
        Location::Url(remote) => Box::new(
            UrlSource::new(remote).map_err(|error| Failure::usage(format!("`url`: {error}")))?,
        ),
    };
    let source = unsealed(source, policies.unseal.as_deref())?;
    Ok(Origin {
        source: Some(source),
        trust: Terms::read(&opening, crate::clock::now())?.into_trusted(),
        min_revision: policies.min_revision.unwrap_or(0).min(MAX_NUMBER),
        name: policies.name.clone(),
        after_expiry: policies.after_expiry,
        directory,
    })
}

fn table_options(policies: &Policies) -> Result<TableOptions> {
    let compile = &policies.compile;
    let globals = compile.globals.as_ref().map(|path| match path.to_str() {
        Some(path) => Ok(path.to_owned()),
        None => Err(Failure::usage(format!("`{}` is not text", path.in_one_line()))),
    });
    Ok(TableOptions {
        evaluation: compile.is_lenient.then_some(Mode::Lenient),
        lenient_scope_search: compile.lenient_scope_search,
        globals: globals.transpose()?,
        default_version: compile.default_version.clone(),
        schema_enforcement: Some(match compile.schemas {
            config::Schemas::None => Schemas::None,
            config::Schemas::Warn => Schemas::Warn,
            config::Schemas::Reject => Schemas::Reject,
        }),
    })
}

/// Returns a source whose bundles are unsealed with the key in a file, if there is one.
fn unsealed(source: Box<dyn Source>, key: Option<&Path>) -> Result<Box<dyn Source>> {
    match key {
        None => Ok(source),
        Some(path) => Ok(Box::new(Sealed { key: keys::sealing(path)?, source })),
    }
}

/// Another source, whose bundles are sealed.
struct Sealed {
    key: keys::Secret,
    source: Box<dyn Source>,
}

impl Source for Sealed {
    fn look(&mut self, anyway: bool) -> Result<Lookup, SourceError> {
        let Lookup::Bundle(bytes) = self.source.look(anyway)? else { return Ok(Lookup::Unchanged) };
        let unsealed = sealed::unseal(&bytes, &self.key, &Conditions::default());
        unsealed.map(Lookup::Bundle).map_err(|error| SourceError::new(error.to_string()))
    }

    fn name(&self) -> String {
        self.source.name()
    }
}
