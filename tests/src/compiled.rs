//! Policies as a bundle, and the table that opens from it.

use wardgate_bundle::{Conditions, Trust, open, pack};
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::table::PolicyTable;

/// A bundle and its table.
pub struct Compiled {
    /// The bundle.
    pub bundle: Vec<u8>,
    /// The table.
    pub table: PolicyTable,
}

impl Compiled {
    /// Compiles policies.
    ///
    /// # Errors
    /// If they do not compile; the text has the diagnostics.
    pub fn new(files: &[(String, Vec<u8>)], options: &Options) -> Result<Self, String> {
        let compiled = compile_files(files, options)
            .map_err(|errors| errors.iter().map(ToString::to_string).collect::<String>())?;
        Self::opened(pack(&compiled.parts))
    }

    /// Compiles texts by the names of their files, with the usual options.
    ///
    /// # Errors
    /// If they do not compile; the text has the diagnostics.
    pub fn of_texts(texts: &[(&str, &str)]) -> Result<Self, String> {
        let file = |(name, text): &(&str, &str)| ((*name).to_owned(), text.as_bytes().to_vec());
        Self::new(&texts.iter().map(file).collect::<Vec<_>>(), &Options::default())
    }

    /// Opens a bundle without asking for a signature.
    ///
    /// # Errors
    /// If it is refused.
    pub fn opened(bundle: Vec<u8>) -> Result<Self, String> {
        let opened = open(&bundle, Trust::Unsigned, &Conditions::default());
        let table = opened.map_err(|error| error.to_string())?.table;
        Ok(Self { bundle, table })
    }
}
