//! `wardgate keys public`: writes the public half of a key.

use super::{Key, files, jwk, one, wrong};
use crate::arguments::Public;
use crate::failure::{Failure, Result, Status};
use crate::output::{InOneLine, Output};
use crate::overwriting::Paths;

pub(super) fn run(public: &Public, out: &mut Output) -> Result<Status> {
    let outputs = public.output.iter().map(|path| ("-o", path.as_path())).collect();
    Paths { outputs, inputs: vec![&public.file], ..Paths::default() }.check()?;
    let key = match one(&public.file)? {
        Key::Private(key) => key.public,
        Key::Public(key) => key,
        other @ Key::Sealing(_) => {
            return Err(wrong(&public.file, &other, "it has no public half"));
        }
    };
    let id = key.id;
    let text = jwk::write(&Key::Public(key)).map_err(Failure::policies)?;
    match &public.output {
        None => out.line(text.trim_end())?,
        Some(path) => {
            files::publish(path, text.as_bytes())?;
            out.line(format_args!("{}: public key, id {id}", path.in_one_line()))?;
        }
    }
    Ok(Status::Done)
}
