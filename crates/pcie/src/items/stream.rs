//! Rules across the packets of a stream. What a packet is in itself, [`read`](super::read) says.
//!
//! | code | rule | PCI Express Base Specification 5.0 |
//! | --- | --- | --- |
//! | `tag_in_use` | a requester's non-posted requests that are outstanding have different tags | 2.2.6.2 |
//! | `unknown_tag` | a completion answers a request that is outstanding | 2.3.2 |
//! | `bytes_left` | its byte count is what is left of the read; operand of an AtomicOp; 4 for others; it has no more data than that | 2.2.9 |
//! | `lower_address` | its lower address is that of the first byte that is due; 0 if the request is no read of memory | 2.2.9 |
//! | `rcb` | a completion that leaves bytes of its read ends at a multiple of 64 B, the smallest boundary that there is | 2.3.1.1 |
//! | `answer` | data for requests that return some and for no others; a locked completion for a locked read; RRS for configuration alone | 2.2.9, 2.3.1.1 |
//! | `class` | traffic class and attributes are the request's | 2.2.6.4, 2.2.6.5, 2.2.9 |
//! | `bcm` | no completer of PCI Express sets BCM | 2.2.9 |
//! | `sequence_gap` | a TLP's sequence number is the next, or an earlier one that is replayed | 3.6.3.1 |
//! | `replay` | a replayed TLP is the one that had its number | 3.6.2.1 |
//! | `replay_order` | a replay begins with the oldest TLP that no Ack has named, or before it, and leaves none of them out | 3.6.2.1 |
//! | `ack_unsent` | an Ack or Nak names a TLP that was sent | 3.6.2.2 |
//! | `credits` | a TLP of traffic class 0 has the credits that InitFC and UpdateFC of VC 0 have given, if the stream begins with InitFC | 2.6.1 |
//!
//! Sections are cited from memory: nobody has held them, or these rules, against the text of the specification.
//!
//! The last three need to know which way packets go. A framed stream without ways is one direction of a link: whoever is never answered in it is answered in the
//! other, so his tags are not followed. A TLP behind one that was damaged or lost counts when its receiver takes it: once the missing one has come again, or an
//! Ack says that it had not been lost. What order shows at one point is judged (parts of a read by address, replays by number); what might have passed what
//! before it came there is not.

use super::item::{Content, Item, Problem, Tlp};
use crate::credit::{DATA_BITS, HEADER_BITS, TransmitCredits};
use crate::wire::{
    dllp::{CreditPhase, DllpRepr},
    tlp::TlpRepr,
};
use std::collections::{HashMap, HashSet};

/// Which way packets go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// `>`
    There,
    /// `<`
    Back,
}

impl Way {
    /// The way that a line begins with, and the rest of it.
    pub fn of_line(line: &str) -> Option<(Self, &str)> {
        let line = line.trim_start();
        let there = line.strip_prefix('>').map(|rest| (Self::There, rest));
        there.or_else(|| line.strip_prefix('<').map(|rest| (Self::Back, rest)))
    }

    const fn other(self) -> Self {
        if matches!(self, Self::There) { Self::Back } else { Self::There }
    }
}

/// A field of a header, by name.
type Field<'i> = Box<dyn Fn(&str) -> Option<u64> + 'i>;

struct Header<'i> {
    name: &'static str,
    get: Field<'i>,
}

impl<'i> Header<'i> {
    fn of(item: &'i Item) -> Option<Self> {
        Some(match &item.content {
            Content::Tlp(tlp) => Self { name: tlp.repr.name(), get: Box::new(|name| tlp.repr.get(name)) },
            Content::FlitTlp(tlp) => Self { name: tlp.repr.name(), get: Box::new(|name| tlp.repr.get(name)) },
            _ => return None,
        })
    }

    fn value(&self, name: &str) -> u64 {
        (self.get)(name).unwrap_or_default()
    }

    fn is(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.name.starts_with(name))
    }

    fn is_completion(&self) -> bool {
        self.is(&["Cpl"])
    }

    fn is_request(&self) -> bool {
        !self.is(&["Cpl", "MWr", "Msg"])
    }

    /// Bytes that a request has returned, and the low bits of the first one's address, as completions count them.
    fn asks(&self) -> (u64, u64) {
        let length = 4 * self.value("length_dw");
        if !self.is(&["MRd"]) {
            let of_operand = self.is(&["Fetch", "Swap", "CAS"]);
            return (
                if !of_operand {
                    4
                } else if self.is(&["CAS"]) {
                    length / 2
                } else {
                    length
                },
                0,
            );
        }
        // A read with hints has its steering tag in the byte enables.
        let enables = |name| (self.get)(name).filter(|_| self.value("th") == 0).unwrap_or(0xf) as u8;
        let (first, last) = (enables("first_be"), enables(if length == 4 { "first_be" } else { "last_be" }));
        let before = if first == 0 { 0 } else { first.trailing_zeros().into() };
        let behind = if last == 0 { 3 } else { u64::from(last.leading_zeros()) - 4 };
        (length.saturating_sub(before + behind).max(1), (self.value("address") + before) & 0x7f)
    }
}

const SMALLEST_BOUNDARY: u64 = 64;

/// A request that is outstanding, and what its next completion must say.
struct Request {
    name: &'static str,
    class: (u64, u64),
    left: u64,
    lower: u64,
}

impl Request {
    fn of(header: &Header<'_>) -> Self {
        let (left, lower) = header.asks();
        Self { name: header.name, class: (header.value("tc"), header.value("attr")), left, lower }
    }

    /// What is wrong with a completion of it; whether it is the last.
    fn answered(&mut self, by: &Header<'_>, problems: &mut Vec<Problem>) -> bool {
        let (name, data, success) = (self.name, by.is(&["CplD"]), by.value("status") == 0);
        let returns = !["CfgWr", "IOWr", "DMWr"].iter().any(|write| name.starts_with(write));
        let answers = by.name.ends_with("Lk") == name.starts_with("MRdLk")
            && (!success || data == returns)
            && (by.value("status") != 2 || name.starts_with("Cfg"));
        let (count, lower, Self { left, lower: due, .. }) = (by.value("byte_count"), by.value("lower_address"), &*self);
        let class = (by.value("tc"), by.value("attr")) == self.class;
        let (data_dw, due_dw) = (by.value("length_dw"), (left + (due & 3)).div_ceil(4));
        let bytes = (4 * data_dw).saturating_sub(due & 3).min(*left);
        for (kept, code, text) in [
            (by.value("bcm") == 0, "bcm", "BCM is set, which only a completer of PCI-X does".to_owned()),
            (class, "class", format!("traffic class or attributes are not those of the {name} that it answers")),
            (answers, "answer", format!("{} with status {} does not answer {name}", by.name, by.value("status"))),
            (
                !success || !data || bytes == *left || (due + bytes).is_multiple_of(SMALLEST_BOUNDARY),
                "rcb",
                format!("{bytes} bytes of {name} from {due:#04x} on end where no part of a read may end"),
            ),
            (!success || count == *left, "bytes_left", format!("{left} bytes of {name} are left, not {count}")),
            (
                !success || data_dw <= due_dw,
                "bytes_left",
                format!("{data_dw} DW of data, where {due_dw} hold the {left} bytes that are left of {name}"),
            ),
            (
                !success || lower == *due,
                "lower_address",
                format!("{due:#04x} is the lower address due, not {lower:#04x}"),
            ),
        ] {
            problems.extend((!kept).then(|| Problem::error(code, text)));
        }
        (self.left, self.lower) = (self.left - bytes, (self.lower + bytes) & 0x7f);
        !success || !data || self.left == 0
    }
}

/// Requests by way, requester and tag.
type Requests = HashMap<(Option<Way>, u64, u64), Request>;

/// A request becomes outstanding, or is answered.
fn pair(header: &Header<'_>, way: Option<Way>, requests: &mut Requests, problems: &mut Vec<Problem>) {
    let (requester, tag) = (header.value("requester_id"), header.value("tag"));
    if header.is_request() {
        if let Some(before) = requests.insert((way, requester, tag), Request::of(header)) {
            let text = format!("tag {tag:#x} is that of a {} that is outstanding", before.name);
            problems.push(Problem::error("tag_in_use", text));
        }
    } else if header.is_completion() {
        let key = (way.map(Way::other), requester, tag);
        let Some(request) = requests.get_mut(&key) else {
            let text = format!("no request with tag {tag:#x} of this requester is outstanding");
            return problems.push(Problem::error("unknown_tag", text));
        };
        if request.answered(header, problems) {
            requests.remove(&key);
        }
    }
}

const SEQUENCES: u16 = 1 << 12;

/// A direction of a link, as far as its sender has shown it: what was sent under each number, headers and data that the receiver takes.
#[derive(Default)]
struct Sender {
    /// Behind the newest number that was seen.
    next: Option<u16>,
    /// The number that the receiver takes next.
    due: u16,
    last: u16,
    /// The oldest number that no Ack has named, once there was one.
    oldest: Option<u16>,
    /// Whether what came last was damaged.
    torn: bool,
    sent: HashMap<u16, Tlp>,
    credits: HashMap<u8, [TransmitCredits; 2]>,
}

/// Whether a number lies before another.
const fn is_before(one: u16, other: u16) -> bool {
    other.wrapping_sub(one + 1) % SEQUENCES < SEQUENCES / 2
}

impl Sender {
    /// Whether its receiver takes a TLP, and has not before. acknowledged: whether its Acks are seen.
    fn takes(&mut self, tlp: &Tlp, acknowledged: bool, problems: &mut Vec<Problem>) -> bool {
        let Some(sequence) = tlp.link.map(|link| link.sequence) else { return true };
        let first = self.next.is_none();
        let (next, torn) = (*self.next.get_or_insert(sequence), std::mem::take(&mut self.torn));
        let mut wrong = |code, text| problems.push(Problem::error(code, text));
        if is_before(sequence, next) {
            let same = |sent: &Tlp| {
                (&sent.prefixes, &sent.header, &sent.payload) == (&tlp.prefixes, &tlp.header, &tlp.payload)
            };
            if !self.sent.get(&sequence).is_none_or(same) {
                wrong("replay", format!("TLP {sequence} is sent again, and is another than before"));
            }
        } else {
            if sequence != next && !torn {
                wrong("sequence_gap", format!("TLP {sequence} is sent, where {next} is due"));
            }
            // Without Acks nothing says whether what is missing was lost on the link or to the observer.
            if first || sequence != next && !torn && !acknowledged {
                self.due = sequence;
            }
            self.next = Some((sequence + 1) % SEQUENCES);
            self.sent.insert(sequence, tlp.clone());
        }
        let follows = first || torn || sequence == (self.last + 1) % SEQUENCES || is_before(next, sequence);
        if let Some(oldest) = self.oldest.filter(|&oldest| !follows && is_before(oldest, sequence)) {
            wrong("replay_order", format!("TLP {sequence} is sent behind {}, before {oldest} again", self.last));
        }
        self.last = sequence;
        let taken = sequence == self.due;
        self.due = (self.due + u16::from(taken)) % SEQUENCES;
        taken
    }

    fn spend(&mut self, repr: &TlpRepr, problems: &mut Vec<Problem>) {
        let need = repr.credits();
        let Some(pools) = self.credits.get_mut(&(need.class as u8)).filter(|_| repr.value("tc") == 0) else { return };
        for (pool, (need, what)) in pools.iter_mut().zip([(need.headers, "header"), (need.data, "data")]) {
            let text = |left| format!("{} needs {need} {what} credits, and has {left}", repr.name());
            let short = pool.left().filter(|_| !pool.allows(need));
            problems.extend(short.map(|left| Problem::error("credits", text(left))));
            pool.consume(need);
        }
    }

    /// Takes what the other end sends.
    fn answered(&mut self, by: &DllpRepr, problems: &mut Vec<Problem>) {
        match *by {
            DllpRepr::Ack { sequence } | DllpRepr::Nak { sequence } => match self.next {
                Some(next) if !is_before(sequence, next) => {
                    problems.push(Problem::error("ack_unsent", format!("TLP {sequence} was not sent")));
                }
                Some(_) => {
                    let behind = (sequence + 1) % SEQUENCES;
                    let later = |one: u16| if is_before(one, behind) { behind } else { one };
                    (self.due, self.oldest) = (later(self.due), Some(self.oldest.map_or(behind, later)));
                }
                None => {}
            },
            DllpRepr::Credit { phase, class, virtual_channel: 0, header_scale, header, data_scale, data } => {
                let given = [(u32::from(header), HEADER_BITS, header_scale), (data.into(), DATA_BITS, data_scale)];
                match (phase, self.credits.get_mut(&(class as u8))) {
                    (CreditPhase::Update, Some(pools)) => {
                        pools.iter_mut().zip(given).for_each(|(pool, (credits, ..))| pool.update(credits));
                    }
                    (CreditPhase::Init1, None) => {
                        let pools = given.map(|(credits, bits, scale)| TransmitCredits::new(credits, bits, scale));
                        self.credits.insert(class as u8, pools);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

/// Adds to each item what is wrong with it in view of those before it.
pub fn judge(items: &mut [(Option<Way>, Item)]) {
    let framed = |item: &Item| matches!(&item.content, Content::Tlp(tlp) if tlp.link.is_some());
    let one_way = items.iter().all(|(way, _)| way.is_none()) && items.iter().any(|(_, item)| framed(item));
    let those = |which: fn(&Header<'_>) -> bool| -> HashSet<u64> {
        let headers = items.iter().filter_map(|(_, item)| Header::of(item));
        headers.filter(which).map(|header| header.value("requester_id")).collect()
    };
    let (asking, answered) = (those(|header| header.is_request()), those(|header| header.is_completion()));
    let followed = |requester| !one_way || answered.contains(&requester) && asking.contains(&requester);
    let is_ack =
        |item: &Item| matches!(item.content, Content::Dllp { repr: DllpRepr::Ack { .. } | DllpRepr::Nak { .. }, .. });
    let acks = items.iter().filter(|(way, item)| way.is_some() && is_ack(item));
    let acknowledged: HashSet<_> = acks.map(|(way, _)| way.map(Way::other)).collect();
    let (mut requests, mut senders) = (Requests::new(), HashMap::<Option<Way>, Sender>::new());
    for (way, item) in items {
        let mut problems = Vec::new();
        let new = match &item.content {
            Content::Dllp { repr, .. } if way.is_some() && item.errors().next().is_none() => {
                senders.entry(way.map(Way::other)).or_default().answered(repr, &mut problems);
                false
            }
            // What a receiver drops is sent again.
            Content::Tlp(tlp) if tlp.link.is_some_and(|link| link.nullified) => false,
            Content::Tlp(_) if item.errors().any(|problem| problem.code == "lcrc") => {
                senders.entry(*way).or_default().torn = true;
                false
            }
            Content::Tlp(tlp) => {
                let sender = senders.entry(*way).or_default();
                let new = sender.takes(tlp, acknowledged.contains(way), &mut problems);
                if new {
                    sender.spend(&tlp.repr, &mut problems);
                }
                new
            }
            _ => true,
        };
        if let Some(header) = Header::of(item).filter(|header| new && followed(header.value("requester_id"))) {
            pair(&header, *way, &mut requests, &mut problems);
        }
        item.problems.extend(problems);
    }
}
