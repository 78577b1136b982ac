//! What a person sees of many runs under way, and how they stop them.

use super::run::Interruption;
use crate::sim::Control;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal};

/// Steps of the bar.
const PARTS: u64 = 1_000_000;

/// A bar on standard error, if it is a terminal, and Ctrl-C.
pub(super) struct Watch {
    bar: ProgressBar,
    interruption: Interruption,
}

impl Watch {
    /// Begins, with what is under way in words.
    pub fn begin(of: String) -> Self {
        Self { bar: bar(of), interruption: Interruption::listen() }
    }

    /// Whether to go on.
    pub fn control(&self) -> Control {
        if self.interruption.asked() { Control::Stop } else { Control::Continue }
    }

    /// Tells of a part of the whole that is done.
    pub fn tell(&self, part: f64) {
        self.bar.inc((part * PARTS as f64) as u64);
    }

    /// Ends the bar.
    pub fn end(self) {
        self.bar.finish_and_clear();
    }
}

fn bar(of: String) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_bar} {percent:>3} % of {msg}, {eta} left");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(PARTS).with_style(style).with_message(of)
}
