//! Files that are built in, and manual pages.

use std::{fs, path::Path, process::Command};

fn sealsim(folder: &Path, arguments: &[&str]) -> (Option<i32>, Vec<u8>, String) {
    let run = Command::new(env!("CARGO_BIN_EXE_sealsim")).current_dir(folder).args(arguments).output().unwrap();
    (run.status.code(), run.stdout, String::from_utf8(run.stderr).unwrap())
}

#[test]
fn every_example_is_the_file_of_its_path() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path().display().to_string();
    let (code, written, said) = sealsim(root, &["example", "--write", "--into", &into]);
    assert_eq!(code, Some(0), "{said}");
    let written = String::from_utf8(written).unwrap();
    assert!(written.lines().count() > 90, "{written}");
    for line in written.lines() {
        let path = Path::new(line).strip_prefix(folder.path()).unwrap();
        assert_eq!(fs::read(root.join(path)).unwrap(), fs::read(line).unwrap(), "{}", path.display());
        let (code, printed, said) = sealsim(root, &["example", &path.display().to_string()]);
        assert!(code == Some(0) && printed == fs::read(line).unwrap(), "{} {said}", path.display());
    }
}

#[test]
fn what_is_there_and_differs_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name| sealsim(folder.path(), &["example", name, "--write"]);
    assert_eq!(write("kmeans-off").0, Some(0));
    let traces = folder.path().join("validation/traces");
    assert_eq!(fs::read_dir(&traces).unwrap().count(), 2);
    assert_eq!(write("kmeans-off").0, Some(0), "the same files again");
    let other = traces.join("kmeans-cc-cuda_gpu_trace.csv.gz");
    fs::write(&other, "mine").unwrap();
    let (code, _, said) = write("kmeans-cc");
    assert!(code == Some(4) && said.contains("is there already"), "{code:?} {said}");
    assert_eq!((fs::read(&other).unwrap(), fs::read_dir(&traces).unwrap().count()), (b"mine".to_vec(), 3));
}

#[test]
fn a_name_means_one_example_or_is_refused_with_help() {
    let here = Path::new(".");
    let (code, text, _) = sealsim(here, &["example", "ghash-width"]);
    assert!(code == Some(0) && String::from_utf8(text).unwrap().contains("engine.ghash"));
    // By the tail of a path, as other documents name it.
    for tail in ["engines/folded-8.toml", "folded-8.toml", "hw-configs/engines/folded-8.toml"] {
        let (code, text, said) = sealsim(here, &["example", tail]);
        assert!(code == Some(0) && String::from_utf8(text).unwrap().contains("[engine]"), "{tail}: {said}");
    }
    for (name, help) in [("ghash-widht", "did you mean `ghash-width`?"), ("kmeans", "means 4 examples"), ("", "")] {
        let (code, _, said) = sealsim(here, &["example", name]);
        assert_eq!((code, said.contains(help)), (Some(if name.is_empty() { 0 } else { 2 }), true), "{name}: {said}");
    }
}

#[test]
fn every_verb_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(sealsim(folder.path(), &["man", "pages"]).0, Some(0));
    let pages = folder.path().join("pages");
    for page in ["sealsim", "sealsim-run", "sealsim-compare", "sealsim-verify-vectors", "sealsim-tlp-decode"] {
        let text = fs::read_to_string(pages.join(format!("{page}.1"))).unwrap();
        assert!(text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"), "{page}");
    }
}

#[test]
fn a_field_is_looked_for_in_its_table_then_by_how_paths_end() {
    let cases = [
        ("ghash.width", "did you mean `engine.ghash.width`"),
        ("tag_queue.dept", "did you mean `tag_queue.depth`?"),
        ("hbm.latency", "did you mean `hbm."),
    ];
    for (path, help) in cases {
        let set = format!("{path}=3");
        let arguments = ["run", "h100-nvl-tdx", "--copy", "h2d:1", "--set", &set];
        let (code, _, said) = sealsim(Path::new("."), &arguments);
        assert!(code == Some(3) && said.contains(help), "{path}: {code:?} {said}");
    }
}
