//! What the page records of a run, from an instant on.

use crate::{
    cli::output,
    files::RecordFile,
    observe::{
        Window,
        perfetto::{StreamCopy, Trace},
    },
    sim::{SharedListener, Still},
    units::Femtos,
};
use serde::Serialize;
use std::{
    cell::RefCell,
    io,
    path::{Path, PathBuf},
    rc::Rc,
};

/// The file if none is given.
const FILE: &str = "sealsim-live.pftrace";
/// So many names are tried.
const NAMES: u32 = 1_000;

/// What the page gets of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum RecordingState {
    None,
    UnderWay {
        path: PathBuf,
        from_ps: u64,
    },
    /// The file is whole.
    Written {
        path: PathBuf,
        from_ps: u64,
    },
    Failed {
        why: String,
    },
}

/// A recording, asked for or not.
pub struct Recording {
    /// None if nothing may be recorded.
    wanted: Option<PathBuf>,
    trace: Option<Rc<RefCell<Trace>>>,
    state: RecordingState,
}

pub fn destination(given: Option<&Path>) -> PathBuf {
    given.map_or_else(|| FILE.into(), Path::to_owned)
}

impl Recording {
    /// None yet, which would go to this file, or one of its name with a number if that is there.
    pub const fn new(wanted: Option<PathBuf>) -> Self {
        Self { wanted, trace: None, state: RecordingState::None }
    }

    pub fn state(&self) -> RecordingState {
        self.state.clone()
    }

    /// Records from here, unless it does or something else listens.
    pub fn begin(&mut self, still: &mut Still<'_, '_>) {
        if self.trace.is_some() {
            return;
        }
        let listened =
            "something else listens to this run: leave out --trace, --waves, --capture, --events and --report";
        let begun = if still.netlist().is_heard() { Err(listened.to_owned()) } else { self.listen(still) };
        if let Err(why) = begun {
            self.state = RecordingState::Failed { why };
        }
    }

    fn listen(&mut self, still: &mut Still<'_, '_>) -> Result<(), String> {
        let wanted = self.wanted.as_deref().ok_or("this page writes no file: `sealsim run --live` records")?;
        let (file, path) = create(wanted).map_err(|error| error.to_string())?;
        let trace = Trace::new(file, Window { from: still.time(), to: Femtos::MAX });
        let trace = Rc::new(RefCell::new(trace));
        let listener: SharedListener = Rc::<RefCell<Trace>>::clone(&trace);
        still.listen(&listener);
        trace.borrow_mut().begin_with(still.time(), still.netlist().channels().map(|channel| channel.fill().0));
        output::complain(format_args!("live: recording to {}", path.display()));
        let path = std::path::absolute(&path).unwrap_or(path);
        self.state = RecordingState::UnderWay { path, from_ps: still.time().picos() };
        self.trace = Some(trace);
        Ok(())
    }

    /// Ends it with what the run made of its copies.
    pub fn close(&mut self, copies: &[StreamCopy]) -> io::Result<()> {
        let trace = self.trace.take().and_then(|trace| Rc::try_unwrap(trace).ok());
        let (Some(trace), RecordingState::UnderWay { path, from_ps }) = (trace, self.state.clone()) else {
            return Ok(());
        };
        let closed = trace.into_inner().close(copies).map(|_| ());
        self.state = match &closed {
            Ok(()) => RecordingState::Written { path, from_ps },
            Err(error) => RecordingState::Failed { why: error.to_string() },
        };
        closed
    }
}

/// A new file: this one, or the first with a number behind its name that is not there.
fn create(wanted: &Path) -> io::Result<(RecordFile, PathBuf)> {
    let mut path = wanted.to_owned();
    for number in 2..NAMES {
        match RecordFile::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => path = numbered(wanted, number),
            made => return made.map(|file| (file, path)),
        }
    }
    RecordFile::create_new(&path).map(|file| (file, path))
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    let part =
        |part: Option<&std::ffi::OsStr>| part.map(std::ffi::OsStr::to_string_lossy).unwrap_or_default().into_owned();
    let (stem, extension) = (part(path.file_stem()), part(path.extension()));
    let dot = if extension.is_empty() { "" } else { "." };
    path.with_file_name(format!("{stem}-{number}{dot}{extension}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for (name, next) in [("a.pftrace", "a-2.pftrace"), ("b", "b-2")] {
            fs::write(path(name), "old").unwrap();
            assert_eq!(create(&path(name)).unwrap().1, path(next));
            assert_eq!(create(&path("none")).unwrap().1, path("none"));
            assert_eq!(fs::read(path(name)).unwrap(), b"old");
            // A recording that has not ended leaves nothing.
            assert!(!path("none").exists() && !path(next).exists());
            fs::write(path(next), "old, too").unwrap();
        }
        assert_eq!(create(&path("a.pftrace")).unwrap().1, path("a-3.pftrace"));
        assert!(create(&path("no/folder")).is_err());
    }
}
