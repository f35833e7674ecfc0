//! What a child process may do that runs code of others: Landlock restricts files, TCP, and signals to other processes;
//! seccomp restricts system calls. What the kernel does not support is left out; [`Support`] says what it has.
//!
//! `system_calls` has the lists. Both restrictions are made before the fork, and entered between fork and exec.

use super::system_calls::{Filters, Kind, filters};
use crate::error::{Error, ErrorKind, Result};
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The files that a child process may use. It may also use what the loader, compilers and common tools need.
#[derive(Debug, Clone)]
pub struct Sandbox {
    kind: Kind,
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
}

/// Folders of the system with programs and libraries. Those of package managers with their own prefix are among them.
const SYSTEM: [&str; 11] = [
    "/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin", "/nix/store", "/gnu/store", "/opt",
    "/etc/alternatives", "/etc/ld.so.cache",
];
/// What the C library reads. The sanitizers read `/proc`.
const READ: [&str; 10] = [
    "/proc", "/sys/devices/system", "/dev/urandom", "/dev/random", "/etc/localtime", "/etc/passwd",
    "/etc/group", "/etc/nsswitch.conf", "/etc/ld.so.preload", "/etc/locale.alias",
];
const DEVICES: [&str; 2] = ["/dev/null", "/dev/zero"];

impl Sandbox {
    pub fn new(kind: Kind) -> Self {
        Self { kind, read: Vec::new(), write: Vec::new() }
    }

    /// Lets it read these files and folders, and all in them.
    #[must_use]
    pub fn read(mut self, paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        self.read.extend(paths.into_iter().map(|path| path.as_ref().to_owned()));
        self
    }

    /// Lets it read, write and remove all in these folders, which have absolute paths and exist when it starts.
    #[must_use]
    pub fn write(mut self, paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        self.write.extend(paths.into_iter().map(|path| path.as_ref().to_owned()));
        self
    }

    /// Prepares all that allocates, for a child that runs `program`.
    ///
    /// # Errors
    /// `Io` if a folder to write to cannot be opened, `Internal` if the kernel refuses the rules.
    pub(super) fn prepare(&self, program: &Path) -> Result<Prepared> {
        let filters = if support().seccomp { filters(self.kind)? } else { Filters::default() };
        let folders = self.write.iter().map(|path| opened(path)).collect::<Result<Vec<_>>>()?;
        let ruleset = self.ruleset(program, folders).map_err(|error| {
            Error::new(ErrorKind::Internal, format!("Landlock refuses the rules of the sandbox: {error}"))
        })?;
        Ok(Prepared { ruleset: Some(ruleset), filters, kind: self.kind })
    }

    fn ruleset(
        &self,
        program: &Path,
        folders: Vec<PathFd>,
    ) -> std::result::Result<RulesetCreated, RulesetError> {
        let (read, all) = (AccessFs::from_read(FILES), AccessFs::from_all(FILES));
        // Only commands make symbolic links: the tool itself follows those in the folders of others.
        let written = if self.kind == Kind::Commands { all } else { all & !AccessFs::MakeSym };
        let used = read | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
        let itself = program.is_absolute().then(|| program.to_owned());
        let execute = SYSTEM.iter().map(Path::new).chain(itself.as_deref());
        handled()?
            .create()?
            .add_rules(path_beneath_rules(execute, read))?
            .add_rules(path_beneath_rules(READ, read & !AccessFs::Execute))?
            .add_rules(path_beneath_rules(DEVICES, used & !AccessFs::Execute))?
            .add_rules(path_beneath_rules(&self.read, read))?
            .add_rules(
                folders.into_iter().map(|folder| Ok::<_, RulesetError>(PathBeneath::new(folder, written))),
            )
    }
}

/// A folder to write to. One that is not there would not be told by the rules, but by what then fails.
fn opened(path: &Path) -> Result<PathFd> {
    debug_assert!(path.is_absolute(), "the child has another working directory: {}", path.display());
    PathFd::new(path).map_err(|error| {
        Error::new(ErrorKind::Io, format!("the sandbox cannot open `{}`: {error}", path.display()))
    })
}

/// The newest kinds of restriction that are used, as far as the kernel has them.
const FILES: ABI = ABI::V5;

fn handled() -> std::result::Result<Ruleset, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(FILES))?
        .handle_access(AccessNet::from_all(ABI::V4))?
        .scope(Scope::from_all(ABI::V6))
}

/// What the kernel has for sandboxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Support {
    /// The version of Landlock's interface.
    pub landlock: Option<i64>,
    pub seccomp: bool,
}

/// What each version of Landlock restricts for the first time, from <https://docs.kernel.org/userspace-api/landlock.html>,
/// if it is restricted nowhere else. Version 1 forbids what version 2 can permit; version 4 restricts TCP, and seccomp
/// forbids all sockets.
const RESTRICTED_FROM: [(i64, &str); 3] =
    [(3, "truncation of files"), (5, "commands to devices"), (6, "signals")];

/// What the kernel of this machine has.
pub fn support() -> Support {
    static SUPPORT: LazyLock<Support> = LazyLock::new(ask);
    *SUPPORT
}

fn ask() -> Support {
    /// `LANDLOCK_CREATE_RULESET_VERSION`
    const VERSION: libc::c_uint = 1;
    let nothing: *const libc::c_void = std::ptr::null();
    // SAFETY: with this flag the call only returns a number.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, VERSION) };
    // SAFETY: it reads the action and returns whether it is known.
    let seccomp = unsafe {
        let action = libc::SECCOMP_RET_TRAP;
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &raw const action)
    };
    let known = seccompiler::TargetArch::try_from(std::env::consts::ARCH).is_ok();
    Support { landlock: (version > 0).then_some(version), seccomp: seccomp == 0 && known }
}

impl Support {
    /// What there is, in words.
    pub fn words(self) -> String {
        let landlock = self.landlock.map(|version| format!("Landlock {version}"));
        let parts: Vec<String> =
            landlock.into_iter().chain(self.seccomp.then(|| "seccomp".to_owned())).collect();
        if parts.is_empty() { "no sandbox".to_owned() } else { parts.join(", ") }
    }

    /// What is missing for all restrictions, in words.
    pub fn missing(self) -> Option<String> {
        let mut missing = Vec::new();
        let unrestricted = |version| {
            let later = RESTRICTED_FROM.iter().filter(|(from, _)| *from > version);
            later.map(|(_, what)| *what).collect::<Vec<_>>().join(", ")
        };
        match self.landlock.map(|version| (version, unrestricted(version))) {
            None => missing.push("Landlock (files and signals)".to_owned()),
            Some((_, open)) if open.is_empty() => {}
            Some((version, open)) => missing.push(format!(
                "Landlock 6 (this kernel has version {version}, which does not restrict: {open})"
            )),
        }
        if !self.seccomp {
            missing.push("seccomp (processes and sockets)".to_owned());
        }
        (!missing.is_empty()).then(|| missing.join(" and "))
    }
}

/// A sandbox that can be entered without an allocation.
pub(super) struct Prepared {
    /// Taken by the child; the parent keeps its own for another try.
    ruleset: Option<RulesetCreated>,
    filters: Filters,
    kind: Kind,
}

/// No kernel knows a capability with this number or a higher one.
const CAPABILITIES: libc::c_ulong = 64;

impl Prepared {
    /// Restricts this process for good. Only system calls, which are async-signal-safe.
    pub(super) fn enter(&mut self) -> std::io::Result<()> {
        // After a fork nothing may allocate, so the number of the failure has to do as its text.
        let failed = |()| std::io::Error::last_os_error();
        if self.kind != Kind::Commands {
            // After the exec, root has no capability left. Other users have none, and the kernel refuses them this call.
            for capability in 0..CAPABILITIES {
                // SAFETY: it only takes from this process what it may do.
                unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
            }
        }
        if let Some(ruleset) = self.ruleset.take() {
            ruleset.restrict_self().map_err(|_| failed(()))?;
        }
        self.filters.enter().map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Exit, Interrupt, Job, Output};
    use super::*;

    fn run(sandbox: Sandbox, script: &str) -> Output {
        Job::new("sh").args(["-c", script]).sandbox(sandbox).run(&Interrupt::none()).unwrap()
    }

    /// What a system call does in a sandbox: the number of its error, or of the signal that it raises, negative.
    fn outcome(kind: Kind, call: fn() -> libc::c_long) -> i32 {
        let mut prepared = Sandbox::new(kind).prepare(Path::new("sh")).unwrap();
        // SAFETY: the child only makes system calls and ends.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                let entered = prepared.enter().is_ok();
                let failed = entered && call() < 0;
                libc::_exit(if failed { *libc::__errno_location() } else { 0 });
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
            if libc::WIFSIGNALED(status) { -libc::WTERMSIG(status) } else { libc::WEXITSTATUS(status) }
        }
    }

    fn socket(domain: libc::c_int) -> libc::c_long {
        // SAFETY: it only opens a descriptor.
        unsafe { libc::socket(domain, libc::SOCK_STREAM, 0).into() }
    }

    #[test]
    fn system_calls_are_forbidden_by_kind() {
        if !support().seccomp {
            return;
        }
        let unix = || socket(libc::AF_UNIX);
        let inet = || socket(libc::AF_INET);
        // SAFETY: a child that begins ends at once.
        let fork = || unsafe {
            let child = libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0);
            if child == 0 { libc::_exit(0) } else { child }
        };
        // SAFETY: it changes nothing: the child has no tracer.
        let trace = || unsafe { libc::syscall(libc::SYS_ptrace, libc::PTRACE_ATTACH, 1, 0, 0) };
        #[cfg(target_arch = "x86_64")]
        {
            // SAFETY: it does nothing but return.
            let x32 = || unsafe { libc::syscall(0x4000_0000 + libc::SYS_getpid) };
            assert_eq!(outcome(Kind::Driver, x32), -libc::SIGSYS);
        }
        let calls: [fn() -> libc::c_long; 4] = [unix, inet, fork, trace];
        assert_eq!(calls.map(|call| outcome(Kind::Computation, call)), [-libc::SIGSYS; 4]);
        let (no, yes) = (libc::EPERM, 0);
        assert_eq!(calls.map(|call| outcome(Kind::Driver, call)), [no, no, yes, no]);
        // SAFETY: they change nothing of this process that matters.
        let group = || unsafe { libc::syscall(libc::SYS_setpgid, 0, 0) };
        // SAFETY: as above; the file is not there.
        let owner = || unsafe { libc::fchmodat(-1, c"none".as_ptr(), 0, 0).into() };
        // SAFETY: it asks for limits, of the process with number 1.
        let limits = || unsafe { libc::syscall(libc::SYS_prlimit64, 1, 0, 0, 0) };
        let calls: [fn() -> libc::c_long; 3] = [group, owner, limits];
        assert_eq!(calls.map(|call| outcome(Kind::Driver, call)), [no; 3]);
        assert_eq!(calls.map(|call| outcome(Kind::Commands, call)), [yes, libc::EBADF, no]);
    }

    #[test]
    fn files_are_those_of_the_sandbox() {
        if support().landlock.is_none() {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let [own, other, shown] = ["own", "other", "shown"].map(|name| dir.path().join(name));
        for folder in [&own, &other, &shown] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join("file"), "text").unwrap();
        }
        let sandbox = || Sandbox::new(Kind::Driver).read([&shown]).write([&own]);
        let can = |command: &str| run(sandbox(), command).exit == Exit::Code(0);
        let at = |folder: &Path| folder.join("file").display().to_string();
        assert!(can(&format!("cat {}", at(&own))) && can(&format!("cat {}", at(&shown))));
        assert!(!can(&format!("cat {}", at(&other))));
        assert!(can(&format!("echo more >> {}", at(&own))) && can(&format!("rm {}", at(&own))));
        assert!(!can(&format!("echo more >> {}", at(&shown))) && !can(&format!("rm {}", at(&other))));
        assert!(!can(&format!("ln -s /etc/passwd {}", own.join("link").display())));
        assert!(can("echo > /dev/null; cat /proc/self/maps > /dev/null"));
        assert!(!can("echo 0 > /proc/self/oom_score_adj"));
    }

    #[test]
    fn a_folder_that_is_not_there_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let none = dir.path().join("none");
        let job = Job::new("true").sandbox(Sandbox::new(Kind::Driver).write([&none]));
        let error = job.run(&Interrupt::none()).unwrap_err().to_string();
        assert!(error.contains(&none.display().to_string()), "{error}");
    }

    #[test]
    fn signals_to_processes_outside_are_forbidden() {
        if support().landlock < Some(6) {
            return;
        }
        // SAFETY: a signal with the number 0 is only a question.
        let parent = || unsafe { libc::kill(libc::getppid(), 0).into() };
        // SAFETY: as above.
        let itself = || unsafe { libc::kill(libc::getpid(), 0).into() };
        for kind in [Kind::Computation, Kind::Driver, Kind::Commands] {
            assert_eq!([outcome(kind, parent), outcome(kind, itself)], [libc::EPERM, 0], "{kind:?}");
        }
    }

    #[test]
    fn what_the_kernel_lacks_is_named() {
        let all = Support { landlock: Some(6), seccomp: true };
        assert_eq!((all.missing(), all.words().as_str()), (None, "Landlock 6, seccomp"));
        assert_eq!(Support { landlock: None, seccomp: false }.words(), "no sandbox");
        let missing = |landlock, seccomp| Support { landlock, seccomp }.missing().unwrap();
        for (version, open) in [
            (5, "signals"),
            (4, "commands to devices, signals"),
            (3, "commands to devices, signals"),
            (2, "truncation of files, commands to devices, signals"),
            (1, "truncation of files, commands to devices, signals"),
        ] {
            let text =
                format!("Landlock 6 (this kernel has version {version}, which does not restrict: {open})");
            assert_eq!(missing(Some(version), true), text);
        }
        assert_eq!(missing(None, false), "Landlock (files and signals) and seccomp (processes and sockets)");
    }
}
