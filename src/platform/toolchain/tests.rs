//! Tests with machines whose programs are scripts.

use super::*;
use std::os::unix::fs::PermissionsExt;

/// A directory that plays the root of a machine.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn script(&self, path: &str, prints: &str) {
        self.file(path, &format!("#!/bin/sh\n/bin/cat <<'END'\n{prints}\nEND\n"));
    }

    fn search(&self) -> Search {
        Search {
            root: self.0.path().to_owned(),
            path: vec![self.path("bin"), self.path("usr/bin")],
            libclang_path: None,
            library_path: vec![],
            cargo: None,
            rustc: None,
        }
    }

    fn survey(&self) -> Survey {
        Survey::make(&self.search(), &Interrupt::none()).unwrap()
    }

    /// A machine with Rust and gcc, like a fresh Debian with rustup.
    fn with_rust_and_gcc() -> Self {
        let machine = Self::new();
        let (sysroot, host) = (machine.path("rust"), "x86_64-unknown-linux-gnu");
        let about = format!("rustc 1.95.0 (59807616e 2026-04-14)\nhost: {host}\nrelease: 1.95.0");
        let rustc = format!(
            "#!/bin/sh\nif [ \"$1\" = -vV ]; then echo '{about}'; else echo '{}'; fi\n",
            sysroot.display()
        );
        machine.file("bin/rustc", &rustc);
        machine.script("bin/cargo", "cargo 1.95.0 (f2d3ce0bd 2026-03-21)");
        machine.file(&format!("rust/lib/rustlib/{host}/lib/librustc-stable_rt.asan.a"), "");
        machine.script("usr/bin/gcc", "12.2.0");
        machine.script("usr/bin/g++", "12");
        machine.script("usr/bin/ar", "GNU ar (GNU Binutils for Debian) 2.40");
        machine.script("usr/bin/objcopy", "GNU objcopy (GNU Binutils for Debian) 2.40");
        machine
    }
}

#[test]
fn a_fresh_machine_lacks_libclang_and_is_told_the_command() {
    let machine = Machine::with_rust_and_gcc();
    let error = Toolchain::find(&machine.search(), &Interrupt::none()).unwrap_err();
    assert_eq!(error.to_string(), "missing on this machine: libclang");
    assert_eq!((error.kind(), error.help_text()), (ErrorKind::Environment, Some(MENDING_COMMAND)));
}

#[test]
fn everything_is_found_with_its_version() {
    let machine = Machine::with_rust_and_gcc();
    machine.file("usr/lib/llvm-19/lib/libclang.so", "");
    let survey = machine.survey();
    assert_eq!(survey.cargo.as_ref().unwrap().version, "1.95.0");
    assert_eq!(survey.ar.as_ref().unwrap().version, "2.40");
    assert_eq!(survey.libclang.as_ref().unwrap().version, "19");
    machine.script("usr/bin/cmake", "cmake version 3.25.1\n\nCMake suite maintained by Kitware");
    machine.script("usr/bin/make", "GNU Make 4.3\nBuilt for x86_64-pc-linux-gnu");
    let also = machine.survey();
    assert_eq!(
        (
            also.build_tools[&BuildTool::Cmake].version.as_str(),
            also.build_tools[&BuildTool::Make].version.as_str()
        ),
        ("3.25.1", "4.3")
    );
    std::fs::remove_file(machine.path("usr/bin/cmake")).unwrap();
    std::fs::remove_file(machine.path("usr/bin/make")).unwrap();
    let rustc = survey.rustc.as_ref().unwrap();
    assert_eq!((rustc.tool.version.as_str(), rustc.host_is_supported()), ("1.95.0", true));
    let toolchain = Toolchain::find(&machine.search(), &Interrupt::none()).unwrap();
    assert_eq!((toolchain.cc.kind, toolchain.cc.version.as_str()), (CompilerKind::Gcc, "12.2.0"));
    assert_eq!(toolchain.sysroot, machine.path("rust"));
    assert!(toolchain.build_tools.is_empty());
    assert!(toolchain.asan_runtime.ends_with("librustc-stable_rt.asan.a"));
}

#[test]
fn the_newest_clang_wins_over_gcc_and_over_older_ones() {
    let machine = Machine::with_rust_and_gcc();
    machine.script("usr/bin/clang", "14.0.6");
    machine.script("usr/bin/clang-9", "9.0.1");
    machine.script("usr/lib/llvm-19/bin/clang", "19.1.7");
    machine.file("usr/bin/clang-25", "#!/bin/sh\nexit 1\n");
    machine.script("usr/bin/clang-format-30", "30.0.0");
    let cc = machine.survey().cc.unwrap();
    assert_eq!((cc.kind, cc.version.as_str()), (CompilerKind::Clang, "19.1.7"));
}

#[test]
fn an_old_libclang_is_refused_and_the_newest_wins() {
    let machine = Machine::with_rust_and_gcc();
    machine.file("usr/lib/llvm-14/lib/libclang.so.1", "");
    let error = Toolchain::find(&machine.search(), &Interrupt::none()).unwrap_err();
    assert!(error.to_string().starts_with("libclang 14 "), "{error}");
    machine.file("usr/lib/x86_64-linux-gnu/libclang-19.so.19", "");
    machine.file("usr/lib/x86_64-linux-gnu/libclang-cpp.so.22", "");
    let toolchain = Toolchain::find(&machine.search(), &Interrupt::none()).unwrap();
    assert!(toolchain.libclang.ends_with("libclang-19.so.19"));
}

#[test]
fn libclang_path_decides_and_a_wrong_one_does_not() {
    let machine = Machine::with_rust_and_gcc();
    machine.file("usr/lib64/libclang.so.21.1", "");
    machine.file("mine/libclang-17.so", "");
    let with = |path: &str| {
        let search = Search { libclang_path: Some(machine.path(path)), ..machine.search() };
        Toolchain::find(&search, &Interrupt::none()).unwrap().libclang
    };
    assert_eq!(with("mine"), machine.path("mine/libclang-17.so"));
    assert_eq!(with("mine/libclang-17.so"), machine.path("mine/libclang-17.so"));
    assert_eq!(with("nothing/here"), machine.path("usr/lib64/libclang.so.21.1"));
}

#[test]
fn the_linkers_configuration_and_broken_links_count() {
    let machine = Machine::with_rust_and_gcc();
    machine.file("etc/ld.so.conf.d/a.conf", "# comment\n/opt/llvm/lib\n");
    machine.file("opt/llvm/lib/libclang.so.20.1", "");
    std::os::unix::fs::symlink("/nowhere", machine.path("opt/llvm/lib/libclang-30.so")).unwrap();
    assert_eq!(machine.survey().libclang.unwrap().version, "20.1");
}

#[test]
fn the_toolchains_own_objcopy_serves() {
    let machine = Machine::with_rust_and_gcc();
    std::fs::remove_file(machine.path("usr/bin/objcopy")).unwrap();
    assert!(machine.survey().objcopy.is_none());
    machine.script("rust/lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-objcopy", "  LLVM version 22.1.2");
    assert_eq!(machine.survey().objcopy.unwrap().version, "22.1.2");
}

#[test]
fn an_empty_machine_lacks_everything() {
    let machine = Machine::new();
    let error = Toolchain::find(&machine.search(), &Interrupt::none()).unwrap_err();
    assert!(error.to_string().contains("cargo, rustc, a C compiler"), "{error}");
}

#[test]
fn hosts() {
    let supported = |host: &str| {
        let tool = Tool { path: PathBuf::new(), version: String::new() };
        Rustc { tool, sysroot: PathBuf::new(), host: host.to_owned() }.host_is_supported()
    };
    assert!(supported("x86_64-unknown-linux-gnu") && supported("aarch64-unknown-linux-musl"));
    assert!(!supported("aarch64-apple-darwin") && !supported("riscv64gc-unknown-linux-gnu"));
    assert!(!supported("aarch64-linux-android") && !supported("x86_64-pc-windows-msvc"));
}

#[test]
fn versions_are_read_from_what_tools_print() {
    for (text, version) in [
        ("cargo 1.95.0 (f2d3ce0bd 2026-03-21)", "1.95.0"),
        ("GNU ar (GNU Binutils for Debian) 2.40\nmore", "2.40"),
        ("GNU ar version 2.41-38.fc40", "2.41-38.fc40"),
        ("LLVM (http://llvm.org/):\n  LLVM version 19.1.7", "19.1.7"),
        ("19.1.7", "19.1.7"),
        ("no version", ""),
    ] {
        assert_eq!(version_in(text), version, "{text}");
    }
}
