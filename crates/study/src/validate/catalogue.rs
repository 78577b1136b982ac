//! The data sets that are built into the program, and those of a user.

use super::class::{Class, Informed, Seen};
use super::measured::{Kind, LeftOut, Measured, Point};
use super::selector::Selector;
use crate::{
    config::{Document, Layers},
    files::Refusal,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

macro_rules! shipped {
    ($($file:literal),* $(,)?) => {
        /// Files of `validation/`, by name.
        const FILES: &[(&str, &str)] = &[$(($file, include_str!(concat!("../../../../validation/", $file)))),*];
    };
}

shipped![
    "azure_cc.csv",
    "h200_vm_api.csv",
    "h200_vm_bandwidth.csv",
    "links_bandwidth.csv",
    "nccl_collectives.csv",
    "openssl_speed.csv",
    "p1_api.csv",
    "p1_app_copies.csv",
    "p1_bandwidth.csv",
    "p1_ce_fits.csv",
    "p1_cpu_cipher.csv",
    "p1_overlap.csv",
    "p1_programs.csv",
    "p1_sc_spans.csv",
    "p1_spans.csv",
    "p2_bandwidth.csv",
    "p2_dense.csv",
    "pcie_bench_latency.csv",
    "sm_published.csv",
    "sm_sxm5.csv",
    "sxm5_vm_bandwidth.csv",
    "sxm5_vm_api.csv",
    "sxm5_bandwidth.csv",
];

const INDEX: &str = include_str!("../../../../validation/datasets.toml");

const DOCUMENT: Document = Document {
    room: "datasets",
    tables: &[("", "the index"), ("dataset", "a data set"), ("informed", "an entry")],
    examples: &[],
    help: "see validation/datasets.toml",
};

/// A table of measurements, and the class of each of its points.
#[derive(Debug, Clone)]
pub struct Dataset {
    pub name: String,
    /// What its table holds.
    pub kind: Kind,
    pub points: Vec<(Point, Class)>,
    /// Which parameters were chosen with the informed points in view.
    pub seen: Vec<Seen>,
    pub left_out: Vec<LeftOut>,
}

#[derive(Debug, Clone)]
pub struct Catalogue {
    /// The machine that stands for each platform.
    pub platforms: BTreeMap<String, String>,
    /// What each platform is, in a few words.
    pub titles: BTreeMap<String, String>,
    pub datasets: Vec<Dataset>,
}

/// What the index says of platforms, without what was measured there.
#[derive(Default, Deserialize)]
pub(super) struct Platforms {
    #[serde(rename = "platforms")]
    pub machine: BTreeMap<String, String>,
    pub titles: BTreeMap<String, String>,
}

impl Platforms {
    /// Those of the index, whose first tables they are. It is part of the program, and a test reads it.
    pub fn shipped() -> Self {
        toml::from_str(INDEX.split("[[").next().unwrap_or_default()).unwrap_or_default()
    }
}

#[derive(Deserialize, JsonSchema)]
struct Index {
    platforms: BTreeMap<String, String>,
    titles: BTreeMap<String, String>,
    dataset: Vec<Entry>,
}

#[derive(Deserialize, JsonSchema)]
struct Entry {
    name: String,
    file: String,
    #[serde(default)]
    fit: Vec<Selector>,
    #[serde(default)]
    informed: Vec<Informed>,
}

/// The layers of a platform's machine: a shipped one, designs and settings, joined by `+`.
pub fn layers(machine: &str) -> Layers {
    let mut parts = machine.split('+');
    let layers = Layers::new(parts.next().unwrap_or_default());
    parts.fold(layers, |layers, part| if part.contains('=') { layers.set(part) } else { layers.overlay(part) })
}

impl Catalogue {
    pub fn shipped() -> Result<Self, Refusal> {
        let index: Index = DOCUMENT.read("datasets.toml", INDEX)?;
        let datasets = index.dataset.into_iter().map(Entry::read).collect::<Result<_, _>>()?;
        Ok(Self { platforms: index.platforms, titles: index.titles, datasets })
    }
}

impl Entry {
    fn read(self) -> Result<Dataset, Refusal> {
        let missing =
            || DOCUMENT.refused("selection", format!("datasets.toml names {}, which is not built in", self.file));
        let (_, text) = FILES.iter().find(|file| file.0 == self.file).ok_or_else(missing)?;
        Dataset::read(&self.name, &self.file, text)?.fitted_to(&self.fit)?.informing(self.informed)
    }
}

impl Dataset {
    /// Reads a table; all of its points are held out.
    pub fn read(name: &str, file: &str, text: &str) -> Result<Self, Refusal> {
        let measured = Measured::read(file, text)?;
        Ok(Self {
            name: name.to_owned(),
            kind: measured.kind,
            points: measured.points.into_iter().map(|point| (point, Class::HeldOut)).collect(),
            seen: Vec::new(),
            left_out: measured.left_out,
        })
    }

    /// Marks the selected points as fitted to.
    fn fitted_to(mut self, fit: &[Selector]) -> Result<Self, Refusal> {
        for selector in fit {
            for place in self.select(selector)? {
                self.points[place].1 = Class::Fitted;
            }
        }
        Ok(self)
    }

    /// Marks the points of the entries as seen, but for those that are fitted to.
    fn informing(mut self, entries: Vec<Informed>) -> Result<Self, Refusal> {
        for Informed { points, parameters, why } in entries {
            let mut places = BTreeSet::new();
            for selector in &points {
                places.extend(self.select(selector)?);
            }
            places.retain(|place| self.points[*place].1 != Class::Fitted);
            if places.is_empty() || parameters.is_empty() {
                let what = format!("data set {}: an entry of `informed` has no parameter, or no point", self.name);
                return Err(DOCUMENT.refused("selection", what));
            }
            places.iter().for_each(|place| self.points[*place].1 = Class::Informed);
            self.seen.push(Seen { parameters, why, points: places.len() });
        }
        Ok(self)
    }

    /// The places of the points that a selector means.
    pub fn select(&self, selector: &Selector) -> Result<Vec<usize>, Refusal> {
        let wrong = |what: String| DOCUMENT.refused("selection", format!("data set {}: {what}", self.name));
        for column in selector.0.keys() {
            if !self.points.iter().any(|(point, _)| point.cells.contains_key(column)) {
                let known: Vec<_> = self.points.first().into_iter().flat_map(|(point, _)| point.cells.keys()).collect();
                return Err(wrong(format!("points cannot be selected by `{column}`; there is {}", list(&known))));
            }
        }
        let places = self.points.iter().enumerate().filter(|(_, (point, _))| selector.takes(point));
        let places: Vec<_> = places.map(|(place, _)| place).collect();
        if places.is_empty() {
            return Err(wrong(format!("no point has {}", selector.text())));
        }
        Ok(places)
    }
}

fn list(names: &[&String]) -> String {
    names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::summary::Part;
    use super::*;
    use std::{collections::BTreeSet, fs, path::Path};

    fn shipped() -> Catalogue {
        Catalogue::shipped().unwrap()
    }

    #[test]
    fn every_table_in_validation_is_built_in_and_in_the_index() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation");
        let names = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let tables: BTreeSet<_> = names
            .filter(|name| {
                name.ends_with(".csv")
                    && !["accuracy.csv", "coverage.csv", "headlines.csv", "published_engines.csv", "ranges.csv"]
                        .contains(&name.as_str())
            })
            .collect();
        assert_eq!(tables, FILES.iter().map(|file| file.0.to_owned()).collect());
        let index: Index = toml::from_str(INDEX).unwrap();
        assert_eq!(tables, index.dataset.iter().map(|entry| entry.file.clone()).collect());
    }

    #[test]
    fn every_platform_has_a_machine() {
        let catalogue = shipped();
        let first = Platforms::shipped();
        assert_eq!((&first.machine, &first.titles), (&catalogue.platforms, &catalogue.titles));
        let points = catalogue.datasets.iter().flat_map(|dataset| &dataset.points);
        let platforms: BTreeSet<_> = points.map(|(point, _)| point.platform.clone()).collect();
        let predicted =
            ["gen3", "snp-gen4", "nccl-h200", "nccl-gb200", "nccl-l40s", "nccl-a100"].map(str::to_owned).into();
        assert_eq!(&platforms | &predicted, catalogue.platforms.keys().cloned().collect());
        for machine in catalogue.platforms.values() {
            assert!(layers(machine).resolve().is_ok(), "{machine}");
        }
    }

    /// Rows of a table of errors: platform, class and number of points, and the rest.
    fn stated() -> Vec<(String, String, usize, Vec<String>)> {
        let text = include_str!("../../../../validation/accuracy.csv");
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let rows = reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect::<Vec<_>>());
        rows.map(|row| (row[0].clone(), row[2].clone(), row[3].parse().unwrap(), row[4..].to_vec())).collect()
    }

    #[test]
    fn the_table_of_errors_has_all_points_by_platform_and_class() {
        let catalogue = shipped();
        let mut found: BTreeMap<[String; 3], usize> = BTreeMap::new();
        for set in &catalogue.datasets {
            for (point, class) in &set.points {
                let row = [&*point.platform, Part::of(set.kind.name()).name(), class.name()];
                *found.entry(row.map(str::to_owned)).or_default() += 1;
            }
        }
        let text = include_str!("../../../../validation/accuracy.csv");
        let parts = csv::Reader::from_reader(text.as_bytes()).into_records().map(|row| row.unwrap()[1].to_owned());
        let rows = stated().into_iter().zip(parts);
        let rows = rows.map(|((platform, class, points, _), part)| ([platform, part, class], points));
        assert_eq!(rows.collect::<BTreeMap<_, _>>(), found, "SEALSIM_ACCURACY=record makes it anew: docs/accuracy.md");
    }

    /// Platforms whose data sets have a table of their own, and fitted points of collectives and SMs, are apart.
    #[test]
    fn the_document_has_all_other_rows_of_the_table_of_errors() {
        let catalogue = shipped();
        let text = include_str!("../../../../docs/accuracy.md");
        let own = catalogue.datasets.iter().filter(|set| text.contains(&format!("| `{}`", set.name)));
        let own: BTreeSet<_> = own.flat_map(|set| &set.points).map(|(point, _)| point.platform.as_str()).collect();
        let apart = |platform: &str, class: &str| {
            own.contains(platform)
                || class == "fitted" && (platform.starts_with("nccl-") || platform.starts_with("sm-"))
        };
        let stated: BTreeSet<_> = stated()
            .into_iter()
            .filter(|(platform, class, ..)| !apart(platform, class))
            .map(|(platform, class, points, rest)| {
                let title = catalogue.titles.get(&platform).unwrap_or(&platform);
                format!("| {title} | {class} | {points} | {} % | {} %, {} |", rest[0], rest[1], rest[2])
            })
            .collect();
        let rows = text.lines().skip_while(|line| !line.starts_with("| platform | class |")).skip(2);
        let rows: BTreeSet<_> = rows.take_while(|line| line.starts_with('|')).map(str::to_owned).collect();
        assert_eq!(rows, stated);
    }

    #[test]
    fn what_is_fitted_to_is_what_the_index_says_and_no_more() {
        let catalogue = shipped();
        let of = |name: &str| catalogue.datasets.iter().find(|dataset| dataset.name == name).unwrap();
        let with_cc = |name: &str| {
            let fitted = |point: &Point, class: Class| class == Class::Fitted && point.cells["mode"] == "cc";
            let points = of(name).points.iter().filter(|(point, class)| fitted(point, *class));
            points.map(|(point, _)| point.label.clone()).collect::<Vec<_>>()
        };
        assert_eq!(
            with_cc("p1-bandwidth"),
            [
                "cc pinned h2d 64 B",
                "cc pinned h2d 4 KiB",
                "cc pinned h2d 1 MiB",
                "cc pinned h2d 64 MiB",
                "cc pinned h2d 256 MiB",
                "cc pageable h2d 64 B",
                "cc pageable h2d 32 KiB",
                "cc pageable h2d 1 MiB",
                "cc device d2d 64 B",
            ]
        );
        assert_eq!(with_cc("p2-bandwidth"), ["cc pinned h2d 16 KiB", "cc pinned h2d 64 MiB"]);
        for name in ["p1-overlap", "p1-applications", "p1-programs"] {
            assert!(of(name).points.iter().all(|(_, class)| *class != Class::Fitted), "{name}");
        }
        let off = of("p1-bandwidth").points.iter().filter(|(point, _)| point.cells["mode"] == "off");
        assert_eq!(off.filter(|(_, class)| *class == Class::Fitted).count(), 125);
    }

    /// Points by class: fitted, informed, held out.
    fn classes(dataset: &Dataset) -> [usize; 3] {
        Class::ALL.map(|class| dataset.points.iter().filter(|(_, of_it)| *of_it == class).count())
    }

    #[test]
    fn every_point_is_of_one_class_and_what_was_seen_is_not_held_out() {
        let catalogue = shipped();
        let found = |name: &str| catalogue.datasets.iter().find(|set| set.name == name).map(classes);
        assert_eq!(found("p1-overlap"), Some([0, 168, 0]));
        assert_eq!(found("p1-bandwidth"), Some([134, 17, 49]));
        assert_eq!(found("p1-programs"), Some([0, 10, 6]));
        assert_eq!(found("p2-bandwidth"), Some([26, 22, 0]));
        assert_eq!(found("sxm5-bandwidth"), Some([1, 1, 0]));
        assert_eq!(found("links-bandwidth"), Some([0, 0, 3]));
        let applications = catalogue.datasets.iter().find(|set| set.name == "p1-applications").unwrap();
        let held_out = |app: &str| {
            applications.points.iter().any(|(point, class)| point.cells["app"] == app && *class == Class::HeldOut)
        };
        assert_eq!(["kmeans", "sc", "GEMM"].map(held_out), [false, false, true]);
        for dataset in &catalogue.datasets {
            assert_eq!(classes(dataset).iter().sum::<usize>(), dataset.points.len(), "{}", dataset.name);
            assert_eq!(dataset.seen.is_empty(), classes(dataset)[1] == 0, "{}", dataset.name);
        }
    }

    #[test]
    fn what_was_seen_with_informed_points_is_a_parameter_of_the_machine() {
        let catalogue = shipped();
        for dataset in catalogue.datasets.iter().filter(|dataset| !dataset.seen.is_empty()) {
            let machine = layers(&catalogue.platforms[&dataset.points[0].0.platform]).resolve().unwrap();
            for path in dataset.seen.iter().flat_map(|seen| &seen.parameters) {
                assert!(machine.parameter(path).is_some(), "{}: {path}", dataset.name);
            }
        }
    }

    #[test]
    fn a_point_that_is_fitted_to_is_not_informed_and_an_entry_without_points_is_refused() {
        let dataset = || shipped().datasets.into_iter().find(|dataset| dataset.name == "p1-spans").unwrap();
        let informed = |text: &str| dataset().informing(vec![toml::from_str(text).unwrap()]);
        let entry = "parameters = ['driver.push']\nwhy = 'w'\npoints = [{}]";
        assert!(informed(entry).is_err(), "all spans are fitted to");
        let text = "platform,mode,host_memory,direction,bytes,api_us\np,cc,pinned,h2d,1,1\np,cc,pinned,h2d,2,1\n";
        let two = Dataset::read("d", "f", text).unwrap().fitted_to(&[toml::from_str("bytes = 1").unwrap()]).unwrap();
        assert_eq!(
            two.clone().informing(vec![toml::from_str(entry).unwrap()]).map(|set| classes(&set)).unwrap(),
            [1, 1, 0]
        );
        let nothing_chosen = entry.replace("'driver.push'", "");
        assert!(two.informing(vec![toml::from_str(&nothing_chosen).unwrap()]).is_err());
    }

    #[test]
    fn a_selection_that_means_nothing_is_refused() {
        let dataset = shipped().datasets.into_iter().find(|dataset| dataset.name == "p1-bandwidth").unwrap();
        let select = |text: &str| dataset.select(&toml::from_str(text).unwrap()).map_err(|error| error.to_string());
        assert_eq!(
            select("mode = 'cc'\nhost_memory = 'pinned'\nbytes = ['4 KiB', 64]").map(|places| places.len()),
            Ok(2)
        );
        assert!(select("size = 4").unwrap_err().contains("by `size`; there is bytes, direction"));
        assert!(select("mode = 'cc'\nbytes = 65").unwrap_err().contains("no point has bytes = 65, mode = \"cc\""));
    }
}
