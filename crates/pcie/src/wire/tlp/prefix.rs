//! What may be wrong with the prefixes before a header: how many, in which order, before what. One table of rules, [`PREFIX_RULES`].

use super::{Finding, TlpRepr};
use crate::wire::ide;

/// Most End-End prefixes of a TLP: what "Max End-End TLP Prefixes" of Device Capabilities 2 can say.
pub const MOST_END_TO_END: usize = 4;

type Prefixes<'p> = &'p [[u8; 4]];

/// A rule about prefixes.
pub struct PrefixRule {
    /// Where the PCI Express Base Specification (6.0; the first two are in 5.0 as well) states it.
    pub section: &'static str,
    pub code: &'static str,
    find: fn(Prefixes<'_>, &TlpRepr) -> Option<Finding>,
}

pub const PREFIX_RULES: [PrefixRule; 4] = [
    PrefixRule { section: "2.2.10.1", code: "prefix_order", find: local_behind },
    PrefixRule { section: "2.2.10.2, 7.5.3.15", code: "prefixes", find: too_many },
    PrefixRule { section: "6.33.4", code: "prefix_order", find: ide_behind },
    PrefixRule { section: "6.20.2", code: "prefix_kind", find: pasid },
];

/// What is wrong with the prefixes of a TLP, rule by rule.
pub(super) fn check(prefixes: Prefixes<'_>, tlp: &TlpRepr) -> impl Iterator<Item = Finding> {
    PREFIX_RULES.iter().filter_map(move |rule| (rule.find)(prefixes, tlp))
}

const fn end_to_end(prefix: &[u8; 4]) -> bool {
    prefix[0] & 0x10 != 0
}

fn local_behind(prefixes: Prefixes<'_>, _: &TlpRepr) -> Option<Finding> {
    let first = prefixes.iter().position(end_to_end)?;
    let local = prefixes[first..].iter().find(|prefix| !end_to_end(prefix))?;
    Some(Finding::LocalPrefixBehind { prefix: *local })
}

fn too_many(prefixes: Prefixes<'_>, _: &TlpRepr) -> Option<Finding> {
    let have = prefixes.iter().filter(|prefix| end_to_end(prefix)).count();
    (have > MOST_END_TO_END).then_some(Finding::EndToEndPrefixes { have })
}

fn ide_behind(prefixes: Prefixes<'_>, _: &TlpRepr) -> Option<Finding> {
    let mut later = prefixes.iter().filter(|prefix| end_to_end(prefix)).skip(1);
    later.find(|prefix| prefix[0] == ide::FIRST_BYTE).map(|_| Finding::IdePrefixBehind)
}

/// A process address space is that of a request to memory, or of a message of address translation.
fn pasid(prefixes: Prefixes<'_>, tlp: &TlpRepr) -> Option<Finding> {
    const TRANSLATION: [u64; 3] = [0x01, 0x04, 0x05];
    let has = prefixes.iter().any(|prefix| prefix[0] == 0x91);
    let may = tlp.has("ph") || tlp.get("message_code").is_some_and(|code| TRANSLATION.contains(&code));
    (has && !may).then(|| Finding::PasidPrefix { name: tlp.name() })
}

#[cfg(test)]
mod tests {
    use super::super::{Finding, TlpView};

    const READ: &str = "000000010000000f00001000";
    const COMPLETION: &str = "0a0000000000800400000000";
    const CONFIGURATION: &str = "040000010000000f01000000";
    const PAGE_REQUEST: &str = "30000000000000040000000000000000";

    /// Prefixes and header that break one rule, and beside them some that do not: code, against the rule, in keeping with it.
    const SIDES: [(&str, [&str; 2], [&str; 2]); 12] = [
        (
            "prefixes",
            ["91000001 91000001 91000001 91000001 91000001", READ],
            ["91000001 9e000001 9f000001 9e000001", READ],
        ),
        (
            "prefixes",
            ["92000000 9e000000 9e000001 9f000000 9f000001", READ],
            ["8e000000 92000000 9e000000 9e000001 9f000000", READ],
        ),
        (
            "prefixes",
            ["8e000000 9e000000 9e000000 9e000000 9e000000 9f000000", READ],
            ["8e000000 8e000000 8e000000 8e000000", READ],
        ),
        ("prefix_order", ["91000001 80000000", READ], ["80000000 91000001", READ]),
        ("prefix_order", ["8e000000 92000000 8f000000", READ], ["8e000000 8f000000 92000000", READ]),
        ("prefix_order", ["9e000000 8e000000", COMPLETION], ["8e000000 9e000000", COMPLETION]),
        ("prefix_order", ["91000001 92000000", READ], ["92000000 91000001", READ]),
        ("prefix_order", ["80000000 9e000000 92000000", READ], ["80000000 92000000 9e000000", READ]),
        ("prefix_order", ["92000000 92000000", READ], ["92000000", READ]),
        ("prefix_kind", ["91000001", COMPLETION], ["91000001", READ]),
        ("prefix_kind", ["91000001", CONFIGURATION], ["9e000001", CONFIGURATION]),
        ("prefix_kind", ["91000001", "34000000000000200000000000000000"], ["91000001", PAGE_REQUEST]),
    ];

    fn codes([prefixes, header]: [&str; 2]) -> Vec<&'static str> {
        let bytes = hex::decode(format!("{prefixes}{header}").replace(' ', "")).unwrap();
        TlpView::new_header(&bytes).unwrap().check().iter().map(Finding::code).collect()
    }

    #[test]
    fn each_rule_of_prefixes_is_broken_on_one_side_and_kept_on_the_other() {
        for (code, broken, kept) in SIDES {
            assert_eq!(codes(broken), [code], "{broken:?}");
            assert_eq!(codes(kept), [""; 0], "{kept:?}");
        }
        for rule in &super::PREFIX_RULES {
            assert!(SIDES.iter().filter(|side| side.0 == rule.code).count() >= 3, "{}", rule.section);
        }
    }
}
