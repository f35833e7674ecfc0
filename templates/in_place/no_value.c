/*
 * Bytes without a value: C leaves another one there when it runs on another stack, or with other bytes in new memory, since it
 * copies what nobody wrote. They are found while C runs again, and then left out of comparisons.
 */
#define _GNU_SOURCE
#include "in_place.h"

#include <string.h>
#include <sys/mman.h>

#define STACK_FROM (LOG_PAGES * PAGE)
#define BITS (STACK_FROM + STACK_BYTES)

void implfuzz_no_value_make(void)
{
    STATE->no_value.bits = implfuzz_somewhere(BITS / 8, PROT_READ | PROT_WRITE);
}

/* The number of a byte of the log's pages or of the driver's stack; BITS elsewhere. */
static size_t number(const unsigned char *address)
{
    if (address >= STATE->judged_stack && address < (const unsigned char *)STATE->stack_base)
        return STACK_FROM + (size_t)(address - STATE->judged_stack);
    for (size_t at = 0; at < 2; at++) {
        const struct region *region = &STATE->regions[at];
        size_t page = (size_t)(address - region->start) / PAGE, pages = at ? region->pages : ARENA_BYTES / PAGE;
        if (address >= region->start && page < pages && region->logged[page])
            return (region->logged[page] - 1) * PAGE + ((uintptr_t)address & (PAGE - 1));
    }
    return BITS;
}

int implfuzz_is_without_value(const unsigned char *address)
{
    size_t bit = number(address);
    return bit < BITS && STATE->no_value.bits[bit / 8] >> (bit % 8) & 1;
}

int implfuzz_is_left_out(const unsigned char *address)
{
    return STATE->no_value.use == LEFT_OUT && implfuzz_is_without_value(address);
}

int implfuzz_find_no_value(const unsigned char *address)
{
    size_t bit = number(address);
    if (STATE->no_value.use != FOUND || bit >= BITS)
        return 0;
    STATE->no_value.bits[bit / 8] |= (unsigned char)(1 << bit % 8);
    STATE->no_value.is_any = 1;
    return 1;
}

void implfuzz_forget_no_value(void)
{
    if (!STATE->no_value.is_any)
        return;
    memset(STATE->no_value.bits, 0, STATE->logged * (PAGE / 8));
    memset(STATE->no_value.bits + STACK_FROM / 8, 0, ((size_t)(STATE->stack_base - STATE->judged_stack) + 7) / 8);
    STATE->no_value.is_any = 0;
}
