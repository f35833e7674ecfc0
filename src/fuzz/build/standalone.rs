//! Links the port crate without the C original, to find missing symbols.

use crate::digest::of_parts;
use crate::error::Result;
use crate::fuzz::build::cargo::cargo;
use crate::fuzz::build::fuzz_binary::Builder;
use crate::fuzz::build::overlay::Overlay;
use crate::fuzz::build::port_compilation::{Edges, PortIs};
use crate::fuzz::disk_full;
use crate::platform::process::{Interrupt, Job};
use serde::{Deserialize, Serialize};

/// Whether the port crate links without C.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standalone {
    /// Whether a library with the C names was linked from the port alone.
    pub links: bool,
    /// The reason why not.
    pub why: Option<String>,
}

impl Standalone {
    /// The result if linking was not attempted.
    pub fn no(why: impl Into<String>) -> Self {
        Self { links: false, why: Some(why.into()) }
    }
}

/// How many lines of linker output are reported.
const TOLD: usize = 3;

impl Builder<'_> {
    /// Links the port of an overlay as a shared library that exports the C names, without the feature that
    /// adds the C original. No symbol may stay undefined.
    ///
    /// # Errors
    /// A full disk, and Ctrl-C.
    pub fn standalone(&self, overlay: &Overlay, interrupt: &Interrupt) -> Result<Standalone> {
        fs_err::create_dir_all(&self.target_dir)?;
        let _lock = self.lock_builds(interrupt)?;
        let job = self.without_c(overlay, "cdylib", "standalone", &[])?;
        let output = job.arg("-Clink-arg=-Wl,-z,defs").run(interrupt)?;
        if output.exit.success() {
            return Ok(Standalone { links: true, why: None });
        }
        let stderr = output.stderr_text();
        disk_full::check(&output, &unquoted(&stderr), &self.target_dir)?;
        Ok(Standalone::no(reason(&stderr)))
    }
}

impl Builder<'_> {
    /// Cargo building the port of an overlay as a library with the C names, without the C original, in a folder of the
    /// target directory. Further arguments go to rustc.
    pub fn without_c(
        &self,
        overlay: &Overlay,
        crate_type: &str,
        folder: &str,
        flags: &[&str],
    ) -> Result<Job> {
        // Cargo takes crates of the same name in two places for one, and one that was built later for the newer one.
        let place = of_parts([overlay.dir().as_os_str().as_encoded_bytes()]);
        let wrapped = Edges::place(&self.target_dir)?.env(overlay, PortIs::Counted);
        let job = wrapped
            .into_iter()
            .fold(cargo(self.toolchain, &self.user_dir)?, |job, (key, value)| job.env(key, value));
        Ok(job
            .args(["rustc", "--release", "--lib", "--crate-type", crate_type, "--no-default-features"])
            .args(["--features", "capi"])
            .args(flags)
            .arg("--manifest-path")
            .arg(overlay.dir().join("Cargo.toml"))
            .arg("--target-dir")
            .arg(self.target_dir.join(folder))
            .arg("--")
            .arg(format!("-Cmetadata={place}")))
    }
}

/// The compiler's output without quoted source lines, which begin with their number and a bar.
fn unquoted(stderr: &str) -> String {
    let is_quote = |line: &&str| {
        let behind = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
        line.trim_start() != behind && behind.trim_start().starts_with('|')
    };
    stderr.lines().filter(|line| !is_quote(line)).collect::<Vec<_>>().join("\n")
}

/// The missing symbols, or else the first error.
fn reason(stderr: &str) -> String {
    let missed = |line: &str| {
        let rest =
            ["undefined reference to ", "undefined symbol: "].iter().find_map(|m| line.split(m).nth(1))?;
        Some(rest.trim_matches(|c: char| !(c.is_alphanumeric() || c == '_')).to_owned())
    };
    let mut missing: Vec<String> = stderr.lines().filter_map(missed).collect();
    missing.sort();
    missing.dedup();
    if missing.is_empty() {
        let error = stderr.lines().find(|line| line.trim_start().starts_with("error"));
        return error.unwrap_or("cargo failed").trim().to_owned();
    }
    let more = missing.len().saturating_sub(TOLD);
    let told = missing.iter().take(TOLD).cloned().collect::<Vec<_>>().join(", ");
    format!("nothing defines {told}{}", if more > 0 { format!(" and {more} more") } else { String::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_linker_misses_is_named_once() {
        let gnu = "x.rs:(.text.f+0x1): undefined reference to `c_a'\nx: undefined reference to `c_b'\nx: undefined reference to `c_a'";
        assert_eq!(reason(gnu), "nothing defines c_a, c_b");
        let lld = "rust-lld: error: undefined symbol: c_a\n>>> referenced by x";
        assert_eq!(reason(lld), "nothing defines c_a");
        assert_eq!(reason("warning: y\nerror: no such feature\n"), "error: no such feature");
    }

    #[test]
    fn what_a_source_says_nobody_has_said() {
        let said = "warning: unused\n --> src/lib.rs:3:1\n  |\n3 | \"No space left on device\"\n12  |  x\nerror: full";
        assert_eq!(unquoted(said), "warning: unused\n --> src/lib.rs:3:1\n  |\nerror: full");
    }
}
