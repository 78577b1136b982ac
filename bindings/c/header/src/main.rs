//! Writes `bindings/c/include/sealsim.h`; with `--check` says whether it is what would be written.

use std::{path::Path, process::ExitCode};

fn main() -> ExitCode {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let header = library.join("include/sealsim.h");
    let bindings = match cbindgen::generate(&library) {
        Ok(bindings) => bindings,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let mut made = Vec::new();
    bindings.write(&mut made);
    // Sections for Rust's documentation say nothing to a caller in C.
    let made = String::from_utf8_lossy(&made).replace("// # Safety\n", "");
    if !std::env::args().any(|argument| argument == "--check") {
        return match std::fs::write(&header, made) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{}: {error}", header.display());
                ExitCode::FAILURE
            }
        };
    }
    if std::fs::read_to_string(&header).is_ok_and(|known| known == made) {
        return ExitCode::SUCCESS;
    }
    eprintln!(
        "{} is not what the source says: cargo run --manifest-path bindings/c/header/Cargo.toml",
        header.display()
    );
    ExitCode::FAILURE
}
