//! Replays as timelines, one below the other over one axis of time, as a picture.
//!
//! ```text
//!  Timeline --> [ columns ] time in each column of pixels, by mark --> an area for each mark, stacked
//! ```
//!
//! A mark is as high in its row as the share of its column that it takes. So a trace of any length makes a small file, and what is short
//! neither vanishes nor looks longer than it is.

mod areas;
mod layout;
mod legend;

use super::{
    axis::Axis,
    columns::Columns,
    drawing::{Anchor, BLACK, Colour, Drawing, GRID, Paint, Stroke, Text, cut},
};
use crate::{
    replay::{Mark, Ns, Owner, Timeline},
    report::replay::time,
};
use areas::{areas, shares};
use layout::{BETWEEN, GPU, LEFT, LINE, RIGHT, THREAD, TOP, WIDTH, across};
use legend::{END, legend, named};

/// Places of areas that are drawn at most, which bounds the file: some 9 bytes each.
const PLACES: usize = 25_000;
/// Pixels of names that are drawn.
const NAME: f64 = (WIDTH - LEFT - RIGHT) as f64 - 300.0;
/// Where a row has nothing.
const EMPTY: Colour = Colour(0xed, 0xed, 0xed);

#[derive(Debug, Clone)]
pub struct Run<'a> {
    /// `off`, `cc`, or a design.
    pub name: &'a str,
    /// How many times as long as `off` it takes.
    pub slowdown: Option<f64>,
    pub timeline: Timeline,
}

/// What of a job is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Whole,
    /// A step of its loop.
    Step,
}

/// The picture of some runs of one job.
pub fn draw(title: &str, part: Part, runs: &[Run<'_>]) -> Drawing {
    let end = runs.iter().map(|run| run.timeline.end).max().unwrap_or(0).max(1);
    let columns = Columns::new((WIDTH - LEFT - RIGHT) / step(runs), end);
    let bottom = TOP + runs.iter().map(height).sum::<usize>();
    let mut drawing = Drawing::new(WIDTH as f64, (bottom + 6 * LINE + 2 * BETWEEN) as f64);
    drawing.text((LEFT as f64, 20.0), Anchor::Start, &cut(title, (WIDTH - LEFT - RIGHT) as f64));
    axis(&mut drawing, part, end, bottom);
    let mut top = TOP;
    for run in runs {
        band(&mut drawing, run, columns, top);
        top += height(run);
    }
    legend(&mut drawing, part, columns.length(0), bottom + 2 * LINE);
    drawing
}

/// Pixels of a column: more than one if there are many rows.
fn step(runs: &[Run<'_>]) -> usize {
    let areas = |owner: Owner| if matches!(owner, Owner::Thread(_)) { Mark::HOST.len() } else { 1 };
    let areas: usize = runs.iter().flat_map(|run| &run.timeline.rows).map(|row| areas(row.owner)).sum();
    (areas * (WIDTH - LEFT - RIGHT)).div_ceil(PLACES).clamp(1, 40)
}

const fn row_height(owner: Owner) -> usize {
    if matches!(owner, Owner::Thread(_)) { THREAD } else { GPU }
}

/// What a run takes from top to bottom.
fn height(run: &Run<'_>) -> usize {
    LINE + run.timeline.rows.iter().map(|row| row_height(row.owner) + BETWEEN).sum::<usize>() + 2 * BETWEEN
}

/// The axis, with a line through all runs at round times.
fn axis(drawing: &mut Drawing, part: Part, end: Ns, bottom: usize) {
    let (unit, each) = match end {
        0..2_000 => ("ns", 1.0),
        2_000..2_000_000 => ("µs", 1e3),
        2_000_000..2_000_000_000 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    let low = bottom as f64;
    let axis = Axis { low: 0.0, high: end as f64 / each, logarithmic: false, whole: false };
    for (value, name) in axis.named(false) {
        let place = across(end, value * each);
        drawing.lines(&[(place, TOP as f64), (place, low)], Stroke::solid(GRID, 1.0));
        drawing.text((place, low + 16.0), Anchor::Middle, &name);
    }
    let from = if part == Part::Step { "step" } else { "first operation" };
    let label = format!("Time from the start of the {from} ({unit})");
    drawing.text(((WIDTH - RIGHT) as f64, low + 34.0), Anchor::End, &label);
}

/// A run: what it took, and its rows.
fn band(drawing: &mut Drawing, run: &Run<'_>, columns: Columns, top: usize) {
    let name = cut(run.name, NAME);
    let end = time(run.timeline.end);
    let took = if run.name == "off" {
        format!("{name}: {end}")
    } else {
        match run.slowdown {
            Some(slowdown) => format!("{name}: {end}, {slowdown:.3} times as long as off"),
            None if run.timeline.end == 0 => format!("{name}: nothing is left of the step"),
            None => format!("{name}: how long it takes is not modelled"),
        }
    };
    let (first, mut low) = (top + LINE, top + LINE);
    let at = (LEFT as f64, (first - 6) as f64);
    let (anchor, colour, text) = (Anchor::Start, BLACK, took);
    drawing.item_of_text(Text { at, anchor, size: 13.0, upwards: false, colour, text });
    let ends = across(columns.begins(columns.count()), run.timeline.end as f64);
    for row in &run.timeline.rows {
        let high = row_height(row.owner);
        low += high + BETWEEN;
        let at = ((LEFT - 8) as f64, (low - (high - 8) / 2) as f64);
        let row_name = row_name(row.owner, run);
        drawing.text(at, Anchor::End, &row_name);
        drawing.rectangle((LEFT as f64, (low - high) as f64), (ends, low as f64), Paint::fill(EMPTY));
        let marks: &[Mark] = match &row.owner {
            Owner::Thread(_) => &Mark::HOST,
            Owner::Gpu(_, mark) => std::slice::from_ref(mark),
        };
        let says = |mark: Mark| {
            let spans = row.marks.iter().filter(|(of, _)| *of == mark).map(|(_, span)| span.end - span.start);
            format!("{name}, {row_name}: {}, {}", named(mark).0, time(spans.sum()))
        };
        areas(drawing, &shares(&row.marks, marks, columns, high), (marks, columns, low), says);
    }
    drawing.lines(&[(ends, first as f64), (ends, low as f64)], END);
}

fn row_name(owner: Owner, run: &Run<'_>) -> String {
    let several = run.timeline.rows.iter().any(|row| matches!(row.owner, Owner::Gpu(gpu, _) if gpu > 0));
    let (gpu, mark) = match owner {
        Owner::Thread(thread) => return format!("thread {}", thread + 1),
        Owner::Gpu(gpu, mark) => (if several { format!("GPU {gpu} ") } else { "GPU ".to_owned() }, mark),
    };
    let what = match mark {
        Mark::H2d => "h2d",
        Mark::D2h => "d2h",
        Mark::Kernels => "kernels",
        _ => "other",
    };
    gpu + what
}

#[cfg(test)]
mod tests {
    use super::{legend::named, *};
    use crate::{
        replay::{Row, Span},
        report::plot::{
            drawing::{Item, Step},
            svg::{self, tests::well_formed},
        },
    };

    fn row(owner: Owner, marks: &[(Mark, Ns, Ns)]) -> Row {
        let marks = marks.iter().map(|(mark, start, end)| (*mark, Span { start: *start, end: *end })).collect();
        Row { owner, marks }
    }

    fn run(name: &str, end: Ns) -> Run<'_> {
        let rows = vec![
            row(
                Owner::Thread(0),
                &[(Mark::Copies, 0, end / 2), (Mark::Waits, end / 2, end), (Mark::Launches, end, 2 * end)],
            ),
            row(Owner::Thread(1), &[]),
            row(Owner::Gpu(0, Mark::Kernels), &[(Mark::Kernels, end - 1, end)]),
        ];
        Run { name, slowdown: Some(1.5), timeline: Timeline { rows, end } }
    }

    fn places(drawing: &Drawing) -> Vec<(f64, f64)> {
        let of = |item: &Item| match item {
            Item::Path(steps, _) => steps
                .iter()
                .filter_map(|step| match *step {
                    Step::Move(x, y) | Step::Line(x, y) => Some((x, y)),
                    Step::Close => None,
                })
                .collect(),
            Item::Disc(at, ..) => vec![*at],
            Item::Text(text) => vec![text.at],
        };
        drawing.items.iter().flat_map(of).collect()
    }

    fn svg(title: &str, runs: &[Run<'_>]) -> String {
        svg::write(&draw(title, Part::Whole, runs))
    }

    #[test]
    fn each_run_has_a_band_and_all_of_it_is_inside_the_picture() {
        let runs = [run("off", 1_000), run("cc", 1_500_000)];
        let (drawing, svg) = (draw("a<b & c", Part::Whole, &runs), svg("a<b & c", &runs));
        assert!(well_formed(&svg), "{svg}");
        assert!(svg.contains(">a&lt;b &amp; c<") && svg.contains(">off: 1.00 us<"), "{svg}");
        assert!(svg.contains(">cc: 1.50 ms, 1.500 times as long as off<") && svg.contains("operation (µs)<"), "{svg}");
        let places = places(&drawing);
        assert!(places.len() > 40);
        for (x, y) in places {
            assert!((0.0..=drawing.width).contains(&x) && (0.0..=drawing.height).contains(&y), "{x}, {y}");
        }
        // The last nanosecond of 1.5 ms is a pixel in the last column.
        let paint = Paint::fill(named(Mark::Kernels).1);
        let kernels = drawing
            .items
            .iter()
            .rfind(|item| matches!(item, Item::Path(steps, own) if *own == paint && steps.len() > 5));
        let Some(Item::Path(steps, _)) = kernels else { panic!("no kernels: {svg}") };
        let right = (WIDTH - RIGHT) as f64;
        assert!(steps.iter().any(|step| matches!(step, Step::Line(x, _) if *x == right)), "{steps:?}");
    }

    #[test]
    fn threads_without_calls_and_jobs_without_rows_are_drawn() {
        let empty = Run { name: "cc", slowdown: Some(1.0), timeline: Timeline::default() };
        assert!(well_formed(&svg("", &[empty])) && well_formed(&svg("", &[])));
        assert!(svg("", &[run("off", 10)]).contains(">thread 2<"));
    }

    #[test]
    fn a_file_stays_small_however_many_marks_and_runs_there_are() {
        let busy = |mark: Mark| (0..30_000).map(move |place| (mark, 1000 * place, 1000 * place + place % 977));
        let mut rows = Vec::new();
        for thread in 0..4 {
            rows.push(row(Owner::Thread(thread), &Mark::HOST.into_iter().flat_map(busy).collect::<Vec<_>>()));
        }
        for mark in Mark::GPU {
            rows.push(row(Owner::Gpu(0, mark), &busy(mark).collect::<Vec<_>>()));
        }
        let one = Run { name: "cc", slowdown: Some(1.0), timeline: Timeline { rows, end: 100_000_000 } };
        for count in [1, 12] {
            let svg = svg("many", &vec![one.clone(); count]);
            assert!(svg.len() < 300_000, "{count} runs: {} bytes", svg.len());
        }
    }
}
