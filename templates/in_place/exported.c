/*
 * Lets libFuzzer judge calls in place: it runs the driver with the sanitised C library, which guides it, and gives the input
 * to the judge, a program of its own that is part of this one. Where a port differs from C for certain, the process ends.
 * `keep.c` runs the driver. The judge takes a while, so it gets each input that takes new edges, and of the others as many as
 * half of the time is enough for. An input that runs alone is judged always.
 */
#define _GNU_SOURCE
#include "exported.h"
#include "killed.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Of one function and input: milliseconds of processor time, and of the clock; calls that differ from each other. */
#define MILLISECONDS 2000
#define BY_WALL 12000
#define CALLS 1000
/* Bytes of a report; what is behind them is lost. */
#define REPORT_BYTES ((size_t)1 << 20)
/* Descriptors of the judge. */
#define REPORT 100
#define INPUT 101

int implfuzz_keep(const uint8_t *data, size_t size);
extern const unsigned char implfuzz_judge_start[], implfuzz_judge_end[];
extern uint8_t __start___sancov_cntrs[] __attribute__((weak)), __stop___sancov_cntrs[] __attribute__((weak));

static int program = -1;
static char folder[64];
static unsigned long judged_inputs, judged_calls, broken_inputs;

static _Noreturn void cannot(const char *what)
{
    fprintf(stderr, "implfuzz: %s (%s): calls cannot be judged here\n", what, strerror(errno));
    _exit(1);
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

/* A file without a name that has these bytes. */
static int file_of(const void *data, size_t size)
{
    int file = memfd_create("implfuzz", MFD_CLOEXEC);
    if (file < 0)
        cannot("memfd_create fails");
    for (size_t done = 0; done < size;) {
        ssize_t wrote = write(file, (const char *)data + done, size - done);
        if (wrote <= 0)
            cannot("there is no memory for a file");
        done += (size_t)wrote;
    }
    lseek(file, 0, SEEK_SET);
    return file;
}

static void tell_at_exit(void)
{
    rmdir(folder);
    fprintf(stderr, "implfuzz: judged %lu calls on %lu inputs", judged_calls, judged_inputs);
    if (broken_inputs)
        fprintf(stderr, "; on %lu of them the judge ended early", broken_inputs);
    fprintf(stderr, "\n");
}

static void start(void)
{
    program = file_of(implfuzz_judge_start, (size_t)(implfuzz_judge_end - implfuzz_judge_start));
    snprintf(folder, sizeof folder, "/tmp/implfuzz-XXXXXX");
    if (!mkdtemp(folder))
        cannot("there is no folder in /tmp");
    atexit(tell_at_exit);
}

struct text {
    char *bytes;
    size_t size, room;
};

static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text->size += (size_t)vsnprintf(text->bytes + text->size, text->room - text->size, format, arguments);
    va_end(arguments);
}

/* Reads a report to its end; kills the judge where that does not come. */
static size_t report_of(int from, pid_t judge, char *report, uint64_t limit)
{
    uint64_t end = now() + limit * 1000;
    size_t size = 0;
    for (;;) {
        static char lost[4096];
        struct pollfd poll_of = {.fd = from, .events = POLLIN};
        uint64_t at = now();
        if (at >= end || poll(&poll_of, 1, (int)((end - at) / 1000) + 1) == 0)
            break;
        int is_full = size == REPORT_BYTES - 1;
        ssize_t got = read(from, is_full ? lost : report + size, is_full ? sizeof lost : REPORT_BYTES - 1 - size);
        if (got == 0 || (got < 0 && errno != EINTR))
            break;
        size += got > 0 && !is_full ? (size_t)got : 0;
    }
    kill(-judge, SIGKILL);
    report[size] = 0;
    return size;
}

/* Lets the judge do what a script says, with the input as a file; whether it came to the end. */
static int judge(const struct text *script, int input, char *report, uint64_t limit)
{
    int ends[2], commands = file_of(script->bytes, script->size), status = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        cannot("pipe2 fails");
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, commands, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], REPORT);
    posix_spawn_file_actions_adddup2(&files, input, INPUT);
    posix_spawn_file_actions_addchdir_np(&files, folder);
    posix_spawnattr_t how;
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
    char path[64], temporary[80], descriptor[48];
    snprintf(path, sizeof path, "/proc/self/fd/%d", program);
    snprintf(temporary, sizeof temporary, "TMPDIR=%s", folder);
    snprintf(descriptor, sizeof descriptor, "IMPLFUZZ_REPORT_FD=%d", REPORT);
    char *words[] = {"implfuzz-judge", NULL}, *environment[] = {temporary, descriptor, "PATH=/usr/bin:/bin", NULL};
    pid_t child;
    errno = posix_spawn(&child, path, &files, &how, words, environment);
    if (errno)
        cannot("the judge does not start");
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    close(ends[1]);
    close(commands);
    size_t size = report_of(ends[0], child, report, limit);
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (size == 0)
        cannot("the judge says nothing");
    return size >= 5 && strcmp(report + size - 5, "done\n") == 0;
}

/* The bytes of words that differ, a bit for each, without those that have an excuse; and whether any place is named. */
static unsigned differing(const char *places, int *is_named)
{
    unsigned bytes = 0;
    *is_named = 0;
    for (const char *next = places; *next && *next != ' ';) {
        size_t length = strcspn(next, ", ");
        const char *at = memchr(next, '@', length);
        if (*next != '~' && at) {
            bytes |= (unsigned)strtoul(at + 1, NULL, 10);
            *is_named = 1;
        }
        next += length + (next[length] == ',');
    }
    return bytes;
}

enum { RESULT = 1, MEMORY, VARIABLE, STACK, WHOLE = 12 };

/*
 * Whether the difference shows that the port is wrong. The tool knows types, and decides more of them: here bytes that may be
 * padding of any struct that the function knows are none, and what has an excuse is none.
 */
static int is_certain(const struct exported *function, int difference, int excuse, const char *places)
{
    int is_named;
    unsigned bytes = differing(places, &is_named);
    if (excuse || difference == WHOLE)
        return 0;
    if (difference == MEMORY || difference == STACK)
        return !is_named || (bytes & ~function->padding) != 0;
    if (difference == VARIABLE)
        return !implfuzz_variables_are_padded || (bytes & ~function->padding) != 0;
    return 1;
}

static const char *name_of(int difference)
{
    static const char *const names[] = {
        "a difference", "the result", "memory", "a variable", "the caller's stack", "errno", "allocations", "it crashes",
        "it does not return", "it ends the process", "calls of the system", "it keeps memory of Rust's heap",
    };
    return difference > 0 && (size_t)difference < sizeof names / sizeof *names ? names[difference] : names[0];
}

static const struct exported *exported(unsigned long number)
{
    for (size_t at = 0; at < implfuzz_exported_count; at++)
        if (implfuzz_exported[at].number == number)
            return &implfuzz_exported[at];
    return NULL;
}

/* The first function with a port that certainly differs, by a report; in `said` all of them, in words. */
static const struct exported *found(char *report, char *said, size_t room)
{
    const struct exported *first = NULL;
    size_t length = 0;
    for (char *line = report, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = 0;
        unsigned long number, calls, judged, call;
        int difference, excuse, at = 0;
        if (sscanf(line, "judged %lu %lu %lu", &number, &calls, &judged) == 3)
            judged_calls += judged;
        char answer[64];
        if (sscanf(line, KILLED_READ, &number, &difference, &call, answer, &excuse, &at) < 5 || !at)
            continue;
        const struct exported *function = exported(number);
        if (!function || !is_certain(function, difference, excuse, line + at) || length >= room)
            continue;
        first = first ? first : function;
        char *places = line + at, *behind = strchr(places, ' ');
        if (behind)
            *behind++ = 0;
        length += (size_t)snprintf(said + length, room - length,
                                   "implfuzz: the port of `%s` differs from C in call %lu of this input: %s", function->name, call,
                                   name_of(difference));
        /* As `read:fewer`. */
        if (length < room && strcmp(answer, "-") != 0)
            length += (size_t)snprintf(said + length, room - length, " (where the system answers otherwise: %s)", answer);
        unsigned long c, own, from;
        if (length < room && difference == RESULT && sscanf(places, "=%lu:%lx:%lx", &from, &c, &own) == 3)
            length += (size_t)snprintf(said + length, room - length, ": C 0x%lx, port 0x%lx", c, own);
        if (length < room)
            length += (size_t)snprintf(said + length, room - length, "%s%s\n", behind && *behind ? ": " : "", behind ? behind : "");
    }
    return first;
}

/* Judges all ported functions that the input reaches. */
static void judge_input(const uint8_t *data, size_t size)
{
    static struct text script;
    static char *report, said[4096];
    if (!report) {
        script.room = 128 * (implfuzz_exported_count + 2);
        script.bytes = malloc(script.room);
        report = malloc(REPORT_BYTES);
        if (!script.bytes || !report)
            cannot("there is no memory");
    }
    int input = file_of(data, size);
    script.size = 0;
    add(&script, "count\ninput /proc/self/fd/%d\n", INPUT);
    int is_whole = judge(&script, input, report, BY_WALL);
    judged_inputs++;
    unsigned long functions = 0;
    script.size = 0;
    for (char *line = report; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        unsigned long number;
        if (sscanf(line, "reached %lu", &number) == 1 && exported(number)) {
            add(&script, "function %lu %d %d %d\ninput /proc/self/fd/%d\n", number, MILLISECONDS, BY_WALL, CALLS, INPUT);
            functions++;
        }
    }
    /* Once more: what is certain happens again. */
    const struct exported *before = NULL;
    for (int time = 0; time < 2 && functions && is_whole; time++) {
        is_whole = judge(&script, input, report, (functions + 1) * BY_WALL);
        const struct exported *differs = found(report, said, sizeof said);
        if (!differs)
            break;
        if (time == 0 || differs != before) {
            before = differs;
            continue;
        }
        fprintf(stderr, "%simplfuzz: the driver is %s; with the input in %s, `cargo implfuzz drivers --ports` shows more\n", said,
                implfuzz_driver_file, implfuzz_committed);
        rmdir(folder);
        differs->stop();
    }
    broken_inputs += !is_whole;
    close(input);
}

/* Whether the run took edges that no run before it took, or took them more often. */
static int is_new(void)
{
    static uint8_t *seen;
    size_t edges = (size_t)(__stop___sancov_cntrs - __start___sancov_cntrs);
    if (!seen)
        seen = calloc(edges + 1, 1);
    int is_new = !seen || edges == 0;
    for (size_t at = 0; seen && at < edges; at++) {
        uint8_t count = __start___sancov_cntrs[at];
        if (!count)
            continue;
        uint8_t kind = (uint8_t)(1u << (31 - __builtin_clz(count)));
        is_new |= !(seen[at] & kind);
        seen[at] |= kind;
    }
    return is_new;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint64_t began, judging;
    if (program < 0) {
        start();
        began = now();
    }
    int result = implfuzz_keep(data, size);
    uint64_t at = now();
    if (is_new() || judging < (at - began) / 2) {
        judge_input(data, size);
        judging += now() - at;
    }
    return result;
}
