/*
 * Keeps inputs that the driver survives in the sanitised build: libFuzzer itself keeps only those that reach something
 * new. `exit` of the driver or the library ends the run on an input alone. With a focus, these are inputs that reach its
 * function, in many ways. The driver is compiled under another name. IMPLFUZZ_KEEP is the folder, IMPLFUZZ_KNOWN a folder
 * of inputs that are not kept, by their hashes, and IMPLFUZZ_ALIKE says how many are kept that take the same edges of the
 * function; further ones are kept ever more seldom.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Files of one process, with and without a focus. Without it, libFuzzer starts several. */
#define MOST_FOCUSED 3000
#define MOST 1000

int implfuzz_driver(const uint8_t *data, size_t size);
int implfuzz_survives(void (*call)(void *), void *argument, const uint8_t *data, size_t size);
void implfuzz_guard_exit(void);
extern int implfuzz_has_broken;
extern unsigned char implfuzz_in_port;
_Noreturn void __real_exit(int status);
_Noreturn void __real__exit(int status);
int implfuzz_focus(uint64_t *taken);

/* Names of files: the 64-bit FNV-1a hash of their bytes, behind a word for their kind. */
static void path_of(const char *folder, const char *kind, const uint8_t *data, size_t size, char *path, size_t room)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t at = 0; at < size; at++)
        hash = (hash ^ data[at]) * 0x100000001b3u;
    snprintf(path, room, "%s/%s%016lx", folder, kind, (unsigned long)hash);
}

static int is_known(const uint8_t *data, size_t size)
{
    char path[4096];
    const char *folder = getenv("IMPLFUZZ_KNOWN");
    if (!folder)
        return 0;
    path_of(folder, "", data, size, path, sizeof path);
    return access(path, F_OK) == 0;
}

/* Returns whether the input is a new file, and whole. */
int implfuzz_keep_input(const char *folder, const char *kind, const uint8_t *data, size_t size)
{
    char path[4096];
    path_of(folder, kind, data, size, path, sizeof path);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0)
        return 0;
    int is_whole = write(file, data, size) == (ssize_t)size;
    close(file);
    if (!is_whole)
        unlink(path);
    return is_whole;
}

static void keep(const char *folder, const uint8_t *data, size_t size)
{
    static unsigned kept;
    if (kept < (getenv("IMPLFUZZ_FOCUS") ? MOST_FOCUSED : MOST))
        kept += implfuzz_keep_input(folder, "", data, size);
}

/* Whoever leaves the group of the process would outlive the run. A library may have functions of its own with these names. */
#define UNLESS_OWN __attribute__((weak))

UNLESS_OWN pid_t setsid(void)
{
    return getpid();
}

UNLESS_OWN int setpgid(pid_t process, pid_t group)
{
    (void)process, (void)group;
    return 0;
}

UNLESS_OWN int daemon(int stays, int keeps)
{
    (void)stays, (void)keeps;
    return 0;
}

/* Where the run on an input ends: libFuzzer would take the end of the program for a crash. */
static sigjmp_buf end_of_run;
/* The thread that may end it; 0 where none runs the driver. A child of `fork` and another thread have other numbers. */
static volatile long driving;

static void end(void)
{
    if (!driving || driving != syscall(SYS_gettid))
        return;
    implfuzz_guard_exit();
    siglongjmp(end_of_run, 1);
}

_Noreturn void __wrap_exit(int status)
{
    end();
    /* A destructor may have been registered twice. */
    if (implfuzz_has_broken)
        _Exit(status);
    __real_exit(status);
}

/* libFuzzer itself ends with `_Exit`, which stays. */
_Noreturn void __wrap__exit(int status)
{
    end();
    __real__exit(status);
}

struct run {
    const uint8_t *data;
    size_t size;
    int result;
};

static void drive(void *argument)
{
    struct run *run = argument;
    run->result = implfuzz_driver(run->data, run->size);
}

/* 0: C breaks on the input. */
static int survives(struct run *run)
{
    volatile int survives = 1;
    if (sigsetjmp(end_of_run, 0) == 0) {
        driving = syscall(SYS_gettid);
        survives = implfuzz_survives(drive, run, run->data, run->size);
    }
    driving = implfuzz_in_port = 0;
    return survives;
}

/* Whether few inputs before took the same edges. */
static int is_rare(uint64_t taken)
{
    static uint32_t seen[1 << 16];
    const char *most = getenv("IMPLFUZZ_ALIKE");
    uint32_t count = ++seen[(taken >> 16) & 0xffff];
    return count <= (most ? (uint32_t)atoi(most) : 1) || (count & (count - 1)) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct run run;
    run = (struct run){data, size, 0};
    if (!survives(&run))
        return -1; /* it belongs to no corpus */
    uint64_t taken = 0;
    int has_focus = implfuzz_focus(&taken);
    const char *folder = getenv("IMPLFUZZ_KEEP");
    if (!folder || (has_focus && !taken))
        return run.result;
    if (!is_known(data, size) && (!has_focus || is_rare(taken)))
        keep(folder, data, size);
    return run.result;
}
