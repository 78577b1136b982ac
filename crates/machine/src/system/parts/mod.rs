//! The parts that a machine is made of. Each adds its units and the channels between them to the netlist, below a path of its own, as often as the machine
//! has it.

pub(super) mod gpu;
pub(super) mod host;
pub(super) mod link;
pub(super) mod root;
pub(super) mod switch;

use crate::units::{Fixed, fixed};

/// Entries of queues that only hand over what is bounded elsewhere.
const HANDOVER: usize = 64;
/// TLPs that wait in front of a port, from each source.
const PORT_DEPTH: usize = 16;
/// Room for what comes without credits: completions, which their reader has asked for.
const UNBOUNDED: usize = 1 << 16;

/// What of the channels no configuration changes.
pub(super) const FIXED: &[Fixed] = fixed! {
    "channels.handover" HANDOVER, "entries",
        "queues that only hand over what is bounded elsewhere, such as jobs, pushes and entries of the tag queue";
    "channels.port_depth" PORT_DEPTH, "TLPs", "queue of each source in front of a link port; assumed";
    "channels.unbounded" UNBOUNDED, "TLPs",
        "queues of what comes without credits: completions, which their reader has asked for";
};
