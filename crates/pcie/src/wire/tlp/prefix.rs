//! What may be wrong with the prefixes before a header.
//!
//! | code | rule | PCI Express Base Specification 6.0 |
//! | --- | --- | --- |
//! | `prefixes` | there are four End-End prefixes at most, as "Max End-End TLP Prefixes" can say | 2.2.10.2, 7.5.3.15 |
//! | `prefix_order` | local prefixes stand before End-End ones | 2.2.10.1 |
//! | `prefix_order` | an IDE prefix is the first End-End one | 6.33.4 |
//! | `prefix_kind` | an address space (PASID) is that of a request to memory, or of a message of address translation | 6.20.2 |
//!
//! Sections of the last two are cited from memory: nobody has held them, or these rules, against the text of the specification.

use super::{Finding, TlpRepr};
use crate::wire::ide;

/// Most End-End prefixes of a TLP.
pub(super) const MOST_END_TO_END: usize = 4;
const PASID: u8 = 0x91;
/// Invalidate Request, Page Request and PRG Response.
const TRANSLATION: [u64; 3] = [0x01, 0x04, 0x05];

/// What is wrong with the prefixes of a TLP, rule by rule.
pub(super) fn check(prefixes: &[[u8; 4]], tlp: &TlpRepr) -> impl Iterator<Item = Finding> {
    let end_to_end = |prefix: &&[u8; 4]| prefix[0] & 0x10 != 0;
    let have = prefixes.iter().filter(end_to_end).count();
    let local = prefixes.iter().skip_while(|prefix| !end_to_end(prefix)).find(|prefix| !end_to_end(prefix));
    let ide = prefixes.iter().filter(end_to_end).skip(1).find(|prefix| prefix[0] == ide::FIRST_BYTE);
    let may = tlp.has("ph") || tlp.get("message_code").is_some_and(|code| TRANSLATION.contains(&code));
    let pasid = !may && prefixes.iter().any(|prefix| prefix[0] == PASID);
    let findings = [
        (have > MOST_END_TO_END).then_some(Finding::EndToEndPrefixes { have }),
        local.map(|&prefix| Finding::LocalPrefixBehind { prefix }),
        ide.map(|_| Finding::IdePrefixBehind),
        pasid.then(|| Finding::PasidPrefix { name: tlp.name() }),
    ];
    findings.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::super::{Finding, TlpView};

    const READ: &str = "000000010000000f00001000";
    const COMPLETION: &str = "0a0000000000800400000000";

    /// Prefixes that break one rule, some beside them that do not, and the header behind both.
    const SIDES: [(&str, &str, &str, &str); 10] = [
        ("prefixes", "9100000191000001910000019100000191000001", "910000019e0000019f0000019e000001", READ),
        ("prefixes", "920000009e0000009e0000019f0000009f000001", "8e000000920000009e0000009e0000019f000000", READ),
        (
            "prefixes",
            "8e0000009e0000009e0000009e0000009e0000009f000000",
            "8e0000008e0000008e0000008e000000",
            COMPLETION,
        ),
        ("prefix_order", "9100000180000000", "8000000091000001", READ),
        ("prefix_order", "8e000000920000008f000000", "8e0000008f00000092000000", READ),
        ("prefix_order", "9100000192000000", "9200000091000001", READ),
        ("prefix_order", "800000009e00000092000000", "80000000920000009e000000", COMPLETION),
        ("prefix_kind", "91000001", "9e000001", COMPLETION),
        ("prefix_kind", "91000001", "92000000", "040000010000000f01000000"),
        ("prefix_kind", "91000001", "90000001", "34000000000000200000000000000000"),
    ];

    fn codes(prefixes: &str, header: &str) -> Vec<&'static str> {
        let bytes = hex::decode(format!("{prefixes}{header}")).unwrap();
        TlpView::new_header(&bytes).unwrap().check().iter().map(Finding::code).collect()
    }

    #[test]
    fn each_rule_of_prefixes_is_broken_on_one_side_and_kept_on_the_other() {
        for (code, broken, kept, header) in SIDES {
            assert_eq!(codes(broken, header), [code], "{broken}");
            assert_eq!(codes(kept, header), [""; 0], "{kept}");
        }
        assert_eq!(codes("91000001", "30000000000000040000000000000000"), [""; 0]);
    }
}
