//! How fields are written, for remedies.

/// How fields are written.
const EXAMPLES: [(&str, &str); 30] = [
    ("machine", "machine = \"h100-nvl-tdx\""),
    ("summary", "summary = \"Weights that do not fit, layer by layer\""),
    ("source", "source = [\"sizes: arXiv 2411.03357\"]"),
    ("op", "op = \"copy\""),
    ("gpu", "gpu = 1"),
    ("stream", "stream = \"a\""),
    ("direction", "direction = \"h2d\""),
    ("size", "size = \"64 MiB\""),
    ("duration", "duration = \"2 ms\""),
    ("kernels", "kernels = 300"),
    ("host", "host = \"30 us\""),
    ("call", "call = \"7 us\""),
    ("event", "event = \"loaded\""),
    ("kind", "kind = \"all-reduce\""),
    ("ranks", "ranks = 8"),
    ("rate", "rate = \"400 TFLOP/s\""),
    ("latency", "latency = \"10 ms\""),
    ("collectives", "collectives = \"nccl\""),
    ("layers", "layers = [{ count = 12, uses = 128, shapes = [[768, 3072], [3072]] }]"),
    ("name", "name = \"block\""),
    ("uses", "uses = 128"),
    ("shapes", "shapes = [[768, 3072], [3072]]"),
    ("shared", "shared = [[50257, 768]]"),
    ("batch", "batch = 32"),
    ("bucket_cap", "bucket_cap = \"25 MiB\""),
    ("first_bucket", "first_bucket = \"1 MiB\""),
    ("update", "update = \"2 ms\""),
    ("count", "count = 4"),
    ("index", "index = \"i\""),
    ("operations", "operations = [{ op = \"copy\", direction = \"h2d\", size = \"64 MiB\", stream = \"a\" }]"),
];

/// How a field is written.
pub(super) fn example(field: &str) -> &'static str {
    EXAMPLES.iter().find(|(name, _)| *name == field).map_or("", |(_, example)| example)
}
