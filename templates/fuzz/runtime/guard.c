/*
 * The guard: runs one call of the C original so that an input which breaks it is skipped instead of ending the
 * process. Compiled without sanitizers; the linker sends the handlers named in `wraps.txt` here first (--wrap).
 * Armed only while the original runs: what breaks the port is never skipped.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/types.h>
#include <ucontext.h>

struct implfuzz_broke {
    const char *reason;
    const char *file; /* NULL where the sanitizer does not say */
    unsigned line;
};

struct source_location { /* UBSan's layout: the first member of every handler's data */
    const char *file;
    uint32_t line, column;
};

#ifndef IMPLFUZZ_OF_DRIVERS
/* gcc registers a static table and its second name as two globals in one place. */
const char *__asan_default_options(void)
{
    return "detect_odr_violation=0";
}
#endif

/* Set while C runs; heap.rs looks there, too. */
volatile sig_atomic_t implfuzz_armed;
#define armed implfuzz_armed

static sigjmp_buf resume;
static volatile sig_atomic_t guarding;
/* The thread that `resume` leads back to. libFuzzer runs a second thread, and C may start more. */
static volatile pthread_t guarded;
static struct implfuzz_broke broke;
/* Where a call broke, as far as that is known: tells apart why. */
uintptr_t implfuzz_broke_at;
#define NOTE_PLACE() (implfuzz_broke_at = (uintptr_t)__builtin_return_address(0))
static struct sigaction chained[65];
static volatile unsigned long calls, calls_at_tick;
static volatile unsigned ticks, ticks_allowed = 25, usual = 25;
/* Calls that hung, and the most ticks of one that returned: ever, and since the input began. */
static volatile unsigned hangs, longest, slowest;

extern void __asan_handle_no_return(void) __attribute__((weak));
extern void *__asan_region_is_poisoned(void *, size_t) __attribute__((weak));
extern int __sanitizer_get_ownership(const volatile void *) __attribute__((weak));

void implfuzz_ledger_watch(int on);

/* Set while the port runs (heap.rs); system calls are watched then (system_calls.c). */
unsigned char implfuzz_in_port;

#ifndef IMPLFUZZ_OF_DRIVERS
/* ASan reports an error, and ends the process. */
void __asan_on_error(void)
{
    implfuzz_in_port = 0;
}
#endif

static int on_guarded_thread(void)
{
    return pthread_equal(pthread_self(), guarded);
}

/* Leaves the call. Returns on a thread that the call does not run on: what happens there ends the process, as without a guard. */
static void skip(const char *reason, const struct source_location *at)
{
    if (!on_guarded_thread())
        return;
    broke.reason = reason;
    broke.file = at ? at->file : NULL;
    broke.line = at ? at->line : 0;
    armed = guarding = 0;
    implfuzz_in_port = 0;
    implfuzz_ledger_watch(0);
    if (__asan_handle_no_return)
        __asan_handle_no_return(); /* unpoison the frames that the jump leaves */
    siglongjmp(resume, 1);
}

/* Where the sanitizer's own report is asked for, nothing is skipped. */
static int unguarded(void)
{
    static int known = -1;
    if (known < 0)
        known = getenv("IMPLFUZZ_UNGUARDED") != NULL;
    return known;
}

/* UBSan's runtime, which would say so, is not linked everywhere. Where it is, it gives a place that it has reported the
 * largest column. */
static void tell(const char *kind, const struct source_location *at)
{
    if (!unguarded() || !at || !at->file || at->column == UINT32_MAX)
        return;
    const char *file = strrchr(at->file, '/');
    dprintf(2, "%s:%u:%u: undefined behaviour: %s\n", file ? file + 1 : at->file, at->line, at->column, kind);
}

static const char *signal_name(int number)
{
    switch (number) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGILL: return "SIGILL";
    case SIGTRAP: return "SIGTRAP";
    default: return "SIGABRT";
    }
}

/*
 * Once KNOWN_TO_HANG calls have hung, a call that runs much longer than any that returned counts as a hang, too. Each call
 * gets at least a quarter of the usual time, or an eighth once OFTEN_HANGS calls have hung: such a function would spend
 * nearly all of a run on inputs that say nothing. Where every input counts, nothing is learned.
 */
#define KNOWN_TO_HANG 8
#define OFTEN_HANGS 64
#define MUCH_LONGER 8

static int learns = 1;

/* From now on each call has the whole time. */
void implfuzz_guard_learn_nothing(void)
{
    learns = 0;
}

static unsigned limit(void)
{
    unsigned patience = ticks_allowed > usual ? ticks_allowed / usual : 1;
    unsigned least = usual / (hangs < OFTEN_HANGS ? 4 : 8) + 1, much = 1 + MUCH_LONGER * longest;
    unsigned learned = (much > least ? much : least) * patience;
    return learns && hangs >= KNOWN_TO_HANG && learned < ticks_allowed ? learned : ticks_allowed;
}

/* Ticks within the current call, or the last one. */
static unsigned taken(void)
{
    return calls == calls_at_tick ? ticks : 0;
}

/*
 * The timer counts processor time in steps of 4 ms, and interrupts whichever thread runs. A call still running after `limit` steps
 * hangs. The guarded thread is called only then: a wait of C's that it interrupts may end early.
 */
static void on_tick(void)
{
    if (!guarding)
        return;
    if (calls != calls_at_tick) {
        calls_at_tick = calls;
        ticks = 0;
    } else if (++ticks >= limit() && armed) {
        if (!on_guarded_thread()) {
            pthread_kill(guarded, SIGPROF);
            return;
        }
        hangs++;
        implfuzz_broke_at = 1;
        skip("hang", NULL);
    }
}

static uintptr_t instruction(const void *context)
{
    const ucontext_t *at = context;
#if defined(__x86_64__)
    return (uintptr_t)at->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)at->uc_mcontext.pc;
#else
    return at != NULL;
#endif
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    if (number == SIGPROF) {
        on_tick();
        return;
    }
    if (armed && number != SIGALRM) {
        implfuzz_broke_at = instruction(context);
        skip(signal_name(number), NULL);
    }
    /* libFuzzer and the sanitizers are not the port, and may ask the system for what they need. */
    unsigned char was = implfuzz_in_port;
    implfuzz_in_port = 0;
    const struct sigaction *next = &chained[number];
    if (next->sa_flags & SA_SIGINFO) {
        next->sa_sigaction(number, info, context);
    } else if (next->sa_handler != SIG_DFL && next->sa_handler != SIG_IGN) {
        next->sa_handler(number);
    } else {
        signal(number, SIG_DFL);
        raise(number);
    }
    implfuzz_in_port = was;
}

static void install(void)
{
    static char stack[1 << 16] __attribute__((aligned(16)));
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPROF, SIGALRM};
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack}, current;
    struct sigaction action;
    struct itimerval timer = {{0, 4000}, {0, 4000}};

    sigaltstack(NULL, &current);
    if (current.ss_flags & SS_DISABLE)
        sigaltstack(&own, NULL);
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    /* A call of the system that the timer interrupts goes on. */
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, &chained[signals[i]]);
    setitimer(ITIMER_PROF, &timer, NULL);
}

/* Runs `call(argument)`. 0: it returned. 1: it broke, and `*out` says how. */
int implfuzz_guard(void (*call)(void *), void *argument, struct implfuzz_broke *out)
{
    static int installed;
    if (unguarded()) {
        call(argument);
        return 0;
    }
    guarded = pthread_self();
    if (!installed) {
        installed = 1;
        install();
    }
    if (sigsetjmp(resume, 0)) {
        *out = broke;
        return 1;
    }
    calls++;
    armed = guarding = 1;
    call(argument);
    armed = guarding = 0;
    if (taken() > longest)
        longest = taken();
    if (taken() > slowest)
        slowest = taken();
    return 0;
}

/* Arms or disarms inside of a guarded call, where a callback of the harness runs; 1: it was armed. */
int implfuzz_guard_arm(int on)
{
    int was = armed;
    armed = on && guarding;
    if (armed && taken() >= limit()) {
        hangs++;
        skip("hang", NULL);
    }
    return was;
}

/* An input on which the original calls back for ever. */
void implfuzz_guard_give_up(void)
{
    if (guarding)
        skip("calls back without end", NULL);
}

/* How long one call may take, in steps of 4 ms of processor time; `as_usual` sets what other limits are compared with. */
void implfuzz_guard_ticks(unsigned allowed, int as_usual)
{
    ticks_allowed = allowed ? allowed : 1;
    if (as_usual)
        usual = ticks_allowed;
}

/* Another input begins. */
void implfuzz_guard_begin(void)
{
    slowest = 0;
}

/* Whether a call since the input began took more than a quarter of what it may. */
int implfuzz_guard_was_slow(void)
{
    return slowest * 4 > usual;
}

/* --- What lies between the pieces of memory that are lent to the port (port_memory.rs) -------------------------------- */

extern void __asan_poison_memory_region(const volatile void *, size_t) __attribute__((weak));
extern void __asan_unpoison_memory_region(const volatile void *, size_t) __attribute__((weak));

/* How many of these bytes the sanitizer lets anyone read; none without a sanitizer. */
size_t implfuzz_readable(const void *at, size_t size)
{
    if (!__asan_region_is_poisoned)
        return 0;
    const char *closed = __asan_region_is_poisoned((void *)at, size);
    return closed ? (size_t)(closed - (const char *)at) : size;
}

/* What the port hands to C's functions and to those of the C library is checked there: nobody may touch this. */
void implfuzz_close(const void *at, size_t size)
{
    if (__asan_poison_memory_region)
        __asan_poison_memory_region(at, size);
}

void implfuzz_open(const void *at, size_t size)
{
    if (__asan_unpoison_memory_region)
        __asan_unpoison_memory_region(at, size);
}

/* --- Blocks that are allocated and not freed, by whichever side ------------------------------------------------ */

extern int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void *, size_t),
                                                     void (*)(const volatile void *)) __attribute__((weak));

static volatile unsigned long held;

static void on_malloc(const volatile void *block, size_t size)
{
    (void)block, (void)size;
    held++;
}

static void on_free(const volatile void *block)
{
    (void)block;
    held--;
}

/* Counted from the first call on: only differences mean something. */
unsigned long implfuzz_held(void)
{
    static int installed;
    if (!installed && __sanitizer_install_malloc_and_free_hooks)
        installed = __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
    return held;
}

/* --- UBSan handlers: the first argument always starts with the source location ------------------------------- */

#define UBSAN(name)                                                                                              \
    void __real___ubsan_handle_##name(void *, void *, void *) __attribute__((weak));                             \
    void __wrap___ubsan_handle_##name(void *data, void *a, void *b)                                              \
    {                                                                                                            \
        if (armed)                                                                                               \
            skip("ubsan " #name, (const struct source_location *)data);                                          \
        tell(#name, (const struct source_location *)data);                                                       \
        if (__real___ubsan_handle_##name)                                                                        \
            __real___ubsan_handle_##name(data, a, b);                                                            \
        else                                                                                                     \
            abort();                                                                                             \
    }
#define UBSAN2(name) UBSAN(name) UBSAN(name##_abort)

UBSAN2(add_overflow)
UBSAN2(sub_overflow)
UBSAN2(mul_overflow)
UBSAN2(negate_overflow)
UBSAN2(divrem_overflow)
UBSAN2(shift_out_of_bounds)
UBSAN2(out_of_bounds)
UBSAN2(vla_bound_not_positive)
UBSAN2(load_invalid_value)
UBSAN2(float_cast_overflow)
UBSAN2(invalid_builtin)
UBSAN2(nonnull_arg)
UBSAN2(nonnull_return_v1)
UBSAN2(type_mismatch_v1)
UBSAN2(pointer_overflow)
UBSAN(builtin_unreachable)
UBSAN(missing_return)

/* --- ASan reports from instrumented loads and stores ---------------------------------------------------------- */

#define ASAN_SIZED(name)                                                                                         \
    void __real___asan_report_##name(uintptr_t) __attribute__((weak));                                           \
    void __wrap___asan_report_##name(uintptr_t address)                                                          \
    {                                                                                                            \
        NOTE_PLACE();                                                                                              \
        if (armed)                                                                                               \
            skip("asan " #name, NULL);                                                                           \
        if (__real___asan_report_##name)                                                                         \
            __real___asan_report_##name(address);                                                                \
        else                                                                                                     \
            abort();                                                                                             \
    }
#define ASAN_RANGE(name)                                                                                         \
    void __real___asan_report_##name(uintptr_t, size_t) __attribute__((weak));                                   \
    void __wrap___asan_report_##name(uintptr_t address, size_t size)                                             \
    {                                                                                                            \
        NOTE_PLACE();                                                                                              \
        if (armed)                                                                                               \
            skip("asan " #name, NULL);                                                                           \
        if (__real___asan_report_##name)                                                                         \
            __real___asan_report_##name(address, size);                                                          \
        else                                                                                                     \
            abort();                                                                                             \
    }
#define ASAN_BOTH(kind)                                                                                          \
    ASAN_SIZED(kind##1)                                                                                          \
    ASAN_SIZED(kind##2)                                                                                          \
    ASAN_SIZED(kind##4)                                                                                          \
    ASAN_SIZED(kind##8)                                                                                          \
    ASAN_SIZED(kind##16)                                                                                         \
    ASAN_RANGE(kind##_n)

ASAN_BOTH(load)
ASAN_BOTH(store)

/* --- Library functions whose ASan interceptors would end the process: check first ----------------------------- */

static int poisoned(const void *at, size_t size)
{
    return armed && size && __asan_region_is_poisoned && __asan_region_is_poisoned((void *)at, size);
}

static void check(const char *what, const void *at, size_t size)
{
    if (poisoned(at, size))
        skip(what, NULL);
}

/* Length of a string up to `limit`, stopping before memory that may not be read. */
static size_t checked_length(const char *what, const char *string, size_t limit)
{
    size_t length = 0;
    while (length < limit) {
        check(what, string + length, 1);
        if (!string[length])
            break;
        length++;
    }
    return length;
}

/*
 * Whether the C library's own function does: what the harness and libFuzzer copy is theirs. The sanitizer's function, which looks at
 * every byte's shadow, and tells libFuzzer what is compared, is for C and the port.
 */
static int plain(void)
{
    return !armed && !implfuzz_in_port && !unguarded();
}

static void *plain_function(void **known, const char *name)
{
    if (!*known)
        *known = dlsym(RTLD_NEXT, name);
    return *known;
}

#define COPIES(name, own)                                                                                        \
    void *__real_##name(void *, const void *, size_t) __attribute__((weak));                                     \
    void *__wrap_##name(void *to, const void *from, size_t size)                                                 \
    {                                                                                                            \
        static void *known;                                                                                      \
        NOTE_PLACE();                                                                                              \
        check("asan " #name, to, size);                                                                          \
        check("asan " #name, from, size);                                                                        \
        if (plain() && plain_function(&known, own))                                                              \
            return ((void *(*)(void *, const void *, size_t))known)(to, from, size);                             \
        return __real_##name(to, from, size);                                                                    \
    }
#define FILLS(name)                                                                                              \
    void *__real_##name(void *, int, size_t) __attribute__((weak));                                              \
    void *__wrap_##name(void *to, int value, size_t size)                                                        \
    {                                                                                                            \
        static void *known;                                                                                      \
        NOTE_PLACE();                                                                                              \
        check("asan " #name, to, size);                                                                          \
        if (plain() && plain_function(&known, "memset"))                                                         \
            return ((void *(*)(void *, int, size_t))known)(to, value, size);                                     \
        return __real_##name(to, value, size);                                                                   \
    }

COPIES(memcpy, "memcpy")
COPIES(memmove, "memmove")
COPIES(__asan_memcpy, "memcpy")
COPIES(__asan_memmove, "memmove")
FILLS(memset)
FILLS(__asan_memset)

/* A compiler may take bcmp where only equality is asked. */
#define COMPARES(name)                                                                                           \
    int __real_##name(const void *, const void *, size_t) __attribute__((weak));                                 \
    int __wrap_##name(const void *a, const void *b, size_t size)                                                 \
    {                                                                                                            \
        static void *known;                                                                                      \
        NOTE_PLACE();                                                                                              \
        check("asan " #name, a, size);                                                                           \
        check("asan " #name, b, size);                                                                           \
        if (plain() && plain_function(&known, #name))                                                            \
            return ((int (*)(const void *, const void *, size_t))known)(a, b, size);                             \
        return __real_##name(a, b, size);                                                                        \
    }

COMPARES(memcmp)
COMPARES(bcmp)

#ifndef IMPLFUZZ_OF_DRIVERS
/* What is promised is checked, also where less is read or written. */
ssize_t __real_read(int, void *, size_t);
ssize_t __wrap_read(int descriptor, void *to, size_t size)
{
    NOTE_PLACE();
    check("asan read", to, size);
    return __real_read(descriptor, to, size);
}

ssize_t __real_write(int, const void *, size_t);
ssize_t __wrap_write(int descriptor, const void *from, size_t size)
{
    NOTE_PLACE();
    check("asan write", from, size);
    return __real_write(descriptor, from, size);
}
#endif

size_t __real_strlen(const char *);
size_t __wrap_strlen(const char *string)
{
    NOTE_PLACE();
    if (armed)
        checked_length("asan strlen", string, SIZE_MAX);
    return __real_strlen(string);
}

char *__real_strcpy(char *, const char *);
char *__wrap_strcpy(char *to, const char *from)
{
    NOTE_PLACE();
    if (armed)
        check("asan strcpy", to, checked_length("asan strcpy", from, SIZE_MAX) + 1);
    return __real_strcpy(to, from);
}

char *__real_strncpy(char *, const char *, size_t);
char *__wrap_strncpy(char *to, const char *from, size_t size)
{
    NOTE_PLACE();
    if (armed) {
        checked_length("asan strncpy", from, size);
        check("asan strncpy", to, size);
    }
    return __real_strncpy(to, from, size);
}

#ifndef IMPLFUZZ_OF_DRIVERS
/* What is promised is checked, also where the answer comes earlier. */
int __real_strcmp(const char *, const char *);
int __wrap_strcmp(const char *a, const char *b)
{
    NOTE_PLACE();
    if (armed) {
        checked_length("asan strcmp", a, SIZE_MAX);
        checked_length("asan strcmp", b, SIZE_MAX);
    }
    return __real_strcmp(a, b);
}

char *__real_strchr(const char *, int);
char *__wrap_strchr(const char *string, int wanted)
{
    NOTE_PLACE();
    if (armed)
        checked_length("asan strchr", string, SIZE_MAX);
    return __real_strchr(string, wanted);
}
#endif

int implfuzz_ledger_watching(void);
void implfuzz_ledger_bad(void);
void implfuzz_ledger_freed(void *);

/* Of C a block that is not its own is a broken input; of the port it is told, and nothing happens to the block. */
int implfuzz_is_bad_block(void *block)
{
    int asked = armed || implfuzz_ledger_watching();
    if (!asked || !__sanitizer_get_ownership || __sanitizer_get_ownership(block))
        return 0;
    if (armed) {
        skip("asan bad free", NULL);
        return 0; /* another thread: the sanitizer reports it */
    }
    implfuzz_ledger_bad();
    return 1;
}

void __real_free(void *);
void __wrap_free(void *block)
{
    NOTE_PLACE();
    if (block && implfuzz_is_bad_block(block))
        return;
    implfuzz_ledger_freed(block);
    __real_free(block);
}

/* Leaves a call that ends the program. */
void implfuzz_guard_exit(void)
{
    if (armed)
        skip("exit", NULL);
}

#ifdef IMPLFUZZ_OF_DRIVERS
/* Of these, the place in the program is known here alone. */
void __real_abort(void) __attribute__((noreturn));
void __wrap_abort(void)
{
    NOTE_PLACE();
    if (armed)
        skip("SIGABRT", NULL);
    __real_abort();
}

void __real___assert_fail(const char *, const char *, unsigned, const char *) __attribute__((noreturn));
void __wrap___assert_fail(const char *text, const char *file, unsigned line, const char *function)
{
    NOTE_PLACE();
    if (armed)
        skip("SIGABRT", NULL);
    __real___assert_fail(text, file, line, function);
}
#else
void __real_exit(int) __attribute__((noreturn));
void __wrap_exit(int code)
{
    implfuzz_guard_exit();
    __real_exit(code);
}
#endif
