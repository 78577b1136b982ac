//! Bytes through the engine and on to device memory.

use super::opening::Opening;
use super::{
    EngineInput, Pce, Ports,
    engine::Engine,
    input::tell,
    text::{Text, stand_in},
    work::Piece,
};
use crate::{
    gcm::{message::SealOpen, timing::Limit},
    gpu::work::{Job, LaunchKind, MemoryWrite, TagReport},
    pcie::packet::Payload,
    sim::{Meter, Now},
};

impl Pce {
    /// Starts the engine on the transfer whose turn it is, so that its keystream runs ahead of the data.
    pub(super) fn start_engine(&mut self, cycle: u64) {
        while let Some(place) = self.feeding.checked_sub(self.first) {
            let Some(transfer) = self.transfers.get(place as usize) else { return };
            if transfer.failed.is_some() {
                self.feeding += 1;
                continue;
            }
            let direction = match transfer.job.kind {
                LaunchKind::Open => SealOpen::Open,
                LaunchKind::Seal => SealOpen::Seal,
                _ => return,
            };
            let (nonce, part, piece) = (transfer.job.nonce, transfer.job.share.part, transfer.job.share.piece);
            self.tell_of_start(self.feeding, direction, cycle);
            let transfer = &mut self.transfers[place as usize];
            if let Some(engine) = &mut self.engine {
                engine.start(cycle, part, direction);
            }
            if let Some(side) = &mut self.shared {
                side.announce(transfer.job.id, transfer.job.bytes, direction, cycle);
            }
            let Some(keys) = &self.keys else { return };
            let key = if direction == SealOpen::Seal { &keys.d2h } else { &keys.h2d };
            let struck = self.registers.begin((self.spec.own_engine(), key), nonce, part, direction, cycle);
            let text = match (struck, piece) {
                (Some(message), _) => Some(Text::of_upset(key.format(), message, direction)),
                (None, Some((tag, piece))) => key.begin_part(nonce, piece, Some(tag), direction).map(Text::Sound),
                (None, None) => key.begin(nonce, part, direction).map(Text::Sound),
            };
            match direction {
                SealOpen::Seal => transfer.stream = text,
                SealOpen::Open => {
                    transfer.opening = text.map(|text| Opening::new(&self.worker, text, part.bytes));
                }
            }
            return;
        }
    }

    /// Goes on to the transfer behind one that needs the engine no more.
    pub(super) fn pass_engine_on(&mut self, number: u64, cycle: u64) {
        if self.feeding <= number {
            self.feeding = number + 1;
            self.start_engine(cycle);
        }
    }

    /// Ends the message in the engine early: it counts out the bytes that do not come.
    pub(super) fn abandon(&mut self, number: u64, cycle: u64) {
        let stored = self.spec.stored.is_some();
        let Some(transfer) = self.transfer(number) else { return };
        let (job, bytes, part) = (transfer.job.id, transfer.job.bytes, transfer.job.share.part);
        let fed = if stored && transfer.job.kind == LaunchKind::Open { 0 } else { transfer.fed };
        let first = transfer.first_pass.as_ref().map_or(0, |pass| bytes - pass.absorbed);
        let secure = matches!(transfer.job.kind, LaunchKind::Open | LaunchKind::Seal);
        // What was kept for its second pass will not be sent.
        let kept = transfer.first_pass.as_ref().filter(|pass| pass.kept_room.is_some());
        let kept = kept.filter(|pass| pass.absorbed < transfer.job.bytes).map_or(0, |pass| pass.absorbed);
        self.buffered -= kept;
        if let Some(side) = self.shared.as_mut().filter(|_| secure) {
            side.give_up(job, cycle);
        }
        let Some(engine) = self.engine.as_mut().filter(|_| secure) else { return };
        tell(&self.meter, cycle, || EngineInput::GivenUp);
        // No more than is left of a pass is taken at once.
        for mut missing in [first, bytes - fed] {
            while missing > 0 {
                let bytes = missing.min(1 << 20);
                engine.accept(cycle, bytes as u32);
                missing -= bytes;
            }
        }
        engine.finish(part);
    }

    /// Passes bytes through the engine; gives the cycles in which it has taken them and in which they stand at its output.
    #[inline]
    pub(super) fn through_engine(&mut self, secure: bool, bytes: u32, cycle: u64) -> (u64, u64) {
        let dates = pass_engine(&self.meter, &mut self.engine, &mut self.engine_limit, secure, bytes, cycle);
        self.see_out();
        dates
    }

    /// A write waits for what the engine has put out last.
    fn see_out(&self) {
        if let Some(notes) = self.engine.as_ref().and_then(Engine::notes) {
            notes.see_out();
        }
    }

    /// Passes a piece of a transfer to device memory on.
    #[inline(always)]
    pub(super) fn feed(&mut self, number: u64, piece: Piece, now: Now, ports: &mut Ports) {
        let bytes = u64::from(piece.bytes);
        let place = number.checked_sub(self.first);
        let transfer = place.and_then(|place| self.transfers.get_mut(place as usize));
        let Some(transfer) = transfer.filter(|transfer| transfer.failed.is_none()) else {
            self.buffered -= bytes;
            return;
        };
        let secure = transfer.job.kind == LaunchKind::Open;
        if transfer.fed + bytes > transfer.job.bytes {
            return self.feed_end(number, piece, now, ports);
        }
        if let Some(latency) = self.spec.stored.filter(|_| secure) {
            return self.store(number, piece, latency, now, ports);
        }
        if secure && self.shared.is_some() {
            return self.feed_shared(number, piece, now);
        }
        if secure {
            tell(&self.meter, now.cycle, || EngineInput::Text(piece.payload.clone()));
        }
        let (engine, limit) = (&mut self.engine, &mut self.engine_limit);
        let (taken, out) = pass_engine(&self.meter, engine, limit, secure, piece.bytes, now.cycle);
        if taken > now.cycle {
            self.taken.push((taken, bytes));
        } else {
            self.buffered -= bytes;
        }
        let burst = self.spec.copy_engine.burst.0;
        transfer.fed += bytes;
        transfer.unwritten += bytes;
        transfer.take_in(piece);
        let last = transfer.fed_all();
        if transfer.unwritten >= burst || last {
            self.see_out();
            self.write_burst(number, out, last, now, ports);
        }
    }

    /// Passes on a piece that reaches beyond the message, into the tag behind it.
    #[cold]
    fn feed_end(&mut self, number: u64, piece: Piece, now: Now, ports: &mut Ports) {
        let Some(transfer) = self.transfer(number) else { return };
        let text = transfer.job.bytes - transfer.fed;
        let behind = u64::from(piece.bytes) - text;
        let mut trailer = piece.payload.part(text, behind).bytes().unwrap_or_default().to_vec();
        trailer.resize(behind as usize, 0);
        if text > 0 {
            // A run without data carries bytes for the tag's sake only. Where SMs have the keys, they leave them out.
            let wanted = self.keys.is_some() || self.spec.staging.is_some();
            let payload = if wanted { piece.payload.part(0, text) } else { Payload::none() };
            self.feed(number, Piece { bytes: text as u32, payload }, now, ports);
        }
        self.buffered -= behind;
        let trailer = Piece { bytes: behind as u32, payload: Payload::of(trailer) };
        self.take_expected_tag(number, &trailer, now, ports);
    }

    /// Keeps a piece of a message in device memory until all of it is there; then opens it, a burst after the other.
    fn store(&mut self, number: u64, piece: Piece, latency: u64, now: Now, ports: &mut Ports) {
        let bytes = u64::from(piece.bytes);
        self.buffered -= bytes;
        tell(&self.meter, now.cycle, || EngineInput::Text(piece.payload.clone()));
        let burst = self.spec.copy_engine.burst.0;
        let Some(transfer) = self.transfer(number) else { return };
        transfer.fed += bytes;
        transfer.take_in(piece);
        let mut left = if transfer.fed_all() { transfer.job.bytes } else { 0 };
        while left > 0 {
            let bytes = left.min(burst);
            left -= bytes;
            if self.shared.is_some() {
                self.hand_to_engine(number, bytes, 0, None, now.cycle + latency);
                if left == 0 {
                    self.pass_engine_on(number, now.cycle);
                }
                continue;
            }
            let (_, out) = self.through_engine(true, bytes as u32, now.cycle + latency);
            if let Some(transfer) = self.transfer(number) {
                transfer.unwritten = bytes;
            }
            self.write_burst(number, out, left == 0, now, ports);
        }
    }

    #[inline]
    pub(super) fn write_burst(&mut self, number: u64, out: u64, last: bool, now: Now, ports: &mut Ports) {
        let deposit = if last { self.finish(number, now, ports) } else { None };
        let date = self.clock.edge(out + 1);
        let Some(transfer) = self.transfer(number) else { return };
        let bytes = std::mem::take(&mut transfer.unwritten);
        let unverified = transfer.job.kind == LaunchKind::Open && transfer.staging.is_none();
        let staged = transfer.staging.map(|_| LaunchKind::Open);
        let (job, bytes) = (transfer.job.id, bytes as u32);
        let (message, offset) = ((transfer.job.share.message, transfer.job.share.of), transfer.written);
        transfer.written += u64::from(bytes);
        let write = |deposit| MemoryWrite { job, message, unverified, staged, offset, bytes, last, deposit };
        if unverified && !last && !transfer.held.waits {
            // The bytes of a message that is opened become known at its end.
            return ports.writes.send_deferrable(date, write(None));
        }
        let deposit = if unverified || staged.is_some() {
            deposit
        } else {
            Some((transfer.job.destination + offset, std::mem::take(&mut transfer.assembly)))
        };
        if transfer.held.waits {
            self.hold(number, write(deposit), out + 1, ports);
        } else if last {
            ports.writes.send(date, write(deposit));
        } else {
            ports.writes.send_deferrable(date, write(deposit));
        }
    }

    /// Ends a transfer to device memory: the tag goes to the tag queue. Gives the plaintext of a message.
    fn finish(&mut self, number: u64, now: Now, ports: &mut Ports) -> Option<(u64, Payload)> {
        let Job { kind, share, .. } = self.transfers[(number - self.first) as usize].job;
        let tag_cycle = match &mut self.engine {
            Some(engine) if kind == LaunchKind::Open && self.shared.is_none() => {
                let [tag, share] = engine.finish(share.part);
                tell(&self.meter, now.cycle, || EngineInput::Tag(tag));
                share
            }
            _ => self.transfers[(number - self.first) as usize].tag_stands.unwrap_or(now.cycle),
        };
        let date = self.clock.edge(tag_cycle.max(now.cycle + 1));
        let (keys, format) = (self.keys.clone(), self.format);
        let transfer = &mut self.transfers[(number - self.first) as usize];
        let mut deposit = None;
        if let Some(sm) = ports.sm.as_mut().filter(|_| transfer.staging.is_some()) {
            let text = std::mem::take(&mut transfer.assembly);
            sm.jobs.send(date, transfer.for_sms(text));
        } else if transfer.job.kind == LaunchKind::Open {
            let tag = match keys {
                Some(_) => transfer.close().map(|(text, tag, struck)| {
                    self.registers.end(struck);
                    deposit = Some((transfer.job.destination, Payload::of(text)));
                    tag
                }),
                None => {
                    deposit = Some((transfer.job.destination, Payload::none()));
                    Some(stand_in(&transfer.job, format))
                }
            };
            let report = TagReport { job: share.message, part: share.number, computed: true, tag };
            if let Some(reports) = &mut ports.reports {
                reports.send(date, report);
            }
        }
        self.pass_engine_on(number, now.cycle);
        deposit
    }

    pub(super) fn take_expected_tag(&mut self, number: u64, piece: &Piece, now: Now, ports: &mut Ports) {
        let date = self.clock.edge(now.cycle + 1);
        let bytes = self.format.tag_bytes();
        let Some(transfer) = self.transfer(number) else { return };
        transfer.expected.extend_from_slice(piece.payload.bytes().unwrap_or_default());
        transfer.expected_bytes += u64::from(piece.bytes);
        if transfer.expected_bytes < bytes {
            return;
        }
        transfer.tag_known = true;
        if let Some(opening) = &transfer.opening {
            opening.seed(transfer.expected.clone());
        }
        if let Some(engine) = self.engine.as_mut().filter(|_| self.feeding == number) {
            engine.seed(now.cycle);
        }
        let Some(transfer) = self.transfer(number) else { return };
        let tag = Some(std::mem::take(&mut transfer.expected)).filter(|tag| tag.len() as u64 == bytes);
        let report = TagReport { job: transfer.job.share.message, part: 0, computed: false, tag };
        if let Some(reports) = &mut ports.reports {
            reports.send(date, report);
        }
    }
}

/// Passes bytes through an engine, where there is one and they are secure.
#[inline]
fn pass_engine(
    meter: &Option<Meter>,
    engine: &mut Option<Engine>,
    limited: &mut Limit,
    secure: bool,
    bytes: u32,
    cycle: u64,
) -> (u64, u64) {
    match engine {
        Some(engine) if secure => {
            tell(meter, cycle, || EngineInput::Beat(bytes));
            let accepted = engine.accept(cycle, bytes);
            *limited = accepted.limit;
            (accepted.consumed, accepted.out)
        }
        _ => (cycle, cycle + 1),
    }
}
