//! The errors that the driver signals to its caller.

use crate::sim::ErrorSignal;

/// A semaphore that says that the channel has ended with an error.
pub const CHANNEL_ERROR: ErrorSignal = ErrorSignal::uncorrected("channel_error", "a channel error");
/// A semaphore with a value that no submission waits for.
pub const SEMAPHORE: ErrorSignal = ErrorSignal::uncorrected("semaphore", "a semaphore with an impossible value");
pub const CPU_TAG: ErrorSignal = ErrorSignal::uncorrected("cpu_tag", "a tag that the CPU found wrong");
pub const USER_TAG: ErrorSignal = ErrorSignal::uncorrected("user_tag", "a tag that the user found wrong");
/// Anything else for which the driver gives a copy up.
pub const REFUSED: ErrorSignal = ErrorSignal::uncorrected("driver", "a copy that the driver gave up");
