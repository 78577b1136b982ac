//! Reads of device memory, and writes to host memory.

use super::{
    EngineInput, Pce, Ports,
    aside::FROM_QUARANTINE,
    errors,
    input::tell,
    text::{Text, stand_in},
    work::{Piece, Refusal},
};
use crate::{
    gpu::{
        spec::TagPlacement,
        work::{Job, LaunchKind, MemoryData, MemoryRead},
    },
    pcie::{
        packet::{Payload, Tlp},
        split::{RequestPolicy, RequestSplit},
    },
    sim::{Activity, Now, Stall, Wake},
};

impl Pce {
    /// Sends the next read of device memory of a transfer, or says why not.
    pub(super) fn ask_device(&mut self, number: u64, now: Now, ports: &mut Ports) -> Option<Refusal> {
        let (burst, mut room) = (self.spec.copy_engine.burst.0, self.spec.copy_engine.read_buffer.0);
        let transfer = &mut self.transfers[(number - self.first) as usize];
        if transfer.staging.is_some() && transfer.sealed.is_none() {
            return Some((Activity::Stall(Stall::ReadData), Wake::NEVER));
        }
        // Of a message that is read twice the second time follows the first.
        let place =
            if transfer.asked < transfer.job.bytes { transfer.asked } else { transfer.asked - transfer.job.bytes };
        let address = transfer.staging.unwrap_or(transfer.job.source) + place;
        let bytes = (burst - address % burst).min(transfer.job.bytes - place);
        room += transfer.first_pass.as_ref().map_or(0, |pass| pass.room());
        if self.buffered + bytes > room {
            if !self.taken.is_empty() {
                return Some(self.buffer_full());
            }
            return Some((Activity::Stall(self.outward_stall(now.cycle)), Wake::NEVER));
        }
        if !ports.reads.has_room(now.time) {
            return Some((Activity::Stall(Stall::HbmBusy), Wake::NEVER));
        }
        let ready = transfer.ready.max(self.next_request);
        if ready > now.cycle {
            return Some((Activity::Busy, ready));
        }
        transfer.asked += bytes;
        self.buffered += bytes;
        self.device_order.push_back((number, address, bytes as u32));
        ports.reads.push(now.time, MemoryRead { address, bytes: bytes as u32 });
        None
    }

    pub(super) fn take_data(&mut self, now: Now, ports: &mut Ports) {
        while let Some(data) = ports.data.arrive(now.time) {
            let Some((number, address, bytes)) = self.device_order.pop_front() else {
                self.incidents
                    .push(format!("data from {:#x} of device memory came unasked and were dropped", data.address));
                continue;
            };
            if number == FROM_QUARANTINE {
                self.take_back_from_quarantine(data.address, now, ports);
                continue;
            }
            if address != data.address {
                self.buffered -= u64::from(bytes);
                self.fail(
                    number,
                    errors::INTERNAL,
                    format!("device memory answered {:#x} where {address:#x} was asked", data.address),
                    now,
                    ports,
                );
                continue;
            }
            match self.transfer(number).filter(|t| t.failed.is_none()).map(|t| t.job.kind) {
                None => self.buffered -= u64::from(data.bytes),
                Some(LaunchKind::Seal | LaunchKind::Store) => self.send_out(number, data, now),
                Some(_) => {
                    let piece = Piece { bytes: data.bytes, payload: data.payload };
                    self.feed(number, piece, now, ports);
                }
            }
        }
    }

    /// Takes what the SMs have sealed: from now on it can be read.
    pub(super) fn take_sealed(&mut self, now: Now, ports: &mut Ports) {
        while let Some(sealed) = ports.sm.as_mut().and_then(|sm| sm.sealed.arrive(now.time)) {
            let place = self.transfers.iter().position(|t| t.job.id == sealed.job && t.sealed.is_none());
            let Some(place) = place else {
                self.incidents.push(format!("message {} came from the SMs twice and was dropped", sealed.job));
                continue;
            };
            if !sealed.whole {
                let why = format!("not all of message {} came from the SMs to device memory", sealed.job);
                self.fail(self.first + place as u64, errors::INTERNAL, why, now, ports);
                continue;
            }
            self.transfers[place].sealed = Some(sealed);
        }
    }

    /// Turns data into writes to host memory.
    fn send_out(&mut self, number: u64, data: MemoryData, now: Now) {
        let transfer = &mut self.transfers[(number - self.first) as usize];
        if transfer.first_pass.as_ref().is_some_and(|pass| pass.absorbed < transfer.job.bytes) {
            return self.absorb(number, &data, now);
        }
        self.emit(number, u64::from(data.bytes), data.payload, now);
    }

    /// Passes data through the engine for the first time of two.
    #[cold]
    fn absorb(&mut self, number: u64, data: &MemoryData, now: Now) {
        let (bytes, burst) = (u64::from(data.bytes), self.spec.copy_engine.burst.0);
        let (taken, _) = self.through_engine(true, data.bytes, now.cycle);
        let Some(transfer) = self.transfers.get_mut((number - self.first) as usize) else { return };
        let total = transfer.job.bytes;
        let Some(pass) = &mut transfer.first_pass else { return };
        pass.absorbed += bytes;
        let last = pass.absorbed == total;
        if let (Some(stream), Some(text)) = (&mut transfer.stream, data.payload.bytes()) {
            stream.absorb(text, last);
        }
        if pass.kept_room.is_none() {
            match taken > now.cycle {
                true => self.taken.push((taken, bytes)),
                false => self.buffered -= bytes,
            }
            return;
        }
        pass.text.append(data.payload.clone());
        let text = if last { std::mem::take(&mut pass.text) } else { Payload::none() };
        let mut left = if last { total } else { 0 };
        while left > 0 {
            let (start, bytes) = (total - left, left.min(burst));
            self.emit(number, bytes, text.part(start, bytes), now);
            left -= bytes;
        }
    }

    /// Passes bytes through the engine, if they are sealed here, and puts them into the outbox.
    fn emit(&mut self, number: u64, bytes: u64, text: Payload, now: Now) {
        let (mps, place) = (self.spec.max_payload, (number - self.first) as usize);
        let transfer = &mut self.transfers[place];
        let kind = transfer.job.kind;
        if kind == LaunchKind::Seal {
            tell(&self.meter, now.cycle, || EngineInput::Text(text.clone()));
        }
        let target = transfer.job.destination + transfer.fed;
        let payload = match (&mut transfer.stream, text.bytes()) {
            (Some(stream), Some(plain)) => {
                let mut sealed = plain.to_vec();
                stream.update(&mut sealed);
                Payload::of(sealed)
            }
            _ => match &transfer.sealed {
                Some(sealed) => sealed.text.part(transfer.fed, bytes),
                None => text,
            },
        };
        transfer.fed += bytes;
        let shared = kind == LaunchKind::Seal && self.shared.is_some();
        for piece in RequestSplit::new(target, bytes, mps, RequestPolicy::Aligned) {
            let part = payload.part(piece.address - target, u64::from(piece.bytes));
            let tlp = Tlp::write(piece.address, piece.bytes, part);
            if shared {
                self.hand_to_engine(number, u64::from(piece.bytes), u64::from(piece.bytes), Some(tlp), now.cycle);
                continue;
            }
            let (_, out) = self.through_engine(kind == LaunchKind::Seal, piece.bytes, now.cycle);
            self.queue(out, tlp, u64::from(piece.bytes));
        }
        match self.transfers[place].fed_all() {
            true if shared => self.pass_engine_on(number, now.cycle),
            true => self.finish_out(number, now),
            false => {}
        }
    }

    /// Ends a transfer to host memory: tag and IV follow the data; of a part, the front end gets its share of the tag.
    pub(super) fn finish_out(&mut self, number: u64, now: Now) {
        let place = (number - self.first) as usize;
        if self.transfers[place].job.kind == LaunchKind::Seal {
            let transfer = &mut self.transfers[place];
            let job = transfer.job.clone();
            let cycle = match &mut self.engine {
                Some(engine) if self.shared.is_none() => {
                    let [tag, share] = engine.finish(job.share.part);
                    tell(&self.meter, now.cycle, || EngineInput::Tag(tag));
                    share
                }
                _ => transfer.tag_stands.unwrap_or(now.cycle),
            };
            let tag = match (&mut transfer.stream, &transfer.sealed) {
                (_, Some(sealed)) => sealed.tag.clone(),
                (Some(stream), _) => stream.tags(),
                _ => stand_in(&job, self.format),
            };
            self.registers.end(transfer.stream.take().and_then(Text::upset));
            if job.share.of > 1 {
                transfer.share = Some((cycle, tag.try_into().unwrap_or_default()));
            } else {
                self.queue_tag(&job, &tag, cycle, true);
            }
        }
        self.transfers[place].last_push = Some(self.queued);
        self.pass_engine_on(number, now.cycle);
    }

    /// Puts a message's tag and IV into the outbox. Where the message's last write `joins` an inline tag, it is the last in the outbox.
    pub(super) fn queue_tag(&mut self, message: &Job, tag: &[u8], cycle: u64, joins: bool) {
        let end = message.destination + message.bytes;
        match self.spec.tag_queue.placement.unwrap_or_default() {
            TagPlacement::Separate => {
                self.queue(cycle, Tlp::write(message.tag, tag.len() as u32, Payload::of(tag.to_vec())), 0)
            }
            TagPlacement::Inline => {
                let room = end.next_multiple_of(u64::from(self.spec.max_payload.bytes())) - end;
                self.queue_behind(end, tag.split_at(room.min(tag.len() as u64) as usize), cycle, joins);
            }
        }
        if !message.share.of_launch().is_last() && message.share.piece.is_some() {
            return;
        }
        let mut iv = message.iv_bytes.to_vec();
        iv.resize(self.format.nonce_bytes() as usize, 0);
        self.queue(cycle, Tlp::write(message.iv, iv.len() as u32, Payload::of(iv)), 0);
    }

    /// Puts a tag behind the message that ends at `end`: its first bytes where the write of the message's end has room for them, the
    /// others behind.
    fn queue_behind(&mut self, end: u64, (first, rest): (&[u8], &[u8]), cycle: u64, joins: bool) {
        let write = |at: u64, bytes: &[u8]| Tlp::write(at, bytes.len() as u32, Payload::of(bytes.to_vec()));
        match self.outbox.back_mut() {
            _ if first.is_empty() => {}
            Some((ready, last, _)) if joins => {
                let mut bytes = last.payload.bytes().unwrap_or_default().to_vec();
                bytes.resize(last.bytes as usize, 0);
                bytes.extend_from_slice(first);
                (last.bytes, last.payload) = (bytes.len() as u32, Payload::of(bytes));
                *ready = cycle.max(*ready);
            }
            _ => self.queue(cycle, write(end, first), 0),
        }
        if !rest.is_empty() {
            self.queue(cycle, write(end + first.len() as u64, rest), 0);
        }
    }

    /// Puts a write into the outbox, to go from `cycle` on at the earliest.
    pub(super) fn queue(&mut self, cycle: u64, tlp: Tlp, reserved: u64) {
        let after = self.outbox.back().map_or(0, |last| last.0);
        self.outbox.push_back((cycle.max(after), tlp, reserved));
        self.queued += 1;
    }
}
