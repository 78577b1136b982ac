//! The `sealsim` program.

fn main() -> std::process::ExitCode {
    sealsim::Program::new().run()
}
