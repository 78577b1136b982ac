//! What `run` shows of the inside of a run: a trace, a capture of the links, the events.

use crate::cli::places::Named;
use crate::{
    cli::{Failure, output},
    config::MachineSpec,
    files::RecordFile,
    observe::{
        Listeners, Window,
        capture::Capture,
        events::EventLog,
        messages::{Message, Tracker},
        path::Recorder,
        perfetto::{StreamCopy, Trace},
        waves::Waves,
    },
    sim::{Listener, SharedListener},
    system::{DataMode, Outcome, engine_of, link_of},
    workload::direction_name,
};
use clap::Args;
use miette::miette;
use std::{cell::RefCell, io, path::PathBuf, rc::Rc, str::FromStr};

/// Generation from which on a link sends flits, which no capture holds.
const FLITS: u32 = 6;

/// Arguments.
#[derive(Debug, Clone, Args, Default)]
pub(in crate::cli) struct InsideArguments {
    /// Write a Perfetto trace to this file, all of the run or a window of it: units with busy and stalls, streams, messages by stage,
    /// counters. Open it at ui.perfetto.dev
    #[arg(long, value_name = "FILE[@FROM..TO]")]
    trace: Option<Target>,
    /// Write queues, tags, credits and the registers of AES-GCM as waves to this file, as FST for GTKWave and Surfer
    #[arg(long, value_name = "FILE[@FROM..TO]")]
    waves: Option<Target>,
    /// Show the registers of AES-GCM for this message in --waves, by its number in the run from 1, as `sealsim explain` counts. Left out: for
    /// the first message, or for all messages in the window of --waves
    #[arg(long, value_name = "N", requires = "waves", value_parser = clap::value_parser!(u64).range(1..))]
    waves_message: Option<u64>,
    /// Write every TLP and DLLP of the links with its time to this file, as pcapng for Wireshark
    #[arg(long, value_name = "FILE[@FROM..TO]")]
    capture: Option<Target>,
    /// Write every transfer on every queue and wire to this file: what `sealsim diff` compares
    #[arg(long, value_name = "FILE[@FROM..TO]")]
    events: Option<Target>,
}

/// A file and the stretch of simulated time that goes into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Target {
    path: PathBuf,
    window: Window,
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (path, window) = match text.rsplit_once('@') {
            Some((path, window)) if window.contains("..") => {
                (path, window.parse().map_err(|error| format!("{error}"))?)
            }
            _ => (text, Window::ALL),
        };
        if path.is_empty() {
            return Err("a file is missing before the window".to_owned());
        }
        Ok(Self { path: path.into(), window })
    }
}

impl InsideArguments {
    fn targets(&self) -> [(&'static str, Option<&Target>); 4] {
        let targets = [&self.trace, &self.waves, &self.capture, &self.events];
        let names = ["--trace", "--waves", "--capture", "--events"];
        std::array::from_fn(|place| (names[place], targets[place].as_ref()))
    }

    /// The files that are written, by what the command line calls them.
    pub(super) fn written(&self) -> Vec<Named<'_>> {
        self.targets().map(|(name, target)| (name, target.map(|target| target.path.as_path()))).into()
    }

    pub(super) fn check(&self, has_bytes: bool) -> Result<(), Failure> {
        if self.waves_message.is_some() && !has_bytes {
            let help = "leave out one of them";
            return Err(Failure::Usage(miette!(
                help = help,
                "--waves-message with --data none: registers hold bytes, and such a run has none"
            )));
        }
        self.written().into_iter().try_for_each(|(name, path)| output::refuse_stream(name, path))
    }

    /// Begins the files; none if none is asked for.
    pub(in crate::cli) fn begin(
        &self,
        machine: &MachineSpec,
        data: DataMode,
        has_page: bool,
    ) -> Result<Option<Inside>, Failure> {
        if !has_page && self.targets().iter().all(|(_, target)| target.is_none()) {
            return Ok(None);
        }
        if self.capture.is_some()
            && let Some(gpu) = (0..machine.gpus()).find(|&gpu| machine.of_gpu(gpu).link.generation >= FLITS)
        {
            let help = "capture a link of generation 1 to 5, or look at --trace";
            return Err(Failure::Usage(miette!(
                help = help,
                "--capture: the link of GPU {gpu} sends flits, not packets"
            )));
        }
        let (machine, engines) = (machine.clone(), machine.clone());
        let links = move |path: &str| link_of(&machine, path);
        let trace = file(self.trace.as_ref())?.map(|(file, window)| Trace::new(file, window));
        let waves = self.waves.as_ref().map(|target| Waves::create(&target.path, target.window)).transpose();
        let waves = waves.map_err(|error| Failure::InputOutput(miette!("output {error}")))?;
        // Registers hold bytes, and a run without them has none to show.
        let engine = move |gpu: usize, pce: &str| engine_of(&engines, gpu, pce);
        let message = self.waves_message.map(|number| number - 1);
        let waves = waves.map(|waves| match data {
            DataMode::Exact => waves.with_engines(Box::new(engine), message),
            DataMode::None => waves,
        });
        let capture = file(self.capture.as_ref())?.map(|(file, window)| Capture::new(file, window, Box::new(links)));
        let events = file(self.events.as_ref())?.map(|(file, window)| EventLog::new(file, window));
        Ok(Some(Inside {
            trace: shared(trace),
            waves: shared(waves),
            capture: shared(capture),
            events: shared(events),
            look: shared(has_page.then(Recorder::default)),
            tracker: shared(has_page.then(Tracker::default)),
            waves_message: self.waves_message,
        }))
    }
}

fn file(target: Option<&Target>) -> Result<Option<(RecordFile, Window)>, Failure> {
    let begin = |target: &Target| RecordFile::create(&target.path).map(|file| (file, target.window));
    target.map(begin).transpose().map_err(|error| Failure::InputOutput(miette!("output {error}")))
}

/// A listener that the command line holds as well.
type Shared<L> = Option<Rc<RefCell<L>>>;

fn shared<L>(listener: Option<L>) -> Shared<L> {
    listener.map(|listener| Rc::new(RefCell::new(listener)))
}

pub(in crate::cli) struct Inside {
    trace: Shared<Trace>,
    waves: Shared<Waves>,
    capture: Shared<Capture>,
    events: Shared<EventLog>,
    look: Shared<Recorder>,
    tracker: Shared<Tracker>,
    waves_message: Option<u64>,
}

/// What a page shows of the inside of a run.
pub(in crate::cli) struct Look {
    pub record: Recorder,
    pub messages: Vec<Message>,
}

impl Inside {
    pub(super) fn listener(&self) -> SharedListener {
        fn add<L: Listener + 'static>(listeners: &mut Listeners, listener: &Shared<L>) {
            listener.iter().for_each(|listener| listeners.add(Rc::<RefCell<L>>::clone(listener)));
        }
        let mut listeners = Listeners::default();
        add(&mut listeners, &self.trace);
        add(&mut listeners, &self.waves);
        add(&mut listeners, &self.capture);
        add(&mut listeners, &self.events);
        add(&mut listeners, &self.look);
        add(&mut listeners, &self.tracker);
        listeners.listener()
    }

    /// Whether one of the files cannot be written any more.
    pub(super) fn in_trouble(&self) -> bool {
        self.trace.as_ref().is_some_and(|trace| trace.borrow().in_trouble())
            || self.waves.as_ref().is_some_and(|waves| waves.borrow().in_trouble())
            || self.capture.as_ref().is_some_and(|capture| capture.borrow().in_trouble())
            || self.events.as_ref().is_some_and(|events| events.borrow().in_trouble())
    }

    /// Ends the files, of which those of a run that has no outcome hold what came before. Gives what a page shows, unless that is too much.
    pub(super) fn close(self, outcome: Option<&Outcome>, streams: Option<&[String]>) -> Result<Option<Look>, Failure> {
        let copies = outcome.map_or_else(Vec::new, |outcome| stream_copies(outcome, streams));
        let left_out = own(self.trace).map(|trace| trace.close(&copies)).transpose();
        let waves = own(self.waves).map(Waves::close).transpose();
        let packets = own(self.capture).map(Capture::close).transpose();
        let events = own(self.events).map(EventLog::close).transpose();
        let failed = |error: io::Error| Failure::InputOutput(miette!("output {error}"));
        if let Some(left_out) = left_out.map_err(failed)?.filter(|left_out| left_out.messages > 0) {
            let all = left_out.shown + left_out.messages;
            let text =
                format!("note: the trace shows {} of {all} messages; give it a window to see all", left_out.shown);
            output::complain(format_args!("{text}"));
        }
        let closed = waves.map_err(failed)?;
        if let (Some(message), Some(true)) = (self.waves_message, closed.map(|closed| closed.followed.is_empty())) {
            let text = format!(
                "note: the waves show no registers: message {message} has not gone as a whole through an AES-GCM engine of a PCE"
            );
            output::complain(format_args!("{text}"));
        }
        packets.map_err(failed)?;
        events.map_err(failed)?;
        let record = own(self.look).and_then(|record| record.ended().ok());
        let messages = own(self.tracker).map(|mut tracker| tracker.take_all());
        Ok(record.zip(messages).map(|(record, messages)| Look { record, messages }))
    }
}

/// A listener that nobody else holds any more.
fn own<L>(shared: Shared<L>) -> Option<L> {
    shared.and_then(|listener| Rc::try_unwrap(listener).ok()).map(RefCell::into_inner)
}

/// The copies of a run as a trace shows them.
pub(super) fn stream_copies(outcome: &Outcome, streams: Option<&[String]>) -> Vec<StreamCopy> {
    let named = |place: usize| streams.and_then(|streams| streams.get(place)).cloned();
    let copy = |(place, copy): (usize, &crate::system::CopyOutcome)| StreamCopy {
        stream: named(place).unwrap_or_else(|| format!("stream of GPU {}", copy.gpu)),
        name: format!("copy {} {}", place + 1, direction_name(copy.direction)),
        span: (copy.start, copy.end),
        bytes: copy.bytes,
    };
    outcome.copies.iter().enumerate().map(copy).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_may_have_an_at_sign_and_a_window() {
        let read = |text: &str| text.parse::<Target>();
        assert_eq!(read("a@b.pftrace").unwrap(), Target { path: "a@b.pftrace".into(), window: Window::ALL });
        let target = read("a@b@1us..2us").unwrap();
        assert_eq!((target.path, target.window), ("a@b".into(), "1us..2us".parse().unwrap()));
        for wrong in ["@1us..2us", "a@2us..1us", "a@1..2"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
