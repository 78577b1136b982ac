//! A unit while somebody listens: its edge is known, and its gauges are read behind each tick.

use super::{
    clock::Now,
    probe::{Instant, Probe},
    unit::{Asked, Placed},
    wake::Wake,
};
use std::{
    any::Any,
    ops::{Deref, DerefMut},
};

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

impl Deref for Gauged {
    type Target = dyn Asked;
    fn deref(&self) -> &Self::Target {
        &**self.inner
    }
}

impl DerefMut for Gauged {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut **self.inner
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
    fn into_ports(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_ports()
    }
}
