//! Programs in C and C++, compiled against the header and linked with the library.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// Where the library is. Cargo builds none of C's for tests of its own accord, so it is asked to, in the profile of this test.
fn library() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = env::current_exe().unwrap().ancestors().nth(2).unwrap().to_owned();
        let name = folder.file_name().unwrap().to_str().unwrap();
        let profile = if name == "debug" { "dev" } else { name };
        // Beside the program, whose build of the crates below it then is.
        let build =
            ["build", "--quiet", "--package", "sealsim", "--package", env!("CARGO_PKG_NAME"), "--profile", profile];
        let built = Command::new(env!("CARGO")).args(build).current_dir(env!("CARGO_MANIFEST_DIR")).status().unwrap();
        assert!(built.success());
        folder
    })
}

/// Compiles a program and runs it; gives what it prints.
fn run(compiler: &str, source: &str, more: &[&str], arguments: &[&str]) -> String {
    let (root, library) = (Path::new(env!("CARGO_MANIFEST_DIR")), library());
    let name = format!("{}-{compiler}-{}", source.replace(['/', '.'], "-"), more.len());
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let compiled = Command::new(compiler)
        .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g"])
        .arg("-I")
        .arg(root.join("include"))
        .arg("-o")
        .arg(&program)
        .arg(root.join(source))
        .arg("-L")
        .arg(library)
        .args(more)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let done = Command::new(&program).args(arguments).env("LD_LIBRARY_PATH", library).output().unwrap();
    let (printed, wrong) = (String::from_utf8(done.stdout).unwrap(), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{wrong}{printed}");
    printed
}

#[test]
fn the_library_keeps_what_the_header_promises() {
    assert_eq!(run("cc", "tests/library.c", &["-std=c11", "-lsealsim"], &[]), "ok\n");
}

#[test]
fn it_links_statically() {
    let archive = library().join("libsealsim.a").display().to_string();
    let more = ["-std=c11", &archive, "-lpthread", "-ldl", "-lm"];
    assert_eq!(run("cc", "tests/library.c", &more, &[]), "ok\n");
}

#[test]
fn the_example_is_aes_gcm_in_c_and_cpp() {
    // The ciphertext of zeros under a key and an IV of zeros: test case 2 of McGrew and Viega has its first block.
    for (compiler, more) in [("cc", &["-std=c11", "-lsealsim"][..]), ("c++", &["-x", "c++", "-lsealsim"])] {
        let printed = run(compiler, "examples/seal.c", more, &["serial-aes128"]);
        let lines: Vec<_> = printed.lines().collect();
        assert_eq!(lines.len(), 5, "{printed}");
        assert!(lines[0].ends_with("text 0388dace60b6a392f328c2b971b2fe78"), "{printed}");
        assert!(lines[4].contains("tag "), "{printed}");
    }
}
