//! Errors of simulated figures, by data set and class of point.

use super::{
    catalogue::Dataset,
    class::{Class, Seen},
    measured::Point,
};
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scored {
    pub label: String,
    pub measured: f64,
    pub simulated: f64,
    pub unit: &'static str,
    /// Simulated over measured, less one, in percent.
    pub error_percent: f64,
    /// What the shipped parameters owe to it.
    pub class: Class,
    pub used_to_fit: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Errors {
    /// Mean of the errors' magnitudes.
    pub mape_percent: f64,
    /// Mean of the errors with their signs: positive where the model gives more than was measured.
    pub bias_percent: f64,
    /// Magnitude of the greatest.
    pub worst_percent: f64,
    pub worst_point: String,
}

/// A data set with its errors. Those that are not of `fit` or `informed` are over the points held out, and null if there are none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DatasetScore {
    pub name: String,
    pub kind: &'static str,
    pub machines: Vec<String>,
    pub points: usize,
    /// Those to which parameters were fitted.
    pub points_used_to_fit: usize,
    /// Those seen while a parameter or mechanism was chosen, and not fitted to.
    pub points_informed: usize,
    pub points_held_out: usize,
    /// Rows that the model does not cover.
    pub rows_left_out: usize,
    pub mape_percent: Option<f64>,
    pub bias_percent: Option<f64>,
    pub worst_percent: Option<f64>,
    pub worst_point: Option<String>,
    /// The same over the points that parameters were fitted to.
    pub fit: Option<Errors>,
    /// The same over the informed points.
    pub informed: Option<Errors>,
    /// Which parameters were chosen with informed points in view.
    pub seen: Vec<Seen>,
    pub values: Vec<Scored>,
}

impl Scored {
    pub fn new(point: &Point, class: Class, simulated: f64) -> Self {
        let measured = point.measured;
        let error_percent = (simulated / measured - 1.0) * 100.0;
        let used_to_fit = class == Class::Fitted;
        Self { label: point.label.clone(), measured, simulated, unit: point.unit, error_percent, class, used_to_fit }
    }
}

impl Errors {
    /// Over the points given; none if there are none.
    pub fn over<'s>(points: impl Iterator<Item = &'s Scored> + Clone) -> Option<Self> {
        let worst = points.clone().max_by(|a, b| a.error_percent.abs().total_cmp(&b.error_percent.abs()))?;
        let count = points.clone().count() as f64;
        Some(Self {
            mape_percent: points.clone().map(|point| point.error_percent.abs()).sum::<f64>() / count,
            bias_percent: points.map(|point| point.error_percent).sum::<f64>() / count,
            worst_percent: worst.error_percent.abs(),
            worst_point: worst.label.clone(),
        })
    }
}

impl DatasetScore {
    /// A data set's points with their figures, in the same order.
    pub fn new(dataset: &Dataset, machines: Vec<String>, simulated: &[f64]) -> Self {
        let pairs = dataset.points.iter().zip(simulated);
        let values: Vec<_> = pairs.map(|((point, class), figure)| Scored::new(point, *class, *figure)).collect();
        let of = |class| values.iter().filter(move |point| point.class == class);
        let held_out = Errors::over(of(Class::HeldOut));
        Self {
            name: dataset.name.clone(),
            kind: dataset.kind.name(),
            machines,
            points: values.len(),
            points_used_to_fit: of(Class::Fitted).count(),
            points_informed: of(Class::Informed).count(),
            points_held_out: of(Class::HeldOut).count(),
            rows_left_out: dataset.left_out.len(),
            mape_percent: held_out.as_ref().map(|errors| errors.mape_percent),
            bias_percent: held_out.as_ref().map(|errors| errors.bias_percent),
            worst_percent: held_out.as_ref().map(|errors| errors.worst_percent),
            worst_point: held_out.map(|errors| errors.worst_point),
            fit: Errors::over(of(Class::Fitted)),
            informed: Errors::over(of(Class::Informed)),
            seen: dataset.seen.clone(),
            values,
        }
    }

    /// The points of a class, and their errors if there are any.
    pub fn of(&self, class: Class) -> (usize, Option<Errors>) {
        let points = self.values.iter().filter(move |point| point.class == class);
        (points.clone().count(), Errors::over(points))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_over_the_points_held_out_and_apart_over_those_fitted_to_or_seen() {
        let rows: String = (1..=4).map(|bytes| format!("p,cc,pinned,h2d,{bytes},100\n")).collect();
        let text = format!("platform,mode,host_memory,direction,bytes,api_us\n{rows}");
        let mut dataset = Dataset::read("d", "f", &text).unwrap();
        (dataset.points[2].1, dataset.points[3].1) = (Class::Fitted, Class::Informed);
        let score = DatasetScore::new(&dataset, Vec::new(), &[110.0, 70.0, 150.0, 190.0]);
        let near = |value: Option<f64>, wanted: f64| value.is_some_and(|value| (value - wanted).abs() < 1e-9);
        assert!(near(score.mape_percent, 20.0) && near(score.bias_percent, -10.0) && near(score.worst_percent, 30.0));
        assert_eq!(score.worst_point.as_deref(), Some("cc pinned h2d 2 B"));
        assert!(near(score.fit.as_ref().map(|fit| fit.bias_percent), 50.0));
        assert!(near(score.informed.as_ref().map(|seen| seen.bias_percent), 90.0));
        assert_eq!(Class::ALL.map(|class| score.of(class).0), [1, 1, 2]);
        assert_eq!((score.points, score.points_used_to_fit, score.points_informed), (4, 1, 1));
        let none_held_out = Dataset { points: dataset.points[2..].to_vec(), ..dataset };
        let score = DatasetScore::new(&none_held_out, Vec::new(), &[150.0, 190.0]);
        assert_eq!((score.mape_percent, score.points_held_out), (None, 0));
    }
}
