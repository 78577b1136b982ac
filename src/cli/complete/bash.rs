//! Bash, which takes words apart at `=` and `:` and wants only the last piece back.

use clap::Command;
use clap_complete::{engine::complete, env::EnvCompleter};
use std::{
    ffi::OsString,
    io::{self, Write},
    path::Path,
};

pub struct Bash;

/// Candidates come one to a line. The last one keeps its blank away if more is to follow it.
const SCRIPT: &str = r#"_sealsim() {
    local IFS=$'\n' words=("${COMP_WORDS[@]:0:COMP_CWORD+1}")
    COMPREPLY=($(VARIABLE=bash COMPLETER -- "${words[@]}" 2> /dev/null)) || COMPREPLY=()
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} =~ [=/:]$ ]] && compopt -o nospace
}
complete -o bashdefault -F _sealsim PROGRAM
"#;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn is(&self, name: &str) -> bool {
        name == "bash"
    }

    fn write_registration(
        &self,
        variable: &str,
        _: &str,
        program: &str,
        completer: &str,
        script: &mut dyn Write,
    ) -> io::Result<()> {
        let named = SCRIPT.replace("VARIABLE", variable).replace("PROGRAM", program).replace("COMPLETER", completer);
        script.write_all(named.as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        folder: Option<&Path>,
        answer: &mut dyn Write,
    ) -> io::Result<()> {
        let words = joined(words);
        let last = words.len().saturating_sub(1);
        // What lies before the last piece of the word stays as it is typed.
        let kept = words.last().and_then(|word| word.to_str()?.rfind(['=', ':'])).map_or(0, |at| at + 1);
        for candidate in complete(command, words, last, folder)? {
            let value = candidate.get_value().to_string_lossy();
            if let Some(piece) = value.get(kept..) {
                writeln!(answer, "{piece}")?;
            }
        }
        Ok(())
    }
}

/// The words as typed: those on both sides of `=` or `:` are one.
fn joined(words: Vec<OsString>) -> Vec<OsString> {
    let is_break =
        |word: &OsString| word.to_str().is_some_and(|word| !word.is_empty() && word.chars().all(|c| "=:".contains(c)));
    let mut whole: Vec<OsString> = Vec::new();
    let mut goes_on = false;
    for word in words {
        let breaks = is_break(&word);
        match whole.last_mut() {
            Some(last) if breaks || goes_on => last.push(word),
            _ => whole.push(word),
        }
        goes_on = breaks;
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_put_together_as_they_were_typed() {
        let of = |words: &[&str]| joined(words.iter().map(OsString::from).collect());
        assert_eq!(of(&["run", "--set", "a.b", "=", "x"]), ["run", "--set", "a.b=x"]);
        assert_eq!(of(&["--copy", "h2d", ":", "1MiB", ":", "pinned"]), ["--copy", "h2d:1MiB:pinned"]);
        assert_eq!(of(&["--set", "a.b", "="]), ["--set", "a.b="]);
        assert_eq!(of(&["--design", ""]), ["--design", ""]);
    }
}
