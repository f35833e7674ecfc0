/*
 * A run of the driver that outlives what breaks C: the guard (`guard.c`) leaves the run where the sanitizer would end the
 * process. Then the variables of the library and the driver are what they were before the first run, and blocks that the
 * run allocated are free. A new process for each such input would take most of the time of the fuzzing. The process ends all
 * the same if blocks from before are gone, or if one run after another breaks. IMPLFUZZ_BREAKING is the folder for these
 * inputs; without it, they end the process.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* guard.c */
struct implfuzz_broke {
    const char *reason, *file;
    unsigned line;
};
int implfuzz_guard(void (*call)(void *), void *argument, struct implfuzz_broke *out);
void implfuzz_guard_ticks(unsigned allowed, int as_usual);
int implfuzz_is_bad_block(void *block);
extern volatile sig_atomic_t implfuzz_armed;
extern unsigned char implfuzz_in_port;
extern uintptr_t implfuzz_broke_at;
int __sanitizer_get_ownership(const volatile void *block);

/* keep.c */
int implfuzz_keep_input(const char *folder, const char *kind, const uint8_t *data, size_t size);

/* A second and a half, in steps of 4 ms: less than libFuzzer's own limit. */
#define TICKS 375

/* The guard's ledger of blocks is for ports alone. */
void implfuzz_ledger_watch(int on)
{
    (void)on;
}

int implfuzz_ledger_watching(void)
{
    return 0;
}

void implfuzz_ledger_bad(void)
{
}

/* --- Variables: the sanitizer has a list of them, in which only those of the library and the driver are ----------------- */

struct variable {
    unsigned char *start;
    size_t bytes, with_red_zone;
    const void *about[5];
};
extern const struct variable __start_asan_globals[] __attribute__((weak)), __stop_asan_globals[] __attribute__((weak));

static unsigned char *variables;

static void keep_variables(void)
{
    size_t all = 1;
    for (const struct variable *one = __start_asan_globals; one < __stop_asan_globals; one++)
        all += one->bytes;
    unsigned char *next = variables = malloc(all);
    for (const struct variable *one = __start_asan_globals; next && one < __stop_asan_globals; next += one++->bytes)
        memcpy(next, one->start, one->bytes);
}

/* Constants are in the list, too, and are not written. */
static void put_back_variables(void)
{
    const unsigned char *next = variables;
    for (const struct variable *one = __start_asan_globals; next && one < __stop_asan_globals; next += one++->bytes)
        if (memcmp(one->start, next, one->bytes) != 0)
            memcpy(one->start, next, one->bytes);
}

/* --- Blocks that a run allocates: the library and the driver themselves, as the C library has blocks of its own -------- */

#define BLOCKS ((size_t)1 << 16)
#define GONE ((void *)1)

/* By their addresses; `used` says which places are, in order. Further blocks than half of them are not known. */
static void *blocks[BLOCKS];
static uint32_t used[BLOCKS / 2];
static size_t used_count;
static int is_running;
/* The thread that runs the driver: blocks of others are not known. */
static pthread_t runner;
/* Whether a run has freed a block that it is not known to have allocated: perhaps one from before all runs. */
static int has_freed_others;

static int is_known_here(void)
{
    return is_running && pthread_equal(pthread_self(), runner);
}

/* Where a block is, or where it may be put. */
static size_t place_of(const void *block)
{
    size_t at = (size_t)((uintptr_t)block >> 4) * 0x9e3779b97f4a7c15u >> 48;
    while (blocks[at] && blocks[at] != block)
        at = (at + 1) & (BLOCKS - 1);
    return at;
}

static void *known(void *block)
{
    if (!block || !is_known_here() || used_count >= BLOCKS / 2)
        return block;
    size_t at = place_of(block);
    if (!blocks[at])
        used[used_count++] = (uint32_t)at;
    blocks[at] = block;
    return block;
}

/* Called by the guard. */
void implfuzz_ledger_freed(void *block)
{
    if (!block || !is_known_here())
        return;
    size_t at = place_of(block);
    if (blocks[at])
        blocks[at] = GONE;
    else
        has_freed_others = 1;
}

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
    return known(__real_malloc(bytes));
}

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes)
{
    return known(__real_calloc(count, bytes));
}

void *__real_realloc(void *block, size_t bytes);
void *__wrap_realloc(void *block, size_t bytes)
{
    implfuzz_broke_at = (uintptr_t)__builtin_return_address(0);
    if (block && implfuzz_is_bad_block(block))
        return NULL;
    void *now = __real_realloc(block, bytes);
    if (block && (now || !bytes))
        implfuzz_ledger_freed(block);
    return known(now);
}

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
    return known(__real_strdup(text));
}

void *__real_reallocarray(void *block, size_t count, size_t bytes);
void *__wrap_reallocarray(void *block, size_t count, size_t bytes)
{
    size_t all;
    return __builtin_mul_overflow(count, bytes, &all) ? __real_reallocarray(block, count, bytes) : __wrap_realloc(block, all);
}

static void forget_blocks(void)
{
    while (used_count > 0)
        blocks[used[--used_count]] = NULL;
}

static void free_blocks(void)
{
    for (size_t at = 0; at < used_count; at++)
        if (blocks[used[at]] != GONE && __sanitizer_get_ownership(blocks[used[at]]))
            free(blocks[used[at]]);
    forget_blocks();
}

/* --- Runs ------------------------------------------------------------------------------------------------------------- */

/* Inputs that one process keeps for one place, and the most places. */
#define OF_PLACE 3
#define PLACES 512
/* The statuses with which libFuzzer ends after a run that takes too long, and after one that breaks. */
#define TIMED_OUT 70
#define BROKEN 77
/* So many runs that break one after another may break for something that is not put back. */
#define IN_A_ROW 50

/* Whether any run has broken. */
int implfuzz_has_broken;

/* A process that the driver makes is not guarded. */
static void in_child(void)
{
    implfuzz_armed = 0;
}

static int is_wanted(uintptr_t place)
{
    static struct {
        uintptr_t place;
        unsigned count;
    } seen[PLACES];
    for (size_t at = 0; at < PLACES; at++) {
        if (seen[at].place && seen[at].place != place)
            continue;
        seen[at].place = place;
        return seen[at].count++ < OF_PLACE;
    }
    return 0;
}

/* Runs `call(argument)`. 0: it broke on the input, and the next one begins as the first did. */
int implfuzz_survives(void (*call)(void *), void *argument, const uint8_t *data, size_t size)
{
    static int is_ready;
    static unsigned in_a_row;
    const char *folder = getenv("IMPLFUZZ_BREAKING");
    if (!folder) {
        /* The sanitizer's own functions copy, and end the process. */
        implfuzz_in_port = 1;
        call(argument);
        implfuzz_in_port = 0;
        return 1;
    }
    if (!is_ready) {
        is_ready = 1;
        runner = pthread_self();
        pthread_atfork(NULL, NULL, in_child);
        keep_variables();
        implfuzz_guard_ticks(TICKS, 1);
    }
    struct implfuzz_broke broke = {0};
    is_running = 1;
    int has_broken = implfuzz_guard(call, argument, &broke);
    is_running = 0;
    uintptr_t place = implfuzz_broke_at; /* before anything else is copied or freed */
    if (!has_broken) {
        forget_blocks();
        in_a_row = 0;
        return 1;
    }
    int is_exit = strcmp(broke.reason, "exit") == 0;
    if (strcmp(broke.reason, "hang") == 0) {
        implfuzz_keep_input(folder, "timeout-", data, size);
        /* libFuzzer looks at its own time limit only after all inputs to begin with. */
        _Exit(TIMED_OUT);
    }
    if (!is_exit && is_wanted(place))
        implfuzz_keep_input(folder, "crash-", data, size);
    in_a_row = is_exit ? 0 : in_a_row + 1;
    if (is_exit && has_freed_others) {
        /* What is left carries over to the next run, as if this one had returned. */
        forget_blocks();
        return 1;
    }
    if (has_freed_others || in_a_row >= IN_A_ROW)
        _Exit(BROKEN); /* libFuzzer goes on in another process */
    free_blocks();
    put_back_variables();
    implfuzz_has_broken = 1;
    return is_exit;
}
