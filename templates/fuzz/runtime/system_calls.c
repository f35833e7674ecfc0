/*
 * Names the system calls that a port makes. While a byte of the caller's is set, the kernel sends each system call of this
 * thread here instead (syscall user dispatch: Linux 5.11 on x86-64). Those that memory, locks and the end of a process need
 * are made after all; any other fails, and is told by name. On other machines only those come here that seccomp forbids.
 * Written by cargo-implfuzz.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif
#define DISPATCH_ON 1
#define SENT_BY_DISPATCH 2

/* Where the caller keeps both: no variable changes here once it watches, because the judge in place restores those of the
 * program. `first` is the number of the first system call that failed, or -1. What is written beyond the last variable of the
 * library does not reach them. */
static struct {
    char before[4096];
    volatile unsigned char *watched;
    volatile long *first;
} own __attribute__((used));

#ifdef __x86_64__
static long call(long number, const greg_t *of)
{
    long result;
    register long fourth __asm__("r10") = of[REG_R10];
    register long fifth __asm__("r8") = of[REG_R8];
    register long sixth __asm__("r9") = of[REG_R9];
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(of[REG_RDI]), "S"(of[REG_RSI]), "d"(of[REG_RDX]), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return result;
}

/* Whether code that only computes needs it. Clocks are not among them. */
static int is_needed(long number, const greg_t *of)
{
    switch (number) {
    case SYS_mmap: case SYS_munmap: case SYS_mremap: case SYS_mprotect: case SYS_madvise: case SYS_brk:
    case SYS_futex: case SYS_sched_yield:
    case SYS_rt_sigprocmask: case SYS_sysinfo: /* `qsort` of the C library */
    case SYS_getpid: case SYS_gettid: case SYS_exit: case SYS_exit_group:
    case SYS_getrandom: /* hash tables */
        return 1;
    case SYS_rt_sigaction: case SYS_sigaltstack: /* to ask, but not to change what the runtime rests on */
        return !of[number == SYS_rt_sigaction ? REG_RSI : REG_RDI];
    case SYS_tgkill: /* `abort` */
        return of[REG_RDI] == syscall(SYS_getpid) && of[REG_RDX] == SIGABRT;
    case SYS_prctl: /* names of mappings */
        return of[REG_RDI] == PR_SET_VMA;
    case SYS_fstat: /* before the first text is written, which is told */
        return of[REG_RDI] <= 2;
    case SYS_newfstatat:
        return of[REG_RDI] <= 2 && of[REG_R10] & AT_EMPTY_PATH;
    default:
        return 0;
    }
}

/* Signals that the runtime needs, as bits of a mask. */
#define OURS ((1ul << (SIGSYS - 1)) | (1ul << (SIGPROF - 1)) | (1ul << (SIGALRM - 1)))

/* The mask that is in force is that behind the handler, which the kernel puts back. */
static long change_mask(ucontext_t *context, const greg_t *of)
{
    unsigned long *mask = (unsigned long *)&context->uc_sigmask, before = *mask;
    const unsigned long *set = (const unsigned long *)of[REG_RSI];
    if (set) {
        unsigned long changed = *set & ~OURS;
        switch (of[REG_RDI]) {
        case SIG_BLOCK: *mask |= changed; break;
        case SIG_UNBLOCK: *mask &= ~*set; break;
        case SIG_SETMASK: *mask = changed; break;
        default: return -EINVAL;
        }
    }
    if (of[REG_RDX])
        *(unsigned long *)of[REG_RDX] = before;
    return 0;
}

/* The kernel would say that the handler runs on the other stack, which the port does not. */
static long tell_stack(const ucontext_t *context, const greg_t *of)
{
    if (of[REG_RSI])
        *(stack_t *)of[REG_RSI] = context->uc_stack;
    return 0;
}

/* Makes the system call, or lets it fail; whether it is told. */
static int answer(ucontext_t *context, long number, int by_dispatch, unsigned char *was)
{
    greg_t *of = context->uc_mcontext.gregs;
    if (by_dispatch && is_needed(number, of)) {
        of[REG_RAX] = number == SYS_rt_sigprocmask ? change_mask(context, of)
                    : number == SYS_sigaltstack ? tell_stack(context, of)
                    : call(number, of);
        return 0;
    }
    of[REG_RAX] = -EPERM;
    if (by_dispatch && (number == SYS_write || number == SYS_writev) && of[REG_RDI] == 2) {
        /* A report of a sanitizer or of libFuzzer, perhaps, which ends the process: it may go on. A port is refuted for it. */
        of[REG_RAX] = call(number, of);
        *was = 0;
    }
    return 1;
}

/* The code behind a handler that leaves it. */
static uintptr_t way_back(void)
{
    struct { void *handler; unsigned long flags; uintptr_t restorer; unsigned long mask; } now;
    return syscall(SYS_rt_sigaction, SIGSYS, NULL, &now, sizeof now.mask) ? 0 : now.restorer;
}
#else
static int answer(ucontext_t *context, long number, int by_dispatch, unsigned char *was)
{
    (void)number, (void)by_dispatch, (void)was;
#ifdef __aarch64__
    context->uc_mcontext.regs[0] = -EPERM;
#endif
    return 1;
}
#endif

static void on_system_call(int signal, siginfo_t *info, void *context)
{
    unsigned char was = *own.watched, stays = was;
    (void)signal;
    *own.watched = 0;
    if (answer(context, info->si_syscall, info->si_code == SENT_BY_DISPATCH, &stays) && was && *own.first < 0)
        *own.first = info->si_syscall;
    *own.watched = stays;
}

/* Begins. `byte` is set while a port runs; 0 and 1 are its only values. */
void implfuzz_watch_system_calls(unsigned char *byte, long *number)
{
    struct sigaction action = {0};
    own.first = number;
    *own.first = -1;
    action.sa_sigaction = on_system_call;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSYS, &action, NULL);
    own.watched = byte;
#ifdef __x86_64__
    uintptr_t back = way_back();
    if (back)
        prctl(PR_SET_SYSCALL_USER_DISPATCH, DISPATCH_ON, back, 16, byte);
#endif
}

#define NAMED(name) case SYS_##name: return #name;

static const char *name_of(long number)
{
    switch (number) {
        NAMED(read) NAMED(write) NAMED(readv) NAMED(writev) NAMED(pread64) NAMED(pwrite64) NAMED(lseek)
        NAMED(openat) NAMED(close) NAMED(fstat) NAMED(newfstatat) NAMED(statx) NAMED(faccessat) NAMED(readlinkat)
        NAMED(getdents64) NAMED(mkdirat) NAMED(unlinkat) NAMED(renameat2) NAMED(linkat) NAMED(symlinkat)
        NAMED(ftruncate) NAMED(fchmodat) NAMED(getcwd) NAMED(chdir) NAMED(dup) NAMED(pipe2) NAMED(ioctl) NAMED(fcntl)
        NAMED(socket) NAMED(socketpair) NAMED(connect) NAMED(bind) NAMED(listen) NAMED(accept4) NAMED(sendto)
        NAMED(recvfrom) NAMED(sendmsg) NAMED(recvmsg) NAMED(clone) NAMED(execve) NAMED(execveat)
        NAMED(wait4) NAMED(kill) NAMED(tgkill) NAMED(ptrace) NAMED(process_vm_readv) NAMED(process_vm_writev)
        NAMED(clock_gettime) NAMED(clock_nanosleep) NAMED(nanosleep) NAMED(gettimeofday) NAMED(getrusage)
        NAMED(timer_create) NAMED(setitimer) NAMED(getppid) NAMED(getuid) NAMED(uname) NAMED(sysinfo) NAMED(getcpu)
        NAMED(memfd_create) NAMED(rt_sigaction) NAMED(sigaltstack) NAMED(shmget) NAMED(prctl) NAMED(sched_getaffinity)
        NAMED(sched_setaffinity) NAMED(sched_setscheduler) NAMED(setpriority) NAMED(prlimit64) NAMED(setsid)
        NAMED(setpgid) NAMED(bpf) NAMED(perf_event_open) NAMED(userfaultfd) NAMED(keyctl) NAMED(add_key)
        NAMED(request_key) NAMED(shmat) NAMED(semget) NAMED(msgget) NAMED(mq_open) NAMED(mount) NAMED(umount2)
        NAMED(unshare) NAMED(setns) NAMED(chroot) NAMED(reboot) NAMED(fchown) NAMED(fchownat) NAMED(utimensat)
#ifdef SYS_clone3 /* Linux 5.3; older headers have none of these */
        NAMED(clone3) NAMED(io_uring_setup) NAMED(io_uring_enter)
#endif
#ifdef __x86_64__
        NAMED(open) NAMED(stat) NAMED(lstat) NAMED(access) NAMED(readlink) NAMED(mkdir) NAMED(unlink) NAMED(rename)
        NAMED(pipe) NAMED(dup2) NAMED(fork) NAMED(vfork) NAMED(time) NAMED(poll) NAMED(select) NAMED(arch_prctl)
        NAMED(chmod) NAMED(chown) NAMED(utime) NAMED(utimes)
#endif
    default: return NULL;
    }
}

/* The first system call that failed since the last question, in words; whether there was one. */
int implfuzz_system_call(char *words, size_t size)
{
    if (!own.first || *own.first < 0)
        return 0;
    const char *name = name_of(*own.first);
    if (name)
        snprintf(words, size, "`%s`", name);
    else
        snprintf(words, size, "number %ld", *own.first);
    *own.first = -1;
    return 1;
}
