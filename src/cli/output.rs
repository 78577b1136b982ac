//! Standard output and standard error, whoever reads them.
//!
//! How a verb ends follows from what it found, not from who has read it: writing to standard output never fails here. A reader that has
//! closed the pipe has what it wanted; the rest is dropped, and the verb goes on to write its files and to its verdict. Anything else that
//! goes wrong (a full disk) is remembered for [`Failure::exit`](super::Failure::exit), which makes a success a failed write. What cannot be
//! written to standard error is lost; the exit status still says it.
//!
//! All text goes through here, and with it names out of profiles, machine files and paths. What acts on a terminal instead of being seen is written
//! out ([`visible`]), whether or not there is a terminal; JSON says the same with it. Bars of progress go to standard error by themselves and show figures
//! and words of this program only.

use super::Failure;
use crate::{
    files::{Visible, is_hidden, visible},
    report::layout::{self, WIDTH},
};
use clap::ValueEnum;
use miette::{MietteHandlerOpts, Report, ReportHandler, miette};
use std::{
    borrow::Cow,
    fmt::{self, Display},
    io::{self, Write},
    path::Path,
    sync::{Mutex, OnceLock, PoisonError},
};

/// How results are printed, where that is all there is to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Why standard output takes no more. It is one for the whole process.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// What has come to standard output of a character.
static BEGUN: Mutex<Visible> = Mutex::new(Visible::new());

/// Standard output, for text. What it no longer takes is dropped.
#[derive(Debug)]
pub(super) struct Output;

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = BEGUN.lock().unwrap_or_else(PoisonError::into_inner).piece(bytes);
        write_bytes(text.as_bytes());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        note(|| io::stdout().flush());
        Ok(())
    }
}

fn note(write: impl FnOnce() -> io::Result<()>) {
    if LOST.get().is_none()
        && let Err(error) = write()
    {
        // Another thread may have met the same.
        let _ = LOST.set(error);
    }
}

/// Puts bytes of this program's own, such as a shipped file, on standard output as they are.
pub(super) fn write_bytes(bytes: &[u8]) {
    note(|| io::stdout().write_all(bytes));
}

/// Columns that people read: what `COLUMNS` says, else those of the terminal; at least 80, as many as there are where nothing says more.
pub(super) fn width() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse::<usize>().ok());
    let terminal =
        || terminal_size::terminal_size_of(io::stdout()).map(|(terminal_size::Width(width), _)| usize::from(width));
    said.or_else(terminal).unwrap_or(WIDTH).clamp(WIDTH, 1000)
}

/// A text for people, in lines of these columns.
pub(super) fn fitted(text: &str) -> String {
    layout::fitted(text, width())
}

pub(super) fn print(text: &str) {
    let _ = Output.write_all(text.as_bytes());
    let _ = Output.flush();
}

pub(super) fn json(object: &impl serde::Serialize) -> Result<String, Failure> {
    let printed = serde_json::to_string_pretty(object).map_err(io::Error::from);
    printed.map(|json| json + "\n").map_err(|error| Failure::output(&error))
}

/// Prints a text for people, within the columns that they have, or a document for programs.
pub(super) fn print_as(
    format: Format,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    document: &impl serde::Serialize,
) -> Result<(), Failure> {
    let mut text = Vec::new();
    print(&match format {
        Format::Json => json(document)?,
        Format::Text => {
            write(&mut text).map_err(|error| Failure::output(&error))?;
            fitted(&String::from_utf8_lossy(&text))
        }
    });
    Ok(())
}

pub(super) fn complain(text: impl Display) {
    let _ = writeln!(io::stderr(), "{}", visible(&text.to_string()));
}

/// Shows a diagnostic on standard error, with colours if it says nothing that is hidden: then all that acts on the terminal is miette's own.
pub(super) fn show(report: &Report) {
    let plain = Plain(report).to_string();
    match visible(&plain) {
        Cow::Borrowed(_) => drop(writeln!(io::stderr(), "{report:?}")),
        Cow::Owned(seen) => drop(writeln!(io::stderr(), "{seen}")),
    }
}

/// Shows what is wrong with the arguments, or the help that they ask for: with colours if no argument holds anything that is hidden, since clap quotes them.
pub(super) fn show_usage(error: &clap::Error) -> io::Result<()> {
    if !std::env::args_os().any(|argument| argument.to_string_lossy().contains(is_hidden)) {
        return error.print();
    }
    let plain = error.render().to_string();
    let seen = visible(&plain);
    if error.use_stderr() { io::stderr().write_all(seen.as_bytes()) } else { io::stdout().write_all(seen.as_bytes()) }
}

struct Plain<'a>(&'a Report);

impl Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        MietteHandlerOpts::new().color(false).terminal_links(false).build().debug(self.0.as_ref(), f)
    }
}

/// Whether standard output takes no more: what a verb does only to print it need not go on.
pub(super) fn is_lost() -> bool {
    LOST.get().is_some()
}

/// Why standard output does not have all that was printed, if not because its reader has gone.
pub(super) fn trouble() -> Option<&'static io::Error> {
    let _ = Output.flush();
    LOST.get().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
}

/// Refuses a file that is to be written and is standard output or standard error: what is printed there would be lost.
pub(super) fn refuse_stream(flag: &str, path: Option<&Path>) -> Result<(), Failure> {
    match path.and_then(|path| Some((path, crate::files::standard_stream(path)?))) {
        Some((path, stream)) => Err(Failure::Usage(miette!(
            help = "write to another file",
            "{flag} {}: the same file as {stream}, which would be lost",
            path.display()
        ))),
        None => Ok(()),
    }
}
