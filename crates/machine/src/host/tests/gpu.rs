//! A toy GPU: takes pushes by their doorbells, spends a fixed cost per launch and per byte, then does all of a push at once.

use super::{super::*, data};
use crate::{
    gcm::pseudo::pseudo_tag,
    pcie::{
        packet::{Payload, Tlp},
        root_complex::{HostMemory, Notice, Written},
    },
    ports,
    sim::{Activity, Clock, In, Now, Tx, Unit, Wake},
    stream::{Computation, Launch, LaunchKind, PushWork, StreamTask},
};
use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

#[derive(Default)]
pub struct Mailbox(pub BTreeMap<u32, Push>);

impl Pushes for Mailbox {
    fn put(&mut self, push: Push) {
        self.0.insert(push.number, push);
    }
}

/// What the toy GPU may do wrong, at the push of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lie {
    Value(u64),
    Twice,
    Nothing,
    /// Calls a push done whose tags then turn out wrong.
    Verdict,
    /// Inverts a bit of the first sealed message in transit.
    Damage,
    /// Loses the first write of the push.
    Lose,
}

ports! {
    /// Of the toy GPU.
    pub struct Ports {
        pub doorbells: In<Tlp>,
        pub mailbox: Rc<RefCell<Mailbox>>,
        pub memory: Rc<RefCell<HostState>>,
        pub notices: Tx<Notice>,
    }
}

pub struct Gpu {
    pub clock: Clock,
    /// Cycles per launch, and bytes per cycle.
    pub launch: u64,
    pub rate: u64,
    /// Cycles from a semaphore's release to the CPU.
    pub flight: u64,
    /// Cycles from there to the verified semaphore, if there is one.
    pub verdict: Option<u64>,
    pub lie: Option<(u32, Lie)>,
    pub device: BTreeMap<u64, Vec<u8>>,
    pub seen: Vec<Push>,
    pub work: Option<(u64, u32)>,
    pub opened: u32,
    pub sealed: u32,
    pub dead: bool,
}

impl Gpu {
    pub fn new(clock: Clock, launch: u64, rate: u64, flight: u64) -> Self {
        Self {
            clock,
            launch,
            rate,
            flight,
            verdict: None,
            lie: None,
            device: BTreeMap::new(),
            seen: Vec::new(),
            work: None,
            opened: 0,
            sealed: 0,
            dead: false,
        }
    }

    /// The launches of each push that it has seen.
    pub fn launches(&self) -> Vec<Vec<Launch>> {
        self.seen.iter().map(launches).collect()
    }

    pub fn cost(&self, push: &Push) -> u64 {
        let launches = launches(push).into_iter().map(|launch| self.launch + launch.bytes.div_ceil(self.rate));
        launches.sum::<u64>().max(1)
    }

    fn finish(&mut self, number: u32, now: Now, ports: &mut Ports) {
        let push = ports.mailbox.borrow().0[&number].clone();
        let lie = self.lie.filter(|lie| lie.0 == number).map(|lie| lie.1);
        let right = launches(&push).iter().enumerate().all(|(place, launch)| {
            self.carry_out(launch, lie.filter(|_| place == 0), &mut ports.memory.borrow_mut()).is_some()
        });
        self.dead = !right;
        let value = match lie {
            Some(Lie::Value(value)) => value,
            _ if right => u64::from(push.semaphore.value),
            _ => CHANNEL_ERROR | 27,
        };
        let times = match lie {
            Some(Lie::Nothing) => 0,
            Some(Lie::Twice) => 2,
            _ => 1,
        };
        for _ in 0..times {
            self.release(push.semaphore.address, value, now.cycle + self.flight, ports);
        }
        if let Some(later) = self.verdict {
            let value = if lie == Some(Lie::Verdict) { CHANNEL_ERROR | 27 } else { value };
            self.release(map::VERIFIED, value, now.cycle + self.flight + later, ports);
        }
    }

    fn release(&self, address: u64, value: u64, cycle: u64, ports: &mut Ports) {
        let bytes = if value >> 32 == 0 { value.to_le_bytes()[..4].to_vec() } else { value.to_le_bytes().to_vec() };
        let written = ports.memory.borrow_mut().write(&Tlp::write(address, bytes.len() as u32, Payload::of(bytes)));
        match written {
            Written::Semaphore(notice) => ports.notices.send(self.clock.edge(cycle), notice),
            other => panic!("{other:?}"),
        }
    }

    /// Bytes of the device at an address of the map, as long as a message needs.
    fn bytes(&mut self, address: u64, count: u64) -> &mut [u8] {
        let (window, offset) = (address >> 40, address % map::WINDOW.0);
        let copy = ((address % map::DEVICE_BASE) >> 40) as usize;
        let held = self.device.entry(window).or_default();
        while (held.len() as u64) < offset + count {
            held.push(data::byte(copy, held.len() as u64));
        }
        &mut held[offset as usize..(offset + count) as usize]
    }

    /// None if a tag is wrong.
    fn carry_out(&mut self, launch: &Launch, lie: Option<Lie>, memory: &mut HostState) -> Option<()> {
        let exact = memory.exact();
        match launch.kind {
            LaunchKind::Open | LaunchKind::Fetch => {
                let mut text = read(memory, launch.source, launch.bytes);
                if launch.kind == LaunchKind::Open {
                    self.opened += 1;
                    let nonce = data::nonce(1, self.opened);
                    let tag = memory.read(launch.tag, 16).unwrap().bytes().unwrap().to_vec();
                    let right = if exact {
                        data::Toy.open(KeyOf::ToGpu, nonce, &mut text, &tag)
                    } else {
                        pseudo_tag(nonce, launch.bytes)[..] == tag
                    };
                    if !right {
                        return None;
                    }
                }
                if exact {
                    self.bytes(launch.destination, launch.bytes).copy_from_slice(&text);
                }
            }
            LaunchKind::Seal | LaunchKind::Store => {
                let mut text = if exact { self.bytes(launch.source, launch.bytes).to_vec() } else { Vec::new() };
                if launch.kind == LaunchKind::Seal {
                    self.sealed += 1;
                    let nonce = data::nonce(2, self.sealed);
                    let tag = if exact {
                        data::Toy.seal(KeyOf::FromGpu, nonce, &mut text)
                    } else {
                        pseudo_tag(nonce, launch.bytes).to_vec()
                    };
                    memory.write(&Tlp::write(launch.tag, 16, Payload::of(tag.to_vec())));
                    memory.write(&Tlp::write(launch.iv, 12, Payload::of(nonce.to_vec())));
                }
                write(memory, launch.destination, launch.bytes, &text, lie);
            }
            LaunchKind::Local if exact => {
                let text = self.bytes(launch.source, launch.bytes).to_vec();
                self.bytes(launch.destination, launch.bytes).copy_from_slice(&text);
            }
            LaunchKind::Local => {}
        }
        Some(())
    }
}

/// The launches of a push; a copy that a kernel makes is one.
fn launches(push: &Push) -> Vec<Launch> {
    match push.work {
        PushWork::Launches(ref launches) => launches.clone(),
        PushWork::Task(StreamTask::Compute(Computation::Copy { source, destination, bytes })) => {
            let kind = LaunchKind::Local;
            vec![Launch { kind, source, destination, bytes, tag: 0, iv: 0, pipelined: false, flush: false }]
        }
        PushWork::Task(_) => Vec::new(),
    }
}

impl Unit for Gpu {
    type Ports = Ports;

    fn tick(&mut self, now: Now, ports: &mut Ports) -> Wake {
        if let Some((end, number)) = self.work {
            if end > now.cycle {
                return Wake::at(end, Activity::Busy);
            }
            self.work = None;
            self.finish(number, now, ports);
        }
        match ports.doorbells.pop(now.time) {
            Some(tlp) if !self.dead => {
                let number = tlp.payload.bytes().unwrap().try_into().map(u32::from_le_bytes).unwrap();
                let push = ports.mailbox.borrow().0[&number].clone();
                let end = now.cycle + self.cost(&push);
                self.seen.push(push);
                self.work = Some((end, number));
                Wake::at(end, Activity::Busy)
            }
            _ => Wake::on_port(Activity::Idle),
        }
    }
}

fn read(memory: &mut HostState, address: u64, bytes: u64) -> Vec<u8> {
    let part = |start: u64| memory.read(address + start, (bytes - start).min(512) as u32).unwrap();
    let parts = (0..bytes).step_by(512).map(part);
    parts.flat_map(|part| part.bytes().unwrap_or_default().to_vec()).collect()
}

fn write(memory: &mut HostState, address: u64, bytes: u64, text: &[u8], lie: Option<Lie>) {
    for start in (0..bytes).step_by(256) {
        let count = (bytes - start).min(256);
        let mut part = text.get(start as usize..(start + count) as usize).map(<[u8]>::to_vec);
        if let (true, Some(part)) = (lie == Some(Lie::Damage) && start == 0, &mut part) {
            part[0] ^= 1;
        }
        let tlp = Tlp::write(address + start, count as u32, part.map_or(Payload::none(), Payload::of));
        if lie != Some(Lie::Lose) || start > 0 {
            assert_eq!(memory.write(&tlp), Written::Data);
        }
    }
}
