//! Errors of simulated figures, by data set.

use serde::Serialize;

/// A point with its simulated figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scored {
    /// What it is.
    pub label: String,
    /// The measured figure.
    pub measured: f64,
    /// The simulated one.
    pub simulated: f64,
    /// Unit of both.
    pub unit: &'static str,
    /// Simulated over measured, less one, in percent.
    pub error_percent: f64,
    /// Whether parameters were fitted to it.
    pub used_to_fit: bool,
}

/// Errors over some points.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Errors {
    /// Mean of the errors' magnitudes.
    pub mape_percent: f64,
    /// Mean of the errors with their signs: positive where the model gives more than was measured.
    pub bias_percent: f64,
    /// Magnitude of the greatest.
    pub worst_percent: f64,
    /// The point that has it.
    pub worst_point: String,
}

/// A data set with its errors. Errors are over the points that nothing was fitted to, and are null if there are none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DatasetScore {
    /// Its name.
    pub name: String,
    /// What its table holds.
    pub kind: &'static str,
    /// Machines, one for each platform.
    pub machines: Vec<String>,
    /// Points.
    pub points: usize,
    /// Those to which parameters were fitted.
    pub points_used_to_fit: usize,
    /// The others.
    pub points_held_out: usize,
    /// Rows that the model does not cover.
    pub rows_left_out: usize,
    /// Mean absolute percentage error.
    pub mape_percent: Option<f64>,
    /// Mean signed percentage error.
    pub bias_percent: Option<f64>,
    /// Magnitude of the worst error.
    pub worst_percent: Option<f64>,
    /// The point that has it.
    pub worst_point: Option<String>,
    /// The same over the points that parameters were fitted to.
    pub fit: Option<Errors>,
    /// Each point.
    pub values: Vec<Scored>,
}

impl Scored {
    /// A point and its simulated figure.
    #[must_use]
    pub fn new(point: &super::measured::Point, used_to_fit: bool, simulated: f64) -> Self {
        let measured = point.measured;
        let error_percent = (simulated / measured - 1.0) * 100.0;
        Self { label: point.label.clone(), measured, simulated, unit: point.unit, error_percent, used_to_fit }
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
    #[must_use]
    pub fn new(dataset: &super::catalogue::Dataset, machines: Vec<String>, simulated: &[f64]) -> Self {
        let pairs = dataset.points.iter().zip(simulated);
        let values: Vec<_> = pairs.map(|((point, fitted), figure)| Scored::new(point, *fitted, *figure)).collect();
        let used = values.iter().filter(|point| point.used_to_fit).count();
        let held_out = Errors::over(values.iter().filter(|point| !point.used_to_fit));
        Self {
            name: dataset.name.clone(),
            kind: dataset.kind.name(),
            machines,
            points: values.len(),
            points_used_to_fit: used,
            points_held_out: values.len() - used,
            rows_left_out: dataset.left_out.len(),
            mape_percent: held_out.as_ref().map(|errors| errors.mape_percent),
            bias_percent: held_out.as_ref().map(|errors| errors.bias_percent),
            worst_percent: held_out.as_ref().map(|errors| errors.worst_percent),
            worst_point: held_out.map(|errors| errors.worst_point),
            fit: Errors::over(values.iter().filter(|point| point.used_to_fit)),
            values,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::Dataset;
    use super::*;

    #[test]
    fn errors_are_over_the_points_held_out_and_apart_over_those_fitted_to() {
        let text = "platform,mode,host_memory,direction,bytes,api_us\np,cc,pinned,h2d,1,100\np,cc,pinned,h2d,2,100\n\
                    p,cc,pinned,h2d,3,100\n";
        let mut dataset = Dataset::read("d", "f", text).unwrap();
        dataset.points[2].1 = true;
        let score = DatasetScore::new(&dataset, Vec::new(), &[110.0, 70.0, 150.0]);
        let near = |value: Option<f64>, wanted: f64| value.is_some_and(|value| (value - wanted).abs() < 1e-9);
        assert!(near(score.mape_percent, 20.0) && near(score.bias_percent, -10.0) && near(score.worst_percent, 30.0));
        assert_eq!(score.worst_point.as_deref(), Some("cc pinned h2d 2 B"));
        assert!(near(score.fit.map(|fit| fit.bias_percent), 50.0));
        assert_eq!((score.points, score.points_used_to_fit, score.points_held_out), (3, 1, 2));
        let all_used = Dataset { points: vec![dataset.points[2].clone()], ..dataset };
        assert_eq!(DatasetScore::new(&all_used, Vec::new(), &[150.0]).mape_percent, None);
    }
}
