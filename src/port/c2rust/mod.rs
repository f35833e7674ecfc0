//! Runs c2rust on one unit of C with generated compile commands; `fit` fits its text to the module of a port. The
//! result is a candidate like any other, judged elsewhere.

mod fit;
mod glibc;
mod text;

pub use fit::fitted;
pub use text::Text;

use crate::error::Result;
use crate::platform::process::{Exit, Interrupt, Job, Limits, time_limits};
use crate::platform::toolchain::Search;
use crate::platform::workspace::Workspace;
use crate::symbol::{RelPath, Unit};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The command that installs c2rust.
pub const MENDING_COMMAND: &str = "cargo install --locked c2rust";

/// The Rust text of a unit, or why there is none.
pub type Translation = std::result::Result<Arc<str>, String>;

/// Largest text of a unit that is read, bytes.
const MOST: u64 = 64 << 20;

/// c2rust, and its translations in this run.
#[derive(Debug)]
pub struct Transpiler {
    program: PathBuf,
    root: PathBuf,
    scratch: PathBuf,
    done: Mutex<BTreeMap<RelPath, Arc<Mutex<Option<Translation>>>>>,
}

impl Transpiler {
    /// Finds the program on this machine.
    pub fn find(workspace: &Workspace, search: &Search) -> Option<Self> {
        Some(Self {
            program: search.program(&["c2rust"])?,
            root: workspace.root().to_owned(),
            scratch: workspace.cache().join("c2rust"),
            done: Mutex::default(),
        })
    }

    /// Translates a unit to Rust. Each unit is translated once; other threads that ask for it wait.
    ///
    /// # Errors
    /// Those of files and of starting the program, and Ctrl-C.
    pub fn unit(&self, unit: &Unit, interrupt: &Interrupt) -> Result<Translation> {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let own = Arc::clone(done.entry(unit.file.clone()).or_default());
        // Release the map, so that other units are translated meanwhile.
        drop(done);
        let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = own.as_ref() {
            return Ok(known.clone());
        }
        let translation = self.translate(unit, interrupt)?;
        *own = Some(translation.clone());
        Ok(translation)
    }

    fn translate(&self, unit: &Unit, interrupt: &Interrupt) -> Result<Translation> {
        fs_err::create_dir_all(&self.scratch)?;
        let dir = tempfile::tempdir_in(&self.scratch)?;
        let (commands, out) = (dir.path().join("compile_commands.json"), dir.path().join("out"));
        fs_err::write(&commands, self.compile_commands(unit).to_string())?;
        let job = Job::new(&self.program)
            .args(["transpile", "--emit-modules", "--disable-rustfmt", "--overwrite-existing", "-o"])
            .arg(&out)
            .arg(&commands)
            .dir(&self.root)
            .timeout(time_limits::TRANSLATE)
            .limits(Limits {
                file_size: Some(MOST),
                cpu_seconds: Some(time_limits::TRANSLATE.as_secs()),
                no_core: true,
                ..Limits::default()
            });
        let output = job.run(interrupt)?;
        // c2rust reports and omits what it cannot translate, so only the output file shows whether there is a text.
        Ok(match (output.exit, written(&out)?) {
            (Exit::TimedOut, _) => {
                Err(format!("c2rust took more than {} s for {}", time_limits::TRANSLATE.as_secs(), unit.file))
            }
            (exit, None) => Err(format!(
                "c2rust produced no output for {} ({exit:?}){}",
                unit.file,
                last(&output.stderr_text())
            )),
            (_, Some(text)) => Ok(text.into()),
        })
    }

    fn compile_commands(&self, unit: &Unit) -> serde_json::Value {
        let file = unit.file.0.as_str();
        let front = ["cc", "-c"].map(str::to_owned);
        let arguments: Vec<String> =
            front.into_iter().chain(unit.flags.clone()).chain([file.to_owned()]).collect();
        json!([{ "directory": self.root, "file": self.root.join(file), "arguments": arguments }])
    }
}

/// The first Rust file below a directory: without build files there is one for each unit.
fn written(out: &Path) -> Result<Option<String>> {
    let mut dirs = vec![out.to_owned()];
    while let Some(dir) = dirs.pop() {
        let Ok(entries) = fs_err::read_dir(&dir) else { continue };
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                // Invalid UTF-8 is invalid Rust, too; the parser reports it.
                return Ok(Some(String::from_utf8_lossy(&fs_err::read(&path)?).into_owned()));
            }
        }
    }
    Ok(None)
}

/// The last line that a program wrote, after a colon.
fn last(stderr: &str) -> String {
    let line = stderr.lines().map(str::trim).rfind(|line| !line.is_empty());
    line.map_or_else(String::new, |line| format!(": {line}"))
}
