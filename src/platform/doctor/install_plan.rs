//! The packages that provide each tool, per package manager, and the command that installs them.

use super::{Check, Need};
use crate::error::Result;
use crate::platform::process::{Interrupt, Job, time_limits};
use crate::platform::toolchain::Search;
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manager {
    Apt,
    Dnf,
    Pacman,
    Zypper,
    Apk,
}

use Manager::{Apk, Apt, Dnf, Pacman, Zypper};

/// How to install what is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mending {
    pub manager: Manager,
    /// Programs with their arguments, to be run in this order. Empty if no package is missing.
    pub commands: Vec<Vec<String>>,
    /// What no package provides, with the reason or the command.
    pub by_hand: Vec<String>,
}

impl Mending {
    /// The commands as one line for a shell.
    pub fn command_line(&self) -> String {
        let lines: Vec<String> = self.commands.iter().map(|command| command.join(" ")).collect();
        lines.join(" && ")
    }
}

impl Manager {
    /// The package manager of this machine: by the distribution's name, or else by the installed program.
    pub fn detect(search: &Search) -> Option<Self> {
        let text = std::fs::read_to_string(search.root.join("etc/os-release")).unwrap_or_default();
        let there = |manager: &Self| search.program(&[manager.program()]).is_some();
        let by_name = of_os_release(&text).filter(there);
        by_name.or_else(|| [Apt, Dnf, Pacman, Zypper, Apk].into_iter().find(there))
    }

    fn program(self) -> &'static str {
        match self {
            Apt => "apt-get",
            Dnf => "dnf",
            Pacman => "pacman",
            Zypper => "zypper",
            Apk => "apk",
        }
    }

    /// The commands that install `packages`.
    fn commands(self, packages: Vec<String>, root: bool) -> Vec<Vec<String>> {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut commands = match self {
            // sudo drops environment variables, so `env` sets them after it.
            Apt => {
                vec![words("apt-get update"), words("env DEBIAN_FRONTEND=noninteractive apt-get install -y")]
            }
            Dnf => vec![words("dnf install -y")],
            Pacman => vec![words("pacman -S --needed --noconfirm")],
            Zypper => vec![words("zypper --non-interactive install")],
            Apk => vec![words("apk add")],
        };
        if let Some(install) = commands.last_mut() {
            install.extend(packages);
        }
        if !root {
            commands.iter_mut().for_each(|command| command.insert(0, "sudo".to_owned()));
        }
        commands
    }
}

fn of_os_release(text: &str) -> Option<Manager> {
    let field = |key: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(key))?;
        Some(value.trim_matches('"').to_owned())
    };
    let names = [field("ID="), field("ID_LIKE=")].into_iter().flatten().collect::<Vec<_>>().join(" ");
    names.split_whitespace().find_map(|name| match name {
        "debian" | "ubuntu" => Some(Apt),
        "fedora" | "rhel" | "centos" => Some(Dnf),
        "arch" => Some(Pacman),
        "suse" | "sles" => Some(Zypper),
        "alpine" => Some(Apk),
        name if name.starts_with("opensuse") => Some(Zypper),
        _ => None,
    })
}

/// How to fix the failed checks on this machine; absent if nothing failed or the package manager is unknown. `root`:
/// this process may install without `sudo`. Fails only on Ctrl-C.
pub fn mending(
    checks: &[Check],
    search: &Search,
    root: bool,
    interrupt: &Interrupt,
) -> Result<Option<Mending>> {
    let needs: Vec<Need> = checks.iter().filter(|check| !check.ok()).map(|check| check.need).collect();
    let Some(manager) = Manager::detect(search).filter(|_| !needs.is_empty()) else { return Ok(None) };
    let clang = if manager == Apt { newest_clang(search, interrupt)? } else { None };
    let packages: BTreeSet<String> = needs.iter().flat_map(|need| packages(manager, *need, clang)).collect();
    let commands =
        if packages.is_empty() { Vec::new() } else { manager.commands(packages.into_iter().collect(), root) };
    let mut by_hand: Vec<String> =
        needs.iter().filter_map(|need| by_hand(*need)).map(str::to_owned).collect();
    by_hand.dedup();
    Ok(Some(Mending { manager, commands, by_hand }))
}

/// The packages for one need. Clang is always installed whole, so that compiler and library have the same version, even
/// if only the library is missing.
fn packages(manager: Manager, need: Need, clang: Option<u32>) -> Vec<String> {
    let numbered =
        |name: String| clang.map_or(name.clone(), |n| name.replace("clang", &format!("clang-{n}")));
    let names: &[&str] = match (need, manager) {
        (Need::CCompiler | Need::Libclang, Apt) => {
            return vec![numbered("clang".into()), numbered("libclang-dev".into())];
        }
        (Need::CCompiler | Need::Libclang, Dnf) => &["clang", "clang-devel"],
        (Need::CCompiler | Need::Libclang, Zypper) => &["clang", "clang-devel"],
        (Need::CCompiler | Need::Libclang, Pacman) => &["clang"],
        (Need::CCompiler | Need::Libclang, Apk) => &["clang", "clang-dev", "musl-dev"],
        (Need::CxxCompiler, Apt | Apk) => &["g++"],
        (Need::CxxCompiler, Dnf | Zypper) => &["gcc-c++"],
        (Need::CxxCompiler, Pacman) => &["gcc"],
        (Need::Ar | Need::Objcopy, _) => &["binutils"],
        (Need::Build(tool), _) => return vec![tool.name().to_owned()],
        (Need::Host | Need::Cargo | Need::Rustc | Need::AsanRuntime | Need::C2rust | Need::Sandbox, _) => &[],
    };
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn by_hand(need: Need) -> Option<&'static str> {
    match need {
        Need::Cargo | Need::Rustc => Some(
            "Rust: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh (see https://rustup.rs)",
        ),
        Need::AsanRuntime => Some(
            "ASan runtime: only rustup's toolchains include it; rustup toolchain install stable && rustup default stable",
        ),
        Need::Host => Some("platform: use a machine or a container with Linux on x86-64 or aarch64"),
        Need::CCompiler | Need::CxxCompiler | Need::Libclang | Need::Ar | Need::Objcopy => None,
        Need::Build(_) => None,
        Need::Sandbox => Some(
            "sandbox: Linux 6.12 or newer, with Landlock among its security modules (lsm=landlock,... on the kernel's command line); in a container, a profile that allows Landlock and seccomp",
        ),
        Need::C2rust => Some(
            "c2rust: cargo install --locked c2rust (needs cmake, GitHub, and the development files of a supported LLVM and libclang: c2rust 0.22.1 builds with 14, not with 22; LLVM_CONFIG_PATH selects one)",
        ),
    }
}

/// The highest N for which apt offers both `clang-N` and `libclang-N-dev`, because a distribution's plain `clang` may
/// be old. Absent if apt's lists are empty.
fn newest_clang(search: &Search, interrupt: &Interrupt) -> Result<Option<u32>> {
    let Some(apt_cache) = search.program(&["apt-cache"]) else { return Ok(None) };
    let pattern = "^(lib)?clang-[0-9]+(-dev)?$";
    let job =
        Job::new(apt_cache).args(["search", "--names-only", pattern]).timeout(time_limits::PACKAGE_SEARCH);
    match job.run(interrupt) {
        Ok(output) => Ok(newest_pair(&output.stdout_text())),
        Err(error) if error.kind() == crate::error::ErrorKind::Interrupted => Err(error),
        Err(_) => Ok(None),
    }
}

fn newest_pair(list: &str) -> Option<u32> {
    let names: BTreeSet<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let numbers = names.iter().filter_map(|name| name.strip_prefix("clang-")?.parse::<u32>().ok());
    numbers.filter(|n| names.contains(format!("libclang-{n}-dev").as_str())).max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::doctor::Status;
    use crate::platform::toolchain::BuildTool;
    use std::os::unix::fs::PermissionsExt;

    fn failed(needs: &[Need]) -> Vec<Check> {
        needs.iter().map(|&need| Check { need, name: "x", status: Status::Missing, why: "" }).collect()
    }

    /// A machine with this os-release and these programs, each with a name and a script.
    fn machine(os_release: &str, programs: &[(&str, &str)]) -> (tempfile::TempDir, Search) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("etc")).unwrap();
        std::fs::write(dir.path().join("etc/os-release"), os_release).unwrap();
        for (name, script) in programs {
            let path = dir.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let root = dir.path().to_owned();
        let search = Search {
            path: vec![root.clone()],
            root,
            libclang_path: None,
            library_path: vec![],
            cargo: None,
            rustc: None,
        };
        (dir, search)
    }

    fn command_line(search: &Search, needs: &[Need], root: bool) -> String {
        mending(&failed(needs), search, root, &Interrupt::none()).unwrap().unwrap().command_line()
    }

    #[test]
    fn apt_takes_the_newest_clang_that_comes_with_its_library() {
        let list =
            "echo 'clang-14 - x'; echo 'libclang-14-dev - x'; echo 'clang-9 - x'; echo 'libclang-9-dev - x'
                    echo 'clang-19 - x'; echo 'libclang-19-dev - x'; echo 'clang-25 - x'";
        let (_dir, search) = machine("ID=debian\n", &[("apt-get", ""), ("apt-cache", list)]);
        assert_eq!(
            command_line(&search, &[Need::Libclang], true),
            "apt-get update && env DEBIAN_FRONTEND=noninteractive apt-get install -y clang-19 libclang-19-dev"
        );
        assert!(
            command_line(&search, &[Need::Libclang], false).starts_with("sudo apt-get update && sudo env")
        );
    }

    #[test]
    fn apt_without_lists_names_the_plain_packages() {
        let (_dir, search) = machine("ID=ubuntu\n", &[("apt-get", ""), ("apt-cache", "exit 0")]);
        let line = command_line(&search, &[Need::CCompiler, Need::CxxCompiler, Need::Ar], true);
        assert!(line.ends_with("install -y binutils clang g++ libclang-dev"), "{line}");
        let line =
            command_line(&search, &[Need::Build(BuildTool::Cmake), Need::Build(BuildTool::Make)], true);
        assert!(line.ends_with("install -y cmake make"), "{line}");
    }

    #[test]
    fn every_manager_has_its_command() {
        for (os, program, line) in [
            ("ID=fedora", "dnf", "dnf install -y clang clang-devel gcc-c++"),
            ("ID=manjaro\nID_LIKE=arch", "pacman", "pacman -S --needed --noconfirm clang gcc"),
            (
                "ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"",
                "zypper",
                "zypper --non-interactive install clang clang-devel gcc-c++",
            ),
            ("ID=alpine", "apk", "apk add clang clang-dev g++ musl-dev"),
        ] {
            let (_dir, search) = machine(os, &[(program, "")]);
            assert_eq!(command_line(&search, &[Need::Libclang, Need::CxxCompiler], true), line);
            let also =
                command_line(&search, &[Need::Build(BuildTool::Cmake), Need::Build(BuildTool::Make)], true);
            assert!(also.ends_with(" cmake make") && also.starts_with(program), "{also}");
        }
    }

    #[test]
    fn an_unknown_distribution_is_known_by_its_program() {
        let (_dir, search) = machine("ID=own\n", &[("pacman", "")]);
        assert_eq!(Manager::detect(&search), Some(Pacman));
        let (_dir, search) = machine("ID=debian\n", &[]);
        assert_eq!(Manager::detect(&search), None);
    }

    #[test]
    fn nothing_missing_needs_nothing_and_rust_is_mended_by_hand() {
        let (_dir, search) = machine("ID=alpine\n", &[("apk", "")]);
        assert_eq!(mending(&[], &search, true, &Interrupt::none()).unwrap(), None);
        let mending = mending(&failed(&[Need::Cargo, Need::Rustc]), &search, true, &Interrupt::none())
            .unwrap()
            .unwrap();
        assert!(mending.commands.is_empty());
        assert_eq!(mending.by_hand.len(), 1);
        assert!(mending.by_hand[0].contains("rustup"));
    }
}
