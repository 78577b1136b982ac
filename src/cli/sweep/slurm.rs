//! `--engine slurm`: an array job of shards and a job that writes the table, as two scripts.

use super::{
    Failure,
    array::array,
    engine::{EngineArguments, Shards, program},
};
use crate::cli::output;
use crate::{explore::sweep::ShardArray, files::write_whole};
use miette::miette;
use std::{fs, path::Path};

/// The most jobs of an array, as Slurm comes: `MaxArraySize` is 1001, which no number may reach.
pub(super) const MOST_JOBS: u32 = 1000;

/// Writes the scripts, and prints the commands that submit them.
pub(super) fn write(arguments: &EngineArguments, shards: &Shards) -> Result<(), Failure> {
    let Shards { name, array: ShardArray { of, .. }, lacking, folder } = shards;
    let scripts = folder.join("slurm");
    let named = |error: &std::io::Error| Failure::input_output(&scripts.display().to_string(), error);
    fs::create_dir_all(&scripts).map_err(|error| named(&error))?;
    let program = text(&program()?)?;
    let here = text(&std::env::current_dir().map_err(|error| Failure::input_output("this folder", &error))?)?;
    let place = text(folder)?;
    let limit = arguments.at_once.map_or_else(String::new, |limit| format!("%{limit}"));
    let logs = |name: &str| pattern(&format!("{place}/slurm/{name}"));
    let points = script(&[
        format!("#SBATCH --job-name={name}"),
        format!("#SBATCH --array={}{limit}", array(lacking)),
        "#SBATCH --ntasks=1".into(),
        "#SBATCH --cpus-per-task=1".into(),
        // A shard that was lost with its machine may run again.
        "#SBATCH --requeue".into(),
        format!("#SBATCH --output=\"{}\"", logs("points-")? + "%a.out"),
        "set -euo pipefail".into(),
        format!("cd {}", quoted(&here)),
        format!(
            "exec {} sweep --out {} --shard \"$SLURM_ARRAY_TASK_ID/{of}\" --threads 1",
            quoted(&program),
            quoted(&place)
        ),
    ]);
    let merge = script(&[
        format!("#SBATCH --job-name={name}-table"),
        "#SBATCH --ntasks=1".into(),
        "#SBATCH --cpus-per-task=1".into(),
        format!("#SBATCH --output=\"{}\"", logs("merge.out")?),
        "set -euo pipefail".into(),
        format!("cd {}", quoted(&here)),
        format!("exec {} sweep gather {}", quoted(&program), quoted(&place)),
    ]);
    for (name, text) in [("points.sbatch", points), ("merge.sbatch", merge)] {
        write_whole(&scripts.join(name), text.as_bytes()).map_err(Failure::of_file)?;
    }
    let script = |name| quoted(&format!("{place}/slurm/{name}"));
    output::print(&format!(
        "points=$(sbatch --parsable {})\nsbatch --dependency=afterok:${{points%%;*}} --kill-on-invalid-dep=yes {}\n",
        script("points.sbatch"),
        script("merge.sbatch")
    ));
    output::complain(format_args!(
        "{} of {of} shards are missing. These two commands run them and write the table; `sealsim sweep status {place}` says how far it \
         is. What failed is submitted again by the same sweep and the same two commands",
        lacking.len(),
    ));
    Ok(())
}

fn script(lines: &[String]) -> String {
    format!("#!/bin/bash\n{}\n", lines.join("\n"))
}

/// A path that can stand in a script.
fn text(path: &Path) -> Result<String, Failure> {
    let plain = path.to_str().filter(|path| !path.contains(char::is_control));
    let refused =
        || Failure::Usage(miette!("{}: a path with such characters cannot stand in a script", path.display()));
    plain.map(str::to_owned).ok_or_else(refused)
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A path as Slurm takes it for logs: `%` begins what Slurm replaces.
fn pattern(path: &str) -> Result<String, Failure> {
    if path.contains(['"', '\\']) {
        return Err(Failure::Usage(miette!("{path}: Slurm takes no log in a folder with such characters")));
    }
    Ok(path.replace('%', "%%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_shell_and_patterns_of_slurm_mean_the_path_itself() {
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's $HOME"), "'it'\\''s $HOME'");
        assert_eq!(pattern("/a%b").ok().as_deref(), Some("/a%%b"));
        assert!(pattern("/a\"b").is_err() && text(Path::new("/a\nb")).is_err());
    }
}
