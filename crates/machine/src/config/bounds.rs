//! Parameters that units are bounded by and look at for nothing else: see [`Unit::bounded`](crate::sim::Unit::bounded).

use super::MachineSpec;
use std::mem::take;

impl MachineSpec {
    /// Takes them out, by the names that units give them: what is left decides a run, with whether each of them is ever reached.
    pub fn take_bounds(&mut self) -> Vec<(&'static str, u64)> {
        let Self { tag_queue, copy_engine, link, root_complex, compute, .. } = self;
        vec![
            ("tag_queue.depth", take(&mut tag_queue.depth).into()),
            ("tag_queue.quarantine", take(&mut tag_queue.quarantine).0),
            ("copy_engine.outstanding_reads", take(&mut copy_engine.outstanding_reads).into()),
            ("link.replay_tlps", take(&mut link.replay_tlps).into()),
            ("root_complex.reads_in_service", take(&mut root_complex.reads_in_service).into()),
            ("root_complex.writes_in_service", take(&mut root_complex.writes_in_service).into()),
            ("compute.slots", take(&mut compute.slots).into()),
        ]
    }
}
