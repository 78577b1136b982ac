//! The two sides of a credit pool, headers and data together, and when a receiver gives credits back.

use super::{CLASSES, Side, pool_of, pools};
use crate::{
    pcie::{
        credit::{CreditClass, Credits, DATA_BITS, HEADER_BITS, ReceiveCredits, Scale, TransmitCredits},
        packet::Tlp,
        spec::{CreditSpec, LinkSpec},
        wire::dllp::{CreditPhase, DllpRepr},
    },
    sim::{Now, Out, Wake},
};
use std::collections::VecDeque;

/// The scales with which a pool is advertised: the smallest that can carry it.
fn scales(headers: u32, data: u32) -> (Scale, Scale) {
    let largest = Scale::Sixteen;
    (Scale::smallest(headers, HEADER_BITS).unwrap_or(largest), Scale::smallest(data, DATA_BITS).unwrap_or(largest))
}

/// What can be advertised of a pool in a field of `bits`.
fn advertised(credits: u32, bits: u32, scale: Scale) -> u32 {
    (credits >> scale.shift()).min((1 << (bits - 1)) - 1)
}

/// What the partner has promised.
#[derive(Debug, Clone)]
pub(super) struct TransmitPool {
    headers: TransmitCredits,
    data: TransmitCredits,
}

impl TransmitPool {
    pub fn new(headers: u32, data: u32) -> Self {
        let (header_scale, data_scale) = scales(headers, data);
        Self {
            headers: TransmitCredits::new(advertised(headers, HEADER_BITS, header_scale), HEADER_BITS, header_scale),
            data: TransmitCredits::new(advertised(data, DATA_BITS, data_scale), DATA_BITS, data_scale),
        }
    }

    #[inline]
    pub fn allows(&self, need: Credits) -> bool {
        self.headers.allows(need.headers) && self.data.allows(need.data)
    }

    #[inline]
    pub fn consume(&mut self, need: Credits) {
        self.headers.consume(need.headers);
        self.data.consume(need.data);
    }

    /// Header and data credits left, where they are finite.
    pub const fn left(&self) -> [Option<u32>; 2] {
        [self.headers.left(), self.data.left()]
    }

    pub fn update(&mut self, headers: u8, data: u16) {
        self.headers.update(u32::from(headers));
        self.data.update(u32::from(data));
    }
}

/// Repetitions of an unchanged update that count as work in progress: an update that got lost may be all that the partner waits for.
const REPETITIONS: u32 = 4;

/// Repetitions of an unchanged update after which there are no more until a TLP has come: a second of them. A link that idles for so long would
/// be in L1, where nothing is sent; that an idle link needs no work is also why idle time costs a simulation nothing.
pub(super) const REST: u32 = 33_334;

/// Data credits of the largest non-posted request: an AtomicOp of two operands of 16 bytes.
const LARGEST_NON_POSTED: u32 = 2;

/// What this port has promised of one class.
#[derive(Debug, Clone)]
struct ReceivePool {
    headers: ReceiveCredits,
    data: ReceiveCredits,
    header_scale: Scale,
    data_scale: Scale,
    finite: bool,
    /// TLPs received that have not drained.
    holding: u32,
    /// TLPs that have drained since the last update.
    drained: u32,
    /// TLPs drained after which an update is due.
    threshold: u32,
    last: u64,
    /// Cycle at which the last update is repeated if there is no other.
    repeat: u64,
    repetitions: u32,
}

impl ReceivePool {
    /// `largest` is the data credits of the largest TLP.
    fn new(headers: u32, data: u32, largest: u32, repeat: u64) -> Self {
        let (header_scale, data_scale) = scales(headers, data);
        let promised = |credits, bits, scale: Scale| advertised(credits, bits, scale) << scale.shift();
        let headers = promised(headers, HEADER_BITS, header_scale);
        let data = promised(data, DATA_BITS, data_scale);
        let by_headers = if headers == 0 { u32::MAX } else { headers / 2 };
        let by_data = if data == 0 { u32::MAX } else { data / (2 * largest.max(1)) };
        Self {
            headers: ReceiveCredits::new(headers, HEADER_BITS, header_scale),
            data: ReceiveCredits::new(data, DATA_BITS, data_scale),
            header_scale,
            data_scale,
            finite: headers != 0 || data != 0,
            holding: 0,
            drained: 0,
            threshold: by_headers.min(by_data).max(1),
            last: 0,
            repeat,
            repetitions: REPETITIONS,
        }
    }

    /// What a DLLP of this phase says of it.
    const fn says(&self, phase: CreditPhase, class: CreditClass) -> DllpRepr {
        DllpRepr::Credit {
            phase,
            class,
            virtual_channel: 0,
            header_scale: self.header_scale,
            header: self.headers.field() as u8,
            data_scale: self.data_scale,
            data: self.data.field() as u16,
        }
    }

    /// Space for a TLP with so many data credits has drained.
    fn free(&mut self, data: u32) {
        if self.finite {
            self.headers.free(1);
            self.data.free(data);
            self.holding -= 1;
            self.drained += 1;
        }
    }

    fn due(&self, cycle: u64, update: u64) -> bool {
        let changed = self.drained > 0 && (self.drained >= self.threshold || cycle >= self.last + update);
        self.finite && (changed || cycle >= self.repeat)
    }

    /// How many more must drain until an update is due.
    fn lacking(&self, cycle: u64, update: u64) -> u64 {
        if cycle >= self.last + update { 1 } else { u64::from(self.threshold.saturating_sub(self.drained).max(1)) }
    }
}

/// The InitFC DLLPs of a port with these credits, which have been exchanged before time zero.
pub fn initialisation(own: &CreditSpec) -> impl Iterator<Item = DllpRepr> {
    let pools = pools(own).map(|(headers, data)| ReceivePool::new(headers, data, 0, 0));
    let phases = [CreditPhase::Init1, CreditPhase::Init2].into_iter();
    phases.flat_map(move |phase| [0, 1, 2].map(|place| pools[place].says(phase, CLASSES[place])))
}

/// TLPs in one output of the port, in order.
#[derive(Debug)]
struct Drain {
    /// Whether a class of finite credits comes out here.
    counted: bool,
    /// TLPs that have been seen to leave.
    pops: u64,
    /// TLPs that must have left before an update can be due.
    awaited: u64,
    /// Class and data credits of those that have not.
    held: VecDeque<(u8, u32)>,
}

/// All that this port has promised, and when it says so again.
#[derive(Debug)]
pub(super) struct Promises {
    pools: [ReceivePool; 3],
    drains: Vec<Drain>,
    /// Whether completions come out of several outputs, so that no single one can tell when an update is due.
    scattered: bool,
    update: u64,
    repeat: u64,
    /// While nothing drains, no update is due before this cycle; 0 if that is to be found out.
    timer: u64,
    /// Whether the partner may be waiting for that update.
    urgent: bool,
    /// TLPs of finite pools that have not drained.
    holding: u32,
}

impl Promises {
    /// `repeat` is the longest time between two updates of a pool, changed or not.
    pub fn new(spec: &LinkSpec, own: &CreditSpec, side: Side, repeat: u64) -> Self {
        let payload = spec.max_payload.0 as u32 / 16;
        let [posted, non_posted, completion] = pools(own);
        let pool = |(headers, data), largest| ReceivePool::new(headers, data, largest, repeat);
        let pools = [pool(posted, payload), pool(non_posted, LARGEST_NON_POSTED), pool(completion, payload)];
        let drains = side.outputs().map(|classes| Drain {
            counted: classes.iter().any(|&class| pools[pool_of(class)].finite),
            pops: 0,
            awaited: 0,
            held: VecDeque::new(),
        });
        let drains: Vec<_> = drains.collect();
        let scattered = drains.len() > 2 && pools[pool_of(CreditClass::Completion)].finite;
        Self { scattered, pools, drains, update: spec.credit_update.0, repeat, timer: 0, urgent: false, holding: 0 }
    }

    /// Whether what goes out by `output` costs credits.
    #[inline]
    pub fn counts(&self, output: usize) -> bool {
        self.drains[output].counted
    }

    /// Counts in a TLP that goes out by `output`, which [costs credits](Self::counts); false if it was not promised.
    #[inline]
    pub fn receive(&mut self, need: Credits, output: usize) -> bool {
        let drain = &mut self.drains[output];
        let pool = &mut self.pools[pool_of(need.class)];
        if drain.held.is_empty() || pool.holding == 0 {
            // What pop is to be waited for, and until when, is to be found out anew.
            self.timer = 0;
        }
        drain.held.push_back((pool_of(need.class) as u8, need.data));
        pool.holding += u32::from(pool.finite);
        self.holding += u32::from(pool.finite);
        pool.repetitions = 0;
        self.urgent |= pool.finite;
        pool.headers.receive(need.headers) & pool.data.receive(need.data)
    }

    /// Counts in a TLP that is passed on at once.
    #[inline]
    pub fn pass(&mut self, need: Credits, cycle: u64) {
        let pool = &mut self.pools[pool_of(need.class)];
        let promised = pool.headers.receive(need.headers) & pool.data.receive(need.data);
        debug_assert!(promised, "the partner ignored its credits");
        if !pool.finite {
            return;
        }
        pool.holding += 1;
        pool.free(need.data);
        pool.repetitions = 0;
        self.urgent = true;
        let timer = pool.last + self.update;
        self.timer = if pool.drained >= pool.threshold || cycle >= timer { 0 } else { self.timer.min(timer) };
    }

    /// Counts in a TLP that goes nowhere: its space is free at once.
    pub fn discard(&mut self, need: Credits) {
        let pool = &mut self.pools[pool_of(need.class)];
        let promised = pool.headers.receive(need.headers) & pool.data.receive(need.data);
        debug_assert!(promised, "the partner ignored its credits");
        pool.holding += u32::from(pool.finite);
        pool.free(need.data);
        pool.repetitions = 0;
        self.urgent |= pool.finite;
        self.timer = 0;
    }

    /// The pool whose update is due, if one is. If none is, a pop that makes one due wakes the port.
    #[inline]
    pub fn due(&mut self, now: Now, outputs: &mut [Out<Tlp>]) -> Option<usize> {
        if self.settled(now, outputs) { None } else { self.look(now, outputs) }
    }

    /// Whether it is plain that no update is due.
    #[inline(always)]
    pub fn settled(&self, now: Now, outputs: &[Out<Tlp>]) -> bool {
        now.cycle < self.timer && (self.holding == 0 || !self.drained(now, outputs))
    }

    /// Whether as many TLPs have left as an update waits for.
    #[inline]
    fn drained(&self, now: Now, outputs: &[Out<Tlp>]) -> bool {
        let mut drains = self.drains.iter().zip(outputs).filter(|(drain, _)| !drain.held.is_empty());
        drains.any(|(drain, queue)| queue.pops(now.time) >= drain.awaited)
    }

    fn look(&mut self, now: Now, outputs: &mut [Out<Tlp>]) -> Option<usize> {
        for (drain, queue) in self.drains.iter_mut().zip(outputs.iter_mut()).filter(|(drain, _)| drain.counted) {
            let pops = queue.pops(now.time);
            while drain.pops < pops {
                drain.pops += 1;
                if let Some((class, data)) = drain.held.pop_front() {
                    let pool = &mut self.pools[usize::from(class)];
                    self.holding -= u32::from(pool.finite);
                    pool.free(data);
                }
            }
        }
        let due = self.pools.iter().position(|pool| pool.due(now.cycle, self.update));
        if due.is_none() {
            self.listen(now, outputs);
            self.set_timer(now.cycle);
        } else {
            // It stays due until it is given back.
            self.timer = 0;
        }
        due
    }

    fn listen(&mut self, now: Now, outputs: &mut [Out<Tlp>]) {
        for (drain, queue) in self.drains.iter_mut().zip(outputs) {
            let waiting = self.pools.iter().filter(|pool| pool.holding > 0);
            let lacking = waiting.map(|pool| pool.lacking(now.cycle, self.update)).min();
            if let (Some(lacking), false) = (lacking, drain.held.is_empty()) {
                let lacking = if self.scattered { 1 } else { lacking };
                drain.awaited = drain.pops + lacking;
                queue.watch_pops(drain.awaited);
            }
        }
    }

    /// The update of a pool.
    pub fn give_back(&mut self, place: usize, cycle: u64) -> DllpRepr {
        let pool = &mut self.pools[place];
        pool.repetitions = if pool.drained > 0 { 0 } else { pool.repetitions.saturating_add(1) };
        pool.drained = 0;
        pool.last = cycle;
        pool.repeat = if pool.repetitions < REST { cycle + self.repeat } else { Wake::NEVER };
        pool.says(CreditPhase::Update, CLASSES[place])
    }

    fn set_timer(&mut self, cycle: u64) {
        (self.timer, self.urgent) = (Wake::NEVER, false);
        for pool in self.pools.iter().filter(|pool| pool.finite) {
            let update = pool.last + self.update;
            if pool.holding + pool.drained > 0 && update > cycle {
                // What is held and never drains is not waited for longer than some repetitions.
                self.timer = self.timer.min(update);
                self.urgent |= pool.drained > 0;
            }
            self.timer = self.timer.min(pool.repeat);
            self.urgent |= pool.repetitions < REPETITIONS;
        }
    }

    /// The next cycle at which an update may be due without a pop, and whether the partner may be waiting for it. To be asked after
    /// [`Self::due`] has found none.
    #[inline]
    pub const fn timer(&self) -> (u64, bool) {
        (self.timer, self.urgent)
    }

    /// Updates may have been lost: all are repeated at `cycle`.
    pub fn repeat_at(&mut self, cycle: u64) {
        self.timer = 0;
        for pool in &mut self.pools {
            pool.repeat = cycle;
            pool.repetitions = 0;
        }
    }
}

impl Side {
    /// The classes that leave by each output.
    fn outputs(self) -> impl Iterator<Item = &'static [CreditClass]> {
        use CreditClass::{Completion, NonPosted, Posted};
        let (first, count, last): (&'static [_], _, &'static [_]) = match self {
            Self::Host => (&[Posted, Completion], 1, &[NonPosted]),
            Self::Gpu { pces, .. } => (&[Completion], usize::from(pces), &[Posted, NonPosted]),
            Self::SwitchUp | Self::SwitchDown => (&[], 0, &[Posted, NonPosted, Completion]),
        };
        std::iter::repeat_n(first, count).chain([last])
    }
}
