//! Limits that the system sets a process.

/// A file that grows past the limit of the process (`ulimit -f`) gives an error like a full disk, instead of a signal that ends the process
/// without a word: the signal is blocked for this thread and all that it starts.
#[cfg(unix)]
pub(super) fn report_file_size_limit() {
    use nix::sys::signal::{SigSet, Signal};
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    // If that is not possible, the signal ends the process as ever.
    let _ = signals.thread_block();
}

/// There is no such limit here.
#[cfg(not(unix))]
pub(super) fn report_file_size_limit() {}
