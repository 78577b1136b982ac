//! An iteration of data-parallel training on one of several equal GPUs.
//!
//! ```text
//!  layers --> kernels of the forward pass --> kernels of the backward pass, last layer first --> update
//!                                                  | gradients, as they come
//!                                                  v
//!                                              [ buckets ] --> an all-reduce each, in parallel with the backward pass
//! ```
//!
//! A kernel's time is its arithmetic at the rate that the GPU reaches: two operations for each weight of a matrix, each use and each
//! sample of the batch; twice as many in the backward pass, for the gradients of weights and of inputs. Tensors of one dimension take
//! no time, and neither does attention beyond its matrices.

mod buckets;

use crate::units::{Bytes, Femtos, FlopRate};
use buckets::Buckets;
use schemars::JsonSchema;
use serde::Deserialize;

/// Tensors that are trained together.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Layer {
    /// For who reads the file.
    pub name: Option<String>,
    /// How many layers of this kind follow each other.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub count: u64,
    /// How often a sample uses each weight of its matrices: tokens of a sequence, places of a convolution, 0 for a table.
    pub uses: u64,
    /// Shapes of its tensors, in the order in which the model has them.
    #[serde(default)]
    #[schemars(inner(inner(range(min = 1))))]
    pub shapes: Vec<Vec<u64>>,
    /// Shapes of matrices that it uses and that another layer has.
    #[serde(default)]
    #[schemars(inner(inner(range(min = 1))))]
    pub shared: Vec<Vec<u64>>,
}

/// Training, as far as its time depends on it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct DataParallel {
    /// In the order of the forward pass.
    pub layers: Vec<Layer>,
    /// Samples of a GPU in each iteration.
    #[schemars(range(min = 1))]
    pub batch: u64,
    /// Arithmetic that the GPU does.
    pub rate: FlopRate,
    /// What a gradient is.
    #[serde(default)]
    pub element: Element,
    /// From what on a bucket is full, as PyTorch has it by default.
    #[serde(default = "bucket_cap")]
    pub bucket_cap: Bytes,
    /// The same of the first bucket, which is to leave early.
    #[serde(default = "first_bucket")]
    pub first_bucket: Bytes,
    /// How long the update of all weights takes.
    #[serde(default)]
    pub update: Femtos,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Element {
    #[default]
    F32,
    Bf16,
}

const fn one() -> u64 {
    1
}

const fn bucket_cap() -> Bytes {
    Bytes(25 << 20)
}

const fn first_bucket() -> Bytes {
    Bytes(1 << 20)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Kernel(Femtos),
    /// Has a bucket of so many bytes ready, and goes on.
    Bucket(u64),
    Reduced,
}

impl DataParallel {
    pub fn iteration(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        for layer in self.instances() {
            let matrices = layer.shapes.iter().chain(&layer.shared);
            parts.extend(matrices.filter_map(|shape| self.kernel(layer, shape, 2)));
        }
        self.backward(&mut parts);
        parts.push(Part::Reduced);
        parts.extend(Some(Part::Kernel(self.update)).filter(|_| self.update > Femtos::ZERO));
        parts
    }

    pub fn gradients(&self) -> u64 {
        self.instances().flat_map(|layer| &layer.shapes).map(|shape| self.bytes(shape)).fold(0, u64::saturating_add)
    }

    fn backward(&self, parts: &mut Vec<Part>) {
        let mut buckets = Buckets::new(self.first_bucket.0, self.bucket_cap.0);
        let mut layers: Vec<_> = self.instances().collect();
        layers.reverse();
        for layer in layers {
            parts.extend(layer.shared.iter().rev().filter_map(|shape| self.kernel(layer, shape, 4)));
            for shape in layer.shapes.iter().rev() {
                parts.extend(self.kernel(layer, shape, 4));
                parts.extend(buckets.put(self.bytes(shape)).map(Part::Bucket));
            }
        }
        parts.extend(buckets.rest().map(Part::Bucket));
    }

    fn instances(&self) -> impl Iterator<Item = &Layer> {
        self.layers.iter().flat_map(|layer| (0..layer.count).map(move |_| layer))
    }

    fn bytes(&self, shape: &[u64]) -> u64 {
        elements(shape).saturating_mul(match self.element {
            Element::F32 => 4,
            Element::Bf16 => 2,
        })
    }

    /// The kernel of a matrix, if the shape is one that is multiplied.
    fn kernel(&self, layer: &Layer, shape: &[u64], operations: u128) -> Option<Part> {
        let products = u128::from(elements(shape)) * u128::from(layer.uses);
        let time = self.rate.time_for(operations * products.saturating_mul(u128::from(self.batch)).min(u128::MAX / 8));
        Some(Part::Kernel(time)).filter(|_| shape.len() > 1 && layer.uses > 0)
    }
}

/// Numbers in a tensor; the largest there is for more.
pub fn elements(shape: &[u64]) -> u64 {
    shape.iter().copied().fold(1, u64::saturating_mul)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn training() -> DataParallel {
        let layer = |count, uses, shapes: &[&[u64]], shared: &[&[u64]]| Layer {
            name: None,
            count,
            uses,
            shapes: shapes.iter().map(|shape| shape.to_vec()).collect(),
            shared: shared.iter().map(|shape| shape.to_vec()).collect(),
        };
        DataParallel {
            layers: vec![
                layer(1, 0, &[&[100, 8]], &[]),
                layer(2, 10, &[&[8, 8], &[8]], &[]),
                layer(1, 10, &[], &[&[100, 8]]),
            ],
            batch: 3,
            rate: FlopRate(1_000_000_000_000),
            element: Element::F32,
            bucket_cap: Bytes(300),
            first_bucket: Bytes(30),
            update: Femtos(7),
        }
    }

    #[test]
    fn gradients_leave_as_the_backward_pass_makes_them() {
        let kernel = |operations: u64| Part::Kernel(Femtos(operations * 1_000));
        let (small, head) = (8 * 8 * 10 * 3, 100 * 8 * 10 * 3);
        let expected = [
            vec![kernel(2 * small), kernel(2 * small), kernel(2 * head)],
            // The head has no weights of its own; the first bucket is full with the bias of the layer before.
            vec![kernel(4 * head), Part::Bucket(32), kernel(4 * small), kernel(4 * small)],
            vec![Part::Bucket(256 + 32 + 256), Part::Bucket(3200), Part::Reduced, Part::Kernel(Femtos(7))],
        ];
        assert_eq!(training().iteration(), expected.concat());
        assert_eq!(training().gradients(), 4 * (800 + 2 * 72));
    }

    #[test]
    fn a_larger_cap_leaves_fewer_buckets_and_the_same_bytes() {
        let buckets = |bucket_cap| {
            let parts = DataParallel { bucket_cap, ..training() }.iteration();
            parts.iter().filter_map(|part| if let Part::Bucket(bytes) = part { Some(*bytes) } else { None }).collect()
        };
        let [small, large]: [Vec<u64>; 2] = [1, 1 << 20].map(|cap| buckets(Bytes(cap)));
        assert_eq!((small.len(), large.len()), (5, 2));
        assert_eq!(small.iter().sum::<u64>(), large.iter().sum::<u64>());
    }

    #[test]
    fn what_does_not_fit_saturates() {
        let mut huge = training();
        huge.layers[1].shapes[0] = vec![u64::MAX, u64::MAX];
        (huge.batch, huge.layers[1].uses) = (u64::MAX, u64::MAX);
        assert!(huge.iteration().contains(&Part::Kernel(Femtos::MAX)));
        assert_eq!(huge.gradients(), u64::MAX);
    }
}
