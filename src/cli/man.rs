//! `sealsim man`: manual pages.

use super::{Arguments, Failure, output};
use crate::files::write_whole;
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man as Pages;
use miette::miette;
use std::{fs, io, path::PathBuf};

/// Writes a manual page for the program and one for each verb.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sealsim man ~/.local/share/man/man1      # then: man sealsim-run
  sealsim man /tmp/pages && man -l /tmp/pages/sealsim-compare.1")]
pub struct Man {
    /// The folder to write them to.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Man {
    pub(super) fn run(&self) -> Result<(), Failure> {
        let failed = |error: io::Error| Failure::InputOutput(miette!("output {error}"));
        let named = |error| io::Error::other(format!("{}: {error}", self.folder.display()));
        fs::create_dir_all(&self.folder).map_err(named).map_err(failed)?;
        let mut program = Arguments::command();
        program.build();
        let pages = pages(&program).map_err(failed)?;
        for (name, page) in &pages {
            write_whole(&self.folder.join(format!("{name}.1")), page).map_err(failed)?;
        }
        output::print(&format!("{} pages in {}\n", pages.len(), self.folder.display()));
        Ok(())
    }
}

/// The pages by name: of the program, of its verbs, of theirs.
fn pages(command: &Command) -> io::Result<Vec<(String, Vec<u8>)>> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let mut page = Vec::new();
    Pages::new(command.clone()).title(name.to_uppercase()).render(&mut page)?;
    let mut pages = vec![(name, page)];
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        pages.extend(self::pages(verb)?);
    }
    Ok(pages)
}
