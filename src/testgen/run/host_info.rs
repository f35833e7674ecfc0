//! The machine that runs C, as far as tests depend on it: no paths, no names of hosts or people.

use crate::platform::toolchain::Toolchain;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The kind of container around the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Container {
    Docker,
    Podman,
    None,
}

impl Container {
    /// Detects the container by the marker files below `root`.
    fn below(root: &Path) -> Self {
        if root.join("run/.containerenv").exists() {
            Self::Podman
        } else if root.join(".dockerenv").exists() {
            Self::Docker
        } else {
            Self::None
        }
    }
}

/// A machine with its tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Target triple.
    pub platform: String,
    pub container: Container,
    /// The compilers of C and Rust, with their versions.
    pub compilers: Vec<String>,
    /// Other programs that may build the library.
    pub tools: Vec<String>,
    /// MiB available to this process; `None` if unknown.
    pub memory_mib: Option<u64>,
    pub cores: usize,
}

impl Machine {
    /// This machine, with its toolchain.
    pub fn here(toolchain: &Toolchain) -> Self {
        Self::below(Path::new("/"), toolchain)
    }

    fn below(root: &Path, toolchain: &Toolchain) -> Self {
        Self {
            platform: toolchain.host.clone(),
            container: Container::below(root),
            compilers: vec![
                format!("{} {}", toolchain.cc.kind, toolchain.cc.version),
                format!("rustc {}", toolchain.rustc_version),
            ],
            tools: toolchain.build_tools.keys().map(|tool| tool.name().to_owned()).collect(),
            memory_mib: memory(root),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// The machine's memory, or its control group's limit, in MiB.
fn memory(root: &Path) -> Option<u64> {
    let read = |path: &str| fs_err::read_to_string(root.join(path)).ok();
    let kib = read("proc/meminfo").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    });
    let bytes = ["sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .iter()
        .find_map(|path| read(path)?.trim().parse::<u64>().ok());
    let all = [kib.map(|kib| kib >> 10), bytes.map(|bytes| bytes >> 20)];
    all.into_iter().flatten().min()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::platform::toolchain::BuildTool;
    use crate::platform::toolchain::{Compiler, CompilerKind, Tool};
    use std::collections::BTreeMap;

    pub fn toolchain() -> Toolchain {
        Toolchain {
            cargo: "/opt/rust/cargo".into(),
            rustc: "/opt/rust/rustc".into(),
            rustc_version: "1.95.0".into(),
            sysroot: "/opt/rust/rust".into(),
            host: "x86_64-unknown-linux-gnu".into(),
            cc: Compiler {
                path: "/usr/bin/clang".into(),
                kind: CompilerKind::Clang,
                version: "19.1.7".into(),
            },
            cxx: Tool { path: "/usr/bin/c++".into(), version: "19".into() },
            ar: "/usr/bin/ar".into(),
            objcopy: "/usr/bin/objcopy".into(),
            libclang: "/usr/lib/libclang.so".into(),
            asan_runtime: "/opt/rust/asan.a".into(),
            build_tools: BTreeMap::from([(BuildTool::Make, "/usr/bin/make".into())]),
        }
    }

    fn with(files: &[(&str, &str)]) -> Machine {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            fs_err::create_dir_all(dir.path().join(path).parent().unwrap()).unwrap();
            fs_err::write(dir.path().join(path), text).unwrap();
        }
        Machine::below(dir.path(), &toolchain())
    }

    #[test]
    fn containers_are_known_by_their_marks() {
        assert_eq!(with(&[]).container, Container::None);
        assert_eq!(with(&[(".dockerenv", "")]).container, Container::Docker);
        assert_eq!(with(&[("run/.containerenv", ""), (".dockerenv", "")]).container, Container::Podman);
        let words = [Container::Docker, Container::Podman, Container::None]
            .map(|of| serde_json::to_value(of).unwrap());
        assert_eq!(words, ["docker", "podman", "none"]);
    }

    #[test]
    fn memory_is_what_the_process_may_have() {
        let total = ("proc/meminfo", "MemTotal:       8388608 kB\nMemFree: 1 kB\n");
        let limit = |text| ("sys/fs/cgroup/memory.max", text);
        assert_eq!(with(&[]).memory_mib, None);
        assert_eq!(with(&[total]).memory_mib, Some(8192));
        assert_eq!(with(&[total, limit("max\n")]).memory_mib, Some(8192));
        assert_eq!(with(&[total, limit("1073741824\n")]).memory_mib, Some(1024));
    }

    #[test]
    fn no_path_is_told() {
        let machine = with(&[]);
        assert_eq!(machine.compilers, ["clang 19.1.7", "rustc 1.95.0"]);
        assert_eq!(machine.tools, ["make"]);
        assert!(!serde_json::to_string(&machine).unwrap().contains('/'));
    }
}
