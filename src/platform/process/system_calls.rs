//! The system calls that a sandbox forbids, as seccomp filters.

use crate::error::{Error, ErrorKind, Result};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter, sock_filter,
};
use std::collections::BTreeMap;

/// Which processes a sandbox is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Code that only computes. A forbidden system call raises `SIGSYS`.
    Computation,
    /// A driver, for which libFuzzer starts more processes. A forbidden system call fails.
    Driver,
    /// Commands that build and test a library. A forbidden system call fails.
    Commands,
}

/// What reaches into other processes, changes the system, or lives longer than the process: nobody may do this.
const NEVER: &[libc::c_long] = &[
    // Other processes
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
    libc::SYS_kcmp,
    // Doors of the kernel beside the usual system calls
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_userfaultfd,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_fanotify_init,
    libc::SYS_open_by_handle_at,
    // Memory and messages that stay behind
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
    libc::SYS_shmctl,
    libc::SYS_semctl,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_unlink,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Namespaces and mounts
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    // The machine
    libc::SYS_reboot,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    // Sockets: Landlock keeps apart only those with TCP or an abstract name. A `socketpair` leads nowhere else.
    libc::SYS_socket,
];

/// System calls that the `libc` crate does not name; they have these numbers on all machines.
const FCHMODAT2: libc::c_long = 452;
const SETXATTRAT: libc::c_long = 463;
const REMOVEXATTRAT: libc::c_long = 466;

/// What a driver does not need besides: to leave the group that ends with it, and to change owners, rights and times of
/// files, which Landlock does not restrict.
const NOT_FOR_DRIVERS: &[libc::c_long] = &[
    libc::SYS_setsid,
    libc::SYS_setpgid,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// What a computation does not need besides: other processes, pairs of sockets, and other users (`make` drops privileges).
const NOT_FOR_COMPUTATIONS: &[libc::c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
    libc::SYS_execveat,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_memfd_create,
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setreuid,
    libc::SYS_setregid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
    libc::SYS_setgroups,
    libc::SYS_capset,
];

/// Programs for the kernel, which all must allow a system call.
#[derive(Default)]
pub(super) struct Filters(Vec<BpfProgram>);

impl Filters {
    /// Enters them. Only system calls, which are async-signal-safe.
    pub(super) fn enter(&self) -> std::result::Result<(), ()> {
        self.0.iter().try_for_each(|filter| apply_filter(filter).map_err(|_| ()))
    }
}

/// The filters of a sandbox; none on a machine that seccompiler does not know.
pub(super) fn filters(kind: Kind) -> Result<Filters> {
    let forbidden = match kind {
        Kind::Computation => SeccompAction::Trap,
        Kind::Driver | Kind::Commands => SeccompAction::Errno(libc::EPERM.unsigned_abs()),
    };
    let lists: &[&[libc::c_long]] = match kind {
        Kind::Computation => &[NEVER, NOT_FOR_DRIVERS, NOT_FOR_COMPUTATIONS],
        Kind::Driver => &[NEVER, NOT_FOR_DRIVERS],
        Kind::Commands => &[NEVER],
    };
    let calls = lists.iter().flat_map(|list| list.iter());
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = calls.map(|call| (*call, Vec::new())).collect();
    // The limits of another process.
    rules.insert(libc::SYS_prlimit64, vec![when(0, SeccompCmpOp::Ne, 0)?]);
    if kind == Kind::Computation {
        // A thread is no process.
        let thread = libc::CLONE_THREAD.unsigned_abs().into();
        rules.insert(libc::SYS_clone, vec![when(0, SeccompCmpOp::MaskedEq(thread), 0)?]);
    }
    let mut filters = Vec::new();
    // Its flags are in memory, which a filter cannot read. Without it, libraries use `clone`.
    if kind == Kind::Computation {
        let missing = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
        filters.extend(filter(BTreeMap::from([(libc::SYS_clone3, Vec::new())]), missing)?);
    }
    filters.extend(filter(rules, forbidden)?);
    #[cfg(target_arch = "x86_64")]
    filters.push(no_x32());
    Ok(Filters(filters))
}

/// Forbids the system calls of x32, which have numbers of their own: this bit and others.
#[cfg(target_arch = "x86_64")]
fn no_x32() -> BpfProgram {
    const X32: u32 = 0x4000_0000;
    // The operations of Linux's `linux/filter.h`; the number of the system call comes first in its data.
    const LOAD_WORD: u16 = 0x20;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    let step = |code, yes, no, k| sock_filter { code, jt: yes, jf: no, k };
    vec![
        step(LOAD_WORD, 0, 0, 0),
        step(JUMP_IF_AT_LEAST, 0, 1, X32),
        step(RETURN, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

fn when(argument: u8, how: SeccompCmpOp, value: u64) -> Result<SeccompRule> {
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, how, value);
    condition.and_then(|condition| SeccompRule::new(vec![condition])).map_err(|error| failed(&error))
}

fn filter(rules: BTreeMap<i64, Vec<SeccompRule>>, action: SeccompAction) -> Result<Option<BpfProgram>> {
    let Ok(machine) = std::env::consts::ARCH.try_into() else { return Ok(None) };
    let made = SeccompFilter::new(rules, SeccompAction::Allow, action, machine);
    made.and_then(BpfProgram::try_from).map(Some).map_err(|error| failed(&error))
}

fn failed(error: &seccompiler::BackendError) -> Error {
    Error::new(ErrorKind::Internal, format!("seccomp refuses the rules of the sandbox: {error}"))
}
