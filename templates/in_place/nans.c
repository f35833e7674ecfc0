/*
 * NaNs in memory. Which bits a NaN has depends on the order of operands and on the compiler, so two of them are equal where
 * types say that there is a floating-point number.
 */
#define _GNU_SOURCE
#include "in_place.h"

#include <string.h>

/* Elements of an array of structs whose pointers are followed. */
#define STEPS 64
/* Elements behind a pointer to memory that is no block. */
#define ELEMENTS 64

/* Whether four bytes are more likely an integer: a small negative one, such as an error, or nearly the largest. */
static int may_be_integer(const unsigned char *bytes)
{
    int32_t number;
    memcpy(&number, bytes, sizeof number);
    return (number >= -0x10000 && number < 0) || number >= 0x7fff0000;
}

static int are_nans(const unsigned char *a, const unsigned char *b, size_t width)
{
    size_t high = width - 4;
    if (may_be_integer(a + high) && may_be_integer(b + high))
        return 0;
    if (width == sizeof(float)) {
        float one, other;
        memcpy(&one, a, sizeof one), memcpy(&other, b, sizeof other);
        return one != one && other != other;
    }
    double one, other;
    memcpy(&one, a, sizeof one), memcpy(&other, b, sizeof other);
    return one != one && other != other;
}

/* Where memory ends behind an address: a block, or so many bytes of variables or of the driver's stack. */
static const unsigned char *end_of(const unsigned char *at, size_t bytes)
{
    const struct region *variables = &STATE->regions[1];
    const unsigned char *end = implfuzz_extent(at).end, *limit = NULL;
    if (at >= variables->start && at < variables->start + variables->pages * PAGE)
        limit = variables->start + variables->pages * PAGE;
    else if (at >= STATE->judged_stack && at < (const unsigned char *)STATE->stack_base)
        limit = STATE->stack_base;
    if (end || !limit)
        return end;
    return (size_t)(limit - at) < bytes ? limit : at + bytes;
}

static int is_in_array(const struct implfuzz_lane *lane, uint64_t array, const unsigned char *number)
{
    uint64_t address = (uint64_t)number;
    if (address < array || (address - array) % lane->size != lane->at)
        return 0;
    uint64_t end = (uint64_t)end_of((const unsigned char *)array, (size_t)ELEMENTS * lane->size);
    return address + lane->width <= end;
}

static int leads_to(const struct implfuzz_lane *lane, const unsigned char *number)
{
    uint64_t word = lane->argument < 0 ? STATE->compared_result->integer[0] : STATE->compared_arguments->integer[lane->argument];
    if (lane->through < 0)
        return is_in_array(lane, word, number);
    const unsigned char *at = (const unsigned char *)word;
    const unsigned char *end = end_of(at, STEPS * (size_t)lane->step);
    if (!end)
        return 0;
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
