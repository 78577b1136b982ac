//! The errors that a port signals, as the base specification has them in its Advanced Error Reporting and IDE registers.

use crate::sim::ErrorSignal;

/// A TLP whose LCRC is wrong (Bad TLP).
pub const LCRC: ErrorSignal = ErrorSignal::corrected("lcrc", "a TLP with a wrong LCRC");
/// A framing token that is broken (Receiver Error).
pub const FRAMING: ErrorSignal = ErrorSignal::corrected("framing", "a broken framing token");
/// A TLP whose predecessor is missing (Bad TLP).
pub const SEQUENCE: ErrorSignal = ErrorSignal::corrected("sequence", "a TLP out of sequence");
/// A TLP that has come before; the specification counts it nowhere, the receiver acknowledges it again.
pub const DUPLICATE: ErrorSignal = ErrorSignal::corrected("duplicate_tlp", "a TLP that had come before");
/// A DLLP whose CRC is wrong (Bad DLLP).
pub const DLLP_CRC: ErrorSignal = ErrorSignal::corrected("dllp_crc", "a DLLP with a wrong CRC");
/// A TLP that is sent again (Replay).
pub const REPLAY: ErrorSignal = ErrorSignal::corrected("replay", "a replay");
pub const RECOVERY: ErrorSignal = ErrorSignal::corrected("recovery", "an entry into Recovery");
/// A MAC that is wrong (IDE Check Failed): the stream is insecure from then on.
pub const IDE_MAC: ErrorSignal = ErrorSignal::uncorrected("ide_mac", "a wrong MAC of IDE");
/// A TLP for which the partner had no credits (Receiver Overflow, Flow Control Protocol Error).
pub const FLOW_CONTROL: ErrorSignal = ErrorSignal::uncorrected("flow_control", "a TLP without credits");
