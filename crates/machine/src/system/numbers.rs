//! The numbers of an outcome, one by one, to be read and to be written. Patterns name every field, so that none is forgotten.

use super::{CopyOutcome, DirectionTraffic, GpuOutcome, Outcome, UnitOutcome};
use crate::growth::{
    Growth::{Count, Cycles, Date, Sum},
    Visit,
};

impl Outcome {
    /// Shows each number, always in the same order: that of two outcomes of one machine is the same if their units have the same stalls.
    pub fn visit(&mut self, visit: &mut Visit<'_>) {
        let Self {
            end,
            ticks,
            copies,
            units,
            gpus,
            event_digest: _,
            channels: _,
            incidents: _,
            errors: _,
            faults: _,
            cancelled: _,
            bounded: _,
            engines: _,
        } = self;
        visit(Date, &mut end.0);
        visit(Sum, ticks);
        copies.iter_mut().for_each(|copy| copy.visit(visit));
        units.iter_mut().for_each(|unit| unit.visit(visit));
        gpus.iter_mut().for_each(|gpu| gpu.visit(visit));
    }
}

impl CopyOutcome {
    /// Shows its dates and counts.
    pub fn visit(&mut self, visit: &mut Visit<'_>) {
        self.dates(&mut |date| visit(Date, date));
        for count in [&mut self.messages, &mut self.tags_verified, &mut self.tags_failed] {
            visit(Count, count);
        }
    }

    /// Shows its dates, in fs. What is left, apart from counts, is of the copy as it was asked for, or in words.
    pub fn dates(&mut self, visit: &mut dyn FnMut(&mut u64)) {
        let Self { start, end, returned, device, first_verified, .. } = self;
        [start, end, returned].into_iter().for_each(|date| visit(&mut date.0));
        if let Some((from, to)) = device {
            visit(&mut from.0);
            visit(&mut to.0);
        }
        if let Some(first) = first_verified {
            visit(&mut first.0);
        }
    }
}

impl UnitOutcome {
    fn visit(&mut self, visit: &mut Visit<'_>) {
        let Self { cycles, busy, idle, stalls, name: _, clock: _ } = self;
        [cycles, busy, idle].into_iter().for_each(|one| visit(Cycles, one));
        stalls.iter_mut().for_each(|(_, stall)| visit(Cycles, stall));
    }
}

impl GpuOutcome {
    fn visit(&mut self, visit: &mut Visit<'_>) {
        let Self { link: DirectionTraffic { h2d, d2h }, tag_queue, key_work, failed_messages: _, keys: _, steps: _ } =
            self;
        [h2d, d2h].into_iter().for_each(|way| way.visit(visit));
        tag_queue.visit(visit);
        key_work.iter_mut().for_each(|work| work.visit(visit));
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        config::Layers,
        sim::Control,
        system::{self, Request},
    };

    #[test]
    fn no_number_of_links_tags_keys_and_counts_is_left_out() {
        let machine = Layers::new("h100-nvl-tdx").resolve().unwrap().machine;
        let mut outcome = system::run(&machine, Request::h2d(64 << 10), &mut |_| Control::Continue).unwrap();
        outcome.visit(&mut |_, number| *number = 7);
        let gpu = &outcome.gpus[0];
        let copy = &outcome.copies[0];
        let shown = format!("{:?} {:?} {:?}", gpu.link, gpu.tag_queue, gpu.key_work);
        let numbers: Vec<_> = shown.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
        let numbers: Vec<u64> = numbers.into_iter().filter_map(|word| word.parse().ok()).collect();
        assert!(numbers.len() > 30 && numbers.iter().all(|number| *number == 7), "{shown}");
        assert_eq!([copy.messages, copy.tags_verified, copy.tags_failed], [7; 3]);
    }
}
