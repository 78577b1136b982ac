//! One SM, cycle by cycle: warps, issue, lanes, banks.
//!
//! ```text
//!                +--------- sub-core (x sub_cores) ---------+
//!  warps ------->| scheduler --> integer lanes, tensor core |---+
//!                +------------------------------------------+   |
//!                                                               v
//!                                  shared memory and exchange, device memory: one path of `banks` x 4 B
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | accepts | per sub-core and cycle one instruction of one warp |
//! | order | a warp's instructions in order; of several warps that can go the next in turn |
//! | integer lanes | an instruction occupies those of its sub-core 32 x `sub_cores` / `lanes` cycles; its result is valid `integer_latency` after the issue |
//! | shared memory | accesses are served in the order of their issue, a pass per cycle; a result is valid `shared_latency` after the last pass |
//! | device memory | through the same path; a result is valid `load_latency` after the last pass |
//! | tensor core | `tensor_products` / `sub_cores` products of bits per cycle; a result is valid `integer_latency` after the last |
//! | stalls | a warp: for a result, for its unit, for its turn |

use super::{
    spec::SmSpec,
    warp::{ExecutionUnit, Instruction, THREADS},
};

#[derive(Debug, Clone)]
pub struct Processor {
    sub_cores: usize,
    integer_slots: u64,
    integer_latency: u64,
    shared_latency: u64,
    load_latency: u64,
    /// Products of bits that a sub-core's tensor core takes per cycle.
    products: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Cycles until the last result stood.
    pub cycles: u64,
    pub issued: u64,
    /// Cycles in which integer lanes were occupied, all sub-cores together.
    pub integer: u64,
    /// Passes through shared memory.
    pub passes: u64,
    /// Cycles in which tensor cores were occupied, all sub-cores together.
    pub tensor: u64,
}

struct Resident<'p> {
    program: &'p [Instruction],
    next: usize,
    /// By instruction, one further: when its result is valid.
    stands: Vec<u64>,
}

impl Resident<'_> {
    /// When its next instruction has all it needs.
    fn fed(&self) -> Option<(Instruction, u64)> {
        let instruction = *self.program.get(self.next)?;
        let fed = instruction.needs.iter().map(|&need| self.stands[need as usize]).max().unwrap_or(0);
        Some((instruction, fed))
    }
}

/// A sub-core: when its units are free, its warps, and which of them went last.
#[derive(Default)]
struct SubCore {
    integer: u64,
    tensor: u64,
    warps: Vec<usize>,
    last: usize,
}

impl Processor {
    pub fn new(spec: &SmSpec) -> Self {
        let sub_cores = spec.sub_cores.max(1);
        Self {
            sub_cores: sub_cores as usize,
            integer_slots: (THREADS as u64 * u64::from(sub_cores)).div_ceil(u64::from(spec.lanes.max(1))),
            integer_latency: spec.integer_latency.0.max(1),
            shared_latency: spec.shared_latency.0.max(1),
            load_latency: spec.load_latency.0.max(1),
            products: u64::from(spec.tensor_products.unwrap_or(1) / sub_cores).max(1),
        }
    }

    /// Runs one program per warp to the end of all.
    pub fn run(&self, programs: &[&[Instruction]]) -> Usage {
        let resident = |program| Resident { program, next: 0, stands: vec![0; program.len() + 1] };
        let mut warps: Vec<_> = programs.iter().map(|program| resident(program)).collect();
        let mut cores: Vec<_> = (0..self.sub_cores).map(|_| SubCore::default()).collect();
        for warp in 0..warps.len() {
            cores[warp % self.sub_cores].warps.push(warp);
        }
        let (mut usage, mut shared, mut now) = (Usage::default(), 0, 0);
        loop {
            let mut next = u64::MAX;
            for core in &mut cores {
                match Self::choose(core, &warps, now) {
                    Ok(place) => {
                        core.last = place;
                        self.issue(core, &mut warps[core.warps[place]], now, &mut shared, &mut usage);
                        next = next.min(now + 1);
                    }
                    Err(at) => next = next.min(at),
                }
            }
            if next == u64::MAX {
                return usage;
            }
            now = next;
        }
    }

    /// The place of the warp that issues in this cycle, or when one may.
    fn choose(core: &SubCore, warps: &[Resident<'_>], now: u64) -> Result<usize, u64> {
        let mut soonest = u64::MAX;
        for place in (1..=core.warps.len()).map(|n| (core.last + n) % core.warps.len()) {
            let Some((instruction, fed)) = core.warps.get(place).and_then(|&warp| warps[warp].fed()) else { continue };
            let free = match instruction.unit {
                ExecutionUnit::Integer => core.integer,
                ExecutionUnit::Tensor => core.tensor,
                _ => 0,
            };
            let at = fed.max(free);
            if at <= now {
                return Ok(place);
            }
            soonest = soonest.min(at);
        }
        Err(soonest)
    }

    fn issue(&self, core: &mut SubCore, warp: &mut Resident<'_>, now: u64, shared: &mut u64, usage: &mut Usage) {
        let instruction = warp.program[warp.next];
        let amount = u64::from(instruction.amount);
        let stands = match instruction.unit {
            ExecutionUnit::Control => now + 1,
            ExecutionUnit::Integer => {
                core.integer = now + self.integer_slots;
                usage.integer += self.integer_slots;
                now + self.integer_latency
            }
            ExecutionUnit::Tensor => {
                let cycles = amount.div_ceil(self.products);
                core.tensor = now + cycles;
                usage.tensor += cycles;
                now + cycles + self.integer_latency
            }
            ExecutionUnit::Shared | ExecutionUnit::Global => {
                *shared = (*shared).max(now) + amount;
                usage.passes += amount;
                *shared
                    + if instruction.unit == ExecutionUnit::Shared { self.shared_latency } else { self.load_latency }
            }
        };
        usage.issued += 1;
        usage.cycles = usage.cycles.max(stands);
        warp.next += 1;
        warp.stands[warp.next] = stands;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::h100;
    use super::*;

    const fn of(unit: ExecutionUnit, amount: u32, need: u32) -> Instruction {
        Instruction { unit, amount, needs: [need, 0, 0, 0] }
    }

    #[test]
    fn instructions_that_need_each_other_go_a_latency_apart_and_others_as_the_lanes_allow() {
        let processor = Processor::new(&h100());
        let chain: Vec<_> = (0..100).map(|n| of(ExecutionUnit::Integer, 1, n)).collect();
        assert_eq!(processor.run(&[&chain]).cycles, 100 * 4);
        let free = vec![of(ExecutionUnit::Integer, 1, 0); 100];
        assert_eq!(processor.run(&[&free]).cycles, 99 * 2 + 4);
        // Four sub-cores work side by side, the fifth warp shares the first.
        assert_eq!(processor.run(&[&free[..]; 4]).cycles, 99 * 2 + 4);
        assert_eq!(processor.run(&[&free[..]; 5]).cycles, 199 * 2 + 4);
    }

    #[test]
    fn shared_memory_serves_a_pass_per_cycle_for_all_sub_cores() {
        let processor = Processor::new(&h100());
        let loads = vec![of(ExecutionUnit::Shared, 4, 0); 50];
        assert_eq!(processor.run(&[&loads]).cycles, 50 * 4 + 30);
        assert_eq!(processor.run(&[&loads[..]; 4]).cycles, 4 * 50 * 4 + 30);
    }

    #[test]
    fn integer_work_and_loads_of_one_warp_overlap() {
        let processor = Processor::new(&h100());
        let mixed: Vec<_> =
            (0..100).flat_map(|_| [of(ExecutionUnit::Integer, 1, 0), of(ExecutionUnit::Shared, 1, 0)]).collect();
        let usage = processor.run(&[&mixed]);
        assert!(usage.cycles <= 100 * 2 + 31, "{usage:?}");
        assert_eq!((usage.issued, usage.integer, usage.passes), (200, 200, 100));
    }
}
