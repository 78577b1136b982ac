//! What synthesis found for the blocks of `rtl/`, as `rtl/results.toml` has it: area, flip-flops and delays, by cell library.

use serde::{Deserialize, Serialize, Serializer};
use std::{collections::BTreeMap, fmt, sync::LazyLock};

const RESULTS: &str = include_str!("../../../../rtl/results.toml");

/// A library of the file, parsed when it is first asked for, rows in the order of blocks.
type Parsed = LazyLock<Option<Library>, Box<dyn FnOnce() -> Option<Library> + Send>>;

/// All of them: most programs ask for one. The file is part of the program, and a test reads it.
static LIBRARIES: LazyLock<BTreeMap<&str, Parsed>> = LazyLock::new(|| {
    let mut heads: Vec<_> = RESULTS.match_indices("\n[").map(|(at, _)| at + 1).collect();
    heads.retain(|&at| !RESULTS[at..].starts_with("[["));
    let ends = heads.iter().skip(1).copied().chain([RESULTS.len()]);
    let parts = heads.iter().zip(ends).map(|(&at, end)| &RESULTS[at..end]);
    let named = parts.filter_map(|part| Some((part[1..].split_once(']')?.0, part)));
    named.map(|(name, part)| (name, Parsed::new(Box::new(move || parsed(part))))).collect()
});

fn parsed(part: &str) -> Option<Library> {
    let mut library = toml::from_str::<BTreeMap<String, Library>>(part).ok()?.into_values().next()?;
    library.rows.sort_by_key(|row| row.block);
    Some(library)
}

/// The cells that figures are given in where nothing else is asked for.
pub const DEFAULT: &str = "asap7";

/// A set of cells, and what was synthesised in it.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct Library {
    pub title: String,
    /// SHA-256 of its files.
    pub sha256: String,
    /// What synthesised and timed.
    pub tools: String,
    /// Wire that each pin of a net adds in the delay with wires, in fF: assumed.
    pub wire_ff_per_pin: f64,
    /// um2 of one gate equivalent (GE), its smallest NAND2.
    pub gate_um2: f64,
    pub flip_flop_ge: f64,
    /// GE of an AND, an XOR and a select of one of two, each of a bit: its cells, or those that make one.
    pub and_ge: f64,
    pub xor_ge: f64,
    pub select_ge: f64,
    /// Ascending by block.
    #[serde(rename = "block")]
    pub rows: Vec<Row>,
}

/// A row of `rtl/results.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Row {
    #[serde(flatten)]
    pub block: Block,
    /// Area of all cells but flip-flops.
    pub logic_kge: f64,
    pub flip_flops: u32,
    pub kge: f64,
    /// From flip-flop to flip-flop, without wires and with them.
    #[serde(flatten)]
    pub delay: Delay,
}

/// A delay from flip-flop to flip-flop in ps, set-up included, before layout.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Delay {
    pub ps: f64,
    /// With the library's assumed wire at each pin.
    pub ps_wired: f64,
}

/// What was synthesised: the modules of `rtl/src` and their parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(tag = "family", rename_all = "kebab-case")]
pub enum Block {
    Serial { levels: u32, product: u64, reduction: u64 },
    Aggregated { w: u32, g: u32, levels: u32, product: u64, reduction: u64 },
    Digit { d: u32 },
    Lane { rounds: u32, registers: u32, compact: u32 },
    Iterative { rounds: u32, compact: u32 },
    TagQueue { depth: u32, skid: u32 },
    Engine { rounds: u32, registers: u32, compact: u32, fifo: u32, levels: u32, product: u64, reduction: u64 },
    Wide(Wide),
}

/// Parameters of an engine of several lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[rustfmt::skip]
pub struct Wide {
    pub lanes: u32, pub rounds: u32, pub registers: u32, pub compact: u32, pub fifo: u32,
    pub w: u32, pub g: u32, pub collect: u32, pub levels: u32, pub product: u64, pub reduction: u64,
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Serial { levels, product, reduction } => {
                write!(f, "serial levels={levels} product={product} reduction={reduction}")
            }
            Self::Aggregated { w, g, levels, product, reduction } => {
                write!(f, "aggregated w={w} g={g} levels={levels} product={product} reduction={reduction}")
            }
            Self::Digit { d } => write!(f, "digit d={d}"),
            Self::Lane { rounds, registers, compact } => {
                write!(f, "lane rounds={rounds} registers={registers} compact={compact}")
            }
            Self::Iterative { rounds, compact } => write!(f, "iterative rounds={rounds} compact={compact}"),
            Self::TagQueue { depth, skid } => write!(f, "tag-queue depth={depth} skid={skid}"),
            Self::Engine { rounds, registers, compact, fifo, levels, product, reduction } => write!(
                f,
                "engine rounds={rounds} registers={registers} compact={compact} fifo={fifo} levels={levels} product={product} reduction={reduction}"
            ),
            Self::Wide(Wide { lanes, rounds, registers, compact, fifo, w, g, collect, levels, product, reduction }) => {
                write!(f, "wide lanes={lanes} rounds={rounds} registers={registers} compact={compact} fifo={fifo} ")?;
                write!(f, "w={w} g={g} collect={collect} levels={levels} product={product} reduction={reduction}")
            }
        }
    }
}

/// In words, as `describe` names it.
impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Delay {
    /// Along the way from one delay to another, or beyond.
    pub fn towards(self, other: Self, part: f64) -> Self {
        self.combined(other, |from, to| from + (to - from) * part)
    }

    /// The shorter one of each.
    pub fn least(self, other: Self) -> Self {
        self.combined(other, f64::min)
    }

    /// Longer by what `to` is longer than `from`, never shorter.
    pub fn lengthened(self, from: Self, to: Self) -> Self {
        let more = to.combined(from, |to, from| (to - from).max(0.0));
        self.combined(more, |one, other| one + other)
    }

    fn combined(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self {
        Self { ps: of(self.ps, other.ps), ps_wired: of(self.ps_wired, other.ps_wired) }
    }
}

impl Library {
    /// The library of this name, if `rtl/results.toml` has it.
    pub fn named(name: &str) -> Option<&'static Self> {
        LIBRARIES.get(name)?.as_ref()
    }

    pub fn names() -> Vec<&'static str> {
        LIBRARIES.keys().copied().collect()
    }

    /// ASAP7.
    pub fn shipped() -> &'static Self {
        static NONE: LazyLock<Library> = LazyLock::new(Library::default);
        Self::named(DEFAULT).unwrap_or(&NONE)
    }

    /// What was found for a block.
    pub fn row(&self, block: Block) -> Option<&Row> {
        self.rows.binary_search_by_key(&block, |row| row.block).ok().map(|place| &self.rows[place])
    }

    /// kGE of so many flip-flops.
    pub fn flip_flops(&self, bits: f64) -> f64 {
        bits * self.flip_flop_ge / 1000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_read_and_each_row_is_found_by_its_block() {
        let libraries: BTreeMap<String, Library> = toml::from_str(RESULTS).unwrap();
        for (name, row) in libraries.iter().flat_map(|(name, library)| library.rows.iter().map(move |row| (name, row)))
        {
            assert_eq!(Library::named(name).and_then(|library| library.row(row.block)), Some(row), "{name}");
        }
    }
}
