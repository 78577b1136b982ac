//! What nccl-tests print (`all_reduce_perf`, `all_gather_perf`, ...), as a table of collectives.
//!
//! | line | what is taken |
//! | --- | --- |
//! | `# Collective test starting: NAME` | the operation; older versions do not print it, then the file's name says it |
//! | `#  Rank  0 ...` | a GPU for each |
//! | numbers | size, and the time out of place: columns 1 and 6 |
//!
//! The output does not say whether confidential computing was on.

use super::Mode;

/// Operations, as programs of nccl-tests begin, and as tables name them.
const OPERATIONS: [(&str, &str); 5] = [
    ("all_reduce", "all-reduce"),
    ("all_gather", "all-gather"),
    ("reduce_scatter", "reduce-scatter"),
    ("alltoall", "all-to-all"),
    ("broadcast", "broadcast"),
];

/// Columns of a row of numbers: size, count, type, reduction, root, and the time out of place.
const SIZE: usize = 0;
const TIME: usize = 5;

pub fn is_nccl(text: &str) -> bool {
    text.lines().any(|line| line.starts_with('#') && line.contains("out-of-place"))
}

/// Makes a table of it; `mode` is that in which the program ran, `file` its name.
pub fn nccl(file: &str, text: &str, mode: Mode) -> Result<String, String> {
    let started =
        text.lines().find_map(|line| line.split_once("Collective test starting:")).map(|(_, name)| name.trim());
    let source = started.unwrap_or(file);
    let operation = OPERATIONS.iter().find(|(begin, _)| source.starts_with(begin)).map(|(_, name)| *name);
    let operation = operation.ok_or_else(|| {
        let known = OPERATIONS.map(|(begin, _)| begin).join(", ");
        format!("the output does not say which collective it is of: let the file's name begin with one of {known}")
    })?;
    let gpus = text.lines().filter(|line| line.trim_start_matches(['#', ' ']).starts_with("Rank ")).count();
    if gpus < 2 {
        return Err(format!("{gpus} lines name a rank, and a collective has two or more"));
    }
    let mut table = String::from("platform,mode,operation,gpus,bytes,us\n");
    let mut rows = 0;
    for (line, cells) in (1..).zip(text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>())) {
        let Some(bytes) = cells.get(SIZE).and_then(|cell| cell.parse::<u64>().ok()) else { continue };
        let us = cells.get(TIME).and_then(|cell| cell.parse::<f64>().ok()).filter(|us| us.is_finite() && *us > 0.0);
        let us = us.ok_or_else(|| format!("line {line} has no time out of place"))?;
        // Sizes below a word for each rank are printed as 0.
        if bytes > 0 {
            table += &format!("nccl-tests,{},{operation},{gpus},{bytes},{us}\n", mode.name());
            rows += 1;
        }
    }
    if rows == 0 { Err("no line has a size and a time".to_owned()) } else { Ok(table) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Made up in the program's format.
    const TEXT: &str = "\
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 2 minBytes 1024 maxBytes 2048 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#  Rank  0 Group  0 Pid   7 on   host device  0 [0000:01:00] made up
#  Rank  1 Group  0 Pid   7 on   host device  1 [0000:02:00] made up
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
           0             0     float     sum      -1     0.10    0.00    0.00      0     0.10    0.00    0.00      0
        1024           256     float     sum      -1     9.50    0.11    0.11      0     9.40    0.11    0.11      0
        2048           512     float     sum      -1    10.25    0.20    0.20      0    10.10    0.20    0.20      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 0.155
";

    #[test]
    fn times_out_of_place_become_points() {
        let table = nccl("x.txt", TEXT, Mode::Off).unwrap();
        assert!(is_nccl(TEXT));
        assert_eq!(
            table,
            "platform,mode,operation,gpus,bytes,us\nnccl-tests,off,all-reduce,2,1024,9.5\nnccl-tests,off,all-reduce,2,2048,10.25\n"
        );
        let older: String = TEXT.lines().skip(1).flat_map(|line| [line, "\n"]).collect();
        assert!(nccl("all_gather.txt", &older, Mode::Cc).unwrap().contains("nccl-tests,cc,all-gather,2,1024,9.5"));
    }

    #[test]
    fn what_is_no_such_output_is_refused_and_says_why() {
        let older: String = TEXT.lines().skip(1).flat_map(|line| [line, "\n"]).collect();
        for (text, phrase) in [
            (older, "does not say which collective"),
            (TEXT.replace("#  Rank  1", "# Bank 1"), "1 lines name a rank"),
            (TEXT.replace("     9.50", "      N/A"), "line 8 has no time"),
            (TEXT.lines().take(7).collect::<Vec<_>>().join("\n"), "no line has a size"),
        ] {
            let error = nccl("log", &text, Mode::Off).unwrap_err();
            assert!(error.contains(phrase), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_output_is_too_odd(place in 0usize..2000, byte in any::<u8>()) {
            let mut text = TEXT.as_bytes().to_vec();
            let place = place % text.len();
            text[place] = byte;
            if let Ok(text) = std::str::from_utf8(&text) {
                let _ = nccl("all_reduce", text, Mode::Off);
            }
        }
    }
}
