/* Compares what a candidate leaves with what C left: results, blocks, the driver's stack, memory, and `errno`. */
#define _GNU_SOURCE
#include "in_place.h"

#include <string.h>

/* All NaNs are one value, but zeros have signs. */
static int is_same_float(const void *a, const void *b)
{
    float one, other;
    memcpy(&one, a, sizeof one), memcpy(&other, b, sizeof other);
    return memcmp(a, b, sizeof one) == 0 || (one != one && other != other);
}

static int is_same_double(const void *a, const void *b)
{
    double one, other;
    memcpy(&one, a, sizeof one), memcpy(&other, b, sizeof other);
    return memcmp(a, b, sizeof one) == 0 || (one != one && other != other);
}

static int is_same_part(const struct implfuzz_part *part, const struct result_registers *c, const struct result_registers *own)
{
    const unsigned char *of_c = c->vector[part->at], *of_own = own->vector[part->at];
    switch (part->place) {
    case PART_DOUBLE: return is_same_double(of_c, of_own);
    case PART_FLOATS: return is_same_float(of_c, of_own) && (part->mask >> 32 == 0 || is_same_float(of_c + 4, of_own + 4));
    default: return ((c->integer[part->at] ^ own->integer[part->at]) & part->mask) == 0;
    }
}

static enum difference compare_results(const struct implfuzz_function *function, const struct result_registers *c,
                                       const struct result_registers *own)
{
    static const unsigned char widths[] = {0, 1, 2, 4, 8, 0, 0, 16, 0, 8, 8, 8, 16, 0};
    int is_same = memcmp(c->integer, own->integer, widths[function->result]) == 0;
    if (function->result == RESULT_DOUBLE)
        is_same = is_same_double(c->vector, own->vector);
    if (function->result == RESULT_FLOAT)
        is_same = is_same_float(c->vector, own->vector);
    for (size_t at = 0; at < function->result_count; at++)
        is_same = is_same && is_same_part(&function->result_parts[at], c, own);
    return is_same ? SAME : DIFFERS_RESULT;
}

/* Why a result that differs may be right: of two words, both must. */
static enum excuse excuse_result(const struct implfuzz_function *function, const struct result_registers *c,
                                 const struct result_registers *own, int moved)
{
    static const struct implfuzz_part words[] = {{PART_INTEGER, 0, ~(uint64_t)0}, {PART_INTEGER, 1, ~(uint64_t)0}};
    enum result kind = function->result;
    if (kind == RESULT_POINTER || kind == RESULT_TEXT)
        return implfuzz_excuse(c->integer[0], own->integer[0], moved, kind);
    if (kind != RESULT_WORD && kind != RESULT_PAIR && kind != RESULT_PARTS)
        return NONE;
    const struct implfuzz_part *parts = kind == RESULT_PARTS ? function->result_parts : words;
    size_t count = kind == RESULT_PARTS ? function->result_count : kind == RESULT_PAIR ? 2 : 1;
    enum excuse worst = EQUAL_CONSTANTS;
    for (size_t at = 0; at < count; at++) {
        const struct implfuzz_part *part = &parts[at];
        if (is_same_part(part, c, own))
            continue;
        if (part->place != PART_INTEGER || ~part->mask)
            return NONE;
        enum excuse excuse = implfuzz_excuse(c->integer[part->at], own->integer[part->at], moved, RESULT_UNKNOWN);
        if (excuse == NONE)
            return NONE;
        if (excuse != EQUAL_CONSTANTS)
            worst = excuse;
    }
    return worst;
}

/* The first eight bytes of a result, without padding, for people. */
static uint64_t first_word(const struct implfuzz_function *function, const struct result_registers *result)
{
    static const struct implfuzz_part integer = {PART_INTEGER, 0, ~(uint64_t)0}, floating = {PART_DOUBLE, 0, ~(uint64_t)0};
    int is_float = function->result == RESULT_FLOAT || function->result == RESULT_DOUBLE;
    const struct implfuzz_part *first = is_float ? &floating : &integer;
    uint64_t word;
    if (function->result_count)
        first = &function->result_parts[0];
    memcpy(&word, first->place == PART_INTEGER ? (const void *)result->integer : result->vector, sizeof word);
    return word & first->mask;
}

/* Whether blocks may have other addresses than C's. */
int implfuzz_has_moved(const struct picture *c, const struct picture *own)
{
    return c->allocations != own->allocations && c->allocated + own->allocated != 0;
}

static int differs(const unsigned char *stack, size_t at)
{
    return stack[at] != STATE->stack_after[at] && !implfuzz_is_left_out(stack + at);
}

/* Whether only NaNs differ in a word of the stack: the least certain one of them. */
static enum number only_nans(const unsigned char *stack, size_t at, size_t size)
{
    enum number all = NUMBER;
    for (size_t end = at + size; at < end; at++) {
        if (!differs(stack, at))
            continue;
        struct nans nans = implfuzz_nans(stack + at, STATE->stack_after + at);
        if (nans.number == NO_NUMBER)
            return NO_NUMBER;
        all = nans.number < all ? nans.number : all;
        at += nans.bytes - 1;
    }
    return all;
}

/* A word of the stack that differs. */
static void stack_word(const unsigned char *stack, size_t at, size_t size, int moved, struct places *places)
{
    enum number number = only_nans(stack, at, size);
    if (number == NUMBER)
        return;
    unsigned bytes = 0;
    for (size_t byte = 0; byte < size; byte++)
        if (differs(stack, at + byte) && implfuzz_nans(stack + at + byte, STATE->stack_after + at + byte).number != NUMBER &&
            !implfuzz_find_no_value(stack + at + byte, stack[at + byte], STATE->stack_after[at + byte]))
            bytes |= 1u << byte;
    if (bytes == 0)
        return;
    uint64_t words[2] = {0};
    memcpy(&words[0], STATE->stack_after + at, size);
    memcpy(&words[1], stack + at, size);
    enum excuse excuse = implfuzz_excuse(words[0], words[1], moved, RESULT_UNKNOWN);
    if (excuse == NONE && number == MAYBE_NUMBER)
        excuse = OTHER_NANS;
    while (!differs(stack, at))
        at++;
    implfuzz_add_excused(places, excuse, stack + at, words[0], words[1]);
    if (excuse == NONE)
        implfuzz_add_place(places, stack + at, words[0], words[1], bytes);
}

enum difference implfuzz_compare(const struct implfuzz_function *function, const struct picture *c, const struct picture *own,
                                 const struct registers *arguments, const unsigned char *stack, size_t bytes,
                                 struct places *places)
{
    STATE->compared = function;
    STATE->compared_arguments = arguments;
    STATE->compared_result = &own->result;
    int moved = implfuzz_has_moved(c, own);
    enum difference difference = compare_results(function, &c->result, &own->result);
    if (difference != SAME) {
        enum excuse excuse = excuse_result(function, &c->result, &own->result, moved);
        if (excuse != EQUAL_CONSTANTS) {
            places->result_of_c = first_word(function, &c->result);
            places->own_result = first_word(function, &own->result);
            places->is_result = 1;
            places->excuse = excuse;
            return difference;
        }
    }
    if (c->live != own->live)
        return DIFFERS_ALLOCATION;
    for (size_t at = 0; at < bytes && places->count < PLACES; at += 8)
        if (memcmp(stack + at, STATE->stack_after + at, bytes - at < 8 ? bytes - at : 8) != 0)
            stack_word(stack, at, bytes - at < 8 ? bytes - at : 8, moved, places);
    if (places->count) {
        places->excuse = NONE;
        return DIFFERS_STACK;
    }
    difference = implfuzz_compare_pages(places, moved);
    if (difference != SAME) {
        places->excuse = NONE;
        return difference;
    }
    if (places->excuse != NONE)
        return DIFFERS_MEMORY;
    return c->error != own->error && !function->errno_says_nothing ? DIFFERS_ERRNO : SAME;
}

enum difference implfuzz_compare_ends(struct places *places)
{
    STATE->compared = NULL;
    enum difference difference = implfuzz_compare_pages(places, 1);
    memset(places, 0, sizeof *places);
    if (difference != SAME)
        places->excuse = AT_END;
    return difference;
}
