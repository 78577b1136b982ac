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
    pub fn begin(what: &str) -> Self {
        Self { bar: bar(PARTS, &format!("{{percent:>3}} % of {what}")), interruption: Interruption::listen() }
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

/// A bar on standard error, if it is a terminal, with words behind it in which `{pos}` and `{len}` are filled in.
pub(super) fn bar(total: u64, words: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(&format!("{{wide_bar}} {words}, {{eta}} left"));
    ProgressBar::new(total).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
