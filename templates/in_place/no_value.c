/*
 * Bytes without a value: C leaves another one there when it runs on another stack, or with other bytes in new memory, since it
 * copies what nobody wrote. They are found while C runs again, and then left out of comparisons. What differs in another way
 * has a value that hangs on an address or on the processor: only a few words of that are taken for garbage.
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

/*
 * Whether nobody wrote it: then it is what the stack was filled with, which is inverted in C's second run, or the inverse of
 * what new memory had. All that depends on an address differs, too, but not so.
 */
static int is_fill(unsigned char now, unsigned char then, int was_found)
{
    unsigned char filled = STACK_FILL ^ STATE->flip;
    return now == filled || (STATE->flip && !was_found && now == (unsigned char)~then);
}

static int is_other(const unsigned char *address)
{
    const struct no_value *found = &STATE->no_value;
    for (size_t at = 0; at < found->other_count; at++)
        if (found->others[at] == ((uintptr_t)address & ~(uintptr_t)7))
            return 1;
    return 0;
}

/* Makes it one of a few words: garbage in a frame of C's own may be addresses, or what else earlier calls left there. */
static int add_other(const unsigned char *address)
{
    struct no_value *found = &STATE->no_value;
    if (is_other(address))
        return 1;
    if (found->other_count == PLACES - 1)
        return 0;
    found->others[found->other_count++] = (uintptr_t)address & ~(uintptr_t)7;
    return 1;
}

int implfuzz_is_unwritten(const unsigned char *address)
{
    return implfuzz_is_without_value(address) && !is_other(address);
}

int implfuzz_find_no_value(const unsigned char *address, unsigned char now, unsigned char then)
{
    size_t bit = number(address);
    if (STATE->no_value.use != FOUND || bit >= BITS)
        return 0;
    if (!is_fill(now, then, implfuzz_is_without_value(address)) && !add_other(address))
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
    STATE->no_value.other_count = 0;
}
