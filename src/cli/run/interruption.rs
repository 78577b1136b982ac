//! Ctrl-C and SIGTERM: the run is asked to stop, so that it can clean up.

use crate::sim::Control;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Whether the user has asked to stop.
#[derive(Debug, Clone, Default)]
pub struct Interruption(Arc<AtomicBool>);

impl Interruption {
    /// Listens for the signals from now on. If that is not possible, they end the process as ever.
    pub fn listen() -> Self {
        let interruption = Self::default();
        let flag = Arc::clone(&interruption.0);
        let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
        interruption
    }

    /// Asks for it, as a signal does.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn control(&self) -> Control {
        if self.asked() { Control::Stop } else { Control::Continue }
    }

    pub fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
