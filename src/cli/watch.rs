//! What a person sees of work in progress whose parts are known, and how they stop it.

use crate::{cli::run::Interruption, sim::Control};
use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use std::{
    fmt::Write,
    io::{self, IsTerminal},
    time::Duration,
};

/// So often the bar is drawn, whether or not anything was told: the first part of long work may take long itself.
const TICK: Duration = Duration::from_millis(500);

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
    let style = ProgressStyle::with_template(&format!("{{wide_bar}} {words}, {{elapsed}} gone, {{left}} left"));
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).with_key("left", left);
    let bar = ProgressBar::new(total).with_style(style);
    bar.enable_steady_tick(TICK);
    bar
}

/// How long it will take, once something is done.
fn left(state: &ProgressState, out: &mut dyn Write) {
    _ = match state.pos() {
        0 => out.write_str("?"),
        _ => write!(out, "{:#}", HumanDuration(state.eta())),
    };
}
