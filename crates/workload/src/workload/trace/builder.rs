//! A trace as it comes together, from events in any order.

use super::{
    assumed::{self, Notes},
    error::{refused, refused_at},
    formats::Importer,
    input::Room,
    marks::Marks,
    model::{CallKind, DeviceKind, DeviceOp, HostCall, NameId, Rank, Step, Synchronization, Thread, Trace},
    order::Order,
    place::Place,
    size::Size,
    time::SPAN,
};
use crate::{
    files::{Refusal, Refusals, excerpt},
    workload::MAX_BYTES,
};
use rustc_hash::FxHasher;
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    hash::Hasher,
    num::NonZeroU64,
    rc::Rc,
    sync::Arc,
};

/// Characters of a name that are kept: of the first ones, and of those that come when these have more bytes together than [`ROOM`].
const NAME: usize = 512;
const SHORT_NAME: usize = 64;
const ROOM: usize = 16 << 20;
/// Reasons that are distinguished.
const REASONS: usize = 64;

/// A name of at most so many characters. One that is cut ends with an ellipsis and a number of the whole, so that it stays apart from others that begin alike.
fn cut(name: &str, most: usize) -> Cow<'_, str> {
    let Some((end, _)) = name.char_indices().nth(most) else { return Cow::Borrowed(name) };
    let mut hasher = FxHasher::default();
    hasher.write(name.as_bytes());
    Cow::Owned(format!("{}…{:016x}", &name[..end], hasher.finish()))
}

/// A trace as it comes together.
pub(super) struct Builder {
    file: String,
    format: &'static Importer,
    room: Rc<Room>,
    /// Without its threads and its dependencies.
    trace: Trace,
    ids: HashMap<Arc<str>, NameId>,
    kept: usize,
    threads: HashMap<Thread, u32>,
    pub marks: Marks,
    faults: Refusals,
    notes: Notes,
}

impl Builder {
    pub fn new(file: &str, room: Rc<Room>, format: &'static Importer) -> Self {
        Self {
            file: file.to_owned(),
            format,
            room,
            trace: Trace { format: Some(format.name), ..Trace::default() },
            ids: HashMap::new(),
            kept: 0,
            threads: HashMap::new(),
            marks: Marks::default(),
            faults: Refusals::default(),
            notes: Notes::default(),
        }
    }

    /// Place of a name, which is new or not.
    pub fn name(&mut self, name: &str) -> NameId {
        let name = cut(name, if self.kept < ROOM { NAME } else { SHORT_NAME });
        if let Some(id) = self.ids.get(&*name) {
            return *id;
        }
        let id = u32::try_from(self.trace.names.len()).unwrap_or(u32::MAX);
        self.notes.cut += u64::from(matches!(name, Cow::Owned(_)));
        self.kept = self.kept.saturating_add(name.len());
        let name: Arc<str> = name.into();
        self.trace.names.push(Arc::clone(&name));
        self.ids.insert(name, id);
        id
    }

    /// The name at a place.
    pub fn named(&self, name: NameId) -> Arc<str> {
        self.trace.names.get(name as usize).map_or_else(|| "".into(), Arc::clone)
    }

    /// Place of a thread, which is new or not.
    pub fn thread(&mut self, process: &str, thread: &str) -> u32 {
        let next = u32::try_from(self.threads.len()).unwrap_or(u32::MAX);
        let short = |text: &str| excerpt(text, 100).into_owned();
        *self.threads.entry(Thread { process: short(process), thread: short(thread) }).or_insert(next)
    }

    /// Counts an event of the file. Exactly one of the others has to follow.
    pub fn event(&mut self) {
        self.trace.events.all += 1;
    }

    /// Counts many events of the file that are left out for one reason.
    pub fn leave_out_all(&mut self, reason: &str, count: u64) {
        self.trace.events.all += count;
        self.count_left_out(reason, count);
    }

    pub fn leave_out(&mut self, reason: &str) {
        self.count_left_out(reason, 1);
    }

    fn count_left_out(&mut self, reason: &str, count: u64) {
        if count == 0 {
            return;
        }
        let full = self.trace.events.left_out.len() >= REASONS;
        let known = self.trace.events.left_out.iter().position(|(known, _)| known == reason);
        match known.or(full.then_some(REASONS)) {
            Some(place) if place < REASONS => self.trace.events.left_out[place].1 += count,
            Some(_) => match self.trace.events.left_out.get_mut(REASONS) {
                Some((_, others)) => *others += count,
                None => self.trace.events.left_out.push(("other things that are not read".into(), count)),
            },
            None => self.trace.events.left_out.push((excerpt(reason, 200).into_owned(), count)),
        }
    }

    pub fn device(&mut self, op: DeviceOp) {
        let bytes = match op.kind {
            DeviceKind::Copy { bytes, .. } | DeviceKind::Memset { bytes } => bytes,
            _ => 0,
        };
        if bytes > MAX_BYTES {
            let what = format!("{bytes} bytes, more than any GPU holds");
            self.fault(refused_at("event", &self.file, op.place, what).remedy("correct the size"));
            return;
        }
        self.trace.events.used += 1;
        self.room.holds(self.trace.device.len() + 1, self.trace.events.used, op.place);
        self.trace.device.push(op);
    }

    pub fn call(&mut self, call: HostCall) {
        self.trace.events.used += 1;
        self.room.holds(0, self.trace.events.used, call.place);
        self.trace.calls.push(call);
    }

    pub fn synchronization(&mut self, synchronization: Synchronization) {
        self.trace.events.used += 1;
        self.room.holds(0, self.trace.events.used, synchronization.place);
        self.trace.synchronizations.push(synchronization);
    }

    pub fn rank(&mut self, rank: Rank) {
        self.trace.rank = Some(rank);
    }

    pub fn gpu(&mut self, name: &str) {
        self.trace.gpu = Some(excerpt(name, 80).into_owned());
    }

    /// What is wrong with an event.
    pub fn fault(&mut self, error: Refusal) {
        self.faults.push(|| error);
    }

    /// An error about one event of the file.
    pub fn wrong(&mut self, place: Place, what: impl AsRef<str>, remedy: &str) {
        let error = refused_at("event", &self.file, place, what).remedy(remedy);
        self.fault(error);
    }

    /// The bytes of a size that is read off a rounded one.
    pub fn sized(&mut self, size: Size) -> u64 {
        self.notes.rounded += u64::from(size.off_by > 0);
        self.notes.off_by = self.notes.off_by.max(size.off_by);
        size.bytes
    }

    /// Notes a size that is bandwidth times duration.
    pub fn by_bandwidth(&mut self) {
        self.notes.by_bandwidth += 1;
    }

    pub fn failed(&mut self) {
        self.notes.failed += 1;
    }

    /// Takes these correlations from operations and calls.
    pub fn forget(&mut self, correlations: &HashSet<u64>) {
        let forgotten = |correlation: &mut Option<NonZeroU64>| {
            *correlation = correlation.filter(|number| !correlations.contains(&number.get()));
        };
        self.trace.device.iter_mut().for_each(|op| forgotten(&mut op.correlation));
        self.trace.calls.iter_mut().for_each(|call| forgotten(&mut call.correlation));
    }

    /// Lets operations, and after them calls, begin so much later, in the order in which they were given.
    pub fn delay(&mut self, by: &[u64]) {
        let starts = self.trace.device.iter_mut().map(|op| &mut op.start_ns);
        let starts = starts.chain(self.trace.calls.iter_mut().map(|call| &mut call.start_ns));
        starts.zip(by).for_each(|(start, by)| *start = start.saturating_add(*by));
    }

    pub fn assume(&mut self, sentence: impl Into<String>) {
        self.trace.assumed.push(sentence.into());
    }

    /// The trace, with dependencies by the places of operations and calls in the order in which they were given.
    pub fn finish(mut self, dependencies: Vec<(Step, Step)>) -> Result<Trace, Refusal> {
        self.room.check(&self.file)?;
        std::mem::take(&mut self.faults).result()?;
        if self.trace.device.is_empty() {
            return Err(self.nothing());
        }
        let trace = &mut self.trace;
        let order = Order::new(&trace.device, &trace.calls);
        trace.dependencies = dependencies.into_iter().map(|(from, to)| (order.of(from), order.of(to))).collect();
        trace.device.sort_by_key(|op| op.start_ns);
        trace.calls.sort_by_key(|call| call.start_ns);
        let starts = [trace.device.first().map(|op| op.start_ns), trace.calls.first().map(|call| call.start_ns)];
        trace.marks = self.marks.chosen(starts.into_iter().flatten().min().unwrap_or(0));
        self.rebase()?;
        let mut threads: Vec<_> = self.threads.into_iter().collect();
        threads.sort_by_key(|(_, place)| *place);
        let threads = threads.into_iter().map(|(thread, _)| thread).collect();
        let mut trace = Trace { threads, first_step: self.marks.first_step, ..self.trace };
        debug_assert!(trace.events.add_up());
        let said = assumed::sentences(&trace);
        trace.assumed.extend(self.notes.sentences().into_iter().chain(said));
        Ok(trace)
    }

    fn nothing(&self) -> Refusal {
        let reasons = self.trace.events.left_out.iter().map(|(reason, count)| format!("{count}: {reason}"));
        let reasons: Vec<_> = reasons.take(5).collect();
        let what = match (self.trace.events.all, reasons.len()) {
            (0, _) => "there is no event in it".to_owned(),
            (_, 0) => "nothing in it was done by a GPU".to_owned(),
            _ => format!("nothing in it was done by a GPU ({})", reasons.join("; ")),
        };
        // Who asks the GPU and gets no answer has often no other fault.
        let asks = self.trace.calls.iter().any(|call| matches!(call.what, CallKind::Launch | CallKind::GraphLaunch));
        let secure = "with confidential computing on a profiler sees no GPU, unless the GPU is in devtools mode: if it was on, profile with it off; else";
        let idle = if asks { format!("{secure} {}", self.format.idle) } else { self.format.idle.to_owned() };
        refused("no_device", &self.file, what).remedy(idle)
    }

    /// Lets time begin with the first event.
    fn rebase(&mut self) -> Result<(), Refusal> {
        let ends = |start: Option<u64>, last: Option<u64>| [start, last].into_iter().flatten();
        let (op, call) = (|op: &DeviceOp| op.start_ns, |call: &HostCall| call.start_ns);
        let firsts = ends(self.trace.device.first().map(op), self.trace.calls.first().map(call));
        let lasts = ends(self.trace.device.last().map(op), self.trace.calls.last().map(call));
        let (mut first, last) = (firsts.min().unwrap_or(0), lasts.max().unwrap_or(0));
        // A few operations that begin long before any call are damaged: the clock is that of the others.
        if let Some(call) = self.trace.calls.first().filter(|call| last - first > SPAN && call.start_ns > first) {
            let early = self.trace.device.partition_point(|op| op.start_ns < call.start_ns);
            first = if early * 4 <= self.trace.device.len() { call.start_ns } else { first };
        }
        // A step that is marked begins with the host's work before its first call.
        let first =
            self.trace.marks.iter().filter(|(_, end)| *end >= first).map(|(start, _)| *start).fold(first, u64::min);
        if last - first > SPAN {
            let days = (last - first) / 86_400_000_000_000;
            let what = format!("its first and its last event are {days} days apart: they cannot be of one clock");
            let error = refused("clock", &self.file, what);
            return Err(error.remedy("correct or remove the events whose start is not that of the others"));
        }
        self.trace.device.iter_mut().for_each(|op| op.start_ns = op.start_ns.saturating_sub(first));
        self.trace.calls.iter_mut().for_each(|call| call.start_ns -= first);
        self.trace.marks.sort_unstable();
        for (start, end) in &mut self.trace.marks {
            (*start, *end) = (start.saturating_sub(first), end.saturating_sub(first));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::trace::kineto;

    #[test]
    fn long_names_are_cut_stay_apart_and_are_told_of() {
        let mut builder = Builder::new("it", Rc::default(), &kineto::FORMAT);
        let long = |end: &str| format!("{}{end}", "ä".repeat(5_000));
        let [one, other, again] = ["1", "2", "1"].map(|end| builder.name(&long(end)));
        assert_eq!((one == other, one, builder.notes.cut), (false, again, 2));
        let (cut, whole) = (builder.named(one), builder.name(&"a".repeat(NAME)));
        assert_eq!(cut.chars().count(), NAME + 1 + 16);
        assert_eq!((cut.chars().nth(NAME), builder.named(whole).len()), (Some('…'), NAME));
        assert!(builder.notes.sentences()[0].starts_with("2 names are longer"), "{:?}", builder.notes.sentences());
    }

    #[test]
    fn what_names_take_is_bounded_by_their_number() {
        let mut builder = Builder::new("it", Rc::default(), &kineto::FORMAT);
        let count = 100_000;
        (0..count).for_each(|number| _ = builder.name(&format!("{number}{}", "a".repeat(1_000))));
        assert_eq!(builder.trace.names.len(), count);
        assert!(builder.kept < ROOM + NAME + 100 * count, "{}", builder.kept);
    }
}
