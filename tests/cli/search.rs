//! `sealsim search`, which Python does.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Output},
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_sealsim");

/// Runs the verb where programs are those of a folder, and those of the system if `system`.
fn search(folder: &Path, system: bool, arguments: &[&str]) -> Output {
    run(Path::new(PROGRAM), folder, system, arguments)
}

fn run(program: &Path, folder: &Path, system: bool, arguments: &[&str]) -> Output {
    let path = format!("{}{}", folder.display(), if system { ":/usr/bin:/bin" } else { "" });
    Command::new(program).env("PATH", path).arg("search").args(arguments).output().unwrap()
}

#[test]
fn without_python_or_the_package_it_says_what_to_install() {
    let folder = tempfile::tempdir().unwrap();
    let asked = ["study.toml", "--budget", "5", "--out", "results"];
    for script in [None, Some("#!/bin/sh\nexit 1\n")] {
        if let Some(script) = script {
            write_python(folder.path(), script);
        }
        let refused = search(folder.path(), false, &asked);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(2) && said.contains("pip install sealsim-*.whl"), "{said}");
    }
}

#[test]
fn python_has_the_arguments_the_program_and_the_last_word() {
    let folder = tempfile::tempdir().unwrap();
    write_python(
        folder.path(),
        "#!/bin/sh\n[ \"$1\" = -c ] && exit 0\nfor word; do echo \"$word\"; done\necho \"$SEALSIM\"\nexit 3\n",
    );
    let asked =
        ["a study.toml", "--budget", "5", "--out", "results", "--set", "link.lanes=8", "--cheap-copy", "h2d:1KiB"];
    let done = search(folder.path(), true, &asked);
    let printed = String::from_utf8(done.stdout).unwrap();
    let words: Vec<&str> = printed.lines().collect();
    let (program, words) = words.split_last().unwrap();
    assert_eq!(words, [&["-m", "sealsim.search"], &asked[..]].concat());
    assert_eq!(fs::canonicalize(program).unwrap(), fs::canonicalize(PROGRAM).unwrap());
    assert_eq!(done.status.code(), Some(3));

    // A Python beside the program is asked before that on the path, which is asked if it has not what it takes.
    let (beside, elsewhere) = (folder.path().join("sealsim"), tempfile::tempdir().unwrap());
    fs::copy(PROGRAM, &beside).unwrap();
    assert_eq!(run(&beside, elsewhere.path(), true, &asked).status.code(), Some(3));
    write_python(folder.path(), "#!/bin/sh\nexit 1\n");
    write_python(elsewhere.path(), "#!/bin/sh\n[ \"$1\" = -c ] && exit 0\nexit 4\n");
    assert_eq!(run(&beside, elsewhere.path(), true, &asked).status.code(), Some(4));
}

#[test]
fn what_makes_no_sense_is_refused_before_python_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    for (wrong, said) in [
        (&["study.toml", "--out", "results"][..], "--budget"),
        (&["study.toml", "--budget", "0", "--out", "results"], "0"),
        (&["study.toml", "--budget", "5"], "--out"),
        (&["study.toml", "--budget", "5", "--out", "results", "--sampler", "simplex"], "nsga2, tpe, random"),
    ] {
        let refused = search(folder.path(), false, wrong);
        let text = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(2) && text.contains(said), "{wrong:?}: {text}");
    }
}

fn write_python(folder: &Path, script: &str) {
    let python = folder.join("python3");
    fs::write(&python, script).unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
}
