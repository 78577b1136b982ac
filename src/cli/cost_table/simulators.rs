//! Costs in the formats of other simulators. Names and units are those that their readers ask for: ASTRA-sim's analytical remote memory,
//! LLMServingSim's cluster configuration, Vidur's predictor of execution times.

use crate::{
    cli::{Failure, collective, run::Interruption},
    config::MachineSpec,
    explore::{CostLine, CostRow},
    fabric::{element::Element, spec::FabricMode},
    system::Direction,
    workload::collective::{Collective, CollectiveRequest, run_collective},
};
use clap::ValueEnum;
use serde_json::json;
use std::fmt::Write;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Simulator {
    /// Remote memory of the analytical backend (JSON)
    AstraSim,
    /// `cpu_mem` of a cluster configuration (JSON)
    #[value(name = "llmservingsim")]
    LlmServingSim,
    /// all_reduce and send_recv between GPUs (CSV)
    Vidur,
}

crate::units::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
    pub(super) enum Mode {
        Off = "off",
        Cc = "cc",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Way {
    H2d,
    D2h,
}

impl Way {
    pub const fn direction(self) -> Direction {
        match self {
            Self::H2d => Direction::H2d,
            Self::D2h => Direction::D2h,
        }
    }
}

/// A file that a simulator reads.
pub(super) fn line(simulator: Simulator, line: &CostLine) -> String {
    let rate = (line.gb_per_s() * 1e4).round() / 1e4;
    let value = match simulator {
        Simulator::AstraSim => json!({
            "memory-type": "PER_NPU_MEMORY_EXPANSION",
            "remote-mem-latency": line.latency_ns as u64,
            "remote-mem-bw": line.gb_per_s().round() as u64,
        }),
        _ => json!({ "cpu_mem": { "mem_bw": rate, "mem_latency": line.latency_ns.round() } }),
    };
    format!("{value:#}\n")
}

/// The line of a simulator through these copies, and what is to be known of it.
pub(super) fn fitted(simulator: Simulator, rows: &[CostRow]) -> Option<(CostLine, String)> {
    let line = CostLine::through(rows)?;
    let (line, whole) = match simulator {
        Simulator::AstraSim => (line.whole(rows), ", in whole GB/s as ASTRA-sim reads them,"),
        _ => (line, ""),
    };
    let CostLine { worst, worst_at, .. } = line;
    let (name, copies) = (rows.first().map_or("", |row| row.mode), rows.len());
    let percent = 100.0 * worst;
    let note = format!(
        "{name}: one latency and one rate{whole} are off by at most {percent:.1} % ({worst_at} bytes) over {copies} copies"
    );
    Some((line, note))
}

/// Numbers of GPUs for which Vidur has all-reduces.
const WORKERS: [usize; 3] = [2, 4, 8];

/// Vidur's table of collectives, one file for both inputs, and what is to be known of it. Times are in ms, without the launch, for which Vidur
/// has a setting.
pub(super) fn vidur(
    machine: &MachineSpec,
    mode: Mode,
    sizes: &[u64],
    interruption: &Interruption,
) -> Result<(String, String), Failure> {
    let mut machine = machine.clone();
    machine.confidential_computing = mode == Mode::Cc;
    if let (Mode::Off, Some(fabric)) = (mode, &mut machine.fabric) {
        fabric.mode = FabricMode::Plain;
    }
    let gpus = machine.gpus().max(2);
    let kinds = ["all_reduce", "send_recv"];
    let statistics = ["min", "max", "mean", "median", "std"];
    let mut text = String::new();
    kinds.iter().for_each(|kind| statistics.iter().for_each(|name| text += &format!(",time_stats.{kind}.{name}")));
    text += ",rank,num_workers,size,collective,devices_per_node,max_devices_per_node\n";
    let reduces = WORKERS.into_iter().filter(|workers| *workers <= gpus).map(|workers| (0, workers));
    let (mut row, mut launch) = (0, 0.0_f64);
    for (kind, workers) in reduces.chain([(1, 2)]) {
        for &bytes in sizes {
            let collective = [Collective::AllReduce, Collective::Broadcast][kind];
            let request =
                CollectiveRequest { element: Element::Bf16, ..CollectiveRequest::new(collective, workers, bytes) };
            let mut go_on = |_| interruption.control();
            let outcome = run_collective(&machine, &request, &mut go_on).map_err(collective::failed)?;
            let ms = outcome.time.saturating_sub(outcome.launch).seconds() * 1e3;
            launch = launch.max(outcome.launch.seconds() * 1e3);
            let own = format!(",{ms:.6},{ms:.6},{ms:.6},{ms:.6},0.0");
            let cells = if kind == 0 { own + ",,,,," } else { ",,,,,".to_owned() + &own };
            let _ = writeln!(text, "{row}{cells},0,{workers},{bytes},{},{workers},{gpus}", kinds[kind]);
            row += 1;
        }
    }
    Ok((text, format!("times are without the launch: set nccl_cpu_launch_overhead_ms to {launch:.4}")))
}
