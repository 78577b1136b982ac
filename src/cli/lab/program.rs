//! A state of the page's third view: a profile, the machine that it is played on, and what of the program is changed.

use super::{
    dropped::Dropped,
    state::{StateError, known, pairs},
};
use crate::{config::Role, replay::CHANGES, units::Femtos, workload::ShippedWorkload};

/// Designs and profiles of a state.
const MOST: usize = 24;
const LONGEST: usize = 200;

/// A program, where it is played, and what is changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramState {
    /// The profiles of its ranks, or a workload.
    programs: Vec<String>,
    /// The table of calls of a table of operations.
    api: Option<String>,
    hw: Option<String>,
    designs: Vec<String>,
    expand: Option<u16>,
    step_time: Option<String>,
    /// Changes that are made together, in the order of the table of changes.
    changes: Vec<&'static str>,
}

impl ProgramState {
    /// Reads a state, whose files are shipped, offered, or dropped on the page.
    pub fn read(
        query: &str,
        (offered, programs, dropped): (&[String], &[String], &Dropped),
    ) -> Result<Self, StateError> {
        let mut state = Self::default();
        let file = |name: String| match dropped.path(&name) {
            Some(path) => Ok(path),
            None if programs.contains(&name) || ShippedWorkload::find(&name).is_some() => Ok(name),
            None => Err(StateError::NoProgram(name)),
        };
        for (name, value) in pairs(query)? {
            if value.len() > LONGEST || state.programs.len() + state.designs.len() > MOST {
                return Err(StateError::TooMany);
            }
            match name.as_str() {
                "program" => state.programs.push(file(value)?),
                "api" => state.api = Some(file(value)?),
                "hw" => state.hw = Some(known(Role::Machine, value, offered)?),
                "design" => state.designs.push(known(Role::Design, value, offered)?),
                "expand" => state.expand = Some(value.parse().map_err(|_| StateError::Expand)?),
                "step_time" => {
                    value.parse::<Femtos>().map_err(|_| StateError::StepTime)?;
                    state.step_time = Some(value);
                }
                "change" => {
                    let change = CHANGES.iter().find(|(name, ..)| *name == value);
                    state.changes.push(change.ok_or(StateError::NotOffered(value))?.0);
                }
                _ => return Err(StateError::Unknown(name)),
            }
        }
        let place = |one: &&str| CHANGES.iter().position(|(name, ..)| name == one);
        state.changes.sort_by_key(place);
        state.changes.dedup();
        if state.programs.is_empty() { Err(StateError::Missing("program")) } else { Ok(state) }
    }

    pub fn command(&self) -> Vec<String> {
        let mut command = ["sealsim", "replay"].map(str::to_owned).to_vec();
        command.extend(self.programs.iter().cloned());
        let mut add = |option: &str, value: &str| command.extend([option.to_owned(), value.to_owned()]);
        self.api.iter().for_each(|api| add("--api", api));
        self.hw.iter().for_each(|hw| add("--hw", hw));
        self.expand.iter().for_each(|ranks| add("--expand", &ranks.to_string()));
        self.step_time.iter().for_each(|time| add("--step-time", time));
        self.designs.iter().for_each(|design| add("--design", design));
        add("--what-if", "changes");
        if !self.changes.is_empty() {
            add("--what-if", &self.changes.join("+"));
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_becomes_a_replay_with_what_is_switched_on() {
        let dropped = Dropped::new().unwrap();
        let read = |query: &str| ProgramState::read(query, (&[], &["job.json.gz".to_owned()], &dropped));
        let query = "program=job.json.gz&hw=hgx-h100-8gpu&design=fastrack&expand=8&step_time=11.2ms&change=pinned&change=graph&change=pinned";
        let command = read(query).unwrap().command();
        let words = "sealsim replay job.json.gz --hw hgx-h100-8gpu --expand 8 --step-time 11.2ms --design fastrack --what-if changes --what-if graph+pinned";
        assert_eq!(command.join(" "), words);
        assert!(crate::cli::understands(command));
        assert!(read("program=decode-loop").unwrap().command().join(" ").ends_with("decode-loop --what-if changes"));
        for wrong in [
            "",
            "program=/etc/passwd",
            "program=other.json",
            "program=decode-loop&api=x",
            "program=decode-loop&hw=x.toml",
            "program=decode-loop&change=rm",
            "program=decode-loop&expand=x",
            "program=decode-loop&step_time=--all",
            "program=decode-loop&out=x",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
