//! The peer of the speed bench: the crate that a person would write for the real `cargo fuzz`.
//!
//! Thin targets with `arbitrary` call both sides and compare; the C originals are compiled by plain `cc`. Nothing of this
//! tool is in it. The large crate has the same targets under more names.

use crate::support::clib;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// How many targets the large crate has.
pub const LARGE: usize = 50;

/// A copy of the crate, ready for `cargo fuzz`.
pub struct Peer {
    dir: PathBuf,
    host: String,
}

impl Peer {
    /// The crate with `targets` fuzz targets, of which the first ones are real names.
    pub fn prepare(targets: usize, host: &str) -> Self {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peer/crate");
        let dir = clib::scratch(&format!("peer-{targets}"));
        clib::copy_tree(&from, &dir);
        let manifest = dir.join("fuzz/Cargo.toml");
        let mut text = std::fs::read_to_string(&manifest).unwrap();
        for more in text.matches("[[bin]]").count()..targets {
            let name = format!("more_{more}");
            std::fs::copy(
                dir.join("fuzz/fuzz_targets/kit_crc32.rs"),
                dir.join(format!("fuzz/fuzz_targets/{name}.rs")),
            )
            .unwrap();
            text += &format!(
                "\n[[bin]]\nname = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"\ntest = false\ndoc = false\nbench = false\n"
            );
        }
        std::fs::write(&manifest, text).unwrap();
        Self { dir, host: host.to_owned() }
    }

    /// Changes a constant of the FNV port without changing its value; each number is another text.
    pub fn edit(&self, edit: u64) {
        let path = self.dir.join("src/lib.rs");
        let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peer/crate/src/lib.rs");
        let text = std::fs::read_to_string(original).unwrap();
        let from = "fold(0xcbf2_9ce4_8422_2325u64, |h, b|";
        assert!(text.contains(from));
        let to = format!("fold(0xcbf2_9ce4_8422_2325u64 ^ {edit} ^ {edit}, |h, b|");
        std::fs::write(path, text.replace(from, &to)).unwrap();
    }

    /// `cargo fuzz build` of one target, or of all; the seconds that it took.
    pub fn build(&self, target: Option<&str>) -> f64 {
        let start = Instant::now();
        let mut cargo = Command::new("cargo");
        cargo.args(["fuzz", "build"]).args(target).current_dir(&self.dir);
        cargo.env("KIT_ROOT", Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/c-lib"));
        // What `cargo test` and `cargo bench` set for their children would reach the peer, too.
        cargo.env_remove("CARGO_TARGET_DIR").env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
        if !has_nightly() {
            cargo.env("RUSTC_BOOTSTRAP", "1");
        } else {
            cargo.env("RUSTUP_TOOLCHAIN", "nightly");
        }
        let output = cargo.stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "`cargo fuzz build` failed (cargo install cargo-fuzz):\n{said}");
        start.elapsed().as_secs_f64()
    }

    /// The program of a target.
    pub fn binary(&self, target: &str) -> PathBuf {
        let below = |folder: &str| self.dir.join(folder).join(&self.host).join("release").join(target);
        let places = [below("fuzz/target"), below("target")];
        places.into_iter().find(|path| path.is_file()).expect("cargo fuzz has built the target")
    }
}

/// Whether rustup has a nightly toolchain, which `cargo fuzz` wants.
pub fn has_nightly() -> bool {
    let output = Command::new("rustup").args(["which", "rustc", "--toolchain", "nightly"]).output();
    output.is_ok_and(|output| output.status.success())
}
