//! The shipped workloads that the page offers, and what others have published about such work.

use crate::workload::{SHIPPED_WORKLOADS, ShippedWorkload};
use serde_json::{Value, json};

/// Figures that others have published about such workloads.
const PUBLISHED: &str = include_str!("../../../docs/tables/published.csv");

/// The shipped workloads with their parameters, for the page to choose from.
pub fn workloads() -> Value {
    let published: Vec<_> = csv::Reader::from_reader(PUBLISHED.as_bytes()).into_records().flatten().collect();
    let workload = |shipped: &ShippedWorkload| {
        let table: toml::Table = shipped.text.parse().unwrap_or_default();
        let published: Vec<_> =
            published.iter().filter(|row| row[0].split(", ").any(|name| name == shipped.name)).collect();
        let published: Vec<_> = published.iter().map(|row| row.iter().skip(1).collect::<Vec<_>>()).collect();
        json!({ "name": shipped.name, "published": published, "summary": shipped.summary(), "machine": table.get("machine"), "parameters": table.get("parameters") })
    };
    SHIPPED_WORKLOADS.iter().map(workload).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_figures_belong_to_workloads_that_are_there() {
        let rows: Result<Vec<_>, _> = csv::Reader::from_reader(PUBLISHED.as_bytes()).into_records().collect();
        let rows = rows.unwrap();
        let names: Vec<&str> = rows.iter().flat_map(|row| row[0].split(", ")).collect();
        assert!(names.len() > 10 && names.iter().all(|name| ShippedWorkload::find(name).is_some()), "{names:?}");
        let all = workloads();
        let shown = all.as_array().unwrap().iter().map(|one| one["published"].as_array().unwrap().len()).sum::<usize>();
        assert_eq!(shown, names.len());
    }

    #[test]
    fn every_workload_has_words_and_a_machine() {
        for one in workloads().as_array().unwrap() {
            assert!(
                one["summary"].as_str().is_some_and(|text| !text.is_empty()) && one["machine"].is_string(),
                "{one}"
            );
        }
    }
}
