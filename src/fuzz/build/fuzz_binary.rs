//! Builds the fuzz binary incrementally on stable Rust: one binary with the targets that a command runs; C
//! and the port are instrumented.

use crate::audit;
use crate::error::{Error, ErrorKind, Result};
use crate::fuzz::build::cache;
use crate::fuzz::build::cargo::{cargo, excerpt};
use crate::fuzz::build::overlay::Overlay;
use crate::fuzz::build::port_compilation::{self, Edges, PortIs};
use crate::fuzz::build::port_variables;
use crate::fuzz::disk_full;
use crate::platform::process::{Exit, Interrupt, Job, Output};
use crate::platform::toolchain::Toolchain;
use cargo_metadata::Message;
use cargo_metadata::diagnostic::DiagnosticLevel;
use fs_err as fs;
use std::fs::TryLockError;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A compiler error with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The error code, such as `E0308`, if rustc gives one.
    pub code: Option<String>,
    pub message: String,
    /// Relative to the port's crate.
    pub file: String,
    pub line: usize,
    /// rustc's message, with paths relative to the port's crate.
    pub rendered: String,
}

/// The result of a build.
#[derive(Debug, Clone)]
pub enum Built {
    /// The binary with the targets.
    Binary(PathBuf),
    /// The port does not compile.
    Errors(Vec<Diagnostic>),
    /// The compiler did not come to an end on the port, for this reason.
    Stopped(String),
}

/// Everything that a build needs besides the overlay.
#[derive(Debug, Clone)]
pub struct Builder<'a> {
    pub toolchain: &'a Toolchain,
    /// Root of the C sources.
    pub root: &'a Path,
    pub target_dir: PathBuf,
    /// The cache that all repositories of this user share.
    pub user_dir: PathBuf,
    /// The target directory of place 0, which holds the artifacts that all places share.
    pub shared_dir: PathBuf,
    /// The directory of the binary, apart from other builds in the same target directory.
    pub bin_dir: PathBuf,
    pub counts: Counts,
    /// Compile the harnesses with optimisation where edges are counted.
    pub optimise: bool,
}

/// What the built code counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// Edges and comparisons, which guide the fuzzer.
    Edges,
    /// The executions of each part of the sources, for replays. On the C side only if its compiler supports
    /// that. The port either counts, too, or is compiled as it ships.
    Sources { c: bool, port: bool },
}

/// rustc flags for replays; they also enable the harness's replay mode.
const SOURCES: [&str; 3] = ["-Cinstrument-coverage", "--cfg=implfuzz_coverage", "--cfg=fuzzing"];

/// Cargo settings for replays, and for all runs without `fuzz.optimise`: harness and runtime compile in a quarter of
/// the time, and run slower, which is nothing to a replay. All other crates keep their settings, the port among them,
/// and so do build scripts, which the builds share.
fn unoptimised(fuzz_manifest: &str) -> Result<[String; 2]> {
    let name = package(fuzz_manifest)
        .ok_or_else(|| Error::new(ErrorKind::Internal, "the fuzz crate's Cargo.toml names no package"))?;
    Ok(["implfuzz-runtime", &name]
        .map(|name| format!("--config=profile.release.package.{name:?}.opt-level=0")))
}

/// Cargo settings that compile the port as its own manifest says, where it says nothing as Cargo's release profile does.
/// Settings that Cargo has for all crates only (`panic`, `lto`) stay those of the fuzz crate.
fn as_it_ships(manifest: &str) -> Result<Vec<String>> {
    let internal = |why: &str| Error::new(ErrorKind::Internal, format!("the port's Cargo.toml {why}"));
    let name = package(manifest).ok_or_else(|| internal("names no package"))?;
    let table: toml::Table = manifest.parse().map_err(|_| internal("is not TOML"))?;
    let release = table.get("profile").and_then(|profile| profile.get("release"));
    let of_package = release.and_then(|release| release.get("package")?.get(&name));
    let own = |key: &str| [of_package, release].into_iter().find_map(|table| table?.get(key)).cloned();
    let usual: [(_, toml::Value); 3] =
        [("debug-assertions", false.into()), ("overflow-checks", false.into()), ("opt-level", 3.into())];
    let own = usual.map(|(key, usual)| (key, own(key).unwrap_or(usual)));
    // The other builds have another number, so Cargo takes none of them for this one.
    let all = own.into_iter().chain([("codegen-units", 16.into())]);
    Ok(all.map(|(key, value)| format!("--config=profile.release.package.{name:?}.{key}={value}")).collect())
}

/// The name of a manifest's package.
fn package(manifest: &str) -> Option<String> {
    let manifest: toml::Table = manifest.parse().ok()?;
    Some(manifest.get("package")?.get("name")?.as_str()?.to_owned())
}

impl Builder<'_> {
    /// Builds the fuzz crate of an overlay. `Err` if the cause is something other than the port's own text.
    pub fn build(&self, overlay: &Overlay, interrupt: &Interrupt) -> Result<Built> {
        let manifest = fs::read_to_string(overlay.dir().join("Cargo.toml"))?;
        if let Some(reason) = audit::manifest_refusal(&manifest) {
            return Err(not_what_is_read(format!("Cargo.toml of the port's crate: {reason}")));
        }
        fs::create_dir_all(&self.target_dir)?;
        fs::create_dir_all(&self.bin_dir)?;
        // Cargo's own lock ends with the build, but the binary must be copied before another build replaces
        // it.
        let _lock = self.lock_builds(interrupt)?;
        cache::prune(&self.target_dir)?;
        let libfuzzer = self.libfuzzer(overlay, interrupt)?;
        let output = self.job(overlay, &libfuzzer)?.run(interrupt)?;
        if output.exit == Exit::TimedOut {
            return Err(Error::new(
                ErrorKind::Build,
                "cargo build ran for more than 20 minutes and was ended",
            )
            .help(
                "run it again: finished parts of the build are kept; selecting fewer functions is not faster",
            ));
        }
        let messages = Message::parse_stream(output.stdout.as_slice());
        let (mut binary, mut port, mut errors) = (None, None, Vec::new());
        for message in messages {
            match message? {
                Message::CompilerArtifact(artifact) => {
                    if let Some(reason) = other_text(&artifact, overlay) {
                        return Err(not_what_is_read(reason));
                    }
                    if artifact.manifest_path.as_std_path() == overlay.dir().join("Cargo.toml") {
                        let mut files = artifact.filenames.iter();
                        port = files.find(|f| f.extension() == Some("rlib")).cloned().or(port);
                    }
                    if artifact.target.name == "implfuzz_all" {
                        binary = artifact.executable.map(PathBuf::from).or(binary);
                    }
                }
                Message::CompilerMessage(message) if message.message.level == DiagnosticLevel::Error => {
                    errors.extend(diagnostic(&message.message, overlay.dir()));
                }
                _ => {}
            }
        }
        if !output.exit.success() {
            return self.failed(&output, errors, overlay);
        }
        let binary =
            binary.ok_or_else(|| Error::new(ErrorKind::Internal, "cargo built no binary `implfuzz_all`"))?;
        let port = port.ok_or_else(|| Error::new(ErrorKind::Internal, "cargo reported no compiled port"))?;
        let own = self.bin_dir.join("implfuzz_all");
        place(port.as_std_path(), &compiled_crate(&own))?;
        if self.counts == Counts::Edges && !port_compilation::are_in(&compiled_crate(&own))? {
            let text = format!("{port} was compiled without the instrumentation that guides the fuzzer");
            return Err(Error::new(ErrorKind::Environment, text)
                .help(format!("rm -r {}, and run it again", self.target_dir.display())));
        }
        place(&binary, &own)?;
        port_variables::write(&own, &compiled_crate(&own))?;
        Ok(Built::Binary(own))
    }

    /// Waits for other builds in the same target directory, with pauses in which Ctrl-C ends the wait.
    pub fn lock_builds(&self, interrupt: &Interrupt) -> Result<fs::File> {
        self.lock(&self.target_dir.join(cache::BUILD_LOCK), interrupt)
    }

    pub fn lock(&self, path: &Path, interrupt: &Interrupt) -> Result<fs::File> {
        let lock = fs::File::create(path)?;
        loop {
            match lock.file().try_lock() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::WouldBlock) => {
                    interrupt.check()?;
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
        }
    }

    fn job(&self, overlay: &Overlay, libfuzzer: &Path) -> Result<Job> {
        let asan = self.toolchain.asan_runtime.display();
        let link = [
            "-Clink-arg=-Wl,--whole-archive".to_owned(),
            format!("-Clink-arg={asan}"),
            "-Clink-arg=-Wl,--no-whole-archive".to_owned(),
        ];
        let edges = Edges::place(&self.target_dir)?;
        let with = |job: Job, all: [_; 4]| all.into_iter().fold(job, |job, (key, value)| job.env(key, value));
        let unoptimised = unoptimised(&fs::read_to_string(overlay.fuzz_manifest())?)?;
        let job = match self.counts {
            Counts::Edges => {
                let flags = edges.rustflags().into_iter().chain(link).collect::<Vec<_>>().join("\u{1f}");
                let settings = if self.optimise { [].as_slice() } else { &unoptimised };
                let job = self.cargo(overlay)?.args(settings).env("CARGO_ENCODED_RUSTFLAGS", flags);
                with(job, edges.env(overlay, PortIs::Guided))
            }
            Counts::Sources { c, port } => {
                let sources = SOURCES.map(str::to_owned).into_iter().chain([edges.mark()]);
                let flags = sources.chain(link).collect::<Vec<_>>().join("\u{1f}");
                let job = self.cargo(overlay)?.args(unoptimised).env("CARGO_ENCODED_RUSTFLAGS", flags);
                let job = job.env("IMPLFUZZ_COVERAGE", if c { "1" } else { "0" });
                match port {
                    true => with(job, edges.env(overlay, PortIs::Counted)),
                    false => {
                        let manifest = fs::read_to_string(overlay.dir().join("Cargo.toml"))?;
                        with(job.args(as_it_ships(&manifest)?), edges.env(overlay, PortIs::Shipped))
                    }
                }
            }
        };
        Ok(job.env("CUSTOM_LIBFUZZER_PATH", libfuzzer))
    }

    fn cargo(&self, overlay: &Overlay) -> Result<Job> {
        Ok(cargo(self.toolchain, &self.user_dir)?
            .args(["build", "--release", "--message-format=json", "--bin", "implfuzz_all", "--target"])
            .arg(&self.toolchain.host)
            .arg("--manifest-path")
            .arg(overlay.fuzz_manifest())
            .arg("--target-dir")
            .arg(&self.target_dir)
            // Not only for speed: with it rustc moves no function of the port into other crates, so the
            // linkage proof finds all of them in one place.
            .env("CARGO_INCREMENTAL", "1")
            .env("IMPLFUZZ_C_ROOT", self.root)
            .env("IMPLFUZZ_ASAN", "1")
            .env("CC", &self.toolchain.cc.path)
            .env("CXX", &self.toolchain.cxx.path)
            .env("AR", &self.toolchain.ar)
            .env("OBJCOPY", &self.toolchain.objcopy))
    }

    fn failed(&self, output: &Output, errors: Vec<Diagnostic>, overlay: &Overlay) -> Result<Built> {
        let stderr = output.stderr_text();
        // Errors with a position in a source are for the port to fix, whatever else failed.
        if errors.iter().all(|error| error.line == 0) {
            let placeless = errors.iter().map(|error| error.rendered.as_str()).chain([stderr.as_str()]);
            disk_full::check(output, &placeless.collect::<String>(), &self.target_dir)?;
        }
        if let Some(reason) = port_compilation::stopped(&stderr, overlay) {
            return Ok(Built::Stopped(reason));
        }
        if errors.is_empty() { Err(self.unexplained(&stderr)) } else { Ok(Built::Errors(errors)) }
    }

    fn unexplained(&self, stderr: &str) -> Error {
        // The build script's output follows "--- stderr".
        let text = stderr.split("--- stderr").last().unwrap_or(stderr);
        Error::new(ErrorKind::Build, format!("the fuzz crate does not build:\n  {}", excerpt(text)))
            .help("cargo implfuzz doctor; if it finds all tools, the C flags in implfuzz.toml may be wrong")
    }
}

/// The compiled port crate that is linked into a binary of [`Builder::build`].
pub fn compiled_crate(binary: &Path) -> PathBuf {
    binary.with_file_name("port.rlib")
}

/// Copies a file atomically.
pub fn place(from: &Path, to: &Path) -> Result<()> {
    let fresh = to.with_extension("new");
    fs::copy(from, &fresh)?;
    fs::rename(&fresh, to)?;
    Ok(())
}

fn not_what_is_read(reason: String) -> Error {
    Error::new(ErrorKind::Build, reason)
        .help("correct Cargo.toml of the port's crate: only what the audit reads can be judged")
}

/// The reason if an artifact was built from other text than the audit reads. `Cargo.toml` can name another
/// root file, or add a crate under the name of `libc` or `core`. Manifests are checked before the build; but
/// only cargo knows the library names of dependencies and their own dependencies.
fn other_text(artifact: &cargo_metadata::Artifact, overlay: &Overlay) -> Option<String> {
    let (root, manifest) = (overlay.dir(), artifact.manifest_path.as_std_path());
    let (package, name) = (artifact.package_id.repr.as_str(), &artifact.target.name);
    if manifest == root.join("Cargo.toml") {
        let source = artifact.target.src_path.as_std_path();
        let name = source.strip_prefix(root).unwrap_or(source).display();
        let wanted = if artifact.target.is_custom_build() { "build.rs" } else { "src/lib.rs" };
        let is_read = source == root.join(wanted);
        return (!is_read).then(|| format!("the port's crate is built from {name}, not from {wanted}"));
    }
    if manifest == overlay.fuzz_manifest() || manifest == overlay.runtime_manifest() {
        return None;
    }
    if artifact.target.is_proc_macro() {
        return Some(format!(
            "the crate `{name}` is a procedural macro, which could write what the audit does not read"
        ));
    }
    if !package.starts_with("registry+") {
        return Some(format!("the crate `{name}` is linked with the port and does not come from a registry"));
    }
    let is_libc = package.rsplit('#').next().is_some_and(|own| own.starts_with("libc@"));
    let is_other = audit::hides(name) || name == "libc" && !is_libc;
    is_other.then(|| format!("the crate `{name}` of {package} is not what the audit reads under that name"))
}

fn diagnostic(message: &cargo_metadata::diagnostic::Diagnostic, root: &Path) -> Option<Diagnostic> {
    if message.spans.is_empty() && message.message.starts_with("aborting due to") {
        return None;
    }
    let span = message.spans.iter().find(|s| s.is_primary).or(message.spans.first());
    let file = span.map(|s| s.file_name.clone()).unwrap_or_default();
    // Cargo runs in the fuzz crate: names of its own files are relative, names of the port's files are
    // absolute.
    let file = match file.strip_prefix(&*root.display().to_string()) {
        Some(file) => file.trim_start_matches('/').to_owned(),
        None => format!("fuzz/{file}").replace(&format!("fuzz/{TO_TARGETS}"), "fuzz/targets/"),
    };
    let rendered = message.rendered.clone().unwrap_or_default();
    Some(Diagnostic {
        code: message.code.as_ref().map(|c| c.code.clone()),
        message: message.message.clone(),
        file,
        line: span.map_or(0, |s| s.line_start),
        rendered: rendered.replace(&format!("{}/", root.display()), "").replace(TO_TARGETS, "fuzz/targets/"),
    })
}

/// rustc's name for the folder of fuzz targets, relative to the file that includes them.
const TO_TARGETS: &str = "src/harness/../../targets/";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_ships_as_its_manifest_says() {
        let own = |more: &str| {
            let manifest = crate::harness::files::port_manifest("kit").unwrap();
            let settings = as_it_ships(&format!("{manifest}\n{more}")).unwrap();
            settings.iter().map(|one| one.rsplit('.').next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let usual = ["debug-assertions=false", "overflow-checks=false", "opt-level=3", "codegen-units=16"];
        assert_eq!(own(""), usual);
        assert_eq!(own("[profile.dev]\noverflow-checks = true"), usual);
        let more = own("[profile.release]\noverflow-checks = true\nopt-level = \"s\"\nlto = true");
        assert_eq!(more[..3], ["debug-assertions=false", "overflow-checks=true", "opt-level=\"s\""]);
        let package = own("[profile.release]\nopt-level = 1\n[profile.release.package.kit]\nopt-level = 2");
        assert_eq!(package[2], "opt-level=2");
    }

    #[test]
    fn a_library_under_a_name_that_the_audit_knows_is_not_linked() {
        let [source, dir, target] = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let fuzz = source.path().join("fuzz");
        std::fs::create_dir_all(fuzz.join("runtime/src")).unwrap();
        std::fs::write(fuzz.join("runtime/src/lib.rs"), "").unwrap();
        let manifest = "[dependencies]\nimplfuzz-runtime = { path = \"runtime\" }\n";
        std::fs::write(fuzz.join("Cargo.toml"), manifest).unwrap();
        let overlay = Overlay::sync(source.path(), dir.path(), target.path(), &[], &[]).unwrap();
        let judged_as = |kind: &str, package: &str, library: &str| {
            let target = serde_json::json!({
                "kind": [kind], "crate_types": [kind], "name": library, "src_path": "/r/x/src/lib.rs",
                "edition": "2021", "doctest": true, "test": true, "doc": true
            });
            let artifact = serde_json::from_value(serde_json::json!({
                "package_id": package, "manifest_path": "/r/x/Cargo.toml", "target": target, "features": [],
                "profile": { "opt_level": "3", "debuginfo": 0, "debug_assertions": false,
                    "overflow_checks": true, "test": false },
                "filenames": [], "executable": null, "fresh": false
            }));
            other_text(&artifact.unwrap(), &overlay)
        };
        let judged = |package: &str, library: &str| judged_as("lib", package, library);
        let registry = "registry+https://example.org/index#";
        let paste = format!("{registry}paste@1.0.0");
        assert!(
            judged_as("proc-macro", &paste, "paste").is_some_and(|why| why.contains("a procedural macro"))
        );
        for (package, library) in
            [("some-core@1.0.0", "core"), ("some-vec@1.0.0", "Vec"), ("my-libc@1.0.0", "libc")]
        {
            let refusal = judged(&format!("{registry}{package}"), library).unwrap_or_default();
            assert!(refusal.contains(&format!("the crate `{library}`")), "{package}: {refusal}");
        }
        assert!(judged("path+file:///x#memchr@2.0.0", "memchr").is_some());
        for package in ["libc@0.2.170", "memchr@2.7.0"] {
            let library = package.split('@').next().unwrap();
            assert_eq!(judged(&format!("{registry}{package}"), library), None);
        }
    }
}
