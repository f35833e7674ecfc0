//! Runs the install commands with the user's consent.

use super::install_plan::{Mending, mending};
use super::{Check, examine};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::platform::process::{Interrupt, Job};
use crate::platform::toolchain::Search;

/// Who consents to running the commands.
pub enum Consent<'a> {
    /// `--yes`.
    Given,
    /// Asks the person at the terminal; true means yes.
    Ask(&'a mut dyn FnMut(&Mending) -> Result<bool>),
    /// There is no terminal to ask at.
    Nobody,
}

/// How the installation ended.
#[derive(Debug)]
pub enum Installed {
    /// Nothing is missing, or only optional tools are and the package manager is unknown.
    NothingToDo,
    /// The user said no.
    Declined,
    /// The commands ran; the checks show what is installed now.
    Done(Vec<Check>),
}

/// Installs what `checks` found missing, then checks again.
///
/// Errors (`Environment`): the package manager is unknown, consent cannot be asked for, or a command failed.
pub fn install(
    checks: &[Check],
    search: &Search,
    root: bool,
    consent: Consent,
    reporter: &mut dyn Reporter,
    interrupt: &Interrupt,
) -> Result<Installed> {
    if checks.iter().all(Check::ok) {
        return Ok(Installed::NothingToDo);
    }
    let Some(mut plan) = mending(checks, search, root, interrupt)? else {
        if !checks.iter().any(Check::is_lack) {
            return Ok(Installed::NothingToDo);
        }
        let names: Vec<&str> = checks.iter().filter(|check| !check.ok()).map(|check| check.name).collect();
        let text = format!(
            "no known package manager here (apt, dnf, pacman, zypper, apk) to install {}",
            names.join(", ")
        );
        return Err(Error::new(ErrorKind::Environment, text));
    };
    for advice in &plan.by_hand {
        reporter.event(Event::Warning {
            text: "one requirement has no package: install it by hand".to_owned(),
            help: Some(advice.clone()),
        });
    }
    let agreed = match consent {
        _ if plan.commands.is_empty() => true,
        Consent::Given => true,
        Consent::Ask(ask) => ask(&plan)?,
        Consent::Nobody => {
            let text = "cannot ask before installing, because this is not a terminal: pass --yes";
            return Err(Error::new(ErrorKind::Environment, text).help(plan.command_line()));
        }
    };
    if !agreed {
        return Ok(Installed::Declined);
    }
    let mut next = 0;
    while next < plan.commands.len() {
        run(&plan.commands[next], search, reporter, interrupt)?;
        next += 1;
        // The first command may have updated the package lists, so the newest version is known only now.
        if next < plan.commands.len()
            && let Some(better) = mending(checks, search, root, interrupt)?
        {
            plan = better;
        }
    }
    Ok(Installed::Done(examine(search, interrupt)?))
}

fn run(
    command: &[String],
    search: &Search,
    reporter: &mut dyn Reporter,
    interrupt: &Interrupt,
) -> Result<()> {
    let (program, args) = command.split_first().expect("a command has a program");
    let line = command.join(" ");
    reporter.event(Event::Note { text: format!("running: {line}") });
    let path = search.program(&[program]).unwrap_or_else(|| program.into());
    let output = Job::new(path).args(args).inherit().run(interrupt)?;
    if output.exit.success() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Environment, format!("`{line}` failed: {:?}", output.exit)).help(line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::doctor::{Need, Status};
    use crate::platform::toolchain::BuildTool;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    #[derive(Default)]
    struct Heard(Vec<String>);

    impl Reporter for Heard {
        fn event(&mut self, event: Event) {
            if let Event::Note { text } = event {
                self.0.push(text);
            }
        }
    }

    fn program(dir: &Path, name: &str, script: &str) {
        let path = dir.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn search(dir: &Path) -> Search {
        Search {
            root: dir.to_owned(),
            path: vec![dir.to_owned()],
            libclang_path: None,
            library_path: vec![],
            cargo: None,
            rustc: None,
        }
    }

    fn missing() -> Vec<Check> {
        vec![Check { need: Need::Libclang, name: "libclang", status: Status::Missing, why: "" }]
    }

    #[test]
    fn what_only_some_libraries_need_is_installed_too() {
        let dir = tempfile::tempdir().unwrap();
        program(dir.path(), "apk", &format!("echo \"$@\" > {}/ran", dir.path().display()));
        let checks =
            [Check { need: Need::Build(BuildTool::Cmake), name: "cmake", status: Status::Missing, why: "" }];
        let (search, heard) = (search(dir.path()), &mut Heard::default());
        let done = install(&checks, &search, true, Consent::Given, heard, &Interrupt::none()).unwrap();
        assert!(matches!(done, Installed::Done(_)));
        assert_eq!(std::fs::read_to_string(dir.path().join("ran")).unwrap(), "add cmake\n");
    }

    fn go(dir: &Path, consent: Consent) -> Result<Installed> {
        let heard = &mut Heard::default();
        install(&missing(), &search(dir), true, consent, heard, &Interrupt::none())
    }

    #[test]
    fn nobody_to_ask_is_an_error_with_the_command() {
        let dir = tempfile::tempdir().unwrap();
        program(dir.path(), "apk", "exit 0");
        let error = go(dir.path(), Consent::Nobody).unwrap_err();
        assert_eq!(error.help_text(), Some("apk add clang clang-dev musl-dev"));
    }

    #[test]
    fn a_no_runs_nothing() {
        let dir = tempfile::tempdir().unwrap();
        program(dir.path(), "apk", "exit 1");
        let mut seen = String::new();
        let mut ask = |plan: &Mending| {
            seen = plan.command_line();
            Ok(false)
        };
        assert!(matches!(go(dir.path(), Consent::Ask(&mut ask)).unwrap(), Installed::Declined));
        assert!(seen.starts_with("apk add"));
    }

    #[test]
    fn without_a_package_manager_the_missing_things_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let error = go(dir.path(), Consent::Given).unwrap_err();
        assert!(error.to_string().ends_with("to install libclang"), "{error}");
    }

    #[test]
    fn apt_chooses_again_when_it_has_its_lists() {
        let dir = tempfile::tempdir().unwrap();
        let here = dir.path().display();
        program(dir.path(), "apt-get", &format!("echo 'clang-19 -\nlibclang-19-dev -' > {here}/lists"));
        program(dir.path(), "apt-cache", &format!("/bin/cat {here}/lists"));
        program(dir.path(), "env", &format!("echo \"$@\" > {here}/ran"));
        assert!(matches!(go(dir.path(), Consent::Given).unwrap(), Installed::Done(_)));
        let ran = std::fs::read_to_string(dir.path().join("ran")).unwrap();
        assert_eq!(ran, "DEBIAN_FRONTEND=noninteractive apt-get install -y clang-19 libclang-19-dev\n");
    }

    #[test]
    fn without_a_package_manager_optional_tools_are_no_error() {
        let dir = tempfile::tempdir().unwrap();
        let checks =
            [Check { need: Need::Build(BuildTool::Make), name: "make", status: Status::Missing, why: "" }];
        let (search, heard) = (search(dir.path()), &mut Heard::default());
        let done = install(&checks, &search, true, Consent::Given, heard, &Interrupt::none());
        assert!(matches!(done.unwrap(), Installed::NothingToDo));
    }

    #[test]
    fn a_failing_command_is_named() {
        let dir = tempfile::tempdir().unwrap();
        program(dir.path(), "apk", "exit 3");
        let error = go(dir.path(), Consent::Given).unwrap_err();
        assert!(error.to_string().contains("apk add clang") && error.to_string().contains("3"), "{error}");
    }

    #[test]
    fn all_well_is_nothing_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let done = install(
            &[],
            &search(dir.path()),
            true,
            Consent::Nobody,
            &mut Heard::default(),
            &Interrupt::none(),
        );
        assert!(matches!(done.unwrap(), Installed::NothingToDo));
    }
}
