//! Measured against simulated, by data set: what [`terminal`](super::terminal) and pictures show.

use super::{
    axis::Axis,
    figure::{Across, Figure, Join, Label, Panel as Area, Point, Series},
    legend::{Key, Sample},
    mark::Style,
};
use crate::validate::{
    catalogue::Dataset,
    class::Class,
    measured::{Mode, Point as Measured},
    score::{DatasetScore, Scored},
};

#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    pub title: String,
    /// What is along the horizontal axis.
    pub x_label: &'static str,
    pub unit: &'static str,
    /// Its curves, without confidential computing first.
    pub curves: Vec<Line>,
    /// By place along the horizontal axis: its name, where places are names.
    pub names: Vec<(f64, String)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub mode: Mode,
    pub platform: String,
    /// Its points from left to right.
    pub points: Vec<Pair>,
}

/// What was measured at a place, and what is simulated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Along the horizontal axis.
    pub place: f64,
    pub measured: f64,
    pub simulated: f64,
    /// What the shipped parameters owe to the point.
    pub class: Class,
}

impl Panel {
    /// The plots of a data set, in the order in which its table names them.
    pub fn of(dataset: &Dataset, score: &DatasetScore) -> Vec<Self> {
        let mut panels: Vec<Self> = Vec::new();
        for ((point, _), scored) in dataset.points.iter().zip(&score.values) {
            let title = format!("{}: {}", dataset.name, point.curve.panel);
            let place = panels.iter().position(|panel| panel.title == title).unwrap_or_else(|| {
                let (x_label, unit) = (point.curve.x_label, point.unit);
                panels.push(Self { title, x_label, unit, curves: Vec::new(), names: Vec::new() });
                panels.len() - 1
            });
            panels[place].add(point, scored);
        }
        for curve in panels.iter_mut().flat_map(|panel| &mut panel.curves) {
            curve.points.sort_by(|a, b| a.place.total_cmp(&b.place));
        }
        panels
    }

    fn add(&mut self, point: &Measured, scored: &Scored) {
        let (mode, platform, x) = (point.mode, &point.platform, point.curve.x);
        let own = |curve: &Line| curve.mode == mode && curve.platform == *platform;
        let place = self.curves.iter().position(own).unwrap_or_else(|| {
            self.curves.push(Line { mode, platform: platform.clone(), points: Vec::new() });
            self.curves.sort_by_key(|curve| curve.mode == Mode::Cc);
            self.curves.iter().position(own).unwrap_or(0)
        });
        let (measured, simulated, class) = (scored.measured, scored.simulated, scored.class);
        self.curves[place].points.push(Pair { place: x, measured, simulated, class });
        if let Some(name) = point.cells.get("program").or_else(|| point.cells.get("app"))
            && !self.names.iter().any(|(known, _)| *known == x)
        {
            self.names.push((x, name.clone()));
            self.names.sort_by(|one, other| one.0.total_cmp(&other.0));
        }
    }

    /// The horizontal axis of curves out of characters.
    pub fn x_axis(&self) -> Axis {
        let values = self.curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.place));
        Axis::over(values, matches!(self.x_label, "bytes" | "streams"))
    }

    pub fn y_axis(&self) -> Axis {
        let values = self
            .curves
            .iter()
            .flat_map(|curve| curve.points.iter().flat_map(|point| [point.measured, point.simulated]));
        Axis::over(values, true)
    }

    /// The plot: measured filled, simulated in outlines; programs by name, and not joined.
    pub fn figure(&self) -> Figure {
        let across = match self.x_label {
            "program" => Across::Names("Program".into(), self.names.iter().map(|(_, name)| name.clone()).collect()),
            other => Across::Values(Label::new(words(other))),
        };
        let several = self.classes().len() > 1;
        let (mut series, mut keys) = (Vec::new(), Vec::new());
        for (number, curve) in self.curves.iter().enumerate() {
            for (what, simulated) in [("measured", false), ("simulated", true)] {
                let mut one = self.series(curve, (what, simulated), Style::of(2 * number + usize::from(simulated)));
                if several && !simulated {
                    keys.extend(mark_classes(&mut one, curve));
                } else {
                    let apart = one.join == Join::Apart;
                    let sample = if apart { Sample::Mark(one.style) } else { Sample::Curve(one.style) };
                    keys.push(Key::new(sample, one.name.clone()));
                }
                series.push(one);
            }
        }
        let up = Label::new(words(self.unit));
        let panel = Area { title: String::new(), across, up, series };
        Figure { title: self.title.clone(), panels: vec![panel], keys, notes: Vec::new() }
    }

    fn classes(&self) -> Vec<Class> {
        let has = |class| self.curves.iter().flat_map(|curve| &curve.points).any(|point| point.class == class);
        Class::ALL.into_iter().filter(|class| has(*class)).collect()
    }

    fn series(&self, curve: &Line, (what, simulated): (&str, bool), style: Style) -> Series {
        let place = |x: f64| {
            let name = self.names.iter().position(|(known, _)| *known == x);
            name.filter(|_| self.x_label == "program").map_or(x, |place| place as f64)
        };
        let figure = |point: &Pair| if simulated { point.simulated } else { point.measured };
        let points: Vec<_> = curve.points.iter().map(|point| Point::new(place(point.place), figure(point))).collect();
        // Several points at one place are no curve.
        let one = self.x_label != "program" && points.windows(2).all(|pair| pair[0].x < pair[1].x);
        let mode = if curve.mode == Mode::Cc { "CC on" } else { "CC off" };
        let several = self.curves.iter().any(|other| other.platform != curve.platform);
        let platform = if several { format!("{}, ", curve.platform) } else { String::new() };
        let join = if one { Join::Line } else { Join::Apart };
        let style = if simulated { style.hollow() } else { style };
        Series { name: format!("{platform}{mode}, {what}"), style, points, join, levels: Vec::new() }
    }
}

/// Gives the points of a measured curve the marks of their classes; returns what each mark means.
fn mark_classes(series: &mut Series, curve: &Line) -> Vec<Key> {
    for (point, pair) in series.points.iter_mut().zip(&curve.points) {
        point.style = Some(styled(series.style, pair.class));
    }
    let own = Class::ALL.into_iter().filter(|class| curve.points.iter().any(|point| point.class == *class));
    // A line joins points of all classes, so a key has none.
    let key = |class: Class| {
        Key::new(Sample::Mark(styled(series.style, class)), format!("{}, {}", series.name, class.name()))
    };
    own.map(key).collect()
}

/// How a measured point of a class is marked: those that nothing was fitted to as the series itself.
fn styled(style: Style, class: Class) -> Style {
    style.kind(match class {
        Class::HeldOut => 0,
        Class::Informed => 1,
        Class::Fitted => 2,
    })
}

/// Words with the unit for what tables of measurements call their figures and places.
fn words(unit: &'static str) -> &'static str {
    match unit {
        "GB/s" => "Rate (GB/s)",
        "us" => "Time (µs)",
        "ms" => "Time (ms)",
        "s" => "Time (s)",
        "B/clk/SM" => "Text per cycle and SM (B)",
        "bytes" => "Length of a copy (bytes)",
        "streams" => "Streams",
        "GHz" => "Clock of the CPU (GHz)",
        other => other,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::svg;
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
        let of = |point: &Pair| (point.place, point.measured, point.simulated);
        let points: Vec<_> =
            panel.curves.iter().map(|curve| (curve.mode, curve.points.iter().map(of).collect::<Vec<_>>())).collect();
        let off = (Mode::Off, vec![(64.0, 0.5, 0.5), (1024.0, 20.0, 10.0)]);
        assert_eq!(points, [off, (Mode::Cc, vec![(64.0, 0.1, 0.2), (1024.0, 1.0, 1.0)])]);
        assert_eq!(panel.y_axis(), Axis { low: 0.1, high: 20.0, logarithmic: true, whole: false });
    }

    #[test]
    fn curves_are_joined_by_mode_and_say_which_is_measured() {
        let figure = panel().figure();
        let names: Vec<_> = figure.keys.iter().map(|key| key.text.as_str()).collect();
        assert_eq!(names, ["CC off, measured", "CC off, simulated", "CC on, measured", "CC on, simulated"]);
        assert!(figure.panels[0].series.iter().all(|one| one.join == Join::Line && one.points.len() == 2));
        let svg = svg::write(&figure.draw());
        assert!(svg.contains(">a&lt;b: pinned h2d<") && svg.contains(">Rate (GB/s)<") && !svg.contains("NaN"));
    }

    #[test]
    fn measured_points_of_several_classes_have_a_mark_and_a_key_for_each() {
        let mut panel = panel();
        panel.curves[1].points[0].class = Class::Fitted;
        let figure = panel.figure();
        let keys: Vec<_> = figure.keys.iter().map(|key| key.text.as_str()).collect();
        let rest = ["CC on, measured, fitted", "CC on, measured, held out", "CC on, simulated"];
        assert_eq!(keys, [&["CC off, measured, held out", "CC off, simulated"], &rest[..]].concat());
        let marks: Vec<_> = figure.panels[0].series[2].points.iter().map(|point| point.style).collect();
        let own = figure.panels[0].series[2].style;
        assert_eq!(marks, [Some(styled(own, Class::Fitted)), Some(own)]);
        assert!(styled(own, Class::Fitted).colour() == own.colour());
        assert!(figure.panels[0].series[3].points.iter().all(|point| point.style.is_none()));
    }

    #[test]
    fn points_of_two_platforms_or_at_one_place_are_not_one_curve() {
        let mut panel = panel();
        panel.curves[1].platform = "q".into();
        let last = panel.curves[1].points[1];
        panel.curves[1].points.push(last);
        let figure = panel.figure();
        let of = |place: usize| (figure.panels[0].series[place].name.as_str(), figure.panels[0].series[place].join);
        assert_eq!((of(0), of(2)), (("p, CC off, measured", Join::Line), ("q, CC on, measured", Join::Apart)));
    }

    #[test]
    fn programs_stand_by_name_and_are_not_joined() {
        let mut panel = panel();
        panel.x_label = "program";
        panel.names = vec![(64.0, "kmeans".into()), (1024.0, "nn".into())];
        let area = &panel.figure().panels[0];
        assert_eq!(area.across, Across::Names("Program".into(), vec!["kmeans".into(), "nn".into()]));
        assert!(area.series.iter().all(|one| one.join == Join::Apart && one.points[1].x == 1.0));
    }
}
