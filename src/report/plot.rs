//! Measured against simulated, as curves: [`svg`] for documents, [`terminal`] for people at work. What a study found: [`chart`]. Replays of a
//! program: [`timeline`].

pub mod chart;
mod columns;
pub mod svg;
pub mod terminal;
pub mod timeline;

use crate::validate::{
    catalogue::Dataset,
    measured::Mode,
    score::{DatasetScore, Scored},
};

/// One plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// What it is of.
    pub title: String,
    /// What stands along the horizontal axis.
    pub x_label: &'static str,
    /// Unit of the vertical axis.
    pub unit: &'static str,
    /// Its curves, without confidential computing first.
    pub curves: Vec<Line>,
}

/// The points of one curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// With confidential computing or without.
    pub mode: Mode,
    /// Place, measured figure, simulated figure; from left to right.
    pub points: Vec<(f64, f64, f64)>,
}

impl Panel {
    /// The plots of a data set, in the order in which its table names them.
    #[must_use]
    pub fn of(dataset: &Dataset, score: &DatasetScore) -> Vec<Self> {
        let mut panels: Vec<Self> = Vec::new();
        for ((point, _), scored) in dataset.points.iter().zip(&score.values) {
            let title = format!("{}: {}", dataset.name, point.curve.panel);
            let place = panels.iter().position(|panel| panel.title == title).unwrap_or_else(|| {
                panels.push(Self { title, x_label: point.curve.x_label, unit: point.unit, curves: Vec::new() });
                panels.len() - 1
            });
            panels[place].add(point.mode, point.curve.x, scored);
        }
        for curve in panels.iter_mut().flat_map(|panel| &mut panel.curves) {
            curve.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        panels
    }

    fn add(&mut self, mode: Mode, x: f64, scored: &Scored) {
        let place = self.curves.iter().position(|curve| curve.mode == mode).unwrap_or_else(|| {
            self.curves.push(Line { mode, points: Vec::new() });
            self.curves.sort_by_key(|curve| curve.mode == Mode::Cc);
            self.curves.iter().position(|curve| curve.mode == mode).unwrap_or(0)
        });
        self.curves[place].points.push((x, scored.measured, scored.simulated));
    }

    /// The horizontal axis.
    #[must_use]
    pub fn x_axis(&self) -> Axis {
        let values = self.curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.0));
        Axis::over(values, matches!(self.x_label, "bytes" | "streams"))
    }

    /// The vertical axis.
    #[must_use]
    pub fn y_axis(&self) -> Axis {
        let values = self.curves.iter().flat_map(|curve| curve.points.iter().flat_map(|point| [point.1, point.2]));
        Axis::over(values, true)
    }
}

/// From values to places between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    /// Least value.
    pub low: f64,
    /// Greatest value.
    pub high: f64,
    /// Whether equal ratios, not equal differences, take equal room.
    pub logarithmic: bool,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64> + Clone, logarithmic: bool) -> Self {
        let usable = values.filter(|value| value.is_finite() && (!logarithmic || *value > 0.0));
        let low = usable.clone().fold(f64::INFINITY, f64::min);
        let high = usable.fold(f64::NEG_INFINITY, f64::max);
        if low > high { Self { low: 1.0, high: 10.0, logarithmic } } else { Self { low, high, logarithmic } }
    }

    /// Where a value stands: 0 at the low end, 1 at the high one. An axis of one value has it in the middle.
    #[must_use]
    pub fn place(&self, value: f64) -> f64 {
        let scaled = |value: f64| if self.logarithmic { value.max(f64::MIN_POSITIVE).ln() } else { value };
        let span = scaled(self.high) - scaled(self.low);
        if span > 0.0 { ((scaled(value) - scaled(self.low)) / span).clamp(0.0, 1.0) } else { 0.5 }
    }

    /// The same axis with some room at both ends.
    #[must_use]
    pub fn widened(self) -> Self {
        if self.logarithmic {
            let room = (self.high / self.low).powf(0.04).max(1.05);
            return Self { low: self.low / room, high: self.high * room, ..self };
        }
        let room = ((self.high - self.low) * 0.04).max(0.5);
        Self { low: self.low - room, high: self.high + room, ..self }
    }
}

/// A figure with three digits: `0.00292`, `43.0`, `2 MiB` for bytes.
#[must_use]
pub fn tick(value: f64, label: &str) -> String {
    if label == "bytes" && value >= 1.0 {
        return crate::units::Bytes(value as u64).to_string();
    }
    let digits = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
    let decimals = (2 - digits).clamp(0, 9) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A panel with two curves.
    pub fn panel() -> Panel {
        let text = "platform,mode,host_memory,direction,bytes,gb_per_s\np,cc,pinned,h2d,1024,1\np,cc,pinned,h2d,64,0.1\n\
                    p,off,pinned,h2d,64,0.5\np,off,pinned,h2d,1024,20\n";
        let dataset = Dataset::read("a<b", "f", text).unwrap();
        let score = DatasetScore::new(&dataset, Vec::new(), &[1.0, 0.2, 0.5, 10.0]);
        let mut panels = Panel::of(&dataset, &score);
        assert_eq!(panels.len(), 1);
        panels.remove(0)
    }

    #[test]
    fn a_panel_has_a_curve_for_each_mode_in_order_of_size() {
        let panel = panel();
        assert_eq!(panel.title, "a<b: pinned h2d");
        let points: Vec<_> = panel.curves.iter().map(|curve| (curve.mode, curve.points.clone())).collect();
        let off = (Mode::Off, vec![(64.0, 0.5, 0.5), (1024.0, 20.0, 10.0)]);
        assert_eq!(points, [off, (Mode::Cc, vec![(64.0, 0.1, 0.2), (1024.0, 1.0, 1.0)])]);
        assert_eq!(panel.y_axis(), Axis { low: 0.1, high: 20.0, logarithmic: true });
    }

    #[test]
    fn an_axis_without_extent_has_its_value_in_the_middle() {
        let axis = Axis::over([5.0].into_iter(), true);
        assert_eq!(axis.place(5.0), 0.5);
        assert!((Axis::over([1.0, 100.0].into_iter(), true).place(10.0) - 0.5).abs() < 1e-12);
        assert_eq!(Axis::over(std::iter::empty(), true).place(1.0), 0.0);
    }

    #[test]
    fn ticks_have_three_digits() {
        let ticks = [0.002_916, 43.037, 2653.4, 0.0, 1.0].map(|value| tick(value, "GB/s"));
        assert_eq!(ticks, ["0.00292", "43", "2653", "0", "1"]);
        assert_eq!(tick(2_097_152.0, "bytes"), "2 MiB");
    }
}
