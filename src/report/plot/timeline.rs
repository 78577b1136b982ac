//! Replays as timelines, one below the other over one axis of time, as SVG that needs no other file.
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
    Axis, chart,
    columns::Columns,
    svg::{rule, text},
    tick,
};
use crate::{
    replay::{Mark, Ns, Owner, Timeline},
    report::replay::time,
};
use areas::{areas, shares};
use layout::{BETWEEN, GPU, LEFT, LINE, RIGHT, THREAD, TOP, WIDTH, across};
use legend::legend;
use std::fmt::Write;

/// Places of areas that are drawn at most, which bounds the file: some 9 bytes each.
const PLACES: usize = 25_000;
/// Characters of names that are drawn.
const NAME: usize = 110;

/// A run.
#[derive(Debug, Clone)]
pub struct Run<'a> {
    /// `off`, `cc`, or a design.
    pub name: &'a str,
    /// How many times as long as `off` it takes.
    pub slowdown: f64,
    /// Its marks.
    pub timeline: Timeline,
}

/// The picture of some runs of one job.
#[must_use]
pub fn draw(title: &str, runs: &[Run<'_>]) -> String {
    let end = runs.iter().map(|run| run.timeline.end).max().unwrap_or(0).max(1);
    let columns = Columns::new((WIDTH - LEFT - RIGHT) / step(runs), end);
    let bottom = TOP + runs.iter().map(height).sum::<usize>();
    let height = bottom + 6 * LINE + 2 * BETWEEN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    text(&mut svg, LEFT as f64, 20.0, "start", &cut(title));
    axis(&mut svg, end, bottom);
    let mut top = TOP;
    for run in runs {
        band(&mut svg, run, columns, top);
        top += self::height(run);
    }
    legend(&mut svg, columns.length(0), bottom + 2 * LINE);
    svg.push_str("</svg>\n");
    svg
}

/// Pixels of a column: more than one if there are many rows.
fn step(runs: &[Run<'_>]) -> usize {
    let areas = |owner: Owner| if matches!(owner, Owner::Thread(_)) { Mark::HOST.len() } else { 1 };
    let areas: usize = runs.iter().flat_map(|run| &run.timeline.rows).map(|row| areas(row.owner)).sum();
    (areas * (WIDTH - LEFT - RIGHT)).div_ceil(PLACES).clamp(1, 40)
}

fn cut(name: &str) -> String {
    if name.chars().count() <= NAME { name.to_owned() } else { name.chars().take(NAME - 1).chain(['…']).collect() }
}

const fn row_height(owner: Owner) -> usize {
    if matches!(owner, Owner::Thread(_)) { THREAD } else { GPU }
}

/// What a run takes from top to bottom.
fn height(run: &Run<'_>) -> usize {
    LINE + run.timeline.rows.iter().map(|row| row_height(row.owner) + BETWEEN).sum::<usize>() + 2 * BETWEEN
}

/// The axis, with a line through all runs at round times.
fn axis(svg: &mut String, end: Ns, bottom: usize) {
    let (unit, each) = match end {
        0..2_000 => ("ns", 1.0),
        2_000..2_000_000 => ("us", 1e3),
        2_000_000..2_000_000_000 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    let low = bottom as f64;
    let axis = Axis { low: 0.0, high: end as f64 / each, logarithmic: false };
    for value in chart::ticks(axis, "") {
        let place = across(end, value * each);
        rule(svg, place, TOP as f64, place, low);
        text(svg, place, low + 16.0, "middle", &tick(value, ""));
    }
    let label = format!("time from the start of the first operation, {unit}");
    text(svg, (WIDTH - RIGHT) as f64, low + 34.0, "end", &label);
}

/// A run: what it took, and its rows.
fn band(svg: &mut String, run: &Run<'_>, columns: Columns, top: usize) {
    let name = cut(run.name);
    let end = time(run.timeline.end);
    let took = if run.name == "off" {
        format!("{name}: {end}")
    } else {
        format!("{name}: {end}, {:.3} times as long as off", run.slowdown)
    };
    let (first, mut low) = (top + LINE, top + LINE);
    let _ = writeln!(svg, "<g font-weight=\"bold\">");
    text(svg, LEFT as f64, (first - 6) as f64, "start", &took);
    svg.push_str("</g>\n");
    let ends = across(columns.begins(columns.count()), run.timeline.end as f64);
    for row in &run.timeline.rows {
        let high = row_height(row.owner);
        low += high + BETWEEN;
        text(svg, (LEFT - 8) as f64, (low - (high - 8) / 2) as f64, "end", &row_name(row.owner, run));
        let (up, wide) = (low - high, ends - LEFT as f64);
        let _ = writeln!(svg, "<rect x=\"{LEFT}\" y=\"{up}\" width=\"{wide:.1}\" height=\"{high}\" fill=\"#ededed\"/>");
        let marks: &[Mark] = match &row.owner {
            Owner::Thread(_) => &Mark::HOST,
            Owner::Gpu(_, mark) => std::slice::from_ref(mark),
        };
        areas(svg, &shares(&row.marks, marks, columns, high), (marks, columns, low));
    }
    let _ = writeln!(
        svg,
        "<path d=\"M{ends:.1} {first}V{low}\" stroke=\"#000000\" stroke-width=\"1.5\" stroke-dasharray=\"4 3\"/>"
    );
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
    use super::{legend::colour, *};
    use crate::replay::{Row, Span};

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
        Run { name, slowdown: 1.5, timeline: Timeline { rows, end } }
    }

    /// Whether each tag is closed in its turn. Enough for what is drawn here, which has neither comments nor `>` in attributes.
    fn well_formed(svg: &str) -> bool {
        let mut open = Vec::new();
        for part in svg.split('<').skip(1) {
            let Some((tag, text)) = part.split_once('>') else { return false };
            let stray = text.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "").contains('&');
            let name = tag.split([' ', '/']).find(|name| !name.is_empty()).unwrap_or("");
            let closes = tag.starts_with('/');
            if stray || tag.matches('"').count() % 2 != 0 || closes && open.pop() != Some(name) {
                return false;
            }
            if !closes && !tag.ends_with('/') {
                open.push(name);
            }
        }
        open.is_empty()
    }

    /// Where paths go across and up or down.
    fn places(svg: &str) -> Vec<(char, f64)> {
        let paths = svg.split(" d=\"").skip(1).filter_map(|part| part.split('"').next());
        let place = |(path, (at, command)): (&str, (usize, &str))| {
            let number: String = path[at + 1..].chars().take_while(|one| one.is_ascii_digit() || *one == '.').collect();
            Some((command.chars().next()?, number.parse().ok()?))
        };
        paths
            .flat_map(|path| path.match_indices(['H', 'V']).map(move |found| (path, found)))
            .filter_map(place)
            .collect()
    }

    #[test]
    fn each_run_has_a_band_and_all_of_it_is_inside_the_picture() {
        let svg = draw("a<b & c", &[run("off", 1_000), run("cc", 1_500_000)]);
        assert!(well_formed(&svg), "{svg}");
        assert!(svg.contains(">a&lt;b &amp; c<") && svg.contains(">off: 1.00 us<"), "{svg}");
        assert!(svg.contains(">cc: 1.50 ms, 1.500 times as long as off<") && svg.contains("operation, us<"), "{svg}");
        let places = places(&svg);
        assert!(places.len() > 20);
        let height: f64 = svg.split("height=\"").nth(1).and_then(|rest| rest.split('"').next()?.parse().ok()).unwrap();
        for (command, number) in places {
            let most = if command == 'H' { (WIDTH - RIGHT) as f64 } else { height };
            assert!((0.0..=most).contains(&number), "{command}{number}");
        }
        // The last nanosecond of 1.5 ms is a pixel in the last column.
        let kernels = svg.lines().rfind(|line| line.contains(colour(Mark::Kernels)) && line.contains("<path")).unwrap();
        assert!(kernels.contains(&format!("H{}V", WIDTH - RIGHT)), "{kernels}");
    }

    #[test]
    fn threads_without_calls_and_jobs_without_rows_are_drawn() {
        let empty = Run { name: "cc", slowdown: 1.0, timeline: Timeline::default() };
        assert!(well_formed(&draw("", &[empty])) && well_formed(&draw("", &[])));
        assert!(draw("", &[run("off", 10)]).contains(">thread 2<"));
    }

    #[test]
    fn a_file_stays_small_however_many_marks_and_runs_there_are() {
        let busy = |mark: Mark| (0..100_000).map(move |place| (mark, 1000 * place, 1000 * place + place % 977));
        let mut rows = Vec::new();
        for thread in 0..4 {
            rows.push(row(Owner::Thread(thread), &Mark::HOST.into_iter().flat_map(busy).collect::<Vec<_>>()));
        }
        for mark in Mark::GPU {
            rows.push(row(Owner::Gpu(0, mark), &busy(mark).collect::<Vec<_>>()));
        }
        let one = Run { name: "cc", slowdown: 1.0, timeline: Timeline { rows, end: 100_000_000 } };
        for count in [1, 3, 12] {
            let svg = draw("many", &vec![one.clone(); count]);
            assert!(svg.len() < 300_000, "{count} runs: {} bytes", svg.len());
        }
    }
}
