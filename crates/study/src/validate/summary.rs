//! Errors by platform and class, over all data sets: where the model is how far off.

use super::{
    catalogue::{Dataset, Platforms},
    class::Class,
    score::{DatasetScore, Errors},
};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// The points of a platform that measure one part of machines and are of one class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// As tables of measurements name it.
    pub platform: String,
    pub title: String,
    pub part: Part,
    pub class: Class,
    pub points: usize,
    #[serde(flatten)]
    pub errors: Errors,
}

/// A row for each platform, part and class that has points, in the order of the data sets. Scores are those of the data sets, in their order.
pub fn rows(titles: &BTreeMap<String, String>, datasets: &[Dataset], scores: &[DatasetScore]) -> Vec<Row> {
    let pairs = datasets.iter().zip(scores).flat_map(|(dataset, score)| {
        let part = Part::of(dataset.kind.name());
        dataset.points.iter().zip(&score.values).map(move |((point, _), scored)| (&point.platform, part, scored))
    });
    let pairs: Vec<_> = pairs.collect();
    let mut measured: Vec<(&String, Part)> = Vec::new();
    for (platform, part, _) in &pairs {
        if !measured.contains(&(platform, *part)) {
            measured.push((platform, *part));
        }
    }
    let mut rows = Vec::new();
    for (platform, part) in measured {
        let own = || pairs.iter().filter(|pair| (pair.0, pair.1) == (platform, part)).map(|pair| pair.2);
        for class in Class::ALL {
            let own: Vec<_> = own().filter(|scored| scored.class == class).collect();
            if let Some(errors) = Errors::over(own.iter().copied()) {
                let title = titles.get(platform).unwrap_or(platform).clone();
                rows.push(Row { platform: platform.clone(), title, part, class, points: own.len(), errors });
            }
        }
    }
    rows
}

/// The rows of the shipped machines: platform, part, class, points, and the mean error.
const SHIPPED: &str = include_str!("../../../../validation/accuracy.csv");

/// A held-out error above this is stated beside the figures that rest on it, in percent.
const STATED_ABOVE: f64 = 15.0;

crate::units::named! {
    /// What a figure may rest on.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Part {
        /// Copies between host and GPU.
        Copies = "copies",
        Sms = "AES-GCM on SMs",
        Collectives = "collectives",
    }
}

impl Part {
    /// The part that a kind of table measures.
    pub(super) fn of(kind: &str) -> Self {
        match kind {
            "sm_kernels" => Self::Sms,
            "collectives" => Self::Collectives,
            _ => Self::Copies,
        }
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A clause for each part of a machine, of that name, whose held-out error is above 15 % or not known.
pub fn cautions(machine: &str, parts: &[Part]) -> Vec<String> {
    let platforms = Platforms::shipped();
    parts.iter().filter_map(|part| caution(&platforms, SHIPPED, machine, *part)).collect()
}

fn caution(platforms: &Platforms, rows: &str, machine: &str, part: Part) -> Option<String> {
    let stands_for = |platform: &str| platforms.machine.get(platform)?.split('+').next();
    let held_out = |row: &'_ str| {
        let [platform, of, class, _, error] = *row.splitn(6, ',').take(5).collect::<Vec<_>>() else { return None };
        let own = of == part.name() && class == Class::HeldOut.name() && stands_for(platform) == Some(machine);
        Some((platform.to_owned(), error.parse::<f64>().ok().filter(|_| own)?))
    };
    let what = part.name();
    match rows.lines().filter_map(held_out).max_by(|a, b| a.1.total_cmp(&b.1)) {
        None => Some(format!("{what} on {machine}: no held-out measurement")),
        Some((platform, error)) if error > STATED_ABOVE => {
            let title = platforms.titles.get(&platform).unwrap_or(&platform);
            Some(format!("{what} on {machine}: held-out error {error:.0} % ({title})"))
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_cautioned_of_where_its_held_out_error_is_large_or_not_known() {
        let platforms = Platforms::shipped();
        let rows = |error: &str| {
            format!("platform,part,class,points,mean_percent\np1,copies,fitted,1,99.0\np1,copies,held out,9,{error}\n")
        };
        let copies = |error: &str| caution(&platforms, &rows(error), "h100-nvl-tdx", Part::Copies);
        assert_eq!(copies("15.0"), None);
        assert!(copies("15.1").unwrap().contains("held-out error 15 % (P1"));
        for (machine, part) in [("b200-tdx", Part::Copies), ("h100-nvl-tdx", Part::Sms)] {
            let told = caution(&platforms, &rows("1.0"), machine, part).unwrap();
            assert!(told.contains("no held-out measurement"), "{told}");
        }
    }

    #[test]
    fn points_of_a_platform_count_together_over_data_sets_and_classes_stay_apart() {
        let set = |platforms: [&str; 2]| {
            let rows = platforms.map(|platform| format!("{platform},cc,pinned,h2d,{},100\n", platform.len()));
            let text = format!("platform,mode,host_memory,direction,bytes,api_us\n{}", rows.concat());
            Dataset::read("d", "f", &text).unwrap()
        };
        let mut sets = [set(["a", "bb"]), set(["a", "ccc"])];
        sets[1].points[1].1 = Class::Fitted;
        let figures = [[110.0, 100.0], [70.0, 150.0]];
        let scores: Vec<_> =
            sets.iter().zip(figures).map(|(set, figures)| DatasetScore::new(set, vec![], &figures)).collect();
        let titles = BTreeMap::from([("a".to_owned(), "A board".to_owned())]);
        let rows = rows(&titles, &sets, &scores);
        let told: Vec<_> = rows.iter().map(|row| (row.title.as_str(), row.class, row.points)).collect();
        assert_eq!(told, [("A board", Class::HeldOut, 2), ("bb", Class::HeldOut, 1), ("ccc", Class::Fitted, 1)]);
        assert!((rows[0].errors.mape_percent - 20.0).abs() < 1e-9 && (rows[0].errors.bias_percent + 10.0).abs() < 1e-9);
    }
}
