//! The crate `aes-gcm` as cargo builds it by default, in a program of its own beside the benchmark.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
};

/// The program, which waits for work.
pub struct Yardstick {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Yardstick {
    /// Builds and starts it.
    pub fn start() -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| here.join("../target"), Into::into);
        let (target, manifest) = (target.join("yardstick"), here.join("yardstick/Cargo.toml"));
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--release", "--locked", "--manifest-path"]).arg(manifest);
        assert!(build.arg("--target-dir").arg(&target).status().expect("cargo").success(), "the yardstick is built");
        let program = target.join("release/yardstick");
        let mut child =
            Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the yardstick");
        let answers = BufReader::new(child.stdout.take().expect("its output"));
        Self { child, answers }
    }

    /// Seconds in which it seals and opens so many bytes in messages of this length.
    pub fn seconds(&mut self, bytes: u64, message: u64) -> f64 {
        let input = self.child.stdin.as_mut().expect("its input");
        writeln!(input, "{bytes} {message}").expect("the yardstick reads");
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("the yardstick answers");
        line.trim().parse().expect("seconds")
    }
}

impl Drop for Yardstick {
    fn drop(&mut self) {
        // The end of its input ends it.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
