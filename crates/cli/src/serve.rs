//! `wardgate serve`: a policy decision point as a server.
//!
//! The server knows no compiler and no files of keys. The command provides both: a source of
//! bundles, and the keys that must have signed them.

use std::path::PathBuf;

use wardgate_bundle::limits::MAX_NUMBER;
use wardgate_bundle::{Conditions, Label, sealed};
use wardgate_server::config::{self, Location, Policies};
use wardgate_server::{Config, FileSource, Lookup, Origin, Server, Source, SourceError, UrlSource};

use crate::arguments::{Mode, Opening, Schemas, Serve, TableOptions};
use crate::failure::{Failure, Result, Status};
use crate::keys;
use crate::opening::Terms;
use crate::output::{InOneLine, Output};
use crate::policies;

pub(crate) fn run(serve: &Serve, out: &mut Output) -> Result<Status> {
    let config = Config::read(&serve.config).map_err(|error| {
        Failure::usage(format!("the configuration `{}`: {error}", serve.config.in_one_line()))
    })?;
    let origin = origin(&config)?;
    let failed = |error: wardgate_server::ServerError| Failure::policies(error.to_string());
    if serve.check_config {
        Server::check(config, origin).map_err(failed)?;
        out.line(format_args!("`{}` is fine", serve.config.in_one_line()))?;
        return Ok(Status::Done);
    }
    let server = Server::bind(config, origin).map_err(failed)?;
    for address in server.http_addresses() {
        out.line(format_args!("HTTP at {address}"))?;
    }
    for address in server.spocp_addresses() {
        out.line(format_args!("SPOCP at {address}"))?;
    }
    for address in server.mqtt_addresses() {
        out.line(format_args!("MQTT at {address}"))?;
    }
    out.flush()?;
    server.run().map_err(failed)?;
    Ok(Status::Done)
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
        named: policies.name.clone(),
        unseal: policies.unseal.clone(),
    };
    let source: Box<dyn Source> = match &policies.location {
        Location::Directory(path) => {
            Box::new(Directory { path: path.clone(), options: table_options(policies)? })
        }
        Location::Bundle(path) => Box::new(FileSource::new(path.clone())),
        Location::Url(remote) => Box::new(
            UrlSource::new(remote).map_err(|error| Failure::usage(format!("`url`: {error}")))?,
        ),
    };
    let source = match &policies.unseal {
        None => source,
        Some(path) => Box::new(Sealed { key: keys::sealing(path)?, source }),
    };
    Ok(Origin {
        source: Some(source),
        trust: Terms::read(&opening, crate::clock::now())?.into_trusted(),
        min_revision: policies.min_revision.unwrap_or(0).min(MAX_NUMBER),
        name: policies.name.clone(),
        after_expiry: policies.after_expiry,
        directory,
    })
}

/// A directory of policies, compiled at each look. The server detects changes.
struct Directory {
    path: PathBuf,
    options: TableOptions,
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

impl Source for Directory {
    fn look(&mut self, _: bool) -> Result<Lookup, SourceError> {
        let compiled = policies::compile(&self.path, &self.options, &Label::default());
        compiled.map(|compiled| Lookup::Bundle(compiled.bundle)).map_err(|failure| match failure {
            Failure::Message(_, message) => SourceError::new(message),
            Failure::Diagnostics(found) => {
                let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
                SourceError::new(lines.join("\n"))
            }
            Failure::ReaderGone => SourceError::new("the reader has closed the output"),
        })
    }

    fn name(&self) -> String {
        format!("the directory `{}`", self.path.in_one_line())
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
