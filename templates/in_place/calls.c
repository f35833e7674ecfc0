/* Which calls of a function are judged, and which of them are told apart. */
#define _GNU_SOURCE
#include "in_place.h"

#include <string.h>

/* Judged calls of a function in one input, where many mutants run on each. */
#define MOST_OF_INPUT 40
/* The first ones, where one port runs on each, or the branches of these calls are counted. */
#define FIRST_ALONE 200
/* Bytes behind a pointer by which calls are told apart. */
#define BYTES_BEHIND 256

/*
 * The first calls, and ever fewer of the later ones: a hash spreads them, otherwise for each input, so that a port cannot
 * know which calls nobody looks at. A port gets more calls, and all that mutants get.
 */
int implfuzz_is_chosen(const struct counts *own, size_t candidates)
{
    uint64_t call = own->calls_of_input;
    uint64_t most = candidates <= 1 ? FIRST_ALONE + MOST_OF_INPUT : MOST_OF_INPUT;
    if (own->judged_of_input >= most)
        return 0;
    if (candidates <= 1 && call <= FIRST_ALONE)
        return 1;
    return call <= 3 || (call & (call - 1)) == 0 || (call + STATE->salt) * 0x9e3779b97f4a7c15u >> 58 == 0;
}

/* Judged calls that are all judged with other answers, too; of the later ones, one in so many. */
#define CHANGED_FIRST 32
#define CHANGED_LATER 16

int implfuzz_is_for_changes(const struct counts *own)
{
    return STATE->tape.count != 0 && (own->judged < CHANGED_FIRST || own->judged % CHANGED_LATER == 0);
}

/* Bytes behind a pointer to the driver's stack. */
#define BYTES_ON_STACK 64

/* How many bytes of memory that is put back are behind a word, if it is a pointer to such. */
static size_t behind(uint64_t word, const unsigned char *stack)
{
    if (implfuzz_is_arena((void *)word) && implfuzz_block((unsigned char *)word)) {
        size_t of_page = PAGE - word % PAGE;
        return of_page < BYTES_BEHIND ? of_page : BYTES_BEHIND;
    }
    if (word < (uintptr_t)stack || word >= (uintptr_t)STATE->stack_base)
        return 0;
    size_t of_stack = (uintptr_t)STATE->stack_base - word;
    return of_stack < BYTES_ON_STACK ? of_stack : BYTES_ON_STACK;
}

static uint64_t word_of(const struct implfuzz_part *part, const struct registers *registers, const unsigned char *stack)
{
    uint64_t word = 0;
    switch (part->place) {
    case PART_INTEGER: word = registers->integer[part->at]; break;
    case PART_STACK: memcpy(&word, stack + 8 * part->at, sizeof word); break;
    default: memcpy(&word, registers->vector[part->at], sizeof word);
    }
    return word & part->mask;
}

/*
 * Whether no call before had these arguments, the same bytes behind those that point to blocks or to the stack, and the
 * same answers of the system. What takes no arguments is told apart by input.
 */
int implfuzz_is_distinct(const struct implfuzz_function *function, const struct registers *registers, const unsigned char *stack)
{
    uint64_t hash = 0xcbf29ce484222325u;
    if (function->argument_count == 0)
        hash ^= STATE->input;
    for (size_t at = 0; at < function->argument_count; at++) {
        const struct implfuzz_part *part = &function->arguments[at];
        uint64_t word = word_of(part, registers, stack);
        size_t bytes = ~part->mask ? 0 : behind(word, stack);
        if (bytes == 0)
            hash = (hash ^ word) * 0x100000001b3u;
        for (size_t byte = 0; byte < bytes; byte++)
            hash = (hash ^ ((unsigned char *)word)[byte]) * 0x100000001b3u;
    }
    hash = implfuzz_with_answers(hash) | 1;
    for (size_t at = 0; at < SEEN; at++) {
        uint64_t *place = &STATE->seen[(hash >> 20 ^ hash) + at & (SEEN - 1)];
        if (*place == hash)
            return 0;
        if (*place == 0) {
            *place = hash;
            return 1;
        }
    }
    return 0;
}
