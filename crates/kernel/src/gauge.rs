//! A unit while somebody listens: its edge is known, and its gauges are read behind each tick.

use super::{
    clock::Now,
    error_log::Signalled,
    fault::{Armed, FaultKind},
    meter::Meter,
    probe::{Instant, Probe},
    unit::Placed,
    wake::Wake,
};
use std::any::Any;

/// A unit that somebody listens to.
pub(super) struct Gauged {
    inner: Box<dyn Placed>,
    now: Instant,
    /// By gauge, in the unit's order: who hears it, and the value reported last.
    gauges: Vec<(Option<Probe>, Option<u64>)>,
}

impl Gauged {
    pub fn new(inner: Box<dyn Placed>, now: Instant, probes: Vec<Option<Probe>>) -> Self {
        Self { inner, now, gauges: probes.into_iter().map(|probe| (probe, None)).collect() }
    }

    fn read(&mut self, now: Now) {
        let mut gauges = self.gauges.iter_mut();
        self.inner.gauges(&mut |_, value| {
            if let Some((Some(probe), told)) = gauges.next()
                && told.replace(value) != Some(value)
            {
                probe.level(now.time, value);
            }
        });
    }
}

impl Placed for Gauged {
    fn tick(&mut self, now: Now) -> Wake {
        self.now.set(now.time);
        let mut wake = self.inner.tick(now);
        self.read(now);
        if self.gauges.iter().any(|(probe, _)| probe.is_some()) {
            wake.at = wake.at.min(self.inner.next_gauge().unwrap_or(Wake::NEVER));
        }
        wake
    }
    fn catch_up(&mut self, now: Now) {
        self.inner.catch_up(now);
    }
    fn meters(&self) -> Vec<&Meter> {
        self.inner.meters()
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, u64)) {
        self.inner.gauges(show);
    }
    fn next_gauge(&self) -> Option<u64> {
        self.inner.next_gauge()
    }
    fn bounded(&self, show: &mut dyn FnMut(&'static str, u64)) {
        self.inner.bounded(show);
    }
    fn work_done(&self) -> Option<u64> {
        self.inner.work_done()
    }
    fn is_only_parts(&self) -> bool {
        self.inner.is_only_parts()
    }
    fn incidents(&self) -> Vec<String> {
        self.inner.incidents()
    }
    fn errors(&self) -> &[Signalled] {
        self.inner.errors()
    }
    fn fault_points(&self) -> &'static [(&'static str, &'static [FaultKind])] {
        self.inner.fault_points()
    }
    fn registers(&self) -> Vec<String> {
        self.inner.registers()
    }
    fn arm(&mut self, point: &str, armed: Armed) {
        self.inner.arm(point, armed);
    }
    fn armed(&self) -> Vec<Armed> {
        self.inner.armed()
    }
    fn ports(&mut self) -> &mut dyn Any {
        self.inner.ports()
    }
    fn ports_name(&self) -> &'static str {
        self.inner.ports_name()
    }
    fn into_ports(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_ports()
    }
    fn unit(&self) -> &dyn Any {
        self.inner.unit()
    }
    fn unit_mut(&mut self) -> &mut dyn Any {
        self.inner.unit_mut()
    }
}
