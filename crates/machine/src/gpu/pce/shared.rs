//! A PCE's side of the engine that all PCEs share: what it sends there, and what comes back.
//!
//! The PCE keeps the bytes, and room for them in its read buffer, until the engine reports that they are through.

use super::{Pce, Ports, engine::Crossing, errors, work::Piece};
use crate::{
    gcm::message::SealOpen,
    gpu::work::{EngineReply, EngineRequest, JobId, LaunchKind},
    pcie::packet::Tlp,
    ports,
    sim::{Now, Rx, Tx},
};
use std::collections::VecDeque;

ports! {
    pub struct EnginePorts {
        pub requests: Tx<EngineRequest>,
        pub replies: Rx<EngineReply>,
    }
}

#[derive(Debug)]
struct Beat {
    number: u64,
    job: JobId,
    offset: u64,
    bytes: u64,
    /// Bytes of the read buffer that are free when it is back.
    reserved: u64,
    /// Of a message that is sealed: the write that goes out then.
    write: Option<Tlp>,
    /// With AES lanes in the PCE: the cycles in which they have taken the bytes, and in which these stand at their output.
    lanes: (u64, u64),
}

/// What a PCE knows of the engine that it shares.
#[derive(Debug)]
pub(super) struct EngineSide {
    wire: u64,
    crossing: Crossing,
    /// Requests by the cycle in which they leave.
    outgoing: VecDeque<(u64, EngineRequest)>,
    sent: VecDeque<Beat>,
}

impl EngineSide {
    /// A PCE that is `wire` cycles of whoever sends away from the engine.
    pub fn new(wire: u64, crossing: Crossing) -> Self {
        Self { wire, crossing, outgoing: VecDeque::new(), sent: VecDeque::new() }
    }

    /// Whether beats are at the engine.
    pub fn waits(&self) -> bool {
        !self.sent.is_empty()
    }

    pub fn announce(&mut self, job: JobId, bytes: u64, direction: SealOpen, cycle: u64) {
        self.outgoing.push_back((cycle, EngineRequest::Message { job, bytes, direction }));
    }

    pub fn give_up(&mut self, job: JobId, cycle: u64) {
        self.outgoing.push_back((cycle, EngineRequest::GivenUp { job }));
    }
}

impl Pce {
    /// Sends bytes of a transfer to the engine from `cycle` on, which is now or later; where only GHASH is shared, through the PCE's own lanes.
    pub(super) fn hand_to_engine(&mut self, number: u64, bytes: u64, reserved: u64, write: Option<Tlp>, cycle: u64) {
        let place = (number - self.first) as usize;
        let lanes = if self.spec.own_aes { self.through_engine(true, bytes as u32, cycle) } else { (0, 0) };
        // GHASH takes ciphertext.
        let cycle = if write.is_some() { cycle.max(lanes.1) } else { cycle };
        let Some(side) = &mut self.shared else { return };
        let transfer = &mut self.transfers[place];
        let (job, offset) = (transfer.job.id, transfer.to_engine);
        transfer.to_engine += bytes;
        let ends = transfer.to_engine == transfer.job.bytes;
        side.outgoing.push_back((cycle, EngineRequest::Beat { job, offset, bytes: bytes as u32 }));
        side.sent.push_back(Beat { number, job, offset, bytes, reserved, write, lanes });
        if let Some(lanes) = self.engine.as_mut().filter(|_| ends) {
            let part = self.transfers[place].job.share.part;
            [self.transfers[place].lanes_done, _] = lanes.finish(part);
        }
    }

    /// Passes a piece of a message that is opened on to the engine.
    pub(super) fn feed_shared(&mut self, number: u64, piece: Piece, now: Now) {
        let bytes = u64::from(piece.bytes);
        let Some(transfer) = self.transfer(number) else { return };
        transfer.fed += bytes;
        transfer.take_in(piece);
        let last = transfer.fed_all();
        self.hand_to_engine(number, bytes, bytes, None, now.cycle);
        if last {
            self.pass_engine_on(number, now.cycle);
        }
    }

    /// Hands over what goes to the engine.
    pub(super) fn send_to_engine(&mut self, ports: &mut Ports) {
        let (Some(side), Some(engine)) = (&mut self.shared, &mut ports.engine) else { return };
        for (cycle, request) in side.outgoing.drain(..) {
            engine.requests.send(self.clock.edge(cycle + side.wire), request);
        }
    }

    /// Takes what comes back from the engine.
    pub(super) fn take_replies(&mut self, now: Now, ports: &mut Ports) {
        while let Some(reply) = ports.engine.as_mut().and_then(|engine| engine.replies.arrive(now.time)) {
            let Some(side) = &self.shared else { return };
            let is = |beat: &Beat| beat.job == reply.job && Some(beat.offset) == reply.offset;
            match side.sent.iter().position(is) {
                None if reply.offset.is_none() => self.lose_message(reply.job, now, ports),
                None => self.incidents.push(format!("bytes of message {} came from the engine unasked", reply.job)),
                Some(before) => {
                    for _ in 0..before {
                        self.lose_beat(now, ports);
                    }
                    self.take_back(reply, now, ports);
                }
            }
        }
    }

    /// The oldest beat is back.
    fn take_back(&mut self, reply: EngineReply, now: Now, ports: &mut Ports) {
        let Some(side) = &mut self.shared else { return };
        let Some(beat) = side.sent.pop_front() else { return };
        let tag_here = reply.tag.map(|tag| side.crossing.outward(tag + side.wire));
        let burst = self.spec.copy_engine.burst.0;
        let Some(transfer) = self.transfer(beat.number).filter(|transfer| transfer.failed.is_none()) else {
            self.buffered -= beat.reserved;
            return;
        };
        transfer.through += beat.bytes;
        transfer.unwritten += beat.bytes;
        let last = transfer.through == transfer.job.bytes;
        let whole = transfer.unwritten >= burst || last;
        transfer.tag_stands = tag_here.map(|tag| tag.max(transfer.lanes_done));
        match beat.write {
            Some(write) => {
                self.queue(now.cycle, write, beat.reserved);
                if last {
                    self.finish_out(beat.number, now);
                }
            }
            None => {
                let (taken, out) = beat.lanes;
                match taken > now.cycle {
                    true => self.taken.push((taken, beat.reserved)),
                    false => self.buffered -= beat.reserved,
                }
                if whole {
                    self.write_burst(beat.number, now.cycle.max(out), last, now, ports);
                }
            }
        }
    }

    /// The oldest beat does not come back.
    fn lose_beat(&mut self, now: Now, ports: &mut Ports) {
        let Some(beat) = self.shared.as_mut().and_then(|side| side.sent.pop_front()) else { return };
        self.buffered -= beat.reserved;
        let why = format!("bytes of message {} do not come from the engine", beat.job);
        self.fail(beat.number, errors::INTERNAL, why, now, ports);
    }

    /// Bytes of a message have not come to the engine.
    fn lose_message(&mut self, job: JobId, now: Now, ports: &mut Ports) {
        let Some(side) = &mut self.shared else { return };
        side.give_up(job, now.cycle);
        let lost = side.sent.iter().filter(|beat| beat.job == job).map(|beat| beat.reserved).sum::<u64>();
        side.sent.retain(|beat| beat.job != job);
        self.buffered -= lost;
        let secure = |kind| matches!(kind, LaunchKind::Open | LaunchKind::Seal);
        let place = self.transfers.iter().position(|t| t.job.id == job && secure(t.job.kind));
        if let Some(place) = place {
            let why = format!("bytes of message {job} did not come to the engine");
            self.fail(self.first + place as u64, errors::INTERNAL, why, now, ports);
        }
    }
}
