//! The `sealsim` program.

fn main() -> std::process::ExitCode {
    sealsim::cli::main()
}
