//! make: runs `make -n` in a copy of the project; `printed` parses the output.

use super::mirror::{self, Mirror};
use super::{Answer, BuildSystems, complaint, printed};
use crate::c::kept_flags::{self, Command};
use crate::c::project_paths::ProjectPaths;
use crate::error::{Error, ErrorKind, Result};
use crate::platform::process::{Exit, Job, time_limits};
use crate::platform::toolchain::BuildTool;
use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use std::path::Path;

/// The folders where libraries keep a makefile; the first folder whose makefile compiles something is used.
const FOLDERS: &[&str] = &["", "lib", "src"];

/// In the order in which GNU make looks for them.
const NAMES: &[&str] = &["GNUmakefile", "makefile", "Makefile"];

/// The compile commands that make reports; `None` without a makefile.
///
/// # Errors
/// `Environment` if make is missing, `C` with make's message if it prints no command, and Ctrl-C.
pub fn ask(root: &Utf8Path, tools: &BuildSystems) -> Result<Option<Answer>> {
    let mut silent = None;
    for folder in FOLDERS {
        let Some(file) = super::first_file(root, &[folder], NAMES) else { continue };
        let make = tools.program(BuildTool::Make, &file)?;
        // Each makefile has its own cached answer.
        let kept = format!("make/{}", if folder.is_empty() { "root" } else { folder });
        let (copy, kept) = (tools.folder("mirror")?, tools.folder(&kept)?);
        let stamp = mirror::stamp(root, &[file.as_str(), tools.identity])?;
        if !mirror::is_fresh(&kept, &stamp) {
            fs::create_dir_all(&kept)?;
            mirror::set_stale(&kept);
            let text = print(make, root, &file, copy.clone(), tools)?;
            fs::write(kept.join("printed"), text)?;
            mirror::set_fresh(&kept, &stamp)?;
        }
        let text = fs::read_to_string(kept.join("printed"))?;
        let commands = commands(&text, root, &copy, &file);
        if !commands.is_empty() {
            return Ok(Some(Answer { file, commands }));
        }
        silent.get_or_insert((file, text));
    }
    let Some((file, text)) = silent else { return Ok(None) };
    let said = text.lines().filter(|line| !line.contains("ing directory ") && !line.is_empty());
    let said: Vec<&str> = said.take(3).collect();
    let message = format!("`make -n` ({file}) compiles no C source: {}", said.join(" "));
    Err(Error::new(ErrorKind::C, message).help(
        "configure the library first, or name the sources under [c] sources = [\"…\"] in implfuzz.toml",
    ))
}

/// Runs `make -n`. `-B` is not used, because with it make would also rebuild its own makefiles; nothing is
/// built in the copy anyway.
fn print(
    make: &Path,
    root: &Utf8Path,
    file: &Utf8Path,
    copy: Utf8PathBuf,
    tools: &BuildSystems,
) -> Result<String> {
    let copy = Mirror::make(root, copy)?;
    let makefile = copy.dir.join(file);
    let mut job =
        Job::new(make).args(["-n", "-k", "-w", "-C", makefile.parent().unwrap_or(&copy.dir).as_str()]);
    let of_make = ["MAKEFLAGS", "MFLAGS", "GNUMAKEFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "MAKEFILES"];
    for variable in of_make.iter().chain(super::OF_THE_SHELL) {
        job = job.env_remove(variable);
    }
    let output = job.env("LC_ALL", "C").timeout(time_limits::PRINT_COMMANDS).run(tools.interrupt)?;
    if output.exit == Exit::TimedOut {
        return Err(Error::new(ErrorKind::C, format!("`make -n` ({file}) fails: {}", complaint(&output)))
            .help(
                "correct the slow step, or name the sources under [c] sources = [\"…\"] in implfuzz.toml",
            ));
    }
    // With -k, make has printed what it could. Its error messages, appended here, are shown to the user if
    // there are no commands.
    Ok(output.stdout_text() + &output.stderr_text())
}

fn commands(text: &str, root: &Utf8Path, copy: &Utf8Path, file: &Utf8Path) -> Vec<Command> {
    let places = ProjectPaths { root, copy: Some(copy) };
    let start = copy.join(file);
    let mut commands = Vec::new();
    for call in printed::calls(text, start.parent().unwrap_or(copy)) {
        for source in &call.sources {
            commands.extend(Command::new(&places, &call.dir, source, &call.arguments));
        }
    }
    kept_flags::each_once(commands)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::front_tests::{project, tools};
    use crate::platform::process::Interrupt;

    #[test]
    fn nested_makes_are_followed_and_nothing_in_the_tree_changes() {
        let (_dir, root) = project(&[
            // Even with -n, make runs the first recipe, because it names $(MAKE).
            (
                "Makefile",
                "all:\n\ttouch ran; $(MAKE) -C lib\n\t$(CC) -DLATE -Ilib -c lib/a.c\n\tcc -o t tests/t.c\n",
            ),
            (
                "lib/Makefile",
                "all: a.o\n%.o: %.c\n\t$(CC) -DV=$(shell cat v) -I../include \\\n\t -c -o $@ $<\n",
            ),
            ("lib/v", "7"),
            ("lib/a.c", ""),
            ("lib/a.o", "built"),
            ("include/a.h", ""),
        ]);
        let interrupt = Interrupt::none();
        let scratch = root.join(".implfuzz/cache");
        let answer = ask(&root, &tools(&scratch, &interrupt)).unwrap().unwrap();
        assert_eq!(answer.file, "Makefile");
        assert_eq!(answer.commands.len(), 1);
        assert_eq!(answer.commands[0].file.0, "lib/a.c");
        assert_eq!(answer.commands[0].flags, ["-DV=7", "-Iinclude"]);
        assert!(!root.join("ran").exists());
        let mut never = tools(&scratch, &interrupt);
        never.programs.build_tools.insert(BuildTool::Make, "/no/make".into());
        assert_eq!(ask(&root, &never).unwrap().unwrap().commands, answer.commands);
    }

    #[test]
    fn a_makefile_that_compiles_nothing_gives_way_to_the_next() {
        let (_dir, root) =
            project(&[("Makefile", "all:\n\t@echo Please use ./configure first.\n"), ("a.c", "")]);
        let interrupt = Interrupt::none();
        let scratch = root.join(".implfuzz/cache");
        let tools = tools(&scratch, &interrupt);
        let error = ask(&root, &tools).unwrap_err();
        assert!(error.to_string().contains("Please use ./configure first"), "{error}");
        fs::create_dir(root.join("src")).unwrap();
        fs::write(root.join("src/b.c"), "").unwrap();
        fs::write(root.join("src/GNUmakefile"), "b.o:\n\tgcc -c b.c\n").unwrap();
        let answer = ask(&root, &tools).unwrap().unwrap();
        assert_eq!(
            (answer.file.as_str(), answer.commands[0].file.0.as_str()),
            ("src/GNUmakefile", "src/b.c")
        );
    }

    #[test]
    fn a_broken_makefile_says_so() {
        let (_dir, root) = project(&[("Makefile", "nonsense\n")]);
        let interrupt = Interrupt::none();
        let scratch = root.join(".implfuzz/cache");
        let error = ask(&root, &tools(&scratch, &interrupt)).unwrap_err();
        assert!(error.to_string().contains("missing separator"), "{error}");
        let mut none = tools(&scratch, &interrupt);
        none.programs.build_tools.clear();
        assert_eq!(ask(&root, &none).unwrap_err().help_text(), Some("cargo implfuzz doctor --install"));
    }
}
