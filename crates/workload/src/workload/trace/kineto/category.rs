//! What an event is, by its phase and category. Categories got other names over time.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Category {
    Copy,
    Memset,
    Kernel,
    Call,
    Wait,
    /// It is left out, for a reason.
    Left(&'static str),
    /// It is left out, by its category.
    Unknown,
}

/// Categories of events that last, in small letters.
const TABLE: &[(&[&str], Category)] = &[
    (&["gpu_memcpy", "memcpy"], Category::Copy),
    (&["gpu_memset", "memset"], Category::Memset),
    (&["kernel", "concurrent_kernel"], Category::Kernel),
    (&["cuda_runtime", "cuda_driver", "runtime", "driver", "hip_runtime", "hip_driver", "xpu_runtime"], Category::Call),
    (&["privateuse1_runtime", "privateuse1_driver", "mtia_runtime", "glow_runtime"], Category::Call),
    (&["cuda_sync"], Category::Wait),
    (&["cpu_op", "operator"], Category::Left("CPU operator: its time is in the gaps between calls")),
    (&["python_function", "python"], Category::Left("Python function: its time is in the gaps between calls")),
    (
        &["user_annotation", "gpu_user_annotation", "record_function"],
        Category::Left("annotation: nothing is done by it"),
    ),
    (&["ac2g", "async_cpu_to_gpu", "fwdbwd", "forward_backward"], Category::Left(FLOW)),
    (&["overhead"], Category::Left("overhead of the profiler itself")),
    (&["trace"], Category::Left("span of the profiler itself")),
    (&["cuda_profiler_range", "cpu_instant_event"], Category::Left("mark: nothing is done by it")),
];

const FLOW: &str = "arrow from call to operation: the correlation says the same";

pub(super) fn of(phase: &str, category: &str) -> Category {
    match phase {
        "M" => return Category::Left("metadata"),
        "s" | "t" | "f" => return Category::Left(FLOW),
        "i" | "I" | "R" | "n" => return Category::Left("mark: nothing is done by it"),
        "C" => return Category::Left("counter"),
        "" => return Category::Left("no phase: not an event of the profiler"),
        _ => {}
    }
    let category = category.to_ascii_lowercase();
    TABLE.iter().find(|(names, _)| names.contains(&category.as_str())).map_or(Category::Unknown, |(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_names_are_one() {
        assert_eq!([of("X", "Memcpy"), of("X", "gpu_memcpy")], [Category::Copy; 2]);
        assert_eq!([of("X", "Runtime"), of("X", "cuda_driver")], [Category::Call; 2]);
        assert_eq!(of("X", "mtia_ccp_events"), Category::Unknown);
        assert!(matches!(of("f", "kernel"), Category::Left(_)));
    }
}
