//! What may be wrong with a TLP that can be read: one table of rules, [`RULES`].

use super::{Finding, MemoryOp, TlpRepr, TlpView, message, prefix};

impl TlpView<'_> {
    /// What is wrong with the TLP as it stands, beyond its structure: values, reserved bits, ECRC. Empty if its type is
    /// reserved, which [`TlpRepr::parse`] reports.
    pub fn check(&self) -> Vec<Finding> {
        let Ok(repr) = TlpRepr::parse(self) else { return Vec::new() };
        let mut findings = repr.check();
        findings.extend(prefix::check(self.prefixes(), &repr));
        if repr.emit() != self.header() {
            findings.push(Finding::ReservedBits);
        }
        let expected = self.ecrc();
        findings
            .extend(self.digest().filter(|&found| found != expected).map(|found| Finding::Ecrc { expected, found }));
        findings
    }
}

/// A rule about the fields of a header.
pub struct Rule {
    /// Where the PCI Express Base Specification (5.0; chapter 2 is numbered alike from 3.0 on) states it.
    pub section: &'static str,
    /// Codes of what it finds.
    pub codes: &'static [&'static str],
    find: fn(&TlpRepr, &mut Vec<Finding>),
}

const fn rule(section: &'static str, codes: &'static [&'static str], find: fn(&TlpRepr, &mut Vec<Finding>)) -> Rule {
    Rule { section, codes, find }
}

/// All rules of headers; those of prefixes are in `prefix.rs`. Structure (Fmt and Type, lengths) is [`TlpView`]'s, ECRC and bits that no field has are [`TlpView::check`]'s.
pub const RULES: [Rule; 14] = [
    rule("10.2.1", &["address_type", "translation_request"], address_type),
    rule("10.2.2", &["translation_length"], translation),
    rule("2.2.4.1", &["wide_header"], header_form),
    rule("2.2.5", &["last_be", "no_byte_enabled", "byte_enable_holes"], byte_enables),
    rule("2.2.7", &["page_crossing"], page),
    rule("2.2.7", &["length", "alignment"], atomic),
    rule("2.2.7", &["deferrable_length"], deferrable),
    rule("2.2.7", &["length", "last_be", "plain_request"], plain_request),
    rule("2.2.8", &["routing", "message_data", "traffic_class"], message),
    rule("2.2.6.4, 2.2.6.5", &["message_attributes"], message_attributes),
    rule("2.2.9", &["status", "data_without_success", "byte_count"], completion),
    rule("2.3.1.1", &["completion_split"], split),
    rule("2.2.8, 2.2.9", &["reserved_bits"], length_without_data),
    rule("2.2.7, 2.2.8, 2.2.9", &["reserved_bits"], reserved_flags),
];

impl TlpRepr {
    /// What is wrong with the values of the header, rule by rule.
    pub fn check(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        RULES.iter().for_each(|rule| (rule.find)(self, &mut findings));
        findings
    }

    /// Bytes of the operand of an AtomicOp, of which a CAS has two.
    pub fn operand_bytes(&self) -> Option<u32> {
        let operands = if self.does(MemoryOp::CompareSwap) { 2 } else { 1 };
        self.atomic().then_some(u32::from(self.length_dw()) * 4 / operands)
    }

    /// Whether it is a request to memory: those alone may have hints.
    fn of_memory(&self) -> bool {
        self.has("ph")
    }

    fn is_message(&self) -> bool {
        self.has("message_code")
    }

    fn is_completion(&self) -> bool {
        self.has("status")
    }

    fn enables(&self) -> (u8, u8) {
        (self.value("first_be") as u8, self.value("last_be") as u8)
    }

    fn ordered_or_unsnooped(&self) -> bool {
        self.value("attr") & 3 != 0
    }
}

fn address_type(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    match tlp.value("at") {
        3 => findings.push(Finding::AddressType),
        1 if tlp.of_memory() && !tlp.does(MemoryOp::Read) => {
            findings.push(Finding::TranslationRequest { name: tlp.name() });
        }
        _ => {}
    }
}

fn translation(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let (length_dw, (first_be, last_be)) = (tlp.length_dw(), tlp.enables());
    let asks = tlp.does(MemoryOp::Read) && tlp.value("at") == 1;
    if asks && (length_dw % 2 == 1 || first_be != 0xf || last_be != 0xf) {
        findings.push(Finding::TranslationLength { length_dw, first_be, last_be });
    }
}

fn header_form(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let address = tlp.value("address");
    if tlp.of_memory() && tlp.four_dw() && address >> 32 == 0 {
        findings.push(Finding::WideHeader { address });
    }
}

fn byte_enables(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let (length_dw, (first_be, last_be)) = (tlp.length_dw(), tlp.enables());
    // AtomicOps do not use byte enables; a read with hints carries its steering tag there; of a translation request all are set.
    let unused = tlp.atomic() || tlp.value("th") == 1 && !tlp.has_data() || tlp.value("at") == 1;
    if !tlp.of_memory() || unused {
        return;
    }
    if length_dw == 1 {
        if last_be != 0 {
            findings.push(Finding::LastByteEnables { last_be });
        }
        return;
    }
    for (which, enables) in [("first", first_be), ("last", last_be)] {
        if enables == 0 {
            findings.push(Finding::NoByteEnabled { which, length_dw });
        }
    }
    // Two DW in one aligned quadword may have holes; everything longer reaches across its DW without any.
    let holes = !matches!(first_be, 0 | 0b1111 | 0b1110 | 0b1100 | 0b1000)
        || !matches!(last_be, 0 | 0b1111 | 0b0111 | 0b0011 | 0b0001);
    if holes && !(length_dw == 2 && tlp.value("address").is_multiple_of(8)) {
        findings.push(Finding::ByteEnableHoles { first_be, last_be, length_dw });
    }
}

fn page(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let (address, length_dw) = (tlp.value("address"), tlp.length_dw());
    // An operand that is aligned crosses nothing.
    if tlp.of_memory() && !tlp.atomic() && (address & 0xffc) + u64::from(length_dw) * 4 > 4096 {
        findings.push(Finding::PageCrossing { address, length_dw });
    }
}

fn atomic(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let Some(operand) = tlp.operand_bytes() else { return };
    let (name, length_dw, address) = (tlp.name(), tlp.length_dw(), tlp.value("address"));
    let compares = tlp.does(MemoryOp::CompareSwap);
    let sized = if compares { matches!(length_dw, 2 | 4 | 8) } else { matches!(length_dw, 1 | 2) };
    if !sized {
        findings.push(Finding::Length { name, length_dw });
    } else if !address.is_multiple_of(operand.into()) {
        findings.push(Finding::Alignment { name, operand, address });
    }
}

fn deferrable(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let bytes = u32::from(tlp.length_dw()) * 4;
    if tlp.does(MemoryOp::DeferrableWrite) && bytes > super::MOST_DEFERRABLE_BYTES {
        findings.push(Finding::DeferrableLength { name: tlp.name(), bytes });
    }
}

/// Requests to I/O space and to configuration space.
fn plain_request(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    if !tlp.has("first_be") || tlp.of_memory() {
        return;
    }
    let (name, length_dw, (_, last_be)) = (tlp.name(), tlp.length_dw(), tlp.enables());
    if length_dw != 1 {
        findings.push(Finding::Length { name, length_dw });
    }
    if last_be != 0 {
        findings.push(Finding::LastByteEnables { last_be });
    }
    if tlp.value("tc") != 0 || tlp.ordered_or_unsnooped() || tlp.value("at") != 0 {
        findings.push(Finding::PlainRequest { name });
    }
}

fn message(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let Some(code) = tlp.get("message_code") else { return };
    let routing = tlp.routing();
    let Some(known) = message::rule(code as u8) else {
        if routing > message::LAST_ROUTING {
            findings.push(Finding::Routing { name: tlp.name(), routing, due: &message::ANY_ROUTING });
        }
        return;
    };
    let (name, have_dw, tc) = (known.name, tlp.payload_dw(), tlp.value("tc") as u8);
    if !known.routing.contains(&routing) {
        findings.push(Finding::Routing { name, routing, due: known.routing });
    }
    if !known.data.takes(have_dw) {
        findings.push(Finding::MessageData { name, have_dw, due: known.data });
    }
    if known.plain && tc != 0 {
        findings.push(Finding::TrafficClass { name, tc });
    }
}

fn message_attributes(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let known = tlp.get("message_code").and_then(|code| message::rule(code as u8));
    if let Some(known) = known.filter(|known| known.plain)
        && tlp.ordered_or_unsnooped()
    {
        findings.push(Finding::MessageAttributes { name: known.name });
    }
}

/// Of a completion: lower address, byte count, and the DW that these leave.
fn left(tlp: &TlpRepr) -> (u8, u16, u16) {
    let (lower_address, byte_count) = (tlp.value("lower_address") as u8, tlp.value("byte_count") as u16);
    (lower_address, byte_count, (u16::from(lower_address & 3) + byte_count).div_ceil(4))
}

fn completion(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let Some(status) = tlp.get("status") else { return };
    let (data, status) = (tlp.has_data(), status as u8);
    if super::name_of(&super::STATUS, status).is_none() {
        findings.push(Finding::Status { status });
    } else if data && status != 0 {
        findings.push(Finding::DataWithoutSuccess { status });
    }
    let (length_dw, (lower_address, byte_count, left_dw)) = (tlp.length_dw(), left(tlp));
    if data && length_dw > left_dw {
        findings.push(Finding::ByteCount { length_dw, byte_count, lower_address });
    }
}

fn split(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let (length_dw, (lower_address, byte_count, left_dw)) = (tlp.length_dw(), left(tlp));
    let more_to_come = tlp.is_completion() && tlp.has_data() && length_dw < left_dw;
    if more_to_come && !(u16::from(lower_address & !3) + length_dw * 4).is_multiple_of(64) {
        findings.push(Finding::CompletionSplit { length_dw, byte_count, lower_address });
    }
}

fn length_without_data(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let reserved = (tlp.is_completion() || tlp.is_message()) && !tlp.has_data();
    if reserved && tlp.length_dw() != 0 {
        findings.push(Finding::ReservedBits);
    }
}

/// Hints and notifications are those of requests to memory, and so is the address type; ID-based ordering is not for I/O and configuration.
fn reserved_flags(tlp: &TlpRepr, findings: &mut Vec<Finding>) {
    let set = |name| tlp.value(name) != 0;
    let reserved = if tlp.of_memory() {
        false
    } else if tlp.is_message() {
        set("th") || set("ln") || set("at")
    } else if tlp.is_completion() {
        set("th") || set("at")
    } else {
        set("th") || set("ln") || tlp.value("attr") & 4 != 0
    };
    if reserved {
        findings.push(Finding::ReservedBits);
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Severity, *};
    use crate::{split::Request, wire::tlp::Attributes};

    fn write(address: u64, bytes: u32) -> TlpRepr {
        TlpRepr::memory(MemoryOp::Write, Request { address, bytes }, 0x100, 0, Attributes::default())
    }

    fn codes(repr: &TlpRepr) -> Vec<&'static str> {
        repr.check().iter().map(Finding::code).collect()
    }

    #[test]
    fn the_last_byte_of_a_page_may_be_written_and_no_further() {
        assert!(write(0x1_0000_0f00, 256).check().is_empty());
        assert_eq!(codes(&write(0x1_0000_0f04, 256)), ["page_crossing"]);
    }

    #[test]
    fn four_gib_is_the_first_address_with_a_wide_header() {
        assert!(!write(0xffff_fff8, 4).four_dw());
        assert!(write(1 << 32, 4).four_dw());
        let tlp = write(1 << 32, 4).with(&[("address", 0xffff_fff8)]);
        assert_eq!(codes(&tlp), ["wide_header"]);
        assert_eq!(tlp.check()[0].severity(), Severity::Warning);
    }

    #[test]
    fn each_byte_enable_rule_is_found_broken() {
        let broken = |length: u32, first, last, at| {
            codes(&write(at, 4 * length).with(&[("first_be", first), ("last_be", last)]))
        };
        assert_eq!(broken(1, 0b1111, 0b0001, 0), ["last_be"]);
        assert!(broken(1, 0b0101, 0, 0).is_empty());
        assert!(broken(1, 0, 0, 0).is_empty());
        assert_eq!(broken(2, 0, 0b1111, 0), ["no_byte_enabled"]);
        assert_eq!(broken(2, 0b1111, 0, 0), ["no_byte_enabled"]);
        assert!(broken(2, 0b0101, 0b1010, 8).is_empty());
        assert_eq!(broken(2, 0b0101, 0b1010, 4), ["byte_enable_holes"]);
        assert_eq!(broken(3, 0b1111, 0b1110, 0), ["byte_enable_holes"]);
    }

    #[test]
    fn a_deferrable_write_follows_the_rules_of_a_write_and_is_no_longer_than_128_bytes() {
        let defer = |address, bytes| {
            let request = Request { address, bytes };
            TlpRepr::memory(MemoryOp::DeferrableWrite, request, 0x100, 0, Attributes::default())
        };
        assert!(defer(1 << 32, 128).check().is_empty());
        assert_eq!(codes(&defer(1 << 32, 132)), ["deferrable_length"]);
        assert_eq!(defer(1 << 32, 132).check()[0].severity(), Severity::Warning);
        assert_eq!(codes(&defer((1 << 32) + 0xfc4, 64)), ["page_crossing"]);
        assert_eq!(codes(&defer(1 << 32, 4).with(&[("last_be", 1)])), ["last_be"]);
    }

    #[test]
    fn a_completion_cannot_carry_more_than_is_left() {
        let tlp = TlpRepr::of(2, 10).unwrap().with(&[("length_dw", 16), ("byte_count", 64)]);
        assert!(tlp.check().is_empty());
        let tlp = tlp.with(&[("length_dw", 17)]);
        assert_eq!(codes(&tlp), ["byte_count"]);
    }

    /// A header that breaks one rule, and one beside it that does not: code, header against the rule, header in keeping with it.
    const SIDES: [(&str, &str, &str); 34] = [
        ("address_type", "00000c01 0000000f 00001000", "00000801 0000000f 00001000"),
        ("translation_request", "40000401 0000000f 00001000", "40000801 0000000f 00001000"),
        ("translation_request", "4c000402 00000000 00001000", "4c000802 00000000 00001000"),
        ("translation_request", "01000402 000000ff 00001000", "00000402 000000ff 00001000"),
        ("translation_length", "00000401 000000ff 00001000", "00000402 000000ff 00001000"),
        ("translation_length", "00000402 0000007f 00001000", "00000402 000000ff 00001000"),
        ("wide_header", "20000001 0000000f 00000000 fffffffc", "20000001 0000000f 00000001 00000000"),
        ("last_be", "00000001 0000001f 00001000", "00000001 0000000f 00001000"),
        ("no_byte_enabled", "00000002 0000000f 00001000", "00000002 0000001f 00001000"),
        ("byte_enable_holes", "00000002 000000f5 00001004", "00000002 000000f5 00001000"),
        ("page_crossing", "00000002 000000ff 00001ffc", "00000002 000000ff 00001ff8"),
        ("length", "4c000003 00000000 00001000", "4c000002 00000000 00001000"),
        ("length", "4e000001 00000000 00001000", "4e000004 00000000 00001000"),
        ("alignment", "4c000002 00000000 00001004", "4c000001 00000000 00001004"),
        ("alignment", "4d000002 00000000 0000100c", "4d000002 00000000 00001008"),
        ("alignment", "4e000008 00000000 00001008", "4e000004 00000000 00001ff8"),
        ("deferrable_length", "5b000021 000000ff 00001000", "5b000020 000000ff 00001000"),
        ("length", "04000002 0000000f 01000000", "04000001 0000000f 01000000"),
        ("last_be", "02000001 0000001f 00001000", "02000001 0000000f 00001000"),
        ("plain_request", "42100001 0000000f 00001000", "42000001 0000000f 00001000"),
        ("plain_request", "04002001 0000000f 01000000", "04000001 0000000f 01000000"),
        ("routing", "30000000 00000010 00000000 00000000", "34000000 00000010 00000000 00000000"),
        ("routing", "34000000 00000018 00000000 00000000", "30000000 00000018 00000000 00000000"),
        ("routing", "36000000 000000c0 00000000 00000000", "35000000 000000c0 00000000 00000000"),
        ("routing", "71000001 0000007e 00000000 00000000", "72000001 0000007e 00000000 00000000"),
        ("message_data", "74000001 00000020 00000000 00000000", "34000000 00000020 00000000 00000000"),
        ("message_data", "34000000 00000050 00000000 00000000", "74000001 00000050 00000000 00000000"),
        ("traffic_class", "30100000 00000018 00000000 00000000", "33100000 0000007f 00000000 00000000"),
        ("message_attributes", "30002000 00000030 00000000 00000000", "33002000 0000007f 00000000 00000000"),
        ("status", "0a000000 00006004 00000000", "0a000000 00008004 00000000"),
        ("data_without_success", "4a000001 00002004 00000000", "4a000001 00000004 00000000"),
        ("byte_count", "4a000002 00000004 00000000", "4a000002 00000005 00000000"),
        ("completion_split", "4a000008 00000080 00000000", "4a000010 00000080 00000000"),
        ("reserved_bits", "0a000001 00008004 00000000", "4a000001 00000004 00000000"),
    ];

    fn header_codes(hexadecimal: &str) -> Vec<&'static str> {
        let bytes = hex::decode(hexadecimal.replace(' ', "")).unwrap();
        TlpView::new_header(&bytes).unwrap().check().iter().map(Finding::code).collect()
    }

    #[test]
    fn each_rule_is_broken_on_one_side_and_kept_on_the_other() {
        for (code, broken, kept) in SIDES {
            assert_eq!(header_codes(broken), [code], "{broken}");
            assert_eq!(header_codes(kept), [""; 0], "{kept}");
        }
        for code in RULES.iter().flat_map(|rule| rule.codes) {
            assert!(SIDES.iter().any(|side| side.0 == *code), "{code}");
        }
    }

    #[test]
    fn hints_address_types_and_id_based_ordering_are_reserved_where_they_mean_nothing() {
        for (broken, kept) in [
            ("04010001 0000000f 01000000", "04000001 0000000f 01000000"),
            ("02040001 0000000f 00001000", "00040001 0000000f 00001000"),
            ("34000400 00000020 00000000 00000000", "34040000 00000020 00000000 00000000"),
            ("0a000800 00008004 00000000", "0a040000 00008004 00000000"),
        ] {
            assert_eq!((header_codes(broken), header_codes(kept)), (vec!["reserved_bits"], vec![]), "{broken}");
        }
    }

    #[test]
    fn each_message_has_its_routing_its_data_and_its_class() {
        for known in &message::RULES {
            for (routing, have_dw, tc) in (0..8)
                .flat_map(|routing| [(routing, 0), (routing, 1), (routing, 2)])
                .flat_map(|(r, d)| [(r, d, 0), (r, d, 5)])
            {
                let tlp = TlpRepr::of(if have_dw > 0 { 3 } else { 1 }, 0x10 | routing).unwrap();
                let code = (*known.codes.start()).into();
                let tlp = tlp.with(&[("length_dw", have_dw.into()), ("tc", tc), ("message_code", code)]);
                let mut expected = Vec::new();
                expected.extend((!known.routing.contains(&routing)).then_some("routing"));
                expected.extend((!known.data.takes(have_dw)).then_some("message_data"));
                expected.extend((known.plain && tc != 0).then_some("traffic_class"));
                assert_eq!(codes(&tlp), expected, "{} {routing} {have_dw} {tc}", known.name);
            }
        }
    }
}
