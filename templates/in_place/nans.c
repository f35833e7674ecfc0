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
#define ELEMENTS 65536

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

/* Whether an argument leads to a part of a block that is no array of these elements from its start. */
static int is_shared(uint64_t array, struct extent block)
{
    for (unsigned at = 0; at < STATE->compared->integers; at++) {
        uint64_t word = STATE->compared_arguments->integer[at];
        if (word != array && word >= (uint64_t)block.start && word < (uint64_t)block.end)
            return 1;
    }
    return 0;
}

/*
 * The first element is what the type says. Behind it there are more of them for certain if a block has nothing else, as far
 * as that can be known.
 */
static enum number in_array(const struct implfuzz_lane *lane, uint64_t array, const unsigned char *number)
{
    uint64_t address = (uint64_t)number;
    if (address < array || (address - array) % lane->size != lane->at)
        return NO_NUMBER;
    uint64_t end = (uint64_t)end_of((const unsigned char *)array, (size_t)ELEMENTS * lane->size);
    if (address + lane->width > end)
        return NO_NUMBER;
    if (address - array < lane->size)
        return NUMBER;
    struct extent block = implfuzz_extent((const unsigned char *)array);
    int is_all = block.start == (const unsigned char *)array && (size_t)(block.end - block.start) % lane->size == 0;
    return lane->is_whole && is_all && !is_shared(array, block) ? NUMBER : MAYBE_NUMBER;
}

static enum number at_end_of(const struct implfuzz_lane *lane, const unsigned char *number)
{
    uint64_t word = lane->argument < 0 ? STATE->compared_result->integer[0] : STATE->compared_arguments->integer[lane->argument];
    if (lane->through < 0)
        return in_array(lane, word, number);
    const unsigned char *at = (const unsigned char *)word;
    const unsigned char *end = end_of(at, STEPS * (size_t)lane->step);
    if (!end)
        return NO_NUMBER;
    /* Behind a struct may lie something else than more of them. */
    struct extent block = implfuzz_extent(at);
    int is_array = block.start == at && (size_t)(block.end - at) % lane->step == 0 && !is_shared(word, block);
    enum number best = NO_NUMBER;
    for (size_t step = 0; step < STEPS && at + lane->through + sizeof word <= end; step++, at += lane->step) {
        uint64_t array;
        memcpy(&array, at + lane->through, sizeof array);
        enum number found = in_array(lane, array, number);
        if (step > 0 && !is_array && found == NUMBER)
            found = MAYBE_NUMBER;
        best = found > best ? found : best;
    }
    return best;
}

/* `now` is where the number is, and `then` the byte as C left it. */
struct nans implfuzz_nans(const unsigned char *now, const unsigned char *then)
{
    const struct implfuzz_function *function = STATE->compared;
    struct nans nans = {0, NO_NUMBER};
    for (size_t at = 0; function && at < function->lane_count && nans.number != NUMBER; at++) {
        const struct implfuzz_lane *lane = &function->lanes[at];
        size_t into = (uint64_t)now % lane->width;
        if (!are_nans(now - into, then - into, lane->width))
            continue;
        enum number number = at_end_of(lane, now - into);
        if (number > nans.number)
            nans = (struct nans){lane->width - into, number};
    }
    return nans;
}
