//! The files that are built in.

use crate::{config::SHIPPED, workload::SHIPPED_WORKLOADS};
use std::borrow::Cow;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A machine, a design or an engine.
    Configuration,
    /// What a host does.
    Workload,
    /// A space to sweep.
    Study,
    Stages,
    Measurements,
    Profile,
    Vectors,
}

impl Kind {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 7] = [
        Self::Study,
        Self::Profile,
        Self::Measurements,
        Self::Stages,
        Self::Vectors,
        Self::Workload,
        Self::Configuration,
    ];

    pub const fn title(self) -> &'static str {
        match self {
            Self::Configuration => "machines, designs and engines",
            Self::Workload => "workloads, for sealsim run --workload",
            Self::Study => "studies, for sealsim sweep",
            Self::Stages => "stage files, for sealsim calibrate",
            Self::Measurements => "measurements and sizes, for sealsim validate and calibrate",
            Self::Profile => "profiles, for sealsim replay",
            Self::Vectors => "vectors, for sealsim verify",
        }
    }
}

pub struct Example {
    pub kind: Kind,
    pub path: String,
    pub about: String,
    pub bytes: Cow<'static, [u8]>,
}

impl Example {
    /// The last part of its path.
    pub fn file(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The same without endings.
    pub fn stem(&self) -> &str {
        self.file().split('.').next().unwrap_or(&self.path)
    }

    /// Whether people can read it.
    pub fn is_text(&self) -> bool {
        !self.path.ends_with(".gz")
    }
}

macro_rules! built_in {
    ($($kind:ident $path:literal $about:literal),* $(,)?) => {
        const FILES: &[(Kind, &str, &str, &[u8])] =
            &[$((Kind::$kind, $path, $about, include_bytes!(concat!("../../../", $path)))),*];
    };
}

built_in![
    Study "studies/ghash-width.toml" "how wide GHASH has to be",
    Study "studies/search-designs.toml" "which GHASH, and which sharing of engines: 7,560 points to search",
    Study "studies/search-engine.toml" "which engine at which clock: 5,184 points to search",
    Study "studies/search-verdict.toml" "which messages, release and engine: 7,560 points to search",
    Study "studies/sm-count.toml" "how many SMs open as fast as a copy engine",
    Study "studies/tag-granularity.toml" "how much text one tag covers",
    Profile "validation/traces/kmeans-off-cuda_gpu_trace.csv.gz" "kmeans without CC: copies and kernels (Nsight Systems)",
    Profile "validation/traces/kmeans-off-cuda_api_trace.csv.gz" "kmeans without CC: calls, for --api",
    Profile "validation/traces/kmeans-cc-cuda_gpu_trace.csv.gz" "kmeans with CC, as measured",
    Profile "validation/traces/kmeans-cc-cuda_api_trace.csv.gz" "the same: calls",
    Profile "validation/traces/streamcluster-off-cuda_gpu_trace.csv.gz" "streamcluster without CC: copies and kernels",
    Profile "validation/traces/streamcluster-off-cuda_api_trace.csv.gz" "streamcluster without CC: calls, for --api",
    Profile "validation/traces/a100-alexnet.json.gz" "a training step of AlexNet (PyTorch profiler)",
    Measurements "validation/p1_bandwidth.csv" "rate by size, with CC and without; H100 NVL, TDX",
    Measurements "validation/p1_programs.csv" "copies of four programs, one by one",
    Measurements "validation/p2_bandwidth.csv" "rate by size; another H100 with TDX",
    Measurements "validation/predictions/p1-pinned-sizes.csv" "sizes to predict, for --predict",
    Measurements "validation/predictions/p1-pinned.csv" "predictions for these, for --score",
    Stages "validation/calibrate/example.toml" "a small one to start from",
    Stages "validation/calibrate/p1.toml" "what the H100 NVL was fitted with",
    Stages "validation/calibrate/p2.toml" "what the second H100 was fitted with",
    Stages "validation/calibrate/sxm5.toml" "what the H100 SXM5 was fitted with",
    Vectors "tests/vectors/aes_gcm_test.json" "AES-GCM, of Wycheproof (Apache-2.0)",
    Vectors "tests/vectors/aegis128L_test.json" "AEGIS-128L, of Wycheproof (Apache-2.0)",
    Vectors "tests/vectors/aegis256_test.json" "AEGIS-256, of Wycheproof (Apache-2.0)",
    Vectors "tests/vectors/gcmEncryptExtIV128.rsp" "AES-128-GCM, of NIST CAVP (public domain)",
];

pub fn all() -> Vec<Example> {
    let files = FILES.iter().map(|(kind, path, about, bytes)| Example {
        kind: *kind,
        path: (*path).to_owned(),
        about: (*about).to_owned(),
        bytes: Cow::Borrowed(*bytes),
    });
    let workloads = SHIPPED_WORKLOADS.iter().map(|shipped| Example {
        kind: Kind::Workload,
        path: format!("workloads/{}.toml", shipped.name),
        about: shipped.summary(),
        bytes: Cow::Borrowed(shipped.text.as_bytes()),
    });
    let configurations = SHIPPED.iter().map(|shipped| Example {
        kind: Kind::Configuration,
        path: format!("hw-configs/{}", shipped.path),
        about: shipped.summary(),
        bytes: Cow::Borrowed(shipped.text.as_bytes()),
    });
    files.chain(workloads).chain(configurations).collect()
}
