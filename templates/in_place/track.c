/*
 * Logs the pages that a judged call writes. Before the call all tracked memory is write-protected; the handler of the fault
 * keeps a page as it was, and opens it.
 *
 * Changing the protection of the whole arena is slow. So the arena may stay protected while the driver runs on: the handler
 * opens each page that the driver writes, and the next call protects only these again. The system cannot write to protected
 * memory, so `outside.c` opens the arena before it is called, and `tape.c` opens the bytes that a known function writes.
 */
#define _GNU_SOURCE
#include "in_place.h"

#include <string.h>
#include <sys/mman.h>

/* One fault takes about as long as changing the protection of so many pages twice. */
#define PAGES_OF_FAULT 128
/* After the driver wrote to many pages, the arena stays open behind so many calls. */
#define OPEN_CALLS 16

static void protect(const struct region *region, int access)
{
    mprotect(region->start, region->pages * PAGE, access);
}

/* A call may allocate pages behind the used ones, too. */
static void protect_arena(void)
{
    struct region *arena = &STATE->regions[0];
    if (STATE->is_closed && arena->pages == STATE->usable_pages) {
        for (size_t at = 0; at < STATE->open_count; at++)
            mprotect(STATE->open_pages[at], PAGE, PROT_READ);
    } else {
        arena->pages = STATE->usable_pages;
        protect(arena, PROT_READ);
    }
    STATE->is_closed = 0;
}

/* From now on, writes are logged. */
void implfuzz_track(void)
{
    STATE->logged = 0;
    STATE->overflow = 0;
    STATE->tracking = 1;
    protect_arena();
    protect(&STATE->regions[1], PROT_READ);
}

/* Whether a call has allocated beyond what is logged. */
int implfuzz_has_outgrown(void)
{
    return implfuzz_arena_used() > STATE->regions[0].pages * PAGE;
}

/* Pages that may be open beside a protected arena. */
static size_t most_open(void)
{
    size_t most = implfuzz_arena_used() / PAGE / PAGES_OF_FAULT;
    return most < OPEN_PAGES ? most : OPEN_PAGES;
}

/* Leaves the arena protected, if few pages are open. */
static int close_arena(void)
{
    STATE->open_count = 0;
    size_t most = most_open();
    for (size_t at = 0; at < STATE->logged; at++) {
        if (!implfuzz_is_arena(STATE->log[at].address))
            continue;
        if (STATE->open_count == most)
            return 0;
        STATE->open_pages[STATE->open_count++] = STATE->log[at].address;
    }
    return 1;
}

void implfuzz_untrack(void)
{
    if (!STATE->tracking)
        return;
    protect(&STATE->regions[1], PROT_READ | PROT_WRITE);
    if (STATE->open_calls)
        STATE->open_calls--;
    else
        STATE->is_closed = implfuzz_knows_calls && close_arena();
    if (!STATE->is_closed)
        protect(&STATE->regions[0], PROT_READ | PROT_WRITE);
    STATE->tracking = 0;
    for (size_t at = 0; at < STATE->logged; at++)
        *STATE->log[at].logged = 0;
    STATE->logged = 0;
}

void implfuzz_open_arena(void)
{
    if (!STATE->is_closed)
        return;
    protect(&STATE->regions[0], PROT_READ | PROT_WRITE);
    STATE->is_closed = 0;
}

/* A write of the driver's. */
static int open_page(unsigned char *address)
{
    const struct region *arena = &STATE->regions[0];
    if (address < arena->start || address >= arena->start + arena->pages * PAGE)
        return 0;
    unsigned char *page = (unsigned char *)((uintptr_t)address & ~(PAGE - 1));
    for (size_t at = 0; at < STATE->open_count; at++)
        if (STATE->open_pages[at] == page)
            return 0;
    if (STATE->open_count >= most_open()) {
        STATE->open_calls = OPEN_CALLS;
        implfuzz_open_arena();
        return 1;
    }
    STATE->open_pages[STATE->open_count++] = page;
    return mprotect(page, PAGE, PROT_READ | PROT_WRITE) == 0;
}

/* Whether the fault was a write to protected memory, which may now go on. */
int implfuzz_page_fault(void *address)
{
    if (STATE->is_closed)
        return open_page(address);
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

void implfuzz_open(unsigned char *start, size_t bytes)
{
    unsigned char *page = (unsigned char *)((uintptr_t)start & ~(PAGE - 1));
    for (; bytes && page < start + bytes; page += PAGE)
        implfuzz_page_fault(page);
}
