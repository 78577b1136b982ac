//! What queues and wires have in common.

use super::{
    fault::{Armed, FaultKind},
    probe::Probe,
    wake::{UnitId, Wakes},
};

/// What the machine and its reports may ask of any queue or wire.
pub trait Channel {
    /// Its name.
    fn name(&self) -> &str;
    /// The unit that sends into it, and the one that receives.
    fn ends(&self) -> (UnitId, UnitId);
    /// Items in it, and how many it can hold.
    fn fill(&self) -> (usize, usize);
    /// Digest of all that was pushed.
    fn digest(&self) -> u64;
    /// The faults that can be armed here.
    fn fault_kinds(&self) -> &'static [FaultKind];
    /// Arms a fault.
    fn arm(&mut self, armed: Armed, wakes: &Wakes);
    /// The faults that were armed here, and what became of them.
    fn armed(&self) -> Vec<Armed>;
    /// Sends each push to `probe` from now on.
    fn listen(&mut self, probe: Probe);
}
