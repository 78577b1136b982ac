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

#[cfg(test)]
mod tests {
    use crate::{
        config::{Layers, fields},
        sim::Control,
        system::{self, Request},
    };

    #[test]
    fn units_are_bounded_by_these_and_no_others_and_all_are_parameters() {
        let machine = Layers::new("h100-nvl-tdx").resolve().unwrap().machine;
        let mut bounds: Vec<_> = machine.clone().take_bounds().into_iter().map(|(name, _)| name).collect();
        bounds.sort_unstable();
        let outcome = system::run(&machine, Request::h2d(64 << 10), &mut |_| Control::Continue).unwrap();
        assert!(outcome.bounded.keys().eq(&bounds), "{:?}", outcome.bounded);
        assert!(bounds.iter().all(|bound| fields().iter().any(|field| field.path == *bound)));
    }
}
