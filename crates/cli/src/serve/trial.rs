//! `wardgate serve FILE|DIR`: a server for a first try, without a configuration.
//!
//! It answers everybody, so it listens at this machine alone, and it says what production needs.

use std::net::SocketAddr;
use std::path::Path;

use wardgate_server::config::Location;
use wardgate_server::{Config, FileSource, Origin, Server, Source};

use super::directory::Directory;
use super::{environment, failed, list_addresses, unsealed};
use crate::arguments::Serve;
use crate::failure::{Failure, Result, Status};
use crate::opening::Terms;
use crate::output::{InOneLine, Output, complain, shown};
use crate::{clock, policies};

pub(super) fn run(path: &Path, serve: &Serve, out: &mut Output) -> Result<Status> {
    if let Some(name) = environment()?.first() {
        let message =
            format!("`{name}` overrides a key of a configuration: give one with `--config`");
        return Err(Failure::usage(message));
    }
    let listen = serve.listen.as_deref().unwrap_or(ADDRESS);
    must_be_here(listen)?;
    // Found before the server starts, errors are those of `wardgate check`.
    let source = policies::Source { path, options: &serve.options, opening: &serve.opening };
    let is_directory = policies::table_and_sources(source, clock::now())?.1.is_some();
    let config = config(path, listen, is_directory)?;
    let origin = origin(path, serve, is_directory)?;
    let server = Server::bind(config, origin).map_err(|error| match error.is_about_address() {
        true => Failure::system(format!("{error}: choose another address with `--listen`")),
        false => failed(error),
    })?;
    list_addresses(&server, out)?;
    warn(path, serve, is_directory);
    server.run().map_err(failed)?;
    Ok(Status::Done)
}

/// Refuses an address that other machines reach.
fn must_be_here(listen: &str) -> Result<()> {
    let address: Option<SocketAddr> = listen.parse().ok();
    let port = listen.strip_prefix("localhost:").map(str::parse::<u16>);
    if address.is_some_and(|address| address.ip().is_loopback()) || matches!(port, Some(Ok(_))) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "`--listen` must be an address of this machine alone, such as `127.0.0.1:8080`, and not `{}`: \
         everybody is answered there; for others give a configuration with `--config`",
        shown(listen)
    )))
}

fn config(path: &Path, listen: &str, is_directory: bool) -> Result<Config> {
    let mut config = Config::parse(CONFIGURATION, Path::new(""))
        .map_err(|error| Failure::usage(error.to_string()))?;
    config.http.listen = vec![listen.to_owned()];
    if let Some(policies) = &mut config.policies {
        policies.location = match is_directory {
            true => Location::Directory(path.to_owned()),
            false => Location::Bundle(path.to_owned()),
        };
    }
    Ok(config)
}

fn origin(path: &Path, serve: &Serve, is_directory: bool) -> Result<Origin> {
    let opening = &serve.opening;
    let source: Box<dyn Source> = match is_directory {
        true => Box::new(Directory::new(path.to_owned(), serve.options.clone())),
        false => unsealed(Box::new(FileSource::new(path.to_owned())), opening.unseal.as_deref())?,
    };
    Ok(Origin {
        source: Some(source),
        trust: Terms::read(opening, clock::now())?.into_trusted(),
        min_revision: opening.min_revision.unwrap_or(0),
        name: opening.expect_name.clone(),
        ..Origin::default()
    })
}

fn warn(path: &Path, serve: &Serve, is_directory: bool) {
    let shown = path.in_one_line();
    let unsigned = match (is_directory, serve.opening.trust.is_empty()) {
        (true, _) => format!(", and the policies in `{shown}` are not signed"),
        (false, true) => format!(", and it is not verified who signed `{shown}`"),
        (false, false) => String::new(),
    };
    complain(format_args!(
        "wardgate: for a first try only: everybody on this machine gets decisions{unsigned}"
    ));
    complain(
        "wardgate: production needs `wardgate serve --config FILE` with a signed bundle, `trust`, \
         `[http.tls]` and `[auth]`: docs/server.md of the project has an example",
    );
    complain(format_args!(
        "wardgate: changes of `{shown}` are in use within a second; Ctrl-C ends"
    ));
}

/// The address, unless `--listen` has another.
const ADDRESS: &str = "127.0.0.1:3592";

/// What a first try needs. The place of the policies and the address are put in.
const CONFIGURATION: &str = r#"
[server]
log-format = "text"
[policies]
directory = "."
watch-seconds = 1
[auth]
anonymous-queries = true
[ratelimit]
"#;
