//! What the command line lays over a study: its text, with these fields added or replaced.

use crate::cli::{Failure, OverlayArguments, Switch, WorkArguments, sample::SampleArgument};
use clap::Args;
use miette::miette;
use toml_edit::{Array, DocumentMut, InlineTable, Item, value};

/// What lies over a study.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Over the study's own machine and copy")]
pub(super) struct OverArguments {
    #[command(flatten)]
    pub overlays: OverlayArguments,
    #[command(flatten)]
    pub work: WorkArguments,
    #[command(flatten)]
    pub sample: SampleArgument,
    /// Draw every number that states a range, and that no axis, design or `--set` states, N times within it, 200 if N is left out, the same draws for all
    /// points, and give figures the interval from 5 to 95 %
    /// of the draws: columns that end with _low and _high. `sealsim pareto` then says how certain the members of a front are
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "200", value_parser = clap::value_parser!(u32).range(20..=2_000))]
    pub uncertainty: Option<u32>,
    /// Where the draws come from, 1 if not said
    #[arg(long, value_name = "N", requires = "uncertainty")]
    pub seed: Option<u32>,
}

impl OverArguments {
    /// The study's text with all of it. A text that is no TOML stays as it is: its reader says what is wrong.
    pub fn over(&self, text: String) -> Result<String, Failure> {
        let nothing = self.overlays.is_empty() && !self.work.is_given() && self.work.param.is_empty();
        if nothing && self.sample.sample.is_none() && self.uncertainty.is_none() {
            return Ok(text);
        }
        let Ok(mut study) = text.parse::<DocumentMut>() else { return Ok(text) };
        let settings = &self.overlays.settings;
        append(&mut study, "designs", &self.overlays.design);
        append(&mut study, "set", &settings.set);
        if let Some(cc) = settings.cc {
            study["confidential_computing"] = value(cc == Switch::On);
        }
        if let Some(sample) = self.sample.sample {
            study["sample"] = value(sample.to_string());
        }
        if let Some(count) = self.uncertainty {
            let mut draws = InlineTable::new();
            draws.insert("draws", i64::from(count).into());
            draws.insert("seed", i64::from(self.seed.unwrap_or(1)).into());
            study["uncertainty"] = value(draws);
        }
        match (&self.work.copies[..], &self.work.workload) {
            ([], None) => {}
            ([_], None) => {
                let copy = self.work.timed(None)?.copies.first().map(ToString::to_string);
                replace(&mut study, "copy", "workload", copy.unwrap_or_default());
            }
            ([], Some(workload)) => {
                let name = workload.to_string_lossy().into_owned();
                replace(&mut study, "workload", "copy", name);
                study.remove("param");
                let param: Vec<String> = self.work.param.iter().map(ToString::to_string).collect();
                append(&mut study, "param", &param);
            }
            (copies, _) => {
                let help = "give one, or write an axis in the study: path = \"copy\"";
                let count = copies.len();
                return Err(Failure::Usage(miette!(help = help, "{count} copies: each point of a study makes one")));
            }
        }
        Ok(study.to_string())
    }
}

/// Puts texts behind those of a list. What is there and no list stays: its reader says so.
fn append(study: &mut DocumentMut, field: &str, texts: &[String]) {
    if texts.is_empty() {
        return;
    }
    let list = study.entry(field).or_insert_with(|| Item::Value(Array::new().into()));
    if let Some(list) = list.as_array_mut() {
        list.extend(texts.iter().map(String::as_str));
    }
}

/// Sets a field in the place of another.
fn replace(study: &mut DocumentMut, field: &str, other: &str, text: String) {
    study.remove(other);
    if other == "workload" {
        study.remove("param");
    }
    study[field] = value(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        explore::{Draws, sweep::Study},
        sampling::Sample,
    };

    const STUDY: &str = "name = \"s\"\nsummary = \"q\"\nmachine = \"h100-nvl-tdx\"\ndesigns = [\"direct\"]\ncopy = \"h2d:4KiB\"\n\
                         [[axis]]\npath = \"link.read_tags\"\nvalues = [64, 128]\n";

    fn over(change: impl FnOnce(&mut OverArguments)) -> Result<Study, String> {
        let mut arguments = OverArguments::default();
        change(&mut arguments);
        let text = arguments.over(STUDY.to_owned()).map_err(|_| "refused".to_owned())?;
        Study::read("study", &text).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_laid_over_a_study_is_as_if_it_said_so() {
        let own = over(|_| {}).unwrap();
        assert_eq!(own.spec, Study::read("study", STUDY).unwrap().spec);
        let changed = over(|arguments| {
            arguments.overlays.design = vec!["overlap+hold".into()];
            arguments.overlays.settings.set = vec!["link.max_payload=512B".into()];
            arguments.overlays.settings.cc = Some(Switch::On);
            arguments.work.copies = vec!["d2h:1MiB:pageable".parse().unwrap()];
            arguments.sample.sample = Some(Sample::Auto);
            arguments.uncertainty = Some(50);
        });
        let spec = changed.unwrap().spec;
        assert_eq!(
            (&spec.designs[..], spec.sample),
            (&["direct".to_owned(), "overlap+hold".to_owned()][..], Some(Sample::Auto))
        );
        assert_eq!(spec.uncertainty, Some(Draws { count: 50, seed: 1 }));
        assert_eq!((spec.set, spec.confidential_computing), (vec!["link.max_payload=512B".to_owned()], Some(true)));
        assert_eq!((spec.copy.as_deref(), spec.axis), (Some("d2h:1048576:pageable"), own.spec.axis));
    }

    #[test]
    fn a_workload_stands_in_the_place_of_the_copy() {
        let spec = over(|arguments| arguments.work.workload = Some("upload-compute-download".into())).unwrap().spec;
        assert_eq!((spec.copy, spec.workload.as_deref()), (None, Some("upload-compute-download")));
        assert!(over(|arguments| arguments.work.workload = Some("no-such".into())).unwrap_err().contains("no-such"));
        let two = ["h2d:1", "h2d:2"].map(|copy| copy.parse().unwrap()).to_vec();
        assert_eq!(over(|arguments| arguments.work.copies = two).unwrap_err(), "refused");
    }
}
