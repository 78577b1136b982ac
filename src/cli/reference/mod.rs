//! `sealsim reference`: what there is to give and to read, as Markdown pages.
//!
//! Each page is made from the table that the program itself uses, so that it says what this version does.

mod columns;
mod faults;
mod markdown;
mod options;
mod parameters;
mod stalls;
mod statuses;
mod values;

use super::{Arguments, Failure, output};
use crate::files::write_whole;
use clap::{Args, CommandFactory};
use miette::miette;
use std::{fs, io, path::PathBuf};

/// The machine whose values and fault points are shown.
const MACHINE: &str = "h100-nvl-tdx";

/// Writes the reference as Markdown pages: options, parameters, values, columns, stalls, fault points, exit statuses.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 written; 2 wrong arguments; 4 a file that cannot be written.

Example:
  sealsim reference /tmp/reference")]
pub struct Reference {
    /// The folder to write them to.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Reference {
    pub(super) fn run(&self) -> Result<(), Failure> {
        let failed = |error: io::Error| Failure::InputOutput(miette!("output {error}"));
        let named = |error| io::Error::other(format!("{}: {error}", self.folder.display()));
        let pages = pages()?;
        fs::create_dir_all(&self.folder).map_err(named).map_err(failed)?;
        for (name, page) in &pages {
            write_whole(&self.folder.join(format!("{name}.md")), page.as_bytes()).map_err(failed)?;
        }
        output::print(&format!("{} pages in {}\n", pages.len(), self.folder.display()));
        Ok(())
    }
}

fn pages() -> Result<Vec<(&'static str, String)>, Failure> {
    let mut program = Arguments::command();
    program.build();
    Ok(vec![
        ("options", options::page(&program)),
        ("parameters", parameters::page()),
        ("values", values::page(MACHINE)?),
        ("columns", columns::page()),
        ("stalls", stalls::page()),
        ("faults", faults::page(MACHINE)?),
        ("exit-statuses", statuses::page(&program)),
    ])
}
