/*
 * Leads libFuzzer to one function: behind each run, the counters of all other functions are cleared. So an input is new
 * only if it takes new edges of this one. IMPLFUZZ_FOCUS says where the function and its copies lie in the program's file:
 * FROM-TO, hexadecimal, with spaces between them.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Edges as clang's table of them has them, each with a counter. */
struct edge {
    uintptr_t address, flags;
};
extern const struct edge __start___sancov_pcs[] __attribute__((weak)), __stop___sancov_pcs[] __attribute__((weak));
extern uint8_t __start___sancov_cntrs[] __attribute__((weak)), __stop___sancov_cntrs[] __attribute__((weak));

/* libFuzzer also takes a deeper stack for something new, wherever that was. */
extern _Thread_local uintptr_t __sancov_lowest_stack;

/* What belongs to the function: 0, or 255. */
static uint8_t *own;
static size_t edges;

static int address_of_program(struct dl_phdr_info *about, size_t size, void *address)
{
    (void)size;
    *(uintptr_t *)address = about->dlpi_addr;
    return 1; /* the first one is the program */
}

static void find(const char *ranges)
{
    uintptr_t program = 0;
    dl_iterate_phdr(address_of_program, &program);
    edges = (size_t)(__stop___sancov_cntrs - __start___sancov_cntrs);
    if (edges != (size_t)(__stop___sancov_pcs - __start___sancov_pcs))
        edges = 0; /* another clang's tables */
    own = calloc(edges + 1, 1);
    for (char *next = (char *)ranges; own && *next;) {
        uintptr_t from = program + strtoull(next, &next, 16);
        if (*next++ != '-')
            return;
        uintptr_t to = program + strtoull(next, &next, 16);
        for (size_t at = 0; at < edges; at++)
            if (__start___sancov_pcs[at].address >= from && __start___sancov_pcs[at].address < to)
                own[at] = 255;
        next += *next == ' ';
    }
}

/*
 * Clears the counters of other functions. Returns 0 if there is no focus; with `taken`, a number for the edges that the
 * run took in the function, and how often: 0 if it took none.
 */
int implfuzz_focus(uint64_t *taken)
{
    const char *ranges = getenv("IMPLFUZZ_FOCUS");
    if (!ranges)
        return 0;
    if (!own)
        find(ranges);
    __sancov_lowest_stack = (uintptr_t)__builtin_frame_address(0);
    uint64_t hash = 0xcbf29ce484222325u;
    int is_taken = 0;
    for (size_t at = 0; own && at < edges; at++) {
        __start___sancov_cntrs[at] &= own[at];
        uint8_t count = __start___sancov_cntrs[at];
        if (!count)
            continue;
        is_taken = 1;
        hash = (hash ^ at) * 0x100000001b3u;
        hash = (hash ^ (uint64_t)(32 - __builtin_clz(count))) * 0x100000001b3u;
    }
    *taken = is_taken ? hash | 1 : 0;
    return 1;
}
