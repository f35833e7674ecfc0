//! CMake: configures a copy of the project in the scratch folder and reads its `compile_commands.json`. Configured
//! headers (`config.h`) stay there, on the include path.

use super::mirror::{self, Mirror};
use super::{Answer, BuildSystems, complaint, first_file};
use crate::c::compdb;
use crate::c::project_paths::ProjectPaths;
use crate::error::{Error, ErrorKind, Result};
use crate::platform::process::{Job, time_limits};
use crate::platform::toolchain::BuildTool;
use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use std::path::Path;

/// The folders where libraries keep `CMakeLists.txt`, the root first.
const FOLDERS: &[&str] = &["", "build/cmake", "cmake", "lib", "src"];

/// The compile commands that CMake reports; `None` without a `CMakeLists.txt`.
///
/// # Errors
/// `Environment` if cmake is missing, `C` with cmake's error message, and Ctrl-C.
pub fn ask(root: &Utf8Path, tools: &BuildSystems) -> Result<Option<Answer>> {
    let Some(file) = first_file(root, FOLDERS, &["CMakeLists.txt"]) else { return Ok(None) };
    let cmake = tools.program(BuildTool::Cmake, &file)?;
    let (copy, build) = (tools.folder("mirror")?, tools.folder("cmake")?);
    let stamp = mirror::stamp(root, &[&tools.programs.cc.to_string_lossy(), file.as_str(), tools.identity])?;
    if !mirror::is_fresh(&build, &stamp) {
        configure(cmake, root, &file, (&copy, &build), tools)?;
        mirror::set_fresh(&build, &stamp)?;
    }
    let places = ProjectPaths { root, copy: Some(&copy) };
    let commands = compdb::read(&places, &build.join("compile_commands.json"))?;
    Ok(Some(Answer { file, commands }))
}

fn configure(
    cmake: &Path,
    root: &Utf8Path,
    file: &Utf8Path,
    (copy, build): (&Utf8PathBuf, &Utf8Path),
    tools: &BuildSystems,
) -> Result<()> {
    let copy = Mirror::make(root, copy.clone())?;
    // Remove it: a cache from another compiler or another list of files would be partly wrong.
    if build.exists() {
        fs::remove_dir_all(build)?;
    }
    fs::create_dir_all(build)?;
    let source = copy.dir.join(file);
    let source = source.parent().unwrap_or(&copy.dir);
    let mut job = Job::new(cmake);
    for variable in super::OF_THE_SHELL {
        job = job.env_remove(variable);
    }
    let output = job
        .args(["-S", source.as_str(), "-B", build.as_str()])
        .arg(format!("-DCMAKE_C_COMPILER={}", tools.programs.cc.display()))
        .args(["-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DBUILD_TESTING=OFF"])
        // Downloads are disabled. A project that needs them is read by other means.
        .arg("-DFETCHCONTENT_FULLY_DISCONNECTED=ON")
        .env_remove("CMAKE_GENERATOR")
        .env("LC_ALL", "C")
        .timeout(time_limits::CONFIGURE)
        .run(tools.interrupt)?;
    let failed = |why: String| {
        Err(Error::new(ErrorKind::C, format!("cmake cannot configure {file}: {why}"))
            .help("correct the error, or name the sources under [c] sources = [\"…\"] in implfuzz.toml"))
    };
    if !output.exit.success() {
        return failed(complaint(&output).replace(copy.dir.as_str(), root.as_str()));
    }
    match build.join("compile_commands.json").is_file() {
        true => Ok(()),
        false => failed("it compiles nothing".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::front_tests::{project, tools};
    use crate::platform::process::Interrupt;

    const LISTS: &str = "cmake_minimum_required(VERSION 3.5)\nproject(x C)\n\
        configure_file(config.h.in config.h)\nfile(RENAME ${CMAKE_CURRENT_SOURCE_DIR}/old.h ${CMAKE_CURRENT_SOURCE_DIR}/new.h)\n\
        include_directories(include ${CMAKE_CURRENT_BINARY_DIR})\n\
        add_custom_command(OUTPUT gen.c COMMAND touch gen.c)\n\
        add_library(x STATIC src/a.c gen.c)\nadd_library(y SHARED src/a.c)\ntarget_compile_definitions(x PRIVATE A=1)\n";

    #[test]
    fn the_export_is_made_outside_of_the_tree_and_once() {
        let (_dir, root) = project(&[
            ("CMakeLists.txt", LISTS),
            ("config.h.in", "#define N 3\n"),
            ("src/a.c", ""),
            ("old.h", ""),
        ]);
        let interrupt = Interrupt::none();
        let scratch = root.join(".implfuzz/cache");
        let tools = tools(&scratch, &interrupt);
        let answer = ask(&root, &tools).unwrap().unwrap();
        assert_eq!(answer.file, "CMakeLists.txt");
        let files: Vec<&str> = answer.commands.iter().map(|c| c.file.0.as_str()).collect();
        assert_eq!(files, [".implfuzz/cache/cmake/gen.c", "src/a.c"]);
        assert_eq!(answer.commands[1].flags, ["-DA=1", "-Iinclude", "-I.implfuzz/cache/cmake"]);
        assert!(root.join(".implfuzz/cache/cmake/config.h").is_file());
        assert!(root.join("old.h").is_file() && !root.join("new.h").exists());

        let mut never = tools.clone();
        never.programs.build_tools.insert(BuildTool::Cmake, "/no/cmake".into());
        assert_eq!(ask(&root, &never).unwrap().unwrap().commands, answer.commands);
        fs::write(root.join("CMakeLists.txt"), "nonsense(").unwrap();
        assert!(ask(&root, &never).is_err());
        let error = ask(&root, &tools).unwrap_err();
        assert!(error.to_string().contains("CMake Error"), "{error}");
        assert!(error.help_text().is_some());
    }

    #[test]
    fn without_cmake_the_mending_command_is_named() {
        let (_dir, root) = project(&[("build/cmake/CMakeLists.txt", LISTS)]);
        let interrupt = Interrupt::none();
        let mut tools = tools(&root, &interrupt);
        tools.programs.build_tools.clear();
        let error = ask(&root, &tools).unwrap_err();
        assert!(error.to_string().contains("build/cmake/CMakeLists.txt"), "{error}");
        assert_eq!(error.help_text(), Some("cargo implfuzz doctor --install"));
        fs::remove_file(root.join("build/cmake/CMakeLists.txt")).unwrap();
        assert!(ask(&root, &tools).unwrap().is_none());
    }
}
