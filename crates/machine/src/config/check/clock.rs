//! Whether the engines of a machine settle within its clock.

use super::{MachineSpec, Rule, rule};
use crate::cost::clock::{self, Stage, Timing};
use crate::cost::{Library, parts};
use crate::gcm::spec::ClockCheck;

const REMEDY: &str = "write the cycles that are named, or a lower clock; engine.check = \"warn\" simulates it as it is; `sealsim engine --fmax` shows every stage";

pub(super) const RULES: &[Rule] = &[
    rule("copy_engine.clock", REMEDY, |m| if m.copy_engine.engine_clock.is_none() { does_not_close(m) } else { None }),
    rule("copy_engine.engine_clock", REMEDY, |m| {
        m.copy_engine.engine_clock?;
        let sms = m.sealing_sms().map(|_| "SMs seal and open here, at sm.clock".to_owned());
        sms.or_else(|| does_not_close(m))
    }),
];

fn does_not_close(machine: &MachineSpec) -> Option<String> {
    (machine.engine.check == ClockCheck::Error).then(|| machine.does_not_close()).flatten()
}

impl MachineSpec {
    /// What the clocks of copy engines and of their engines have to hold: engines that seal and that open, and the tag queue. None where no copy engine seals, or its parts
    /// were not synthesised.
    pub fn timing(&self) -> Option<Timing> {
        let opens = self.copy_engine.open_ghash.as_ref();
        let valid = self.engine.check().is_ok()
            && opens.is_none_or(|ghash| ghash.check().is_ok())
            && self.aead.as_ref().is_none_or(|aead| aead.model().check().is_ok());
        if !valid || !self.sealed_path() || self.sealing_sms().is_some() {
            return None;
        }
        let (at, library) = (self.copy_engine.clock_of_engines(), Library::shipped());
        let mut timing = clock::engine(&self.sealing().model().hardware(), at, library)?;
        if opens.is_some() {
            let differs = |stage: &Stage| !timing.stages.contains(stage);
            let opens = clock::engine(&self.opening().model().hardware(), at, library)?.stages;
            let others: Vec<Stage> = opens.into_iter().filter(differs).collect();
            timing.stages.extend(others);
        }
        let (depth, skid) = (self.tag_queue.depth, self.tag_queue.release.ahead(1) > 0);
        let clock = self.copy_engine.engine_clock.map(|_| self.copy_engine.clock);
        timing.stages.push(Stage { clock, ..clock::tag_queue(depth, skid, &parts::tag_queue(depth, skid, library)) });
        Some(timing)
    }

    /// What is to be said of every figure of the machine, if its engines do not close at their clock.
    pub fn does_not_close(&self) -> Option<String> {
        self.timing()?.refusal()
    }
}
