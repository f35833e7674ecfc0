//! Builds the port crate as a static library for C programs.

use crate::error::{Error, ErrorKind, Result};
use crate::fuzz::build::cargo::excerpt;
use crate::fuzz::build::fuzz_binary::{Builder, place};
use crate::fuzz::build::overlay::Overlay;
use crate::fuzz::disk_full;
use crate::platform::process::Interrupt;
use cargo_metadata::Message;
use std::path::Path;

/// The start of rustc's message that lists the libraries that a C linker must also be given.
const NATIVE: &str = "native-static-libs:";

/// How the port is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checks {
    /// As it ships.
    None,
    /// Overflow and failed assertions panic, as in fuzz targets.
    All,
}

impl Checks {
    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::None => &[],
            Self::All => &["-Coverflow-checks=on", "-Cdebug-assertions=on"],
        }
    }

    /// The folder of the build. Each has its own: Cargo would take one for an older state of the other.
    fn folder(self) -> &'static str {
        match self {
            Self::None => "dropin",
            Self::All => "in-place",
        }
    }
}

impl Builder<'_> {
    /// Builds the crate of an overlay without the C original, copies the library to `to`, and returns the
    /// linker arguments that must follow it (`-lpthread` and the like).
    ///
    /// # Errors
    /// `Build` if the port does not compile, and Ctrl-C.
    pub fn static_library(
        &self,
        (overlay, checks): (&Overlay, Checks),
        to: &Path,
        interrupt: &Interrupt,
    ) -> Result<Vec<String>> {
        fs_err::create_dir_all(&self.target_dir)?;
        // Ports of other repositories may have the same name, and so the same library file.
        let _lock = self.lock_builds(interrupt)?;
        let job = self.without_c(overlay, "staticlib", checks.folder(), &["--message-format=json"])?;
        let job = job.arg("--print=native-static-libs").args(checks.flags());
        let output = job.run(interrupt)?;
        let (mut library, mut native) = (None, None);
        // Errors with a position in a source, and errors without one.
        let (mut errors, mut placeless) = (String::new(), String::new());
        for message in Message::parse_stream(output.stdout.as_slice()) {
            match message? {
                Message::CompilerArtifact(artifact) => {
                    let mut files = artifact.filenames.into_iter();
                    library = files.find(|file| file.extension() == Some("a")).or(library);
                }
                Message::CompilerMessage(message) => {
                    let text = message.message.message;
                    native = text.trim().strip_prefix(NATIVE).map(words).or(native);
                    let rendered = message.message.rendered.unwrap_or_default();
                    errors += &rendered;
                    if message.message.spans.is_empty() {
                        placeless += &rendered;
                    }
                }
                _ => {}
            }
        }
        let stderr = output.stderr_text();
        if !output.exit.success() {
            disk_full::check(&output, &[placeless.as_str(), &stderr].concat(), &self.target_dir)?;
            let text = if errors.is_empty() { stderr } else { errors };
            let text = format!("the port does not compile for a C program:\n  {}", excerpt(&text));
            return Err(Error::new(ErrorKind::Build, text)
                .help("`cargo implfuzz verify --all` shows which ports do not compile"));
        }
        let library =
            library.ok_or_else(|| Error::new(ErrorKind::Internal, "cargo built no static library"))?;
        place(library.as_std_path(), to)?;
        let said = stderr.lines().find_map(|line| Some(words(line.split_once(NATIVE)?.1)));
        let none = || Error::new(ErrorKind::Internal, "rustc did not say what a static library needs");
        native.or(said).ok_or_else(none)
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
