//! Calls that wait for the GPU.

use super::{Both, Doing, Event, Player};
use crate::{
    replay::{Ns, job::Call},
    workload::trace::Waited,
};

/// A wait that finds nothing to wait for still takes so long, in any mode.
const LEAST: Ns = 2_000;

impl Player<'_> {
    pub(super) fn wait(&mut self, place: u32, waited: Waited, doing: &mut Doing) -> Result<Ns, u32> {
        let call = &self.job.calls[place as usize];
        if doing.asked.is_none() {
            for place in &call.ops {
                let task = self.within(*place, call, doing.start);
                self.submit(*place, task);
            }
            self.begins(call);
            self.asks(waited, doing);
            let streams = self.job.waited.get(&place).into_iter().flatten();
            let last = streams.filter_map(|stream| self.last_of[*stream as usize]).collect();
            self.threads[call.thread as usize].awaited = last;
        }
        let start = doing.start;
        if self.job.waited.contains_key(&place) && self.threads[call.thread as usize].awaited.is_empty() {
            let idle = if self.job.profiled { self.rules.idle_wait() } else { 0 };
            return Ok(start.saturating_add(self.job.host(call.duration)).saturating_add(idle));
        }
        let target = match self.of_streams(place, call)? {
            Some(target) => target,
            None => self.target(call, waited, doing)?,
        };
        if !self.job.profiled && self.rules.simulated {
            return Ok(self.streams_in_turn(call, start));
        }
        let idle = self.rules.idle_wait();
        let off = self.rules.completion_off();
        if target.traced.saturating_add(off) > call.start {
            let slower = self.rules.completion().saturating_sub(off);
            let tail = call.end().saturating_sub(target.traced).saturating_add(slower);
            let least = if self.job.profiled { call.duration.min(LEAST).saturating_add(idle) } else { 0 };
            let least = start.saturating_add(least);
            return Ok(least.max(target.played.saturating_add(tail)));
        }
        // Nothing was in progress in the trace; now there may be.
        let least = start.saturating_add(self.job.host(call.duration)).saturating_add(idle);
        let late = target.played.saturating_add(self.rules.completion());
        Ok(if target.played > start { least.max(late) } else { least })
    }

    /// The same of a call of which the profile says for which streams it waits.
    fn of_streams(&self, place: u32, call: &Call) -> Result<Option<Both>, u32> {
        if !self.job.waited.contains_key(&place) {
            return Ok(None);
        }
        let mut target = Both::default();
        for op in &self.threads[call.thread as usize].awaited {
            target.join(Both { played: self.device.span(*op)?.end, traced: self.job.ops[*op as usize].end() });
        }
        Ok((target.traced <= call.end()).then_some(target))
    }

    /// When a call returns that waits for one stream after the other: what is done by then costs nothing.
    fn streams_in_turn(&self, call: &Call, start: Ns) -> Ns {
        let ends = self.threads[call.thread as usize].awaited.iter().filter_map(|op| self.device.span(*op).ok());
        ends.fold(start, |now, span| {
            let known = span.end.saturating_add(self.rules.notice) <= now;
            if known { now } else { span.end.saturating_add(self.rules.completion()) }
        })
    }

    /// What a call waits for that begins now, or has begun before.
    fn asks(&self, waited: Waited, doing: &mut Doing) -> [Option<Event>; 2] {
        let all = Event { upto: self.device.count(), date: 0, traced: self.pending };
        *doing.asked.get_or_insert([Some(all).filter(|_| waited != Waited::Event), self.event])
    }

    /// What a call waits for: all that was submitted when it began; or, if it returned before all of it had ended, what had.
    pub(super) fn target(&mut self, call: &Call, waited: Waited, doing: &mut Doing) -> Result<Both, u32> {
        let asked = self.asks(waited, doing);
        let traced = asked.iter().flatten().map(|event| event.traced).max().unwrap_or(0);
        if traced > call.end() {
            let count = self.job.ends.partition_point(|op| self.job.ops[*op as usize].end() <= call.end());
            return self.device.ended_by(count as u32);
        }
        let mut target = Both { played: 0, traced };
        for event in asked.into_iter().flatten() {
            target.played = target.played.max(event.date).max(self.device.all_of(event.upto)?);
        }
        Ok(target)
    }
}
