//! The name by which programs find the library when they start, wherever it was when they were linked.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libsealsim.so");
    }
}
