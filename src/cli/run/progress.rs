//! A bar on standard error, if it is a terminal and the run takes long.

use crate::{sim::Kernel, system::DataMode, units::Femtos, workload::Arrival};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
    io::{self, IsTerminal},
    time::{Duration, Instant},
};

/// Shorter runs show nothing.
const SHOWN_AFTER: Duration = Duration::from_millis(500);

pub struct Progress {
    started: Instant,
    total: u64,
    data: DataMode,
    kernel: Kernel,
    bar: Option<ProgressBar>,
    watched: bool,
}

impl Progress {
    pub fn new(total: u64, data: DataMode, kernel: Kernel, is_silent: bool) -> Self {
        let watched = !is_silent && io::stderr().is_terminal();
        Self { started: Instant::now(), total, data, kernel, bar: None, watched }
    }

    /// Notes how far the run is.
    pub fn show(&mut self, now: Femtos, arrivals: &[Arrival]) {
        let elapsed = self.started.elapsed();
        if !self.watched || elapsed < SHOWN_AFTER {
            return;
        }
        let (data, total) = (self.data, self.total);
        let bar = self.bar.get_or_insert_with(|| bar(data, total));
        let bytes: u64 = arrivals.iter().map(Arrival::bytes).sum();
        let rate = bytes as f64 / 1e6 / elapsed.as_secs_f64();
        let rate = if data == DataMode::Exact { format!("{rate:.1} MB/s, ") } else { String::new() };
        bar.set_message(format!("{rate}{}", simulated(self.kernel, now, elapsed)));
        bar.set_position(bytes);
    }
}

/// How far simulated time is. The kernel that ticks every edge says how fast it gets on: a pause of the machine takes it as long as work.
fn simulated(kernel: Kernel, now: Femtos, elapsed: Duration) -> String {
    let millis = now.seconds() * 1e3;
    match kernel {
        Kernel::Skip => format!("{millis:.3} ms simulated"),
        Kernel::EveryCycle => {
            let rate = millis / elapsed.as_secs_f64().max(1e-9);
            format!("{millis:.3} ms simulated, {rate:.3} ms per second: every-cycle ticks idle time too")
        }
    }
}

fn bar(data: DataMode, total: u64) -> ProgressBar {
    // Without bytes nothing says how far the copies are.
    let (template, total) = match data {
        DataMode::Exact => ("{bar:32} {percent:>3} %  {bytes} of {total_bytes}  {msg}", Some(total)),
        DataMode::None => ("{spinner} {elapsed}  {msg}", None),
    };
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_that_ticks_idle_time_says_so() {
        let (now, elapsed) = (Femtos(50_000_000_000_000), Duration::from_secs(25));
        assert_eq!(simulated(Kernel::Skip, now, elapsed), "50.000 ms simulated");
        let slow = simulated(Kernel::EveryCycle, now, elapsed);
        assert_eq!(slow, "50.000 ms simulated, 2.000 ms per second: every-cycle ticks idle time too");
    }

    #[test]
    fn both_templates_are_read() {
        for data in [DataMode::Exact, DataMode::None] {
            let bar = bar(data, 100);
            bar.set_position(50);
            assert_eq!(bar.length(), (data == DataMode::Exact).then_some(100));
        }
    }
}
