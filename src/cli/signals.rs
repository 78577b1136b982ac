//! Signals: Ctrl-C, SIGTERM and SIGHUP are the same for every verb.
//!
//! The first asks the verb to stop ([`Interruption`]), which keeps or tells what it has done. One that does not ask in time, because it waits for a file or is
//! deep in a library, is ended here, with the status and the word of an interrupted run, and without its temporary files. The second ends the process
//! whatever it does.

use super::Failure;
use crate::{files::remove_unfinished, sim::Interruption};
use miette::miette;
use std::{process, sync::OnceLock, thread, time::Duration};
use system::{end_at_once, report_file_size_limit};

/// So long a verb has to end by itself.
const GRACE: Duration = Duration::from_millis(850);
/// So long the end may take that is made for it.
const LAST: Duration = Duration::from_millis(100);

/// Whether a signal ends the process, or else the verb: whoever begins with it.
static BY_SIGNAL: OnceLock<bool> = OnceLock::new();

/// Listens from now on. Where that is not possible, signals end the process as ever.
pub(super) fn listen() {
    report_file_size_limit();
    let interruption = Interruption::listen();
    let _ = ctrlc::set_handler(move || {
        if interruption.asked() {
            end_at_once();
        }
        interruption.ask();
        // Without a thread, the next signal does it.
        let _ = thread::Builder::new().name("end".to_owned()).spawn(end_for_it);
    });
}

/// Notes that the verb comes to its end, or keeps what it has before. If the process is already being ended, this thread does nothing more.
pub(super) fn note_end() {
    while *BY_SIGNAL.get_or_init(|| false) {
        thread::park();
    }
}

fn end_for_it() {
    thread::sleep(GRACE);
    if !BY_SIGNAL.get_or_init(|| true) {
        return;
    }
    // Nobody may read what it says.
    let _ = thread::Builder::new().spawn(|| {
        remove_unfinished();
        let failure = Failure::Verification(miette!("interrupted: ended in the middle of its work"));
        failure.show();
        process::exit(failure.status().into())
    });
    thread::sleep(LAST);
    end_at_once();
}

#[cfg(unix)]
mod system {
    use nix::sys::signal::{SigSet, Signal, raise};

    /// A file that grows past the limit of the process (`ulimit -f`) gives an error like a full disk, instead of a signal that ends the process without a word: the
    /// signal is blocked for this thread and all that it starts. If that is not possible, it ends the process as ever.
    pub fn report_file_size_limit() {
        let _ = SigSet::from(Signal::SIGXFSZ).thread_block();
    }

    pub fn end_at_once() {
        let _ = raise(Signal::SIGKILL);
    }
}

#[cfg(not(unix))]
mod system {
    pub const fn report_file_size_limit() {}

    pub fn end_at_once() {
        std::process::abort();
    }
}
