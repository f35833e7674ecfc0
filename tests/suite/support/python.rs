//! Programs that pip installs, each set in a virtual environment that later runs of the tests use again.

use super::git::{program, ran};
use std::path::{Path, PathBuf};

/// The folder of these programs, of which `packages` names the packages. A test that needs one fails without it.
pub fn tools(venv: &str, packages: &[&str], programs: &[&str]) -> PathBuf {
    let here = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let venv = here.join(venv);
    let works = || {
        programs.iter().all(|name| {
            let tool = venv.join("bin").join(name);
            tool.exists() && ran(&mut program(tool.to_str().unwrap(), here, &["--version"])).status.success()
        })
    };
    if !works() {
        let shown = venv.to_str().unwrap();
        let made = ran(&mut program("python3", here, &["-m", "venv", "--clear", shown]));
        assert!(made.status.success(), "this test needs python3 with venv:\n{made}");
        let python = venv.join("bin/python");
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        let installed = ran(&mut program(python.to_str().unwrap(), here, &[&pip, packages].concat()));
        assert!(installed.status.success(), "pip must be able to install {packages:?}:\n{installed}");
        assert!(works(), "{programs:?} are installed and do not start");
    }
    venv.join("bin")
}
