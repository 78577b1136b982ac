//! What names of copies and kernels say. Profilers write the same in many ways: `Memcpy HtoD (Pinned -> Device)`,
//! `[CUDA memcpy Host-to-Device]`, `CopyHostToDevice`.

use super::model::{Direction, Memory};

/// Ways to write a direction, in small letters and without spaces and signs. Arrays are device memory; `m` is the host with XPUs.
const DIRECTIONS: &[(&str, Direction)] = &[
    ("hosttodevice", Direction::H2d),
    ("hosttoarray", Direction::H2d),
    ("devicetohost", Direction::D2h),
    ("arraytohost", Direction::D2h),
    ("devicetodevice", Direction::D2d),
    ("devicetoarray", Direction::D2d),
    ("arraytodevice", Direction::D2d),
    ("arraytoarray", Direction::D2d),
    ("peertopeer", Direction::P2p),
    ("hosttohost", Direction::H2h),
    ("htod", Direction::H2d),
    ("htoa", Direction::H2d),
    ("dtoh", Direction::D2h),
    ("atoh", Direction::D2h),
    ("dtod", Direction::D2d),
    ("dtoa", Direction::D2d),
    ("atod", Direction::D2d),
    ("atoa", Direction::D2d),
    ("ptop", Direction::P2p),
    ("htoh", Direction::H2h),
    ("h2d", Direction::H2d),
    ("d2h", Direction::D2h),
    ("d2d", Direction::D2d),
    ("p2p", Direction::P2p),
    ("m2d", Direction::H2d),
    ("d2m", Direction::D2h),
];

/// The direction that a copy's name gives.
pub(super) fn direction(name: &str) -> Option<Direction> {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    DIRECTIONS.iter().find(|(word, _)| plain.contains(word)).map(|(_, direction)| *direction)
}

/// Source and target of `Memcpy HtoD (Pinned -> Device)`, as far as the name gives them.
pub(super) fn memories(name: &str) -> (Memory, Memory) {
    let inside = name.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(inside, _)| inside);
    match inside.split_once("->") {
        Some((source, target)) => (memory(source), memory(target)),
        None => (Memory::Unknown, Memory::Unknown),
    }
}

/// A kind of memory, by any of its names.
pub(super) fn memory(name: &str) -> Memory {
    let name = name.trim().to_ascii_lowercase();
    // What the database calls them has this in front.
    let name = name.strip_prefix("cuda_memopr_memory_kind_").unwrap_or(&name);
    match name.replace('_', " ").as_str() {
        "pinned" => Memory::Pinned,
        "pageable" => Memory::Pageable,
        "managed" | "managed static" | "unified" => Memory::Managed,
        "device" | "device static" | "array" => Memory::Device,
        _ => Memory::Unknown,
    }
}

/// Memories of a copy of which only the direction is known: what is not host memory is the device's.
pub(super) fn completed(direction: Direction, (source, target): (Memory, Memory)) -> (Memory, Memory) {
    let device = |memory| if memory == Memory::Unknown { Memory::Device } else { memory };
    match direction {
        Direction::H2d => (source, device(target)),
        Direction::D2h => (device(source), target),
        Direction::D2d | Direction::P2p => (device(source), device(target)),
        Direction::H2h => (source, target),
    }
}

/// The collective that a kernel is, by its name: `AllReduce` of `ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)`.
pub(super) fn collective(kernel: &str) -> Option<&str> {
    let name = kernel.strip_prefix("void ").unwrap_or(kernel);
    let rest = name.strip_prefix("nccl").or_else(|| name.strip_prefix("rccl"))?;
    let rest = rest.split_once("Kernel_").map_or(rest, |(_, rest)| rest);
    let op = rest.split(['_', '(', '<', ' ']).next().unwrap_or(rest);
    Some(if op.is_empty() { kernel } else { op })
}

pub(super) fn element_bytes(dtype: &str) -> Option<u64> {
    Some(match dtype {
        "Double" | "Long" | "ComplexFloat" | "UInt64" => 8,
        "Float" | "Int" | "UInt32" | "ComplexHalf" => 4,
        "Half" | "BFloat16" | "Short" | "UInt16" => 2,
        "Byte" | "Char" | "Bool" => 1,
        "ComplexDouble" => 16,
        eight if eight.starts_with("Float8") => 1,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_is_found_however_it_is_written() {
        use Direction::*;
        let names = [
            ("Memcpy HtoD (Pinned -> Device)", Some(H2d)),
            ("[CUDA memcpy Device-to-Host]", Some(D2h)),
            ("[CUDA memcpy Unified Host-to-Device]", Some(H2d)),
            ("CopyDeviceToHost", Some(D2h)),
            ("[CUDA memcpy PtoP]", Some(P2p)),
            ("[CUDA memcpy DtoA]", Some(D2d)),
            ("zeCommandListAppendMemoryCopy(M2D)", Some(H2d)),
            ("[CUDA memcpy Unknown]", None),
        ];
        names.into_iter().for_each(|(name, expected)| assert_eq!(direction(name), expected, "{name}"));
    }

    #[test]
    fn memories_come_from_the_name_or_the_direction() {
        use Memory::*;
        assert_eq!(memories("Memcpy HtoD (Pageable -> Device)"), (Pageable, Device));
        assert_eq!(memories("Memcpy HtoD"), (Unknown, Unknown));
        assert_eq!(completed(Direction::D2h, (Unknown, Unknown)), (Device, Unknown));
        assert_eq!(memory("CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC"), Managed);
        assert_eq!([memory("Device Static"), memory(""), memory("Pinned")], [Device, Unknown, Pinned]);
    }

    #[test]
    fn collectives_are_told_by_their_kernels() {
        assert_eq!(collective("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"), Some("AllReduce"));
        assert_eq!(collective("ncclDevKernel_SendRecv(ncclDevComm*, unsigned long)"), Some("SendRecv"));
        assert_eq!(collective("ncclKernel_Generic"), Some("Generic"));
        assert_eq!(collective("void gemm<float>(float*)"), None);
        assert_eq!(collective("nccl"), Some("nccl"));
        assert_eq!(
            [element_bytes("BFloat16"), element_bytes("Float8_e4m3fn"), element_bytes("?")],
            [Some(2), Some(1), None]
        );
    }
}
