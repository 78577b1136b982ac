//! Errors by platform and class, over all data sets: where the model is how far off.

use super::{
    catalogue::{Catalogue, Dataset},
    class::Class,
    score::{DatasetScore, Errors},
};
use serde::Serialize;
use std::collections::BTreeMap;

/// The points of a platform that are of one class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// As tables of measurements name it.
    pub platform: String,
    pub title: String,
    pub class: Class,
    pub points: usize,
    #[serde(flatten)]
    pub errors: Errors,
}

/// A row for each platform, in the order of the data sets, and class that has points. Scores are those of the data sets, in their order.
pub fn rows(titles: &BTreeMap<String, String>, datasets: &[Dataset], scores: &[DatasetScore]) -> Vec<Row> {
    let pairs = || datasets.iter().zip(scores).flat_map(|(dataset, score)| dataset.points.iter().zip(&score.values));
    let mut platforms: Vec<&String> = Vec::new();
    for ((point, _), _) in pairs() {
        if !platforms.contains(&&point.platform) {
            platforms.push(&point.platform);
        }
    }
    let mut rows = Vec::new();
    for platform in platforms {
        for class in Class::ALL {
            let own: Vec<_> = pairs()
                .filter(|((point, _), scored)| point.platform == *platform && scored.class == class)
                .map(|(_, scored)| scored)
                .collect();
            if let Some(errors) = Errors::over(own.iter().copied()) {
                let title = titles.get(platform).unwrap_or(platform).clone();
                rows.push(Row { platform: platform.clone(), title, class, points: own.len(), errors });
            }
        }
    }
    rows
}

/// The rows of the shipped machines: platform, class, points, and the mean error.
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
    fn of(kind: &str) -> Self {
        match kind {
            "sm_kernels" => Self::Sms,
            "collectives" => Self::Collectives,
            _ => Self::Copies,
        }
    }
}

/// A clause for each part of a machine, of that name, whose held-out error is above 15 % or not known.
pub fn cautions(machine: &str, parts: &[Part]) -> Vec<String> {
    let Ok(catalogue) = Catalogue::of(machine) else { return Vec::new() };
    parts.iter().filter_map(|part| caution(&catalogue, SHIPPED, machine, *part)).collect()
}

fn caution(catalogue: &Catalogue, rows: &str, machine: &str, part: Part) -> Option<String> {
    let measures = |platform: &String| {
        let sets = catalogue.datasets.iter().filter(|set| Part::of(set.kind.name()) == part);
        sets.flat_map(|set| &set.points).any(|(point, _)| point.platform == *platform)
    };
    let own = catalogue.platforms.iter().filter(|(_, of)| of.split('+').next() == Some(machine));
    let own = own.filter(|(platform, _)| measures(platform));
    let known = own.filter_map(|(platform, _)| Some((platform, held_out(rows, platform)?)));
    let what = part.name();
    match known.max_by(|a, b| a.1.total_cmp(&b.1)) {
        None => Some(format!("{what} on {machine}: no held-out measurement")),
        Some((platform, error)) if error > STATED_ABOVE => {
            let title = catalogue.titles.get(platform).unwrap_or(platform);
            Some(format!("{what} on {machine}: held-out error {error:.0} % ({title})"))
        }
        Some(_) => None,
    }
}

/// The mean error of a platform's held-out points.
fn held_out(rows: &str, platform: &str) -> Option<f64> {
    let of_it = rows.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let mut of_it = of_it.filter(|cells| cells.first() == Some(&platform));
    of_it.find(|cells| cells.get(1) == Some(&Class::HeldOut.name()))?.get(3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_cautioned_of_where_its_held_out_error_is_large_or_not_known() {
        let catalogue = Catalogue::shipped().unwrap();
        let rows =
            |error: &str| format!("platform,class,points,mean_percent\np1,fitted,1,99.0\np1,held out,9,{error}\n");
        let copies = |error: &str| caution(&catalogue, &rows(error), "h100-nvl-tdx", Part::Copies);
        assert_eq!(copies("15.0"), None);
        assert!(copies("15.1").unwrap().contains("held-out error 15 % (P1"));
        for (machine, part) in [("b200-tdx", Part::Copies), ("h100-nvl-tdx", Part::Sms)] {
            let told = caution(&catalogue, &rows("1.0"), machine, part).unwrap();
            assert!(told.contains("no held-out measurement"), "{told}");
        }
    }

    #[test]
    fn a_point_of_each_table_cautions_as_all_of_them_do() {
        let all = Catalogue::shipped().unwrap();
        for machine in all.platforms.values().filter_map(|of| of.split('+').next()).chain(["h100-sxm5-off"]) {
            let few = Catalogue::of(machine).unwrap();
            for part in [Part::Copies, Part::Collectives, Part::Sms] {
                let told = [&few, &all].map(|catalogue| caution(catalogue, SHIPPED, machine, part));
                assert_eq!(told[0], told[1], "{machine}");
            }
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
