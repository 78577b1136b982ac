//! What a person sees of work in progress whose parts are known, and how they stop it.

use crate::{cli::run::Interruption, sim::Control};
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
    /// Begins, with words for all of it: `7 designs`.
    pub fn begin(what: String) -> Self {
        Self { bar: bar(what), interruption: Interruption::listen() }
    }

    pub fn is_seen(&self) -> bool {
        !self.bar.is_hidden()
    }

    pub fn control(&self) -> Control {
        self.interruption.control()
    }

    pub fn tell(&self, part: f64) {
        self.bar.inc((part * PARTS as f64) as u64);
    }

    pub fn end(self) {
        self.bar.finish_and_clear();
    }
}

fn bar(what: String) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_bar} {percent:>3} % of {msg}, {eta} left");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(PARTS).with_style(style).with_message(what)
}
