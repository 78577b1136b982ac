//! What is wrong with a workload although it is of the right form: each at its place.

use super::{
    DOCUMENT, Written, example,
    name::{Wrong, is_index},
    operation::Operation,
};
use crate::{
    config::Node,
    files::{Refusal, Refusals, excerpt},
    system::Direction,
    units::{ByteRate, Bytes, Femtos, FlopRate},
    workload::{
        MAX_BYTES, MAX_KERNELS, MAX_STEPS,
        data_parallel::{DataParallel, Layer, elements},
    },
};

/// Fields that name something, and those that say how long something takes, in whichever operation has them.
const NAMES: [&str; 5] = ["stream", "event", "buffer", "name", "collectives"];
const TIMES: [&str; 3] = ["duration", "call", "host"];

/// The longest line, in characters: what a list shows in one.
const LONGEST: usize = 160;

/// Everything that is wrong.
pub(super) fn check(written: &Written, tree: &Node) -> Refusals {
    let mut checker = Checker::default();
    for (field, text) in [("machine", &written.machine), ("summary", &written.summary)] {
        let Some(text) = text else { continue };
        if text.trim().is_empty() || text.chars().count() > LONGEST || text.chars().any(char::is_control) {
            let what = format!("`{field}` is no line of 1 to {LONGEST} characters");
            checker.wrong("line", tree, field, what, format!("write for example {}", example(field)));
        }
    }
    checker.list(&written.operations, tree, "a workload");
    checker.faults
}

/// Something at a field of a table, or, where that is not written, at the table.
pub(super) fn refused(kind: &'static str, table: &Node, field: &str, what: String, remedy: String) -> Refusal {
    let place = table.at(field).unwrap_or(table).place.as_ref();
    DOCUMENT.refused(kind, what).at(place).remedy(excerpt(&remedy, 300))
}

#[derive(Default)]
struct Checker {
    faults: Refusals,
    /// Indices of the repeats around what is checked, innermost last.
    indices: Vec<String>,
    /// Tensors and layers of all models so far.
    tensors: u64,
}

impl Checker {
    fn wrong(&mut self, kind: &'static str, table: &Node, field: &str, what: String, remedy: impl Into<String>) {
        self.faults.push(|| refused(kind, table, field, what, remedy.into()));
    }

    /// The operations of a workload or a repeat.
    fn list(&mut self, operations: &[Operation], table: &Node, what: &str) {
        if operations.is_empty() {
            let remedy = format!("write for example {}", example("operations"));
            self.wrong("empty", table, "operations", format!("{what} without operations does nothing"), remedy);
        }
        for (operation, node) in operations.iter().zip(table.items("operations")) {
            self.one(operation, node);
        }
    }

    fn one(&mut self, operation: &Operation, node: &Node) {
        let text = |field: &str| node.at(field).and_then(Node::text);
        let what = format!("a {}", text("op").unwrap_or_default());
        for field in NAMES {
            let Some(Err(Wrong { what, remedy })) = text(field).map(|name| super::name::check(name, &self.indices))
            else {
                continue;
            };
            self.wrong("name", node, field, format!("`{field}`: {what}"), remedy);
        }
        if operation.gpu().is_some_and(|gpu| !gpu.is_number(&self.indices)) {
            let remedy = "GPUs are counted from 0: write for example gpu = 1, or gpu = \"{i}\" within a repeat";
            self.wrong("range", node, "gpu", "`gpu` is no number of a GPU".to_owned(), remedy);
        }
        for field in TIMES {
            let Some(time) = text(field).and_then(|time| time.parse::<Femtos>().ok()) else { continue };
            if time == Femtos::ZERO || time > MAX_KERNELS {
                let what = format!("`{field}`: {what} of {time}");
                self.wrong("range", node, field, what, format!("it lasts 1 fs to {MAX_KERNELS}"));
            }
        }
        if let Some(Bytes(bytes)) = text("size").and_then(|size| size.parse().ok())
            && !(1..=MAX_BYTES).contains(&bytes)
        {
            let what = format!("`size`: a copy of {}", Bytes(bytes));
            self.wrong("range", node, "size", what, format!("a copy has 1 B to {}", Bytes(MAX_BYTES)));
        }
        match operation {
            Operation::Copy { direction: Direction::D2d, .. } => self.within_the_device(node),
            Operation::Graph { kernels, .. } if *kernels > MAX_STEPS as u64 => {
                let what = format!("`kernels`: a graph of {kernels} kernels");
                self.wrong("range", node, "kernels", what, format!("a graph has 1 to {MAX_STEPS} kernels"));
            }
            Operation::Network { size, rate, latency, .. } => {
                let time = network(*size, *rate, *latency);
                if time > MAX_KERNELS {
                    let remedy = format!("it takes at most {MAX_KERNELS}");
                    self.wrong("range", node, "", format!("a transfer of {time}"), remedy);
                }
            }
            Operation::Ddp { model, .. } => self.training(model, node),
            Operation::Repeat { index, operations, .. } => self.repeat(index, operations, node),
            _ => {}
        }
    }

    fn within_the_device(&mut self, node: &Node) {
        for field in ["memory", "buffer", "pages"].into_iter().filter(|field| node.at(field).is_some()) {
            let what = format!("a copy within the device has no `{field}`: it uses no memory of the host");
            self.wrong("senseless", node, field, what, format!("leave out `{field}`"));
        }
    }

    fn repeat(&mut self, index: &str, operations: &[Operation], node: &Node) {
        if !is_index(index) {
            let what = format!("`index` cannot be \"{}\"", excerpt(index, 100));
            let remedy = "write a letter, then letters, digits and `_`, for example index = \"layer\"";
            self.wrong("name", node, "index", what, remedy);
        }
        // Where the index is wrong, names that use it are not: one message is enough.
        self.indices.push(index.to_owned());
        self.list(operations, node, "a repeat");
        self.indices.pop();
    }

    /// Refuses a model that is larger than any buffer or any run, or that does nothing.
    fn training(&mut self, model: &DataParallel, node: &Node) {
        let tensors = |layer: &Layer| (layer.shapes.len() + layer.shared.len()) as u64 + 1;
        let all = model.layers.iter().map(|layer| layer.count.saturating_mul(tensors(layer)));
        // Those of all operations together: a file of many models is no way around the limit.
        self.tensors = all.fold(self.tensors, u64::saturating_add);
        if self.tensors > MAX_STEPS as u64 {
            let what = format!("with these there are more than {MAX_STEPS} layers and tensors in the file");
            return self.wrong("too_many", node, "layers", what, "lower the counts of the layers");
        }
        for (layer, node) in model.layers.iter().zip(node.items("layers")) {
            for (field, shapes) in [("shapes", &layer.shapes), ("shared", &layer.shared)] {
                if shapes.iter().any(|shape| shape.is_empty() || elements(shape) == u64::MAX) {
                    let what = format!("`{field}`: this is no shape of a tensor");
                    return self.wrong("range", node, field, what, format!("write for example {}", example(field)));
                }
            }
        }
        let gradients = model.gradients();
        let what = match () {
            () if gradients == 0 => "a model without weights".to_owned(),
            () if gradients > MAX_BYTES => format!("a model with more than {} of gradients", Bytes(MAX_BYTES)),
            () if model.rate == FlopRate(0) => "a GPU that does no arithmetic".to_owned(),
            () => return,
        };
        self.wrong("range", node, "", what, "see the shipped ddp-resnet50 for an example");
    }
}

/// How long a transfer over a network takes.
pub(super) fn network(Bytes(bytes): Bytes, rate: ByteRate, latency: Option<Femtos>) -> Femtos {
    latency.unwrap_or(Femtos::ZERO).saturating_add(rate.time_for(bytes))
}
