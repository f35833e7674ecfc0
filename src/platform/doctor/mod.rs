//! Checks for required tools and installs the missing ones. `toolchain` searches for them, `report` formats the result.

mod install_run;
mod install_plan;

pub use install_plan::{Manager, Mending, mending};
pub use install_run::{Consent, Installed, install};

use crate::error::Result;
use crate::platform::process::{Interrupt, Support, support};
use crate::platform::toolchain::{self, BuildTool, OLDEST_LIBCLANG, Search, Survey};
use serde::Serialize;
use std::path::{Path, PathBuf};
use strum::IntoEnumIterator;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    Host,
    Cargo,
    Rustc,
    CCompiler,
    CxxCompiler,
    Libclang,
    Ar,
    Objcopy,
    AsanRuntime,
    Sandbox,
    C2rust,
    #[serde(untagged)]
    Build(BuildTool),
}

impl Need {
    /// Whether only some libraries or settings need it. If it is missing, `doctor` shows and installs it, but does not
    /// fail.
    pub fn is_optional(self) -> bool {
        matches!(self, Self::Build(_) | Self::C2rust | Self::Sandbox)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    Found {
        path: PathBuf,
        version: String,
    },
    /// It is there, but not usable, or not in full.
    Unfit {
        path: PathBuf,
        reason: String,
    },
    Missing,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    pub need: Need,
    pub name: &'static str,
    pub status: Status,
    pub why: &'static str,
}

impl Check {
    /// Whether nothing needs to be done.
    pub fn ok(&self) -> bool {
        matches!(self.status, Status::Found { .. })
    }

    /// Whether ports cannot be fuzzed until this is fixed.
    pub fn is_lack(&self) -> bool {
        !self.ok() && !self.need.is_optional()
    }
}

/// Checks everything that the tool needs. Fails only on Ctrl-C.
pub fn examine(search: &Search, interrupt: &Interrupt) -> Result<Vec<Check>> {
    Ok(checks(&Survey::make(search, interrupt)?, support()))
}

fn checks(survey: &Survey, support: Support) -> Vec<Check> {
    let found = |path: &Path, version: String| Status::Found { path: path.to_owned(), version };
    let of_tool = |tool: &Option<toolchain::Tool>| match tool {
        Some(tool) => found(&tool.path, tool.version.clone()),
        None => Status::Missing,
    };
    let rustc = survey.rustc.as_ref();
    let host = match rustc {
        Some(rustc) if rustc.host_is_supported() => found(&rustc.sysroot, rustc.host.clone()),
        Some(rustc) => Status::Unfit {
            path: rustc.sysroot.clone(),
            reason: format!("{} is neither Linux x86-64 nor Linux aarch64", rustc.host),
        },
        None => Status::Missing,
    };
    let libclang = match &survey.libclang {
        Some(tool) if !toolchain::is_new_enough(tool) => Status::Unfit {
            path: tool.path.clone(),
            reason: format!("version {} is older than {OLDEST_LIBCLANG}", tool.version),
        },
        other => of_tool(other),
    };
    let cc = survey.cc.as_ref();
    let cc = cc.map_or(Status::Missing, |cc| found(&cc.path, format!("{} {}", cc.kind, cc.version)));
    let asan = survey.asan_runtime.as_ref();
    let check = |need, name, status, why| Check { need, name, status, why };
    let mut checks = vec![
        check(Need::Host, "platform", host, "ports are fuzzed on Linux x86-64 and aarch64"),
        check(Need::Cargo, "cargo", of_tool(&survey.cargo), "builds the port"),
        check(
            Need::Rustc,
            "rustc",
            of_tool(&rustc.map(|rustc| rustc.tool.clone())),
            "compiles the port and the fuzz targets",
        ),
        check(Need::CCompiler, "C compiler", cc, "compiles the C original; clang is fastest, gcc also works"),
        check(Need::CxxCompiler, "C++ compiler", of_tool(&survey.cxx), "compiles libFuzzer"),
        check(Need::Libclang, "libclang", libclang, "reads the C library"),
        check(Need::Ar, "ar", of_tool(&survey.ar), "packs the C original"),
        check(Need::Objcopy, "objcopy", of_tool(&survey.objcopy), "renames the symbols of the C original"),
        check(
            Need::AsanRuntime,
            "ASan runtime",
            asan.map_or(Status::Missing, |path| found(path, String::new())),
            "detects errors in the C original",
        ),
    ];
    checks.push(check(
        Need::Sandbox,
        "sandbox",
        sandbox(support),
        "restricts processes that run ports: files, network, other processes",
    ));
    checks.extend(BuildTool::iter().map(|tool| {
        let found = of_tool(&survey.build_tools.get(&tool).cloned());
        check(Need::Build(tool), tool.name(), found, tool.why())
    }));
    checks.push(check(
        Need::C2rust,
        "c2rust",
        of_tool(&survey.c2rust),
        "translates before a model is asked; only for `candidates = [\"c2rust\", …]`",
    ));
    checks
}

/// What the kernel has of it.
fn sandbox(support: Support) -> Status {
    let path = PathBuf::from("the kernel");
    match support.missing() {
        None => Status::Found { path, version: support.words() },
        Some(_) if support.landlock.is_none() && !support.seccomp => Status::Missing,
        Some(missing) => Status::Unfit { path, reason: format!("no {missing}") },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::toolchain::{Compiler, CompilerKind, Rustc, Tool};
    use std::collections::BTreeMap;

    fn tool(version: &str) -> Tool {
        Tool { path: "/bin/tool".into(), version: version.into() }
    }

    fn full() -> Survey {
        Survey {
            cargo: Some(tool("1.95.0")),
            rustc: Some(Rustc {
                tool: tool("1.95.0"),
                sysroot: "/rust".into(),
                host: "x86_64-unknown-linux-gnu".into(),
            }),
            cc: Some(Compiler { path: "/bin/gcc".into(), kind: CompilerKind::Gcc, version: "12".into() }),
            cxx: Some(tool("12")),
            ar: Some(tool("2")),
            objcopy: Some(tool("2")),
            libclang: Some(tool("19")),
            asan_runtime: Some("/asan.a".into()),
            build_tools: BuildTool::iter().map(|name| (name, tool("4.3"))).collect(),
            c2rust: Some(tool("0.22.1")),
        }
    }

    const KERNEL: Support = Support { landlock: Some(7), seccomp: true };

    fn bad(survey: &Survey) -> Vec<Need> {
        checks(survey, KERNEL).iter().filter(|check| !check.ok()).map(|check| check.need).collect()
    }

    #[test]
    fn every_lack_is_a_check_of_its_own() {
        assert_eq!(bad(&full()), []);
        assert_eq!(bad(&Survey { libclang: None, cxx: None, ..full() }), [Need::CxxCompiler, Need::Libclang]);
        assert_eq!(bad(&Survey { rustc: None, ..full() }), [Need::Host, Need::Rustc]);
    }

    #[test]
    fn what_only_some_libraries_need_is_no_lack() {
        let survey = Survey { build_tools: BTreeMap::new(), c2rust: None, ..full() };
        assert_eq!(bad(&survey), [Need::Build(BuildTool::Cmake), Need::Build(BuildTool::Make), Need::C2rust]);
        assert!(!checks(&survey, KERNEL).iter().any(Check::is_lack));
        assert!(checks(&Survey { ar: None, ..survey }, KERNEL).iter().any(Check::is_lack));
    }

    #[test]
    fn what_the_kernel_lacks_is_told_and_is_no_lack() {
        let told = |landlock, seccomp| {
            let all = checks(&full(), Support { landlock, seccomp });
            assert!(!all.iter().any(Check::is_lack));
            all.into_iter().find(|check| check.need == Need::Sandbox).unwrap().status
        };
        assert_eq!(told(None, false), Status::Missing);
        let unfit = told(Some(3), true);
        assert!(matches!(&unfit, Status::Unfit { reason, .. } if reason.contains("signals")), "{unfit:?}");
        assert!(matches!(told(Some(6), true), Status::Found { .. }));
    }

    #[test]
    fn what_will_not_do_says_why() {
        let old = Survey { libclang: Some(tool("14.0.6")), ..full() };
        let checks = checks(&old, KERNEL);
        let libclang = checks.iter().find(|check| check.need == Need::Libclang).unwrap();
        assert!(
            matches!(&libclang.status, Status::Unfit { reason, .. } if reason.contains("14.0.6")),
            "{libclang:?}"
        );
        let mut mac = full();
        mac.rustc.as_mut().unwrap().host = "aarch64-apple-darwin".into();
        assert_eq!(bad(&mac), [Need::Host]);
    }
}
