//! `sealsim example`: the files that the documents name, for those who have the program alone.

mod built_in;

use super::{Failure, output};
use crate::{
    config::nearest,
    files::{excerpt, write_whole},
};
use built_in::{Example, Kind, all};
use clap::Args;
use miette::miette;
use std::{
    fmt::Write as _,
    fs,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
};

/// Lists, prints or writes the example files that are built in: machines, designs, workloads, studies, stage files, measurements,
/// profiles and vectors.
///
/// What README and the documents name as a file is here under the same path, so that their commands work where `--write` has been used.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0; 2 if there is no such example, or several to print; 4 if a file cannot be written, or one is there.

Examples:
  sealsim example                              # what there is
  sealsim example ghash-width                  # print a study
  sealsim example studies/ghash-width.toml --write     # write it below the current folder
  sealsim example kmeans-off --write           # two files of a profile
  sealsim example studies --write --into /tmp/try      # a whole folder"
)]
pub struct Arguments {
    /// A path or the tail of one, a file's name with or without ending, the beginning of one, or a folder. Left out: list all.
    #[arg(value_name = "NAME", default_value = "", hide_default_value = true)]
    name: String,
    /// Write the files, each to its path.
    #[arg(long)]
    write: bool,
    /// The folder below which they are written.
    #[arg(long, value_name = "DIR", default_value = ".", requires = "write")]
    into: PathBuf,
    /// List those that NAME means.
    #[arg(long, conflicts_with = "write")]
    list: bool,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let all = all();
    let found = named(&all, &arguments.name)?;
    match (arguments.write, &found[..]) {
        (true, _) => write(&found, &arguments.into),
        (false, [one]) if !arguments.list => print(one),
        (false, several) if arguments.list || arguments.name.is_empty() => {
            output::print(&output::fitted(&list(several)));
            Ok(())
        }
        (false, several) => {
            let help = "give one of them whole, or --write for all";
            let text = format!("`{}` means {} examples:\n{}", arguments.name, several.len(), lines(several));
            Err(Failure::Usage(miette!(help = help, "{text}")))
        }
    }
}

/// The examples that a name means: by path, by the tail of one, by file, without endings, by folder, or by how a file begins; the first of these
/// that there is.
fn named<'e>(all: &'e [Example], name: &str) -> Result<Vec<&'e Example>, Failure> {
    let folder = name.trim_end_matches('/');
    let rules: [&dyn Fn(&Example) -> bool; 7] = [
        &|one| one.path == name,
        &|one| !name.is_empty() && one.path.strip_suffix(name).is_some_and(|before| before.ends_with('/')),
        &|one| one.file() == name,
        &|one| one.stem() == name,
        &|one| one.path.strip_prefix(folder).is_some_and(|rest| folder.is_empty() || rest.starts_with('/')),
        &|one| one.path.contains(&format!("/{folder}/")),
        &|one| one.file().starts_with(name),
    ];
    for rule in rules {
        let found: Vec<_> = all.iter().filter(|one| rule(one)).collect();
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let guess = if name.len() <= 40 { nearest(name, all.iter().map(Example::stem)) } else { None };
    let help = match guess {
        Some(guess) => format!("did you mean `{guess}`? `sealsim example` lists all"),
        None => "`sealsim example` lists all".to_owned(),
    };
    Err(Failure::Usage(miette!(help = help, "there is no example `{}`", excerpt(name, 40))))
}

fn print(example: &Example) -> Result<(), Failure> {
    if !example.is_text() && io::stdout().is_terminal() {
        let help = format!("write it with `sealsim example {} --write`, or send it to a file or program", example.path);
        return Err(Failure::Usage(miette!(help = help, "{} is no text", example.path)));
    }
    output::write_bytes(&example.bytes);
    Ok(())
}

/// Writes the files, or none where something else is in the place of one.
fn write(examples: &[&Example], into: &Path) -> Result<(), Failure> {
    let here = into == Path::new(".");
    let place = |one: &Example| if here { PathBuf::from(&one.path) } else { into.join(&one.path) };
    let places: Vec<_> = examples.iter().map(|one| (place(one), one)).collect();
    let is_there = |(place, one): &&(PathBuf, &&Example)| fs::read(place).is_ok_and(|bytes| bytes == *one.bytes);
    let taken = places.iter().find(|place| place.0.exists() && !is_there(place));
    if let Some((place, _)) = taken {
        let help = "remove it, or write elsewhere with --into DIR";
        return Err(Failure::InputOutput(miette!(help = help, "{} is there already, and differs", place.display())));
    }
    for (place, one) in &places {
        let failed = |error: io::Error| Failure::InputOutput(miette!("output {error}"));
        if let Some(folder) = place.parent() {
            let named = |error| io::Error::other(format!("{}: {error}", folder.display()));
            fs::create_dir_all(folder).map_err(named).map_err(failed)?;
        }
        write_whole(place, &one.bytes).map_err(failed)?;
        output::print(&format!("{}\n", place.display()));
    }
    Ok(())
}

fn list(examples: &[&Example]) -> String {
    let mut text = String::new();
    for kind in Kind::ALL {
        let of_kind: Vec<_> = examples.iter().copied().filter(|one| one.kind == kind).collect();
        if !of_kind.is_empty() {
            let gap = if text.is_empty() { "" } else { "\n" };
            _ = write!(text, "{gap}{}:\n{}", kind.title(), lines(&of_kind));
        }
    }
    text
}

fn lines(examples: &[&Example]) -> String {
    let width = examples.iter().map(|one| one.path.len()).max().unwrap_or(0);
    examples.iter().map(|one| format!("{:width$}  {}\n", one.path, one.about)).collect()
}
