//! Flits to items: each flit, and behind it the TLPs that end in it.

pub(super) mod encode;
pub(super) mod text;

use super::item::{Content, Flit, FlitTlp, Item, Problem};
use crate::wire::{
    flit::{
        BYTES, Dlp, FlitError, FlitView, Received, ReplayCommand, TLP_BYTES, Usage,
        ecc::Verdict,
        receive,
        stream::{Assembler, Piece},
        tlp::{FlitTlpError, FlitTlpRepr, FlitTlpView},
    },
    tlp::Severity,
};

pub(super) const fn name(dlp: &Dlp) -> &'static str {
    match (dlp.usage, dlp.replay, dlp.sequence) {
        (Usage::Payload, ..) => "payload",
        (Usage::Nop, ReplayCommand::Explicit, 0) => "IDLE",
        (Usage::Nop, ..) => "NOP",
        (Usage::Reserved(_), ..) => "reserved",
    }
}

/// Everything that stands in flits behind each other.
pub(super) fn items(bytes: &[u8]) -> Vec<Item> {
    let (flits, rest) = bytes.as_chunks::<BYTES>();
    let mut reader = Reader::default();
    flits.iter().for_each(|flit| reader.flit(flit));
    reader.finish(rest)
}

#[derive(Default)]
struct Reader {
    items: Vec<Item>,
    assembler: Assembler,
    /// The flit before has failed. Only the next flit says whether it had TLPs.
    failed: bool,
    /// Where the next TLP begins is not known any more.
    lost: bool,
}

impl Reader {
    fn flit(&mut self, bytes: &[u8; BYTES]) {
        let received = receive(bytes);
        if self.failed && (received.fault.is_some() || received.repr.dlp.prior_payload) {
            self.lose();
        }
        self.failed = received.fault.is_some();
        let (payload, area) = (received.repr.dlp.usage == Usage::Payload, received.repr.tlp);
        let reads = payload && received.fault.is_none() && !self.lost;
        let mut item = flit_item(&received);
        if !reads && received.fault.is_none() {
            item.problems.extend(unread_area(payload, &area));
        }
        if let Content::Flit(flit) = &mut item.content {
            flit.area = Some(area).filter(|area| !reads && (payload || *area != [0; TLP_BYTES]));
        }
        self.items.push(item);
        if reads {
            self.assembler.push(&area);
            self.pieces();
        }
    }

    /// Takes the pieces that are whole.
    fn pieces(&mut self) {
        loop {
            match self.assembler.next_piece() {
                Ok(Some(Piece::Tlp(tlp))) => self.items.push(tlp_item(&tlp)),
                Ok(Some(Piece::Nop { count, reserved_bits })) => {
                    let mut item = Item::good(Content::Nop { count });
                    item.problems.extend(reserved_bits.then(reserved));
                    self.items.push(item);
                }
                Ok(None) => break,
                Err(error) => {
                    let problem = Problem::error(tlp_code(&error), format!("{error}; no TLP behind it can be read"));
                    self.items.push(Item::unreadable(self.assembler.rest(), problem));
                    self.lost = true;
                    break;
                }
            }
        }
    }

    /// After a flit with TLPs that a receiver would ask for again.
    fn lose(&mut self) {
        let rest = self.assembler.rest();
        if !self.lost && !rest.is_empty() {
            let text = "the TLP goes on in a flit that is lost";
            self.items.push(Item::unreadable(rest, Problem::error("truncated", text)));
        }
        self.lost = true;
    }

    fn finish(mut self, surplus: &[u8]) -> Vec<Item> {
        if self.failed {
            self.lose();
        }
        let rest = self.assembler.rest();
        if !self.lost && !rest.is_empty() {
            let text = FlitTlpView::new_checked(rest).err().map(|error| error.to_string()).unwrap_or_default();
            let text = format!("{text}; the rest would stand in the next payload flit");
            self.items.push(Item::unreadable(rest, Problem::error("truncated", text)));
        }
        if let Err(error) = FlitView::new_checked(surplus)
            && !surplus.is_empty()
        {
            self.items.push(Item::unreadable(surplus, Problem::error("truncated", error)));
        }
        self.items
    }
}

fn flit_item(received: &Received) -> Item {
    let mut problems = Vec::new();
    let corrected: Vec<_> = received.verdicts.iter().filter_map(correction).collect();
    if let Some(fault) = received.fault {
        let code = if matches!(fault, FlitError::Ecc { .. }) { "flit_ecc" } else { "flit_crc" };
        problems.push(Problem::error(
            code,
            format!("{fault}; a receiver asks for the flit again, and its TLPs are not read"),
        ));
    } else {
        if !corrected.is_empty() {
            let text = format!("the ECC has corrected {} of the flit's bytes", corrected.len());
            problems.push(Problem::new(Severity::Warning, "corrected", text));
        }
        if let Usage::Reserved(bits) = received.repr.dlp.usage {
            problems.push(Problem::error("reserved_usage", format!("flit usage {bits} is reserved")));
        }
    }
    let dlp = received.repr.dlp;
    let (crc, ecc) = FlitView::new_checked(&received.bytes).map(|view| (view.crc(), view.ecc())).unwrap_or_default();
    let content = Content::Flit(Box::new(Flit { dlp, crc, ecc, corrected, area: None }));
    Item { content, problems, source: None }
}

const fn correction(verdict: &Verdict) -> Option<(u8, u8)> {
    match *verdict {
        Verdict::Corrected { byte, flipped } => Some((byte, flipped)),
        Verdict::Good | Verdict::Uncorrectable => None,
    }
}

/// What is to be said of a TLP area that is not read.
fn unread_area(payload: bool, area: &[u8; TLP_BYTES]) -> Option<Problem> {
    if payload {
        let text =
            "its TLPs are not read: where the first of them begins stands in a flit before that could not be read";
        Some(Problem::new(Severity::Note, "tlps_not_read", text))
    } else {
        let text = "bytes of the TLP area are set in a flit without TLPs";
        (*area != [0; TLP_BYTES]).then(|| Problem::new(Severity::Warning, "reserved_bits", text))
    }
}

fn reserved() -> Problem {
    Problem::new(Severity::Warning, "reserved_bits", "reserved bits are set, which a receiver ignores")
}

const fn tlp_code(error: &FlitTlpError) -> &'static str {
    match error {
        FlitTlpError::Truncated { .. } => "truncated",
        FlitTlpError::Surplus { .. } => "surplus",
        FlitTlpError::Type { .. } => "flit_type",
        FlitTlpError::Trailer { .. } => "trailer_size",
    }
}

fn tlp_item(bytes: &[u8]) -> Item {
    match FlitTlpView::new_checked(bytes) {
        Ok(view) => read_item(&view, view.payload().to_vec(), view.trailer().to_vec()),
        Err(error) => Item::unreadable(bytes, Problem::error(tlp_code(&error), error)),
    }
}

/// A header by itself, as a log has it. The log has a fixed number of words, so that more may stand behind the header.
pub(super) fn header_item(bytes: &[u8]) -> Item {
    let view = match FlitTlpView::new_header(bytes) {
        Ok(view) => view,
        Err(error) => return Item::unreadable(bytes, Problem::error(tlp_code(&error), error)),
    };
    let mut item = read_item(&view, Vec::new(), Vec::new());
    let header_end = view.header().len();
    if view.total_bytes() > header_end {
        let text =
            format!("only the header is given, without the {} bytes that follow it", view.total_bytes() - header_end);
        item.problems.push(Problem::new(Severity::Note, "header_only", text));
    }
    item
}

fn read_item(view: &FlitTlpView<'_>, payload: Vec<u8>, trailer: Vec<u8>) -> Item {
    let repr = FlitTlpRepr::parse(view);
    // The rules for addresses, byte enables and completions are those of other links.
    let findings = repr.to_non_flit().map(|plain| plain.check()).unwrap_or_default();
    let mut problems: Vec<_> = findings.into_iter().map(Problem::from).collect();
    problems.extend((repr.emit() != view.header()).then(reserved));
    let content = FlitTlp { repr, header: view.header().to_vec(), payload, trailer };
    Item { content: Content::FlitTlp(Box::new(content)), problems, source: None }
}

#[cfg(test)]
mod tests;
