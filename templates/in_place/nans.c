/*
 * NaNs in memory. Which bits a NaN has depends on the order of operands and on the compiler, so two of them are equal, where
 * types say that a floating-point number is there.
 */
#define _GNU_SOURCE
#include "in_place.h"

#include <string.h>

/* Elements of an array of structs whose pointers are followed. */
#define STEPS 64
/* Elements behind a pointer to memory that is no block. */
#define ELEMENTS 64

static int are_nans(const unsigned char *a, const unsigned char *b, size_t width)
{
    if (width == sizeof(float)) {
        float one, other;
        memcpy(&one, a, sizeof one), memcpy(&other, b, sizeof other);
        return one != one && other != other;
    }
    double one, other;
    memcpy(&one, a, sizeof one), memcpy(&other, b, sizeof other);
    return one != one && other != other;
}

static int is_in_array(const struct implfuzz_lane *lane, uint64_t array, const unsigned char *number)
{
    uint64_t address = (uint64_t)number;
    if (address < array || (address - array) % lane->size != lane->at)
        return 0;
    const unsigned char *start = (const unsigned char *)array;
    const struct region *variables = &STATE->regions[1];
    uint64_t end = (uint64_t)implfuzz_extent(start).end;
    int is_variable = start >= variables->start && start < variables->start + variables->pages * PAGE;
    if (!end && (is_variable || (start >= STATE->judged_stack && start < STATE->stack_base)))
        end = array + (uint64_t)ELEMENTS * lane->size;
    return address + lane->width <= end;
}

static int leads_to(const struct implfuzz_lane *lane, const unsigned char *number)
{
    uint64_t word = lane->argument < 0 ? STATE->compared_result->integer[0] : STATE->compared_arguments->integer[lane->argument];
    if (lane->through < 0)
        return is_in_array(lane, word, number);
    const unsigned char *at = (const unsigned char *)word;
    const unsigned char *end = implfuzz_extent(at).end;
    if (!end && at >= STATE->judged_stack && at < STATE->stack_base)
        end = STATE->stack_base;
    for (size_t step = 0; step < STEPS && at + lane->through + sizeof word <= end; step++, at += lane->step) {
        uint64_t array;
        memcpy(&array, at + lane->through, sizeof array);
        if (is_in_array(lane, array, number))
            return 1;
    }
    return 0;
}

/*
 * How many bytes from a byte that differs belong to two NaNs: `now` is where the number is, and `then` the byte as C left it.
 * 0 where no number is known to be, or one is none.
 */
size_t implfuzz_is_same_nan(const unsigned char *now, const unsigned char *then)
{
    const struct implfuzz_function *function = STATE->compared;
    for (size_t at = 0; function && at < function->lane_count; at++) {
        const struct implfuzz_lane *lane = &function->lanes[at];
        size_t into = (uint64_t)now % lane->width;
        if (are_nans(now - into, then - into, lane->width) && leads_to(lane, now - into))
            return lane->width - into;
    }
    return 0;
}
