//! What grows with what.

use crate::common::{h2d, machine, simulate, simulate_on, sweep};
use sealsim::{
    config::Layers,
    pool,
    sim::Kernel,
    system::{DataMode, Operation, Request, Step},
    units::Bytes,
};
use std::num::NonZero;

/// Something that is made larger, and what is looked at as it grows.
pub struct Question {
    /// What its file is called by.
    pub name: &'static str,
    pub title: &'static str,
    /// What is made larger.
    pub across: &'static str,
    /// What time is divided by, in words.
    pub up: &'static str,
    pub xs: &'static [u64],
    pub series: &'static [Series],
}

/// One way to do it.
pub struct Series {
    pub name: &'static str,
    /// How much work a point is.
    pub units: fn(u64) -> f64,
    pub work: fn(u64),
}

impl Question {
    /// A place along the axis.
    pub fn shown(&self, x: u64) -> String {
        if self.across.ends_with("(bytes)") { Bytes(x).to_string() } else { x.to_string() }
    }
}

/// The question, the series and the place that words name.
pub fn find(name: &str, series: &str, x: &str) -> Result<(&'static Question, &'static Series, u64), String> {
    let question = QUESTIONS.iter().find(|one| one.name == name).ok_or_else(|| format!("no question {name}"))?;
    let series = question.series.iter().find(|one| one.name == series).ok_or_else(|| format!("no series {series}"))?;
    Ok((question, series, x.parse().map_err(|_| format!("{x} is no number"))?))
}

/// What each GPU copies, and what the streams copy together.
const EACH: u64 = 64 << 20;
const TOGETHER: u64 = 256 << 20;
const PIECE: u64 = 1 << 20;

pub const QUESTIONS: &[Question] = &[
    Question {
        name: "size",
        title: "One pinned copy to the device on h100-nvl-tdx, --data none",
        across: "Size (bytes)",
        up: "Host time for each byte, over that of the first point",
        xs: &[64 << 20, 256 << 20, 1 << 30, 4 << 30, 16 << 30],
        series: &[Series {
            name: "h2d",
            units: linear,
            work: |bytes| drop(simulate(&machine("h100-nvl-tdx"), h2d(bytes, DataMode::None, Kernel::Skip))),
        }],
    },
    Question {
        name: "gpus",
        title: "64 MiB to GPUs of h100-nvl-tdx, hgx-h100-8gpu and generic-16gpu (behind switches), --data none",
        across: "GPUs",
        up: "Host time for each byte, over that of the first point",
        xs: &[1, 8, 16],
        series: &[
            Series { name: "to each GPU, one thread", units: linear, work: |gpus| to_gpus(gpus, gpus, 1) },
            Series {
                name: "to each, a thread for each core",
                units: linear,
                work: |gpus| to_gpus(gpus, gpus, pool::threads()),
            },
            Series { name: "to the first GPU alone", units: |_| 1.0, work: |gpus| to_gpus(gpus, 1, 1) },
        ],
    },
    Question {
        name: "streams",
        title: "256 copies of 1 MiB to the device, dealt to streams, h100-nvl-tdx, --data none",
        across: "Streams",
        up: "Host time for each byte, over that of the first point",
        xs: &[1, 2, 4, 8, 16],
        series: &[
            Series { name: "confidential computing on", units: |_| 1.0, work: |streams| dealt(streams, None) },
            Series { name: "off", units: |_| 1.0, work: |streams| dealt(streams, Some("off")) },
        ],
    },
    Question {
        name: "points",
        title: "A study of copies of 1 MiB, --data none, a thread for each core",
        across: "Points",
        up: "Host time for each point, over that of the first",
        xs: &[100, 1_000, 10_000],
        series: &[Series { name: "sweep", units: linear, work: |points| _ = sweep(points / 100, pool::threads()) }],
    },
];

/// Work that grows as what is made larger.
fn linear(x: u64) -> f64 {
    x as f64
}

/// A copy to each of the first GPUs of the machine that has `gpus`.
fn to_gpus(gpus: u64, first: u64, threads: usize) {
    let name = match gpus {
        1 => "h100-nvl-tdx",
        8 => "hgx-h100-8gpu",
        _ => "generic-16gpu",
    };
    let machine = machine(name);
    assert_eq!(machine.gpus() as u64, gpus);
    let mut request = h2d(EACH, DataMode::None, Kernel::Skip);
    let others = (1..first as usize).flat_map(|gpu| Request::h2d(EACH).on_gpu(gpu).copies);
    request.copies.extend(others);
    simulate_on(&machine, request, NonZero::new(threads).unwrap_or(NonZero::<usize>::MIN));
}

/// Copies that go to streams in turn, under a design.
fn dealt(streams: u64, design: Option<&str>) {
    let layers = Layers::new("h100-nvl-tdx");
    let layers = design.into_iter().fold(layers, Layers::overlay);
    let machine = layers.resolve().expect("a shipped machine").machine;
    let copies = (0..TOGETHER / PIECE).map(|number| {
        let mut copies = Request::h2d(PIECE).copies;
        copies.iter_mut().for_each(|copy| copy.buffer = number as u32);
        copies
    });
    let copies: Vec<_> = copies.flatten().collect();
    let step = |stream: u64, operation| Step { gpu: 0, stream: stream as u32, operation };
    let made = (0..copies.len()).map(|copy| step(copy as u64 % streams, Operation::Copy { copy, blocking: false }));
    let program = made.chain((0..streams).map(|stream| step(stream, Operation::Sync))).collect();
    simulate(&machine, Request { copies, program, ..h2d(PIECE, DataMode::None, Kernel::Skip) });
}
