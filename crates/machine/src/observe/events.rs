//! Every transfer on every channel: what two runs are compared by, in memory and as lines.
//!
//! ```text
//! # sealsim events 1
//! fs,channel,what,number,address
//! 1234500,host.cipher.jobs,job,0,0x100000
//! =host.cipher,busy,1000000
//! ```
//!
//! Lines of a queue are in the order of its instants; those of a wire carry the date of arrival, and come when it is sent. A line with `=` says at the end how
//! long a unit was in a state, in fs. Numbers and addresses are those of messages and memory, never tags or sequence numbers, which depend on what came before.

use super::{
    Window,
    identity::{Identity, identity},
};
use crate::{
    files::RecordFile,
    sim::{ChannelTransfer, Clock, Listener, Place, Places, Spell, activity_name},
    units::Femtos,
};
use std::{collections::BTreeMap, fmt::Write, io};

pub const HEAD: &str = "# sealsim events 1\nfs,channel,what,number,address\n";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    pub time: u64,
    pub channel: u32,
    pub identity: Identity,
}

/// All transfers of a run, and how long its units were in which state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Events {
    pub channels: Vec<String>,
    pub events: Vec<Event>,
    /// By unit and state: fs.
    pub states: BTreeMap<(String, String), u64>,
}

#[derive(Default)]
struct States {
    units: Vec<(String, Clock)>,
    states: BTreeMap<(String, String), u64>,
}

impl States {
    fn begin(&mut self, places: &Places) {
        self.units = places.accounts.iter().map(|unit| (unit.name.clone(), unit.clock)).collect();
    }

    fn add(&mut self, Spell { account, activity, from, to }: Spell) {
        let (name, clock) = &self.units[account];
        let time = clock.edge(to).0 - clock.edge(from).0;
        *self.states.entry((name.clone(), activity_name(activity).to_owned())).or_default() += time;
    }
}

/// A listener that keeps all transfers.
#[derive(Default)]
pub struct EventList {
    events: Events,
    states: States,
}

impl EventList {
    pub fn events(mut self) -> Events {
        self.events.states = self.states.states;
        self.events
    }
}

impl Listener for EventList {
    fn begin(&mut self, places: &Places) {
        self.events.channels = places.channels.iter().map(|channel| channel.path.clone()).collect();
        self.states.begin(places);
    }

    fn hears(&self, place: Place<'_>) -> bool {
        matches!(place, Place::Channel(_) | Place::Account(_))
    }

    fn passed(&mut self, ChannelTransfer { channel, date, key, item, .. }: ChannelTransfer<'_>) {
        let identity = identity(item, key);
        self.events.events.push(Event { time: date.0, channel: channel as u32, identity });
    }

    fn spell(&mut self, spell: Spell) {
        self.states.add(spell);
    }
}

/// A listener that writes all transfers.
pub struct EventLog {
    file: RecordFile,
    window: Window,
    channels: Vec<String>,
    states: States,
    line: String,
}

impl EventLog {
    /// Writes to `file` what passes in a window.
    pub fn new(file: RecordFile, window: Window) -> Self {
        Self { file, window, channels: Vec::new(), states: States::default(), line: String::new() }
    }

    /// Whether the file cannot be written any more.
    pub const fn in_trouble(&self) -> bool {
        self.file.in_trouble()
    }

    pub fn close(mut self) -> io::Result<()> {
        for ((unit, state), time) in std::mem::take(&mut self.states.states) {
            self.line.clear();
            _ = writeln!(self.line, "={unit},{state},{time}");
            self.file.record(|buffer| buffer.extend(self.line.as_bytes()));
        }
        self.file.close()
    }
}

impl Listener for EventLog {
    fn begin(&mut self, places: &Places) {
        self.channels = places.channels.iter().map(|channel| channel.path.clone()).collect();
        self.states.begin(places);
        self.file.record(|buffer| buffer.extend(HEAD.as_bytes()));
    }

    fn hears(&self, place: Place<'_>) -> bool {
        matches!(place, Place::Channel(_) | Place::Account(_))
    }

    fn passed(&mut self, ChannelTransfer { channel, date, key, item, .. }: ChannelTransfer<'_>) {
        if self.window.holds(date) {
            self.line.clear();
            let Identity { what, number, address } = identity(item, key);
            let path = &self.channels[channel];
            _ = writeln!(self.line, "{},{path},{what},{number},{address:#x}", date.0);
            self.file.record(|buffer| buffer.extend(self.line.as_bytes()));
        }
    }

    fn spell(&mut self, spell: Spell) {
        let (_, clock) = &self.states.units[spell.account];
        if self.window.meets(clock.edge(spell.from), clock.edge(spell.to)) || self.window == Window::ALL {
            self.states.add(spell);
        }
    }
}

/// Why a text is no list of events.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventsError {
    #[error("not a list of events: it does not begin with `# sealsim events 1`")]
    Head,
    #[error("line {line}: {text}")]
    Line {
        /// From 1.
        line: usize,
        text: String,
    },
}

impl Events {
    /// Reads lines that an [`EventLog`] has written.
    pub fn read(text: &str) -> Result<Self, EventsError> {
        let rest = text.strip_prefix(HEAD).ok_or(EventsError::Head)?;
        let (mut events, mut numbers) = (Self::default(), BTreeMap::new());
        for (place, line) in rest.lines().enumerate() {
            let wrong = |text: &str| EventsError::Line { line: place + 3, text: text.to_owned() };
            if let Some(line) = line.strip_prefix('=') {
                let (unit, state, time) = three(line).ok_or_else(|| wrong("a state is =UNIT,STATE,FS"))?;
                let time = time.parse().map_err(|_| wrong("the time is no number of fs"))?;
                events.states.insert((unit.to_owned(), state.to_owned()), time);
                continue;
            }
            events.line(line, &mut numbers).ok_or_else(|| wrong("an event is FS,CHANNEL,WHAT,NUMBER,ADDRESS"))?;
        }
        Ok(events)
    }

    fn line(&mut self, line: &str, numbers: &mut BTreeMap<String, u32>) -> Option<()> {
        let mut cells = line.split(',');
        let time: u64 = cells.next()?.parse().ok()?;
        let path = cells.next()?;
        let channel = match numbers.get(path) {
            Some(&number) => number,
            None => {
                let number = self.channels.len() as u32;
                numbers.insert(path.to_owned(), number);
                self.channels.push(path.to_owned());
                number
            }
        };
        let what = Identity::what(cells.next()?)?;
        let number = cells.next()?.parse().ok()?;
        let address = u64::from_str_radix(cells.next()?.strip_prefix("0x")?, 16).ok()?;
        self.events.push(Event { time, channel, identity: Identity { what, number, address } });
        cells.next().is_none().then_some(())
    }

    /// When the last of them was.
    pub fn end(&self) -> Femtos {
        Femtos(self.events.iter().map(|event| event.time).max().unwrap_or(0))
    }
}

fn three(line: &str) -> Option<(&str, &str, &str)> {
    let (one, rest) = line.split_once(',')?;
    let (two, three) = rest.split_once(',')?;
    Some((one, two, three))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_a_wrong_one_is_named() {
        let text = format!("{HEAD}5,a.b,MWr,0,0x40\n7,a.c,job,3,0x0\n=a,busy,12\n");
        let events = Events::read(&text).unwrap();
        assert_eq!(events.channels, ["a.b", "a.c"]);
        assert_eq!(events.events[1].identity, Identity { what: "job", number: 3, address: 0 });
        assert_eq!((events.end(), events.states[&("a".into(), "busy".into())]), (Femtos(7), 12));
        for wrong in ["x,a,MWr,0,0x0", "1,a,MWr,0", "1,a,none,0,0x0", "1,a,MWr,0,0x0,", "=a,busy", "=a,busy,x", ""] {
            let text = format!("{HEAD}1,a,MWr,0,0x0\n{wrong}\n");
            assert!(matches!(Events::read(&text), Err(EventsError::Line { line: 4, .. })), "{wrong}");
        }
        assert_eq!(Events::read("{}"), Err(EventsError::Head));
    }
}
