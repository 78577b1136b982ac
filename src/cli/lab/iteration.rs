//! A state of the page's other view: a shipped workload with its parameters, and designs beside each other.

use super::state::{StateError, known, pairs};
use crate::{
    config::Role,
    workload::{SHIPPED_WORKLOADS, ShippedWorkload},
};
use serde_json::{Value, json};

/// Figures that others have published about such workloads.
const PUBLISHED: &str = include_str!("../../../docs/tables/published.csv");

/// Designs and parameters of a state.
const MOST: usize = 32;
const LONGEST: usize = 200;

/// A workload on the machine that it names, with designs beside each other.
#[derive(Debug, Clone)]
pub struct IterationState {
    workload: &'static ShippedWorkload,
    params: Vec<String>,
    designs: Vec<String>,
}

impl IterationState {
    pub fn read(query: &str, offered: &[String]) -> Result<Self, StateError> {
        let (mut workload, mut params, mut designs) = (None, Vec::new(), Vec::new());
        for (name, value) in pairs(query)? {
            if value.len() > LONGEST || params.len() + designs.len() > MOST {
                return Err(StateError::TooMany);
            }
            match name.as_str() {
                "workload" => {
                    let shipped = SHIPPED_WORKLOADS.iter().find(|shipped| shipped.name == value);
                    workload = Some(shipped.ok_or(StateError::NotOffered(value))?);
                }
                "param" => params.push(value),
                "design" => designs.push(known(Role::Design, value, offered)?),
                _ => return Err(StateError::Unknown(name)),
            }
        }
        Ok(Self { workload: workload.ok_or(StateError::Missing("workload"))?, params, designs })
    }

    pub fn command(&self) -> Vec<String> {
        let mut command = ["sealsim", "compare", "--workload", self.workload.name].map(str::to_owned).to_vec();
        let mut add = |option: &str, value: &str| command.extend([option.to_owned(), value.to_owned()]);
        self.params.iter().for_each(|param| add("--param", param));
        // One that is always compared: without any, all that are shipped are.
        if self.designs.is_empty() {
            add("--design", "h100-cc");
        }
        self.designs.iter().for_each(|design| add("--design", design));
        command
    }
}

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
    fn a_workload_becomes_a_comparison() {
        let state =
            IterationState::read("workload=ddp-bert-large&param=ranks%3D4&design=link&design=staged", &[]).unwrap();
        let command = state.command();
        let words = "sealsim compare --workload ddp-bert-large --param ranks=4 --design link --design staged";
        assert_eq!(command.join(" "), words);
        assert!(crate::cli::understands(command));
        for wrong in
            ["", "workload=/etc/passwd", "workload=decode-loop&machine=x", "workload=decode-loop&design=x.toml"]
        {
            assert!(IterationState::read(wrong, &[]).is_err(), "{wrong}");
        }
    }

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
