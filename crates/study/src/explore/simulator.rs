//! Which simulator this is: points that two simulators computed do not compare.

use crate::config::Layers;
use crate::explore::candidate::copy;
use crate::sim::Control;
use crate::system::{self, Direction, Memory, Request};
use std::sync::OnceLock;

/// The version, and what the events of two short copies hash to. A change of timing that forgot the version shows in the second.
pub fn simulator() -> &'static str {
    static SIMULATOR: OnceLock<String> = OnceLock::new();
    SIMULATOR.get_or_init(|| {
        let events = events().unwrap_or_default();
        format!("{} ({})", env!("CARGO_PKG_VERSION"), events.get(..16).unwrap_or("no events"))
    })
}

fn events() -> Option<String> {
    let machine = Layers::new("h100-nvl-tdx").resolve().ok()?.machine;
    let copies = [Direction::H2d, Direction::D2h].map(|way| copy(way, 20_000, Memory::Pinned)).into();
    let request = Request { copies, ..Request::none() };
    Some(system::run(&machine, request, &mut |_| Control::Continue).ok()?.event_digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simulator_is_known_by_its_version_and_by_what_it_does() {
        assert!(simulator().starts_with(env!("CARGO_PKG_VERSION")));
        assert!(!simulator().contains("no events"), "{}", simulator());
        assert_eq!(events(), events());
    }
}
