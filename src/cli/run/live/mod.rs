//! `run --live`: a page of the run while it goes on.
//!
//! ```text
//!   simulation thread                    thread of the server
//!   Watcher --- looks, records --- Desk --- state, orders --- Site --- HTTP on the loopback
//! ```
//!
//! Nothing listens to the run: the page asks, and then the watcher looks at the machine between two instants. While nobody asks it reads one atomic
//! flag now and then.

mod desk;
mod recording;
mod site;
mod snapshot;
mod watcher;

use super::inside::stream_copies;
use crate::cli::places::Named;
use crate::{
    cli::{
        Failure,
        loopback::{self, Server},
        output,
    },
    report::html::LivePage,
    system::Outcome,
};
use clap::Args;
pub(in crate::cli) use desk::Desk;
use desk::Ending;
use miette::miette;
use recording::{Recording, destination};
pub(in crate::cli) use site::LiveSite;
pub(super) use snapshot::CopyState;
use std::{cell::RefCell, path::PathBuf, sync::Arc, time::Duration};
pub(super) use watcher::{Subject, Watcher};

/// Arguments.
#[derive(Debug, Clone, Args, Default)]
pub(in crate::cli) struct LiveArguments {
    /// Serve a page of the run in progress, to this computer only: progress, queues, units; pause, step to the next message, record from
    /// there. Its address is printed on standard error; the port is a free one if not given. One thread simulates, regardless of --threads
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    live: Option<u16>,
    /// Begin paused, and at the end serve the page until it is closed there or Ctrl-C comes
    #[arg(long, requires = "live")]
    live_hold: bool,
    /// Where the page's recordings go, a Perfetto trace. A file that is there stays: its name gets a number. Default: sealsim-live.pftrace
    #[arg(long, value_name = "FILE", requires = "live")]
    live_record: Option<PathBuf>,
}

impl LiveArguments {
    /// The file that may be written.
    pub(super) fn written(&self) -> Named<'_> {
        ("--live-record", self.live_record.as_deref())
    }

    /// Refuses what cannot be written.
    /// Whether a page is asked for.
    pub(super) const fn is_asked(&self) -> bool {
        self.live.is_some()
    }

    pub(super) fn check(&self) -> Result<(), Failure> {
        output::refuse_stream("--live-record", self.live_record.as_deref())
    }

    /// Serves the page of a run on this machine from now on; none if that is not asked for.
    pub(super) fn begin(&self, machine: &str) -> Result<Option<Live>, Failure> {
        let Some(port) = self.live else { return Ok(None) };
        let desk = Arc::new(Desk::new(self.live_hold));
        let site = LiveSite { page: LivePage::new(machine), desk: Arc::clone(&desk) };
        let server = Server::begin(port, site)
            .map_err(|error| loopback::refused(("--live", "write --live", "--live=8080"), port, &error))?;
        output::complain(format_args!("live: {}", server.address()));
        let recording = RefCell::new(Recording::new(Some(destination(self.live_record.as_deref()))));
        Ok(Some(Live { desk, server: Some(server), recording, hold: self.live_hold }))
    }
}

pub(super) struct Live {
    desk: Arc<Desk>,
    /// None where another site holds the page.
    server: Option<Server>,
    recording: RefCell<Recording>,
    hold: bool,
}

impl Live {
    /// Of a page that another site holds, which has its desk. It records nothing.
    pub fn hosted(desk: Arc<Desk>) -> Self {
        Self { desk, server: None, recording: RefCell::new(Recording::new(None)), hold: false }
    }

    /// Who looks at the run for the page.
    pub fn watcher<'a>(&'a self, subject: Subject<'a>) -> Watcher<'a> {
        Watcher::new(&self.desk, &self.recording, subject)
    }

    /// Closes what was recorded of a run, which may have no outcome.
    pub fn close_recording(&self, outcome: Option<&Outcome>, streams: Option<&[String]>) -> Result<(), Failure> {
        let copies = outcome.map_or_else(Vec::new, |outcome| stream_copies(outcome, streams));
        let closed = self.recording.borrow_mut().close(&copies);
        self.desk.tell_of_recording(self.recording.borrow().state());
        closed.map_err(|error| Failure::InputOutput(miette!("output {error}")))
    }

    /// Tells the page how the program ends. With `--live-hold` it is served until it is closed, or the user wants it to end.
    pub fn leave(self, result: &Result<(), Failure>, interrupted: &dyn Fn() -> bool) {
        let ending = match result {
            Ok(()) => Ending::Well,
            Err(failure) => Ending::Failed(failure.message()),
        };
        self.desk.end(ending);
        let Some(server) = self.server else { return };
        if self.hold {
            self.desk.wait_until_closed(interrupted);
        } else {
            self.desk.wait_until_told(Duration::from_millis(1500), interrupted);
        }
        server.end();
    }
}
