//! The workloads that are built into the program.

use crate::config::nearest;

#[derive(Debug, Clone, Copy)]
pub struct ShippedWorkload {
    /// The name that the command line takes: the file's, without ending.
    pub name: &'static str,
    pub text: &'static str,
}

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        /// All of them, by name.
        pub const SHIPPED_WORKLOADS: &[ShippedWorkload] = &[$(ShippedWorkload {
            name: $name,
            text: include_str!(concat!("../../../../workloads/", $name, ".toml")),
        }),*];
    };
}

shipped![
    "action-detection",
    "collocation",
    "compressed-allreduce",
    "ddp-bert-large",
    "ddp-gpt2-xl",
    "ddp-resnet50",
    "ddp-vgg16",
    "decode-loop",
    "elastic-sgd",
    "embedding-cache",
    "exemplar-clustering",
    "fastrack-inference",
    "fastrack-training",
    "federated-edge",
    "fhe-keys",
    "flexgen-weights",
    "geo-pipeline",
    "gnn-minibatch",
    "he-mining",
    "inr-gradient",
    "kv-recompute",
    "layerwise-kv",
    "mig-tenants",
    "model-load",
    "offload-optimizer",
    "ooo-backprop",
    "overlap-pipelined",
    "overlap-sequential",
    "podracer-rl",
    "quantized-weights",
    "stream-tenants",
    "transient-servers",
    "trustzone-inference",
    "tts-incremental",
    "upload-compute-download",
    "vllm-kv-swap",
    "vllm-llama3-8b",
    "vllm-llama3-8b-graph",
    "weight-streaming",
    "y-plane",
];

impl ShippedWorkload {
    /// What it says about itself.
    pub fn summary(&self) -> String {
        let table: toml::Table = self.text.parse().unwrap_or_default();
        table.get("summary").and_then(toml::Value::as_str).unwrap_or_default().to_owned()
    }

    /// The shipped workload called `name`, with or without `.toml`.
    pub fn find(name: &str) -> Option<&'static Self> {
        let name = name.strip_suffix(".toml").unwrap_or(name);
        SHIPPED_WORKLOADS.iter().find(|shipped| shipped.name == name)
    }

    /// The one that was probably meant by `name`.
    pub(super) fn meant(name: &str) -> Option<&'static str> {
        nearest(name, SHIPPED_WORKLOADS.iter().map(|shipped| shipped.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, path::Path};

    #[test]
    fn every_file_in_workloads_is_built_in_in_order() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter_map(|name| name.strip_suffix(".toml").map(str::to_owned)).collect();
        names.sort();
        assert_eq!(names, SHIPPED_WORKLOADS.iter().map(|shipped| shipped.name.to_owned()).collect::<Vec<_>>());
    }

    #[test]
    fn each_says_in_a_line_what_it_is() {
        for shipped in SHIPPED_WORKLOADS {
            assert!(!shipped.summary().is_empty(), "{}", shipped.name);
        }
        assert!(ShippedWorkload::find("weight-streaming.toml").is_some());
        assert_eq!(ShippedWorkload::meant("weight-steaming"), Some("weight-streaming"));
    }
}
