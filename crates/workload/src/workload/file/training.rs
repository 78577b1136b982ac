//! `op = "ddp"`: an iteration of data-parallel training.

use super::{
    examples::example,
    fields::{Given, Reader},
    name::Name,
};
use crate::{
    units::{Bytes, Femtos, FlopRate},
    workload::{
        MAX_BYTES, MAX_STEPS,
        collective::{Collective, CollectiveCall},
        data_parallel::{DataParallel, Layer, Part, elements},
        program::WorkloadStep,
    },
};
use toml::{Spanned, de::DeValue};

/// Bytes of a gradient.
const ELEMENTS: [(&str, u64); 2] = [("f32", 4), ("bf16", 2)];

/// As PyTorch has them by default.
const BUCKET_CAP: u64 = 25 << 20;
const FIRST_BUCKET: u64 = 1 << 20;

const LAYER: [&str; 5] = ["name", "count", "uses", "shapes", "shared"];

/// Events by which the streams of an operation wait for each other.
const READY: &str = "ddp.ready";
const REDUCED: &str = "ddp.reduced";

/// An iteration, and the streams that it goes to.
#[derive(Debug)]
pub(super) struct Training {
    parts: Vec<Part>,
    ranks: usize,
    stream: Name,
    collectives: Name,
}

impl Training {
    pub fn steps(&self) -> u64 {
        let steps = |part: &Part| match part {
            Part::Kernel(_) => 1,
            Part::Bucket(_) => 3,
            Part::Reduced => 2,
        };
        self.parts.iter().map(steps).sum()
    }

    /// Its steps. `name` gives a name in this turn.
    pub fn unroll(&self, gpu: usize, name: &dyn Fn(&Name) -> String) -> Vec<WorkloadStep> {
        let (stream, collectives) = (|| name(&self.stream), || name(&self.collectives));
        let record = |stream, event: &str| WorkloadStep::Record { gpu, stream, event: event.into() };
        let wait = |stream, event: &str| WorkloadStep::Wait { gpu, stream, event: event.into() };
        let steps = |part: &Part| match *part {
            Part::Kernel(duration) => vec![WorkloadStep::Kernel { gpu, stream: stream(), duration }],
            Part::Bucket(bytes) => {
                let call = CollectiveCall { kind: Collective::AllReduce, ranks: self.ranks, bytes };
                let all_reduce = WorkloadStep::Collective { gpu, stream: collectives(), call };
                vec![record(stream(), READY), wait(collectives(), READY), all_reduce]
            }
            Part::Reduced => vec![record(collectives(), REDUCED), wait(stream(), REDUCED)],
        };
        self.parts.iter().flat_map(steps).collect()
    }
}

impl Reader {
    pub(super) fn training(&mut self, given: &Given<'_>) -> Option<Training> {
        let stream = self.required_name(given, "stream");
        let collectives = self.required_name(given, "collectives");
        let ranks = self.required(given, "ranks").and_then(|value| self.count("ranks", value));
        let batch = self.required(given, "batch").and_then(|value| self.count("batch", value));
        let rate = self.required(given, "rate").and_then(|value| self.quantity("rate", value));
        let element = self.or(given.get("element"), 4, |reader, value| reader.choice("element", value, &ELEMENTS));
        let size = |reader: &mut Self, field, default| {
            reader.or(given.get(field), Bytes(default), |reader, value| reader.quantity(field, value))
        };
        let (bucket_cap, first_bucket) =
            (size(self, "bucket_cap", BUCKET_CAP), size(self, "first_bucket", FIRST_BUCKET));
        let update = self.or(given.get("update"), Femtos::ZERO, |reader, value| reader.quantity("update", value));
        let layers = self.layers(given);
        let (ranks, rate, Bytes(bucket_cap), Bytes(first_bucket)) = (ranks?, rate?, bucket_cap?, first_bucket?);
        let model = DataParallel {
            layers: layers?,
            batch: batch?,
            rate,
            element: element?,
            bucket_cap,
            first_bucket,
            update: update?,
        };
        self.fits(given, &model)?;
        let ranks = usize::try_from(ranks).unwrap_or(usize::MAX);
        Some(Training { parts: model.iteration(), ranks, stream: stream?, collectives: collectives? })
    }

    fn or<T>(
        &mut self,
        value: Option<&Spanned<DeValue<'_>>>,
        default: T,
        read: impl FnOnce(&mut Self, &Spanned<DeValue<'_>>) -> Option<T>,
    ) -> Option<T> {
        value.map_or(Some(default), |value| read(self, value))
    }

    /// Refuses a model that is larger than any buffer, or that does nothing.
    fn fits(&mut self, given: &Given<'_>, model: &DataParallel) -> Option<()> {
        let gradients = model.gradients();
        let what = match () {
            () if gradients == 0 => "a model without weights".to_owned(),
            () if gradients > MAX_BYTES => format!("a model with more than {} of gradients", Bytes(MAX_BYTES)),
            () if model.rate == FlopRate(0) => "a GPU that does no arithmetic".to_owned(),
            () => return Some(()),
        };
        self.wrong("range", given.span.clone(), what, "see the shipped ddp-resnet50 for an example");
        None
    }

    fn layers(&mut self, given: &Given<'_>) -> Option<Vec<Layer>> {
        let value = self.required(given, "layers")?;
        let DeValue::Array(items) = value.get_ref() else {
            self.wrong_type("layers", value, "an array of layers", example("layers"));
            return None;
        };
        let layers: Vec<_> = items.iter().filter_map(|item| self.layer(item)).collect();
        let tensors = |layer: &Layer| (layer.shapes.len() + layer.shared.len()) as u64;
        let all = layers.iter().map(|layer| layer.count.saturating_mul(tensors(layer))).fold(0, u64::saturating_add);
        let instances = layers.iter().map(|layer| layer.count).fold(0, u64::saturating_add);
        // Those of all operations together: a file of many models is no way around the limit.
        self.tensors = self.tensors.saturating_add(all).saturating_add(instances);
        if self.tensors > MAX_STEPS as u64 {
            let what = format!("with these there are more than {MAX_STEPS} layers and tensors in the file");
            self.wrong("too_many", value.span(), what, "lower the counts of the layers");
            return None;
        }
        Some(layers).filter(|layers| layers.len() == items.len())
    }

    fn layer(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Layer> {
        let DeValue::Table(table) = value.get_ref() else {
            self.wrong_type("layers", value, "made of tables", example("layers"));
            return None;
        };
        let given = Given { table, span: value.span(), what: "a layer".into() };
        self.check_fields(&given, &LAYER);
        let name =
            self.or(given.get("name"), String::new(), |reader, value| reader.text("name", value).map(str::to_owned));
        let count = self.or(given.get("count"), 1, |reader, value| reader.count("count", value));
        let uses = self.required(&given, "uses").and_then(|value| self.integer("uses", value));
        let mut shapes = |field| self.or(given.get(field), Vec::new(), |reader, value| reader.shapes(field, value));
        let (own, shared) = (shapes("shapes"), shapes("shared"));
        name?;
        Some(Layer { count: count?, uses: uses?, shapes: own?, shared: shared? })
    }

    fn shapes(&mut self, field: &str, value: &Spanned<DeValue<'_>>) -> Option<Vec<Vec<u64>>> {
        let shapes = self.list(field, value)?.iter().map(|shape| {
            let lengths: Option<Vec<_>> = self.list(field, shape)?.iter().map(|one| self.count(field, one)).collect();
            let lengths = lengths.filter(|lengths| !lengths.is_empty() && elements(lengths) < u64::MAX);
            if lengths.is_none() {
                let what = format!("`{field}`: this is no shape of a tensor");
                self.wrong("range", shape.span(), what, format!("write for example {}", example(field)));
            }
            lengths
        });
        shapes.collect()
    }

    fn list<'v, 't>(&mut self, field: &str, value: &'v Spanned<DeValue<'t>>) -> Option<&'v [Spanned<DeValue<'t>>]> {
        match value.get_ref() {
            DeValue::Array(items) => Some(items),
            _ => {
                self.wrong_type(field, value, "an array of arrays of lengths", example(field));
                None
            }
        }
    }
}
