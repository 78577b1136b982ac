//! What came of the copies of one GPU's session.

use super::{
    asked::Asked,
    busiest::Names,
    kept::Kept,
    machine::Parts,
    outcome::{Busiest, CopyOutcome},
    queues,
    request::{Direction, Request},
};
use crate::{
    gpu::{pce::Pce, spans::Spans, tag_queue::TagCounts},
    host,
    sim::{Netlist, Run, Unit},
    units::Femtos,
};

/// A session after its run.
pub(super) struct Ended<'a> {
    pub gpu: usize,
    pub netlist: &'a Netlist,
    pub parts: &'a Parts,
    pub run: &'a Run,
    pub kept: &'a Kept,
}

/// What the units say of a copy.
struct Said<'a> {
    /// Its place in the session.
    place: usize,
    driver: &'a host::CopyOutcome,
    /// Tags that the GPU has found right, and wrong.
    verified: u64,
    failed: u64,
}

impl Ended<'_> {
    /// The copies of the session, in its order; `asked` are all of the request.
    pub fn copies(&self, request: &Request, asked: &[Asked]) -> Vec<CopyOutcome> {
        let asked: Vec<&Asked> = self.parts.copies.iter().filter_map(|place| asked.get(*place)).collect();
        let (driver, spans) = (self.netlist.unit(&self.parts.host.driver), self.spans());
        let mut before = TagCounts::default();
        let rows = asked.iter().zip(driver.outcomes()).enumerate();
        let mut copies: Vec<_> = rows
            .map(|(place, (asked, driver))| {
                let counts = self.kept.tag_counts.get(place).copied().unwrap_or(before);
                let (verified, failed) = (counts.verified - before.verified, counts.failed - before.failed);
                before = counts;
                let said = Said { place, driver, verified, failed };
                self.copy(request, asked, &spans, &said)
            })
            .collect();
        self.name_busiest(&asked, &mut copies);
        copies
    }

    fn copy(&self, request: &Request, asked: &Asked, spans: &Spans, said: &Said<'_>) -> CopyOutcome {
        let Said { place, driver: outcome, .. } = *said;
        let blind = !request.carries_bytes() && asked.direction == Direction::D2h;
        let arrived = blind.then(|| self.parts.host.memory.borrow().arrived(place));
        let complaint = self.parts.ledger.borrow().complaint(place, arrived.as_ref());
        let delivered = outcome.delivered && complaint.is_none();
        let secure = self.parts.machine.sealed_path() && asked.direction != Direction::D2d;
        let reason = outcome.reason.as_ref().map(|reason| self.explained(reason));
        let reason = reason.or_else(|| complaint.map(|complaint| format!("reported complete, but {complaint}")));
        CopyOutcome {
            gpu: self.gpu,
            direction: asked.direction,
            bytes: asked.bytes,
            memory: asked.memory,
            start: outcome.start,
            end: outcome.verified.max(outcome.end),
            returned: outcome.returned,
            device: spans.moved.get(&place).copied(),
            first_verified: self.first_verified(spans, asked.direction, place),
            messages: if secure { outcome.messages } else { 0 },
            tags_verified: said.verified + outcome.tags_verified,
            tags_failed: said.failed + outcome.tags_failed,
            completed: outcome.delivered,
            delivered,
            reason: reason.filter(|_| !delivered),
            busiest: Busiest::default(),
        }
    }

    /// Says of each copy who worked and waited longest for it.
    fn name_busiest(&self, asked: &[&Asked], copies: &mut [CopyOutcome]) {
        let Parts { names: own, copies: of_all, .. } = self.parts;
        let names = Names::of(self.netlist, self.parts);
        for (place, copy) in copies.iter_mut().enumerate() {
            copy.busiest = names.busiest(copy.direction, &self.kept.accounts.of(place, &self.run.accounts));
        }
        let places: Vec<_> = asked.iter().map(|asked| asked.place).collect();
        queues::name_queues(copies, &places);
        // Units have the names, and a copy in front the place, that they have among all.
        for Busiest { unit, waited, behind, .. } in copies.iter_mut().map(|copy| &mut copy.busiest) {
            *unit = own.among(unit);
            waited.iter_mut().for_each(|waited| waited.unit = own.among(&waited.unit));
            *behind = behind.and_then(|place| of_all.get(place).map(|place| place + 1));
        }
    }

    /// What went wrong at the front ends, in words.
    fn front_end_incidents(&self) -> impl Iterator<Item = String> {
        self.parts.gpu.front_ends.iter().flat_map(|front_end| self.netlist.unit(front_end).incidents())
    }

    /// When copies were in progress on the device.
    fn spans(&self) -> Spans {
        let gpu = &self.parts.gpu;
        let mut spans = self.netlist.unit(&gpu.compute).spans().clone();
        gpu.front_ends.iter().for_each(|front_end| spans.join(self.netlist.unit(front_end).spans()));
        spans
    }

    fn first_verified(&self, spans: &Spans, direction: Direction, place: usize) -> Option<Femtos> {
        match direction {
            Direction::H2d => spans.first_verified.get(&place).copied(),
            Direction::D2h => {
                let host = &self.parts.host;
                let openers =
                    host.openers.as_ref().and_then(|openers| self.netlist.unit(openers).first_verified(place));
                openers.or_else(|| self.netlist.unit(&host.cipher).first_verified(place))
            }
            Direction::D2d => None,
        }
    }

    /// What the driver says, and where that is only that the GPU has failed, why it did.
    fn explained(&self, reason: &str) -> String {
        let failure = self.parts.pces(self.netlist).find_map(Pce::failure).cloned();
        let failure = failure.or_else(|| self.front_end_incidents().next());
        match failure.filter(|_| reason.starts_with("channel error")) {
            Some(failure) => format!("{reason}: {failure}"),
            None => reason.to_owned(),
        }
    }
}
