//! Prepares what the binary embeds: the scenarios, the museum, and the clocks that replay preloads into servers and JVMs, which are
//! separate shared libraries.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

#[path = "build/museum.rs"]
mod museum;
#[path = "build/scenarios.rs"]
mod scenarios;

/// The libraries: the file that each is compiled from, and its name.
const CLOCKS: [(&str, &str); 2] = [("clock/lib.rs", "lockstep_clock"), ("clock/jvm.rs", "lockstep_jvm_clock")];

fn main() {
    scenarios::embed();
    museum::embed();
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=clock");
    let linux = variable("CARGO_CFG_TARGET_OS") == "linux";
    let is_known = linux && matches!(variable("CARGO_CFG_TARGET_ARCH").as_str(), "x86_64" | "aarch64");
    for (source, name) in CLOCKS {
        let library = Path::new(&variable("OUT_DIR")).join(name).with_extension("so");
        if is_known {
            compile(source, name, &library);
        } else {
            // An empty library builds on every platform; `replay::ClockLibrary` reports why it cannot be used.
            fs::write(&library, []).expect("OUT_DIR is writable");
        }
    }
}

/// Calls rustc directly, because cargo cannot build a library that its own crate embeds. The optimisation level is
/// fixed, since a panic branch of an unoptimised build would need an unwinder that is not available.
fn compile(source: &str, name: &str, library: &Path) {
    let mut rustc = Command::new(variable("RUSTC"));
    rustc
        .args(["--crate-name", name, "--crate-type", "cdylib", "--edition", "2024"])
        .args(["-O", "-C", "panic=abort", "-C", "strip=symbols"])
        .args(["--target", &variable("TARGET"), "-o"])
        .args([library, Path::new(source)]);
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        rustc.args(["-C", &format!("linker={linker}")]);
    }
    let status = rustc.status().expect("cargo names a rustc that runs");
    assert!(status.success(), "the frozen clock ({source}) did not compile: {status}");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name} for a build script"))
}
