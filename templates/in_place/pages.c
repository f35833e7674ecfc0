/*
 * Puts memory back. Before a call all tracked memory is write-protected; the handler of the fault keeps a page as it was,
 * and opens it. Afterwards the log names the pages that the call wrote.
 */
#define _GNU_SOURCE
#include "in_place.h"

#include <string.h>
#include <sys/mman.h>

/* The linker's names for the variables of the program. */
extern unsigned char __data_start[], _end[];

static void *memory(size_t bytes)
{
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

void implfuzz_pages_make(void)
{
    uintptr_t start = (uintptr_t)__data_start & ~(PAGE - 1), end = ((uintptr_t)_end + PAGE - 1) & ~(PAGE - 1);
    STATE->regions[0] = (struct region){ARENA, 0, memory(ARENA_BYTES / PAGE * sizeof(uint32_t))};
    STATE->regions[1] =
        (struct region){(unsigned char *)start, (end - start) / PAGE, memory((end - start) / PAGE * sizeof(uint32_t))};
    STATE->before = memory(LOG_PAGES * PAGE);
    STATE->after = memory(LOG_PAGES * PAGE);
}

static void protect(int access)
{
    for (size_t at = 0; at < 2; at++)
        mprotect(STATE->regions[at].start, STATE->regions[at].pages * PAGE, access);
}

/* From now on, writes are logged. The arena may grow a good deal during a call; memory beyond was never used. */
void implfuzz_track(void)
{
    size_t pages = implfuzz_arena_used() / PAGE + 4096;
    STATE->regions[0].pages = pages < ARENA_BYTES / PAGE ? pages : ARENA_BYTES / PAGE;
    STATE->logged = 0;
    STATE->overflow = 0;
    STATE->tracking = 1;
    protect(PROT_READ);
}

void implfuzz_untrack(void)
{
    protect(PROT_READ | PROT_WRITE);
    STATE->tracking = 0;
    for (size_t at = 0; at < STATE->logged; at++)
        *STATE->log[at].logged = 0;
    STATE->logged = 0;
}

/* Whether the fault was a write to tracked memory, which may now go on. */
int implfuzz_page_fault(void *address)
{
    for (size_t at = 0; STATE->tracking && at < 2; at++) {
        struct region *region = &STATE->regions[at];
        size_t page = (size_t)((unsigned char *)address - region->start) / PAGE;
        if ((unsigned char *)address < region->start || page >= region->pages || region->logged[page])
            continue;
        if (STATE->logged == LOG_PAGES) {
            STATE->overflow = 1;
            if (STATE->in_candidate)
                return 0;
            implfuzz_untrack(); /* C runs on, unjudged */
            return 1;
        }
        unsigned char *start = region->start + page * PAGE;
        size_t number = STATE->logged++;
        memcpy(STATE->before + number * PAGE, start, PAGE);
        STATE->log[number] = (struct logged_page){start, &region->logged[page], 0};
        region->logged[page] = (uint32_t)number + 1;
        return mprotect(start, PAGE, PROT_READ | PROT_WRITE) == 0;
    }
    return 0;
}

/* Keeps what C wrote. */
void implfuzz_keep_after(void)
{
    for (size_t at = 0; at < STATE->logged; at++) {
        memcpy(STATE->after + at * PAGE, STATE->log[at].address, PAGE);
        STATE->log[at].by_c = 1;
    }
}

void implfuzz_put_back_before(void)
{
    for (size_t at = 0; at < STATE->logged; at++)
        memcpy(STATE->log[at].address, STATE->before + at * PAGE, PAGE);
}

static const unsigned char *after(size_t at)
{
    return (STATE->log[at].by_c ? STATE->after : STATE->before) + at * PAGE;
}

void implfuzz_put_back_after(void)
{
    for (size_t at = 0; at < STATE->logged; at++)
        memcpy(STATE->log[at].address, after(at), PAGE);
}

/* A byte as it was after C's call. */
static const unsigned char *after_c(const unsigned char *address)
{
    uint32_t number = STATE->regions[0].logged[(size_t)(address - ARENA) / PAGE];
    return number ? after(number - 1) + ((uintptr_t)address & (PAGE - 1)) : address;
}

/* Whether a byte of the arena that differs counts: in a block of C's or of the candidate's. */
static enum difference counts(const unsigned char *address)
{
    const unsigned char *own = implfuzz_block(address);
    if (!own)
        return SAME;
    int is_live = implfuzz_is_live(own), was_live = implfuzz_is_live(after_c(own));
    return is_live || was_live ? DIFFERS_MEMORY : SAME;
}

/* How C's memory differs from that which is there now. Pages that neither wrote are equal. */
enum difference implfuzz_compare_pages(const unsigned char **places, size_t *count)
{
    enum difference first = SAME;
    for (size_t at = 0; at < STATE->logged; at++) {
        const unsigned char *now = STATE->log[at].address, *then = after(at);
        if (memcmp(now, then, PAGE) == 0)
            continue;
        for (size_t byte = 0; byte < PAGE && *count < PLACES; byte++) {
            enum difference difference = SAME;
            if (now[byte] != then[byte])
                difference = implfuzz_is_arena(now) ? counts(now + byte) : DIFFERS_VARIABLE;
            if (difference == SAME)
                continue;
            places[(*count)++] = now + byte;
            first = first == SAME ? difference : first;
            byte |= 7;
        }
    }
    return first;
}
