//! What one core seals and opens in a cycle, and what a message costs it, by its family and the version of its library, where no layer
//! states it.
//!
//! `cipher.library` and `cpu.core` select a row of a table of measurements. A layer that changes one of them replaces the rates of the
//! layers below it; a rate that is stated in the same layer, or above it, has its way. A layer that changes a stated rate and names no
//! library takes the name away: that library does not have this rate.

use super::error::{Wrong, refusal};
use super::provenance::{Kind, Provenance};
use super::tree::{Entry, Node, Value};
use crate::files::Refusal;
use std::collections::BTreeSet;

/// The table; its columns are those of [`Row`].
const TABLE: &str = include_str!("cpu_aes_gcm.csv");

/// Fields that select a row. They change nothing but the rates.
pub(super) const NAMES: [&str; 2] = ["cpu.core", "cipher.library"];

/// The rates that follow.
const RATES: [&str; 2] = ["seal_rate", "open_rate"];

/// All that follows, in the order of the table, with its unit. Costs of a message follow with the rates, where the row has them.
const FOLLOWING: [(&str, &str); 4] =
    [(RATES[0], "B/cycle"), (RATES[1], "B/cycle"), ("call", "cycles"), ("call_long", "cycles")];

/// A core with a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    core: &'static str,
    library: &'static str,
    processor: &'static str,
    version: &'static str,
    /// As the source states it.
    clock: &'static str,
    /// Bytes per cycle of that clock, sealed and opened; cycles of a message, and more of a long one, empty where not measured.
    values: [&'static str; 4],
    kind: Kind,
    source: &'static str,
}

/// The rows, in the order of the table.
fn rows() -> impl Iterator<Item = Row> {
    TABLE.lines().skip(1).filter_map(|line| {
        let mut cells = line.splitn(11, ',');
        let mut next = || cells.next();
        Some(Row {
            core: next()?,
            library: next()?,
            processor: next()?,
            version: next()?,
            clock: next()?,
            values: [next()?, next()?, next()?, next()?],
            kind: Kind::named(next()?)?,
            source: next()?,
        })
    })
}

/// Each core with a library that was measured on it.
pub fn libraries() -> impl Iterator<Item = [&'static str; 2]> {
    rows().map(|row| [row.core, row.library])
}

/// Takes out of `lower` what a layer above makes void: rates of another core or library, or the library of other rates.
pub(super) fn overrule(lower: &mut Node, upper: &Node) {
    let text = |node: &Node, name: &str| node.at(name).and_then(Node::text).map(str::to_owned);
    let changes = |name: &&str| upper.at(name).is_some() && text(lower, name) != text(upper, name);
    let renamed = NAMES.iter().any(changes);
    let rated = RATES.iter().any(|rate| {
        let [below, above] = [&*lower, upper].map(|node| text(node, &format!("cipher.{rate}")));
        below.is_some() && above.is_some() && below != above
    });
    let Some(Value::Table(cipher)) = lower.at_mut("cipher").map(|node| &mut node.value) else { return };
    if renamed {
        FOLLOWING.iter().for_each(|(name, _)| drop(cipher.remove(*name)));
    }
    if rated && upper.at(NAMES[1]).is_none() {
        drop(cipher.remove("library"));
    }
}

/// Whether a setting may name a core or a library.
pub(super) fn is_named(setting: &str) -> bool {
    let path = setting.split('=').next().unwrap_or(setting).trim();
    NAMES.iter().any(|name| *name == path || name.split('.').next() == Some(path))
}

/// Whether the rates follow in these values.
pub(super) fn follows(values: &Node) -> bool {
    NAMES.iter().any(|name| values.at(name).is_some())
        && RATES.iter().any(|rate| values.at(&format!("cipher.{rate}")).is_none())
}

/// Completes the cipher's rates from the table, if a library is named and they are not stated.
///
/// # Errors
/// There is no such core or library, or no row has both.
pub(super) fn complete(values: &mut Node) -> Result<(), Refusal> {
    let text = |name: &str| values.at(name).and_then(Node::text).map(str::to_owned);
    let [core, library] = NAMES.map(text);
    let Some(library) = library.filter(|_| follows(values)) else { return Ok(()) };
    known(values, NAMES[1], &library, |row| row.library)?;
    let refused = |reason: String, remedy: String| {
        let place = values.at(NAMES[1]).and_then(|node| node.place.clone());
        refusal(&Wrong::Senseless { path: NAMES[1].into(), reason }).at(place.as_ref()).remedy(remedy)
    };
    if values.at("aead").is_some() {
        let reason = "the table of libraries has AES-256-GCM only, and this machine has another AEAD".to_owned();
        return Err(refused(reason, "set cipher.seal_rate and cipher.open_rate".to_owned()));
    }
    let Some(core) = core else {
        let reason = format!("the rate of {library} depends on the core, which `cpu.core` does not name");
        return Err(refused(reason, format!("set cpu.core to one of {}", all(|row| row.core))));
    };
    known(values, NAMES[0], &core, |row| row.core)?;
    let Some(row) = rows().find(|row| row.core == core && row.library == library) else {
        let pair = |row: Row| format!("{} with {}", row.core, row.library);
        let near: Vec<_> = rows().filter(|row| row.core == core || row.library == library).map(pair).collect();
        let reason = format!("nobody has measured {library} on {core}");
        return Err(refused(
            reason,
            format!("set cipher.seal_rate and cipher.open_rate; known are {}", near.join(", ")),
        ));
    };
    let Some(Value::Table(cipher)) = values.at_mut("cipher").map(|node| &mut node.value) else { return Ok(()) };
    for ((name, unit), value) in FOLLOWING.into_iter().zip(row.values).filter(|(_, value)| !value.is_empty()) {
        let (text, provenance) = (format!("{value} {unit}"), Some(origin(&row, value, unit)));
        let node = Node { value: Value::Text(text), place: None, provenance };
        cipher.entry(name.to_owned()).or_insert(Entry { key: None, node });
    }
    Ok(())
}

/// Where a value comes from. What nobody has measured on this very core may be off by a tenth.
fn origin(row: &Row, value: &str, unit: &str) -> Provenance {
    let Row { processor, version, clock, kind, source, .. } = row;
    let source = format!("follows from cpu.core and cipher.library: {processor}, OpenSSL {version}, {clock}; {source}");
    let places = if unit == "cycles" { 0 } else { 3 };
    let around = |part: f64| value.parse().ok().map(|value: f64| format!("{:.places$} {unit}", value * part));
    Provenance { kind: *kind, source, low: around(0.9), high: around(1.1) }
}

fn known(values: &Node, name: &str, text: &str, column: fn(Row) -> &'static str) -> Result<(), Refusal> {
    if rows().any(|row| column(row) == text) {
        return Ok(());
    }
    let place = values.at(name).and_then(|node| node.place.clone());
    let error = refusal(&Wrong::Choice { path: name.to_owned(), text: text.to_owned() }).at(place.as_ref());
    Err(error.remedy(format!("it is one of {}", all(column))))
}

/// What a column has, each once.
fn all(column: fn(Row) -> &'static str) -> String {
    rows().map(column).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::{Layers, Role, SHIPPED};
    use super::*;
    use crate::files::Explained;
    use crate::units::BytesPerCycle;

    fn rates(machine: &str, settings: &[&str]) -> Result<[u64; 2], String> {
        let resolved = Layers::new(machine).set_all(settings).resolve();
        let resolved = resolved.map_err(|error| format!("{error}: {}", error.help().unwrap_or_default()))?;
        let cipher = resolved.machine.cipher;
        Ok([cipher.seal_rate, cipher.open_rate].map(|BytesPerCycle(rate)| rate))
    }

    #[test]
    fn the_table_has_a_row_for_each_line_and_one_for_each_pair() {
        assert_eq!(rows().count(), TABLE.lines().count() - 1);
        let pairs: BTreeSet<_> = rows().map(|row| (row.core, row.library)).collect();
        assert_eq!(pairs.len(), rows().count());
        for row in rows() {
            let [seal, open] = [row.values[0], row.values[1]].map(|rate| rate.parse::<f64>().unwrap());
            assert!(seal > 0.0 && (open / seal - 1.0).abs() < 0.1, "{row:?}");
        }
    }

    #[test]
    fn a_library_replaces_the_rates_below_it_and_yields_to_those_above() {
        let own = rates("h100-nvl-tdx", &[]).unwrap();
        assert_eq!(own, [1600, 1600]);
        let new = "cipher.library=openssl-3.1";
        assert_eq!(rates("h100-nvl-tdx", &[new]), Ok([3837, 3862]));
        assert_eq!(rates("h100-nvl-tdx", &[new, "cipher.seal_rate=2 B/cycle"]), Ok([2000, 3862]));
        assert_eq!(rates("h100-nvl-tdx", &["cipher.seal_rate=2 B/cycle", new]), Ok([3837, 3862]));
        assert_eq!(rates("h100-nvl-tdx", &["cpu.core=genoa"]), Ok([2812, 2837]));
        for same in ["cipher.threads=1", "cipher.library=openssl-3.0", "cpu.core=emerald-rapids"] {
            assert_eq!(rates("h100-nvl-tdx", &[same]), Ok(own), "{same}");
        }
        let named = |set: &str| Layers::new("h100-nvl-tdx").set(set).resolve().unwrap().machine.cipher.library;
        assert_eq!(named("cipher.threads=1").as_deref(), Some("openssl-3.0"));
        assert_eq!(named("cipher.seal_rate=2 B/cycle"), None);
    }

    #[test]
    fn however_a_library_is_set_the_machine_is_the_same() {
        let layers = Layers::new("h100-nvl-tdx");
        let settings = ["cipher.library=openssl-3.1".to_owned()];
        let whole = layers.clone().set(settings[0].as_str()).resolve().unwrap();
        assert_eq!(layers.resolve().unwrap().with(&settings).unwrap().machine, whole.machine);
        assert_eq!(layers.clone().base().unwrap().varied(&settings).unwrap().machine, whole.machine);
        let over = layers.set(settings[0].as_str()).base().unwrap();
        let threads = ["cipher.per_message=7 cycles".to_owned()];
        assert_eq!(over.varied(&threads).unwrap().machine.cipher.seal_rate, whole.machine.cipher.seal_rate);
        assert!(over.possible(&threads));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.toml").display().to_string();
        std::fs::write(&path, whole.to_toml().unwrap()).unwrap();
        assert_eq!(rates(&path, &[]), Ok([3837, 3862]));
        assert_eq!(rates(&path, &["cipher.library=openssl-3.0"]), Ok([1600, 1600]));
    }

    #[test]
    fn the_names_alone_do_not_change_a_machine() {
        let digest = |settings: &[&str]| Layers::h100(settings).digest;
        let stated = ["cipher.seal_rate=1.6 B/cycle", "cipher.open_rate=1.6 B/cycle"];
        assert_eq!(digest(&["cipher.library=openssl-3.1", stated[0], stated[1]]), digest(&[]));
        assert_ne!(digest(&["cipher.library=openssl-3.1"]), digest(&[]));
    }

    #[test]
    fn the_cost_of_a_message_follows_where_it_is_known_and_goes_with_its_core() {
        let cipher = |settings: &[&str]| Layers::h100(settings).machine.cipher;
        let turin = ["cipher.library=openssl-3.1", "cpu.core=turin", "cipher.per_message=300 cycles"];
        let fixed = |settings: &[&str]| [16, 767, 768].map(|bytes| cipher(settings).fixed(bytes));
        assert_eq!(fixed(&turin), [478, 478, 600]);
        assert_eq!(fixed(&turin[..2]), [600; 3], "the machine's own, which is not less");
        assert_eq!(fixed(&[&turin[..], &["cipher.call=9 cycles"]].concat()), [300; 3]);
        assert_eq!(fixed(&[&turin[..], &["cpu.core=sapphire-rapids"]].concat()), [300; 3]);
        assert_eq!(cipher(&[]).call, None);
    }

    /// Of 10.3 GB/s with the later path, a user of an H200 has measured 5.26.
    #[test]
    fn a_library_alone_can_be_set_on_every_shipped_machine() {
        for shipped in SHIPPED.iter().filter(|shipped| shipped.role == Role::Machine) {
            let [old, new] = ["openssl-3.0", "openssl-3.1"]
                .map(|library| rates(shipped.name(), &[&format!("cipher.library={library}")]).unwrap());
            assert!(new[0] * 10 > old[0] * 18 && new[1] * 10 > old[1] * 18, "{}: {old:?}, {new:?}", shipped.name());
        }
        assert_eq!(rates("h200-tdx", &[]), rates("h200-tdx", &["cipher.library=openssl-3.1"]));
    }

    #[test]
    fn what_no_row_covers_is_refused_with_what_is_known() {
        for (settings, says) in [
            (&["cipher.library=openssl-9"][..], "openssl-3.0, openssl-3.1"),
            (&["cpu.core=zen"], "genoa, genoa-azure, granite-rapids"),
            (&["cpu.core=genoa", "cipher.library=openssl-3.1"], "genoa with openssl-3.0"),
        ] {
            let error = rates("h100-nvl-tdx", settings).unwrap_err();
            assert!(error.contains(says), "{settings:?}: {error}");
        }
        let error = Layers::new("h100-nvl-tdx").overlay("gcm-siv").set("cipher.library=openssl-3.1").resolve();
        assert!(error.unwrap_err().to_string().contains("AES-256-GCM only"));
    }
}
