/* Compares what a candidate leaves with what C left: results, blocks, the driver's stack, memory, and `errno`. */
#define _GNU_SOURCE
#include "in_place.h"

#include <string.h>

static enum difference compare_results(enum result kind, const struct result_registers *c, const struct result_registers *own)
{
    static const unsigned char widths[] = {0, 1, 2, 4, 8, 0, 0, 16, 0, 8, 8, 8, 16};
    if (memcmp(c->integer, own->integer, widths[kind]) != 0)
        return DIFFERS_RESULT;
    /* All NaNs are one value, but zeros have signs. */
    if (kind == RESULT_DOUBLE) {
        double a, b;
        memcpy(&a, c->vector, sizeof a), memcpy(&b, own->vector, sizeof b);
        return memcmp(&a, &b, sizeof a) != 0 && !(a != a && b != b) ? DIFFERS_RESULT : SAME;
    }
    if (kind == RESULT_FLOAT) {
        float a, b;
        memcpy(&a, c->vector, sizeof a), memcpy(&b, own->vector, sizeof b);
        return memcmp(&a, &b, sizeof a) != 0 && !(a != a && b != b) ? DIFFERS_RESULT : SAME;
    }
    return SAME;
}

/* Why a result that differs may be right: of two words, both must. */
static enum excuse excuse_result(enum result kind, const struct result_registers *c, const struct result_registers *own, int moved)
{
    if (kind == RESULT_POINTER || kind == RESULT_TEXT)
        return implfuzz_excuse(c->integer[0], own->integer[0], moved, kind);
    if (kind != RESULT_WORD && kind != RESULT_PAIR)
        return NONE;
    enum excuse worst = EQUAL_CONSTANTS;
    for (int word = 0; word < (kind == RESULT_PAIR ? 2 : 1); word++) {
        if (c->integer[word] == own->integer[word])
            continue;
        enum excuse excuse = implfuzz_excuse(c->integer[word], own->integer[word], moved, RESULT_UNKNOWN);
        if (excuse == NONE)
            return NONE;
        if (excuse != EQUAL_CONSTANTS)
            worst = excuse;
    }
    return worst;
}

/* Whether blocks may have other addresses than C's. */
int implfuzz_has_moved(const struct picture *c, const struct picture *own)
{
    return c->allocations != own->allocations && c->allocated + own->allocated != 0;
}

/* A word of the stack that differs. */
static void stack_word(const unsigned char *stack, size_t at, size_t bytes, int moved, struct places *places)
{
    uint64_t words[2] = {0};
    size_t size = bytes - at < 8 ? bytes - at : 8;
    memcpy(&words[0], STATE->stack_after + at, size);
    memcpy(&words[1], stack + at, size);
    enum excuse excuse = implfuzz_excuse(words[0], words[1], moved, RESULT_UNKNOWN);
    while (stack[at] == STATE->stack_after[at])
        at++;
    implfuzz_add_excused(places, excuse, stack + at, words[0], words[1]);
    if (excuse == NONE)
        implfuzz_add_place(places, stack + at, words[0], words[1]);
}

enum difference implfuzz_compare(enum result kind, const struct picture *c, const struct picture *own,
                                 const unsigned char *stack, size_t bytes, struct places *places)
{
    int moved = implfuzz_has_moved(c, own);
    enum difference difference = compare_results(kind, &c->result, &own->result);
    if (difference != SAME) {
        enum excuse excuse = excuse_result(kind, &c->result, &own->result, moved);
        if (excuse != EQUAL_CONSTANTS) {
            int is_float = kind == RESULT_FLOAT || kind == RESULT_DOUBLE;
            memcpy(&places->result_of_c, is_float ? (const void *)c->result.vector : c->result.integer, 8);
            memcpy(&places->own_result, is_float ? (const void *)own->result.vector : own->result.integer, 8);
            places->is_result = 1;
            places->excuse = excuse;
            return difference;
        }
    }
    if (c->live != own->live)
        return DIFFERS_ALLOCATION;
    for (size_t at = 0; at < bytes && places->count < PLACES; at += 8)
        if (memcmp(stack + at, STATE->stack_after + at, bytes - at < 8 ? bytes - at : 8) != 0)
            stack_word(stack, at, bytes, moved, places);
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
    return c->error != own->error ? DIFFERS_ERRNO : SAME;
}

enum difference implfuzz_compare_ends(struct places *places)
{
    enum difference difference = implfuzz_compare_pages(places, 1);
    memset(places, 0, sizeof *places);
    if (difference != SAME)
        places->excuse = AT_END;
    return difference;
}
