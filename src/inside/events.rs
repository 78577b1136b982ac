//! Every passage of every channel as a line: what two runs are compared by.
//!
//! ```text
//! # sealsim events 1
//! fs,channel,key
//! 1234500,host.cipher.jobs,000000000000002a
//! ```
//!
//! Lines of a queue are in the order of its instants; those of a wire carry the date of arrival, and come when it is sent.

use super::Window;
use crate::{
    files::RecordFile,
    sim::{Listener, Passage, Place, Places},
};
use std::{fmt::Write, io};

/// The first lines.
pub const HEAD: &str = "# sealsim events 1\nfs,channel,key\n";

/// A listener that writes all passages.
pub struct EventLog {
    file: RecordFile,
    window: Window,
    channels: Vec<String>,
    line: String,
}

impl EventLog {
    /// Writes to `file` what passes in a window.
    #[must_use]
    pub const fn new(file: RecordFile, window: Window) -> Self {
        Self { file, window, channels: Vec::new(), line: String::new() }
    }

    /// Whether the file cannot be written any more.
    #[must_use]
    pub const fn in_trouble(&self) -> bool {
        self.file.in_trouble()
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// What has gone wrong with the file.
    pub fn close(self) -> io::Result<()> {
        self.file.close()
    }
}

impl Listener for EventLog {
    fn begin(&mut self, places: &Places) {
        self.channels = places.channels.iter().map(|channel| channel.path.clone()).collect();
        self.file.record(|buffer| buffer.extend(HEAD.as_bytes()));
    }

    fn hears(&self, place: Place<'_>) -> bool {
        matches!(place, Place::Channel(_))
    }

    fn passed(&mut self, Passage { channel, date, key, .. }: Passage<'_>) {
        if self.window.holds(date) {
            self.line.clear();
            _ = writeln!(self.line, "{},{},{key:016x}", date.0, self.channels[channel]);
            self.file.record(|buffer| buffer.extend(self.line.as_bytes()));
        }
    }
}
