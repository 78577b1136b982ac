//! The errors that a PCE signals: those of a PCIe requester, and of its own checks.

use crate::sim::ErrorSignal;

/// A read that was not answered in time (Completion Timeout).
pub const COMPLETION_TIMEOUT: ErrorSignal = ErrorSignal::uncorrected("completion_timeout", "a read that timed out");
/// A completion that no read waits for, or not with these bytes (Unexpected Completion).
pub const UNEXPECTED_COMPLETION: ErrorSignal =
    ErrorSignal::uncorrected("unexpected_completion", "a completion that was not asked for");
/// A completion that says that the read failed.
pub const COMPLETION_STATUS: ErrorSignal =
    ErrorSignal::uncorrected("completion_status", "a completion with an error status");
/// Data from device memory, SMs or a shared engine that are not what was asked for. That silicon has such checks is assumed.
pub const INTERNAL: ErrorSignal = ErrorSignal::uncorrected("internal", "data inside the GPU that were not asked for");
