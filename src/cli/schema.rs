//! `sealsim schema`: the JSON Schema of configuration files.

use super::{Failure, output};
use crate::config;
use clap::Args;

/// Prints the JSON Schema of a configuration file, for completion and checks in an editor.
///
/// A file is a layer, so the schema requires no field. That a machine is complete is checked when it is read.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  sealsim schema > sealsim.schema.json
  # then, as the first line of a configuration, for editors that use taplo:
  #:schema ./sealsim.schema.json")]
pub struct Schema {}

impl Schema {
    pub(super) fn run(&self) -> Result<(), Failure> {
        let text = format!("{:#}\n", config::schema());
        output::print(&text);
        Ok(())
    }
}
