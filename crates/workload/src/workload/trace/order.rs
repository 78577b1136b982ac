//! Where operations and calls come to be once they are sorted by start.

use super::model::{DeviceOp, HostCall, Step};

/// New places by old ones.
pub(super) struct Order {
    device: Vec<u32>,
    calls: Vec<u32>,
}

impl Order {
    pub fn new(device: &[DeviceOp], calls: &[HostCall]) -> Self {
        let device = device.iter().map(|op| op.start_ns).collect::<Vec<_>>();
        let calls = calls.iter().map(|call| call.start_ns).collect::<Vec<_>>();
        Self { device: ranks(&device), calls: ranks(&calls) }
    }

    pub fn of(&self, step: Step) -> Step {
        let place = |ranks: &[u32], old: u32| ranks.get(old as usize).copied().unwrap_or(old);
        match step {
            Step::Device(old) => Step::Device(place(&self.device, old)),
            Step::Call(old) => Step::Call(place(&self.calls, old)),
        }
    }
}

/// For each start its place in a stable sort.
fn ranks(starts: &[u64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..).take(starts.len()).collect();
    order.sort_by_key(|place| starts[*place as usize]);
    let mut ranks = vec![0; starts.len()];
    (0..).zip(order).for_each(|(rank, place)| ranks[place as usize] = rank);
    ranks
}
