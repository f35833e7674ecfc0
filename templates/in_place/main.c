/*
 * Runs the driver on inputs. Standard input says what to do, a line each:
 *
 *   count                        the following inputs are run to see which functions they reach
 *   function NUMBER MS WALL CALLS    the following inputs judge this function, at most so many milliseconds of processor
 *                                time and calls that differ from each other
 *   fail-allocations             they also judge it with allocations that fail
 *   branches NUMBER CALLS FILE   the following inputs count its branches in so many judged calls
 *   watch NUMBER CALLS           the following inputs tell what so many calls of this function look like
 *   replace NUMBER               the following inputs are run with C, and with candidate 0 in its place
 *   input FILE
 *
 * `run.rs` reads the answers. An input begins with the memory that the program had when it started.
 */
#define _GNU_SOURCE
#include "in_place.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Bytes of all that standard input says. */
#define SCRIPT_BYTES ((size_t)1 << 28)
/* Milliseconds of runs that do not judge. */
#define BRANCHES_MS 60000
#define REPLACE_MS 60000
#define WATCH_MS 5000
/* Descriptors that are closed behind a run that ended the program, unless they were open before all runs. */
#define DESCRIPTORS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *count, char ***words);
void *implfuzz_of_malloc(size_t bytes);

/* Memory at the start: the variables, and the arena where the driver's initialisation used it. */
struct start {
    unsigned char *variables, *arena;
    size_t arena_bytes;
};

/* What is known from one command to the next; on the stack, below the driver's. */
struct work {
    struct start start;
    uint64_t input, enough;
    uint64_t deadline, latest; /* of processor time, and of the clock on the wall */
    int64_t function; /* -1: all are counted */
    int is_over;
    char counts[4096]; /* the file for the counts of branches */
};

static uint64_t now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static int is_late(const struct work *work)
{
    return now(CLOCK_PROCESS_CPUTIME_ID) > work->deadline || now(CLOCK_MONOTONIC) > work->latest;
}

static void keep_start(struct start *start)
{
    struct region *variables = &STATE->regions[1];
    start->variables = implfuzz_somewhere(variables->pages * PAGE, PROT_READ | PROT_WRITE);
    memcpy(start->variables, variables->start, variables->pages * PAGE);
    if (implfuzz_live_blocks() == 0)
        return;
    start->arena_bytes = implfuzz_arena_used();
    start->arena = implfuzz_somewhere(start->arena_bytes, PROT_READ | PROT_WRITE);
    memcpy(start->arena, ARENA, start->arena_bytes);
}

static void back_to_start(const struct start *start)
{
    implfuzz_arena_clear();
    memcpy(STATE->regions[1].start, start->variables, STATE->regions[1].pages * PAGE);
    memcpy(ARENA, start->arena, start->arena_bytes);
}

/*
 * The driver has a stack of its own, all of which is put back: what writes past its end does not get to this program. The
 * first page is for arguments, of which more are read than there may be. If the driver or the library ends the program, the
 * run on this input ends.
 */
static int drive(const unsigned char *data, size_t size)
{
    struct registers registers = {.integer = {(uintptr_t)data, size}};
    struct result_registers result;
    STATE->stack_base = STATE->driver_stack;
    STATE->has_ended = 0;
    if (sigsetjmp(STATE->end_of_run, 0) == 0) {
        STATE->driving = syscall(SYS_gettid);
        implfuzz_call((void *)LLVMFuzzerTestOneInput, &registers, NULL, 0, &result, STATE->driver_stack - PAGE);
    }
    STATE->driving = 0;
    /* What the run opened, and did not get to close. */
    for (int file = 0; STATE->has_ended && file < DESCRIPTORS; file++)
        if (!(STATE->open_at_start >> file & 1))
            close(file);
    STATE->stack_base = NULL;
    implfuzz_end_call();
    implfuzz_open_arena();
    return STATE->has_ended ? STATE->status : (int)result.integer[0];
}

/* What the driver leaves: its result, variables, blocks in use, and what it sent to the system. */
struct left {
    int result, has_ended; /* the result, or the status with which the program ended */
    size_t live;
    uint64_t variables, sent;
};

static struct left leave_of(int result)
{
    struct left left = {result, STATE->has_ended, implfuzz_live_blocks(), 0xcbf29ce484222325u, STATE->sent};
    const struct region *variables = &STATE->regions[1];
    for (size_t at = 0; at < variables->pages * PAGE; at++)
        left.variables = (left.variables ^ variables->start[at]) * 0x100000001b3u;
    return left;
}

/* What the driver leaves with C, once more, and with the candidate in C's place. */
enum end { AGREES, OTHERWISE, UNSTEADY, ENDS };

static int is_same(const struct left *a, const struct left *b)
{
    /* Whoever ends the program need not free. */
    int is_freed = a->live == b->live || (a->has_ended && b->has_ended);
    return a->result == b->result && a->has_ended == b->has_ended && is_freed && a->variables == b->variables && a->sent == b->sent;
}

/*
 * Whether the variables hold what C left in them, which is at `c`: C and a port have functions and constants of their own
 * that count as equal.
 */
static int variables_equal(const unsigned char *c)
{
    const struct region *variables = &STATE->regions[1];
    for (size_t at = 0; at < variables->pages * PAGE; at += sizeof(uint64_t)) {
        uint64_t of_c, own;
        memcpy(&of_c, c + at, sizeof of_c);
        memcpy(&own, variables->start + at, sizeof own);
        if (of_c != own && implfuzz_excuse(of_c, own, 0, RESULT_UNKNOWN) != EQUAL_CONSTANTS)
            return 0;
    }
    return 1;
}

static enum end replaced(const struct work *work, const unsigned char *data, size_t size)
{
    struct left left[3];
    unsigned char *copy = implfuzz_somewhere(size + 1, PROT_READ | PROT_WRITE);
    memcpy(copy, data, size);
    const struct region *variables = &STATE->regions[1];
    size_t bytes = variables->pages * PAGE;
    unsigned char *of_c = implfuzz_somewhere(bytes + 1, PROT_READ | PROT_WRITE);
    STATE->undefined = 0;
    int is_undefined = 0, is_threaded = 0;
    for (int at = 0; at < 3; at++) {
        back_to_start(&work->start);
        unsigned char *own = implfuzz_of_malloc(size);
        memcpy(own, copy, size);
        STATE->said[0] = 0;
        STATE->sent = 0xcbf29ce484222325u;
        implfuzz_rust_heap_clear();
        if (at == 2)
            implfuzz_patch((uint32_t)work->function);
        left[at] = leave_of(drive(own, size));
        implfuzz_unpatch((uint32_t)work->function);
        is_undefined |= at < 2 && STATE->undefined;
        /* Then no candidate runs in C's place any more. */
        is_threaded |= at < 2 && STATE->no_more;
        if (at == 0)
            memcpy(of_c, variables->start, bytes);
    }
    if (left[2].variables != left[0].variables && variables_equal(of_c))
        left[2].variables = left[0].variables;
    munmap(copy, size + 1);
    munmap(of_c, bytes + 1);
    /* What depends on undefined behaviour may be another thing every time. */
    if (is_undefined || is_threaded || !is_same(&left[0], &left[1]))
        return UNSTEADY;
    if (left[2].has_ended && !left[0].has_ended)
        return ENDS;
    return is_same(&left[0], &left[2]) ? AGREES : OTHERWISE;
}

static int is_enough(const struct work *work)
{
    const struct counts *own = &STATE->counts[work->function];
    switch (STATE->purpose) {
    case JUDGES: return !own->alive || own->distinct >= work->enough;
    case BRANCHES: return STATE->counted_calls == 0;
    case WATCHES: return own->judged >= work->enough;
    default: return 0;
    }
}

/* What varies from one input to another, but is the same whenever an input runs. */
static void mix(unsigned char *data, size_t size)
{
    /* No NUL: it would hide that one is written or read too far. */
    static const unsigned char red[] = {0xa5, '0', 'a', ' ', '\n', 0xff, '-', '"', '1', 'z', ','};
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t at = 0; at < size; at++)
        hash = (hash ^ data[at]) * 0x100000001b3u;
    STATE->salt = hash >> 8;
    STATE->red = red[(hash >> 32) % sizeof red];
    if (!data)
        return;
    struct red_zone zone = implfuzz_red_zone(implfuzz_block(data));
    memset((unsigned char *)zone.start, STATE->red, (size_t)(zone.end - zone.start));
}

static void run(struct work *work, const char *path)
{
    work->input++;
    if (work->is_over || (work->function >= 0 && is_late(work)))
        return;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (file < 0 || fstat(file, &about) != 0) {
        implfuzz_report("missing %lu\n", (unsigned long)work->input);
        return;
    }
    unsigned char *data = implfuzz_of_malloc((size_t)about.st_size);
    size_t size = 0;
    for (ssize_t got = 1; data && got > 0 && size < (size_t)about.st_size; size += got > 0 ? (size_t)got : 0)
        got = read(file, data + size, (size_t)about.st_size - size);
    close(file);
    mix(data, size);
    STATE->input = work->input;
    for (size_t at = 0; at < implfuzz_function_count; at++)
        STATE->counts[at].calls_of_input = STATE->counts[at].judged_of_input = 0;
    STATE->judging = STATE->in_candidate = 0;
    implfuzz_report("input %lu\n", (unsigned long)work->input);
    if (STATE->purpose != REPLACES) {
        drive(data, size);
    } else {
        enum end end = replaced(work, data, size);
        const char *line = end == AGREES ? "agrees %lu\n" : end == UNSTEADY ? "unsteady %lu\n" : "replaced %lu %d\n";
        implfuzz_report(line, (unsigned long)work->input, end == ENDS ? EXITED : SAME);
    }
    back_to_start(&work->start);
    for (size_t at = 0; at < implfuzz_function_count && work->function < 0; at++)
        if (STATE->counts[at].calls_of_input)
            implfuzz_report("reached %zu %lu\n", at, (unsigned long)STATE->counts[at].calls_of_input);
    work->is_over = work->function >= 0 && is_enough(work);
    implfuzz_report("ran %lu\n", (unsigned long)work->input);
}

static void end_function(const struct work *work)
{
    if (work->function < 0)
        return;
    const struct counts *own = &STATE->counts[work->function];
    implfuzz_unpatch((uint32_t)work->function);
    if (STATE->purpose == BRANCHES)
        implfuzz_branches_write(work->counts);
    implfuzz_report("judged %ld %lu %lu %lu %lu %lu %s\n", (long)work->function, (unsigned long)own->calls,
                    (unsigned long)own->judged, (unsigned long)own->distinct, (unsigned long)own->unsteady,
                    (unsigned long)own->undefined, own->outside ? own->outside : "-");
}

/* Places for the hashes of judged calls. At least half of them stay free, so that one is soon found. */
#define LEAST_PLACES ((size_t)1 << 16)
#define MOST_PLACES ((size_t)1 << 26)

static void forget_calls(uint64_t enough)
{
    size_t places = LEAST_PLACES;
    while (places / 2 < enough && places < MOST_PLACES)
        places *= 2;
    if (STATE->seen)
        munmap(STATE->seen, STATE->seen_places * sizeof *STATE->seen);
    STATE->seen = implfuzz_somewhere(places * sizeof *STATE->seen, PROT_READ | PROT_WRITE);
    STATE->seen_places = places;
}

static void begin_function(struct work *work, enum purpose purpose, size_t number, uint64_t milliseconds, uint64_t by_wall)
{
    if (work->function < 0)
        for (uint32_t at = 0; at < implfuzz_function_count; at++)
            implfuzz_unpatch(at);
    if (number >= implfuzz_function_count)
        exit(2);
    const struct implfuzz_function *function = &implfuzz_functions[number];
    struct counts *own = &STATE->counts[number];
    memset(own, 0, sizeof *own);
    forget_calls(work->enough);
    own->alive = (unsigned char)(function->count < CANDIDATES ? function->count : CANDIDATES);
    if (purpose == BRANCHES || purpose == WATCHES)
        own->alive = 1;
    STATE->purpose = purpose;
    work->is_over = 0;
    work->function = (int64_t)number;
    work->deadline = now(CLOCK_PROCESS_CPUTIME_ID) + milliseconds;
    work->latest = now(CLOCK_MONOTONIC) + by_wall;
    work->input = 0;
    implfuzz_patch_driver(purpose == JUDGES);
    if (purpose != REPLACES)
        implfuzz_patch((uint32_t)number);
}

/* What standard input says, to its end: the driver may close it. */
static char *script(void)
{
    char *text = implfuzz_somewhere(SCRIPT_BYTES, PROT_READ | PROT_WRITE);
    size_t size = 0;
    for (ssize_t got = 1; got > 0; size += got > 0 ? (size_t)got : 0)
        got = read(0, text + size, SCRIPT_BYTES - 1 - size);
    return text;
}

static void make_memory(void)
{
    if (mmap(STATE, sizeof *STATE, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) != (void *)STATE)
        _exit(4);
    STATE->fresh = FRESH_OF_DRIVER;
    STATE->red = 0xa5;
    implfuzz_arena_make();
}

/* Before the constructors of the driver and of its libraries, which allocate, call the system and start threads, too. */
#ifdef __GLIBC__
__attribute__((section(".preinit_array"), used)) static void (*const made_first)(void) = make_memory;
#else
__attribute__((constructor(101))) static void make_first(void)
{
    make_memory();
}
#endif

int main(int count, char **words)
{
    const char *report = getenv("IMPLFUZZ_REPORT_FD");
    STATE->report = report ? atoi(report) : 1;
    size_t bytes = implfuzz_function_count * sizeof(struct counts);
    STATE->counts = implfuzz_somewhere(bytes, PROT_READ | PROT_WRITE);
    STATE->bodies = implfuzz_somewhere(implfuzz_entry_count * sizeof *STATE->bodies + 1, PROT_READ | PROT_WRITE);
    STATE->stack_before = implfuzz_somewhere(STACK_BYTES, PROT_READ | PROT_WRITE);
    STATE->signatures = implfuzz_somewhere(implfuzz_driver_functions() * sizeof *STATE->signatures + 1, PROT_READ | PROT_WRITE);
    STATE->called_ends = implfuzz_somewhere(implfuzz_driver_functions() * sizeof *STATE->called_ends + 1, PROT_READ | PROT_WRITE);
    implfuzz_rust_heap_make();
    implfuzz_pages_make();
    implfuzz_no_value_make();
    implfuzz_candidates_make();
    implfuzz_constants_make();
    implfuzz_entries_make();
    char *next = script();
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&count, &words);
    for (int file = 0; file < DESCRIPTORS; file++)
        STATE->open_at_start |= (uint64_t)(fcntl(file, F_GETFD) != -1) << file;
    struct work work = {.function = -1};
    keep_start(&work.start);
    for (uint32_t at = 0; at < implfuzz_function_count; at++)
        implfuzz_unpatch(at);
    while (*next) {
        unsigned long number, milliseconds, by_wall, calls;
        char *line = next;
        next += strcspn(line, "\n");
        if (*next)
            *next++ = 0;
        if (strcmp(line, "count") == 0) {
            for (uint32_t at = 0; at < implfuzz_function_count; at++)
                implfuzz_patch(at);
        } else if (sscanf(line, "function %lu %lu %lu %lu", &number, &milliseconds, &by_wall, &calls) == 4) {
            work.enough = calls;
            end_function(&work);
            implfuzz_narrow_candidate_stack();
            begin_function(&work, JUDGES, number, milliseconds, by_wall);
        } else if (strcmp(line, "fail-allocations") == 0) {
            STATE->fails_allocations = 1;
        } else if (sscanf(line, "branches %lu %lu %4095[^\n]", &number, &calls, work.counts) == 3) {
            implfuzz_branches_begin(calls);
            begin_function(&work, BRANCHES, number, BRANCHES_MS, BRANCHES_MS);
        } else if (sscanf(line, "watch %lu %lu", &number, &calls) == 2) {
            work.enough = calls;
            begin_function(&work, WATCHES, number, WATCH_MS, WATCH_MS);
        } else if (sscanf(line, "replace %lu", &number) == 1) {
            begin_function(&work, REPLACES, number, REPLACE_MS, 3 * REPLACE_MS);
        } else if (strncmp(line, "input ", 6) == 0) {
            run(&work, line + 6);
        } else {
            return 2;
        }
    }
    end_function(&work);
    implfuzz_report("done\n");
    return 0;
}
