/* Which calls of a function are judged, and which of them are told apart. */
#define _GNU_SOURCE
#include "in_place.h"

#include <string.h>

/* Judged calls of a function in one input, where many mutants run on each. */
#define MOST_OF_INPUT 40
/* The first ones, where one port runs on each, or the branches of these calls are counted. */
#define FIRST_ALONE 200
/* Bytes of a block by which calls are told apart: behind a pointer, and before it, where some libraries keep a length. */
#define BYTES_BEHIND 256
#define BYTES_BEFORE 32
/* Pieces of memory that are looked at: what arguments point to, what that points to, and so on. */
#define PIECES 16

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

/* Bytes behind a pointer to the driver's stack or to a variable. */
#define BYTES_AROUND 64

/* What distinguishes a call: a hash of what was seen, and the pieces of memory that are or will be a part of it. */
struct seen {
    uint64_t hash;
    struct piece {
        const unsigned char *start, *end;
        const unsigned char *leads_to; /* words before it may be pointers */
    } pieces[PIECES];
    size_t count;
};

static void add(struct seen *seen, uint64_t word)
{
    seen->hash = (seen->hash ^ word) * 0x100000001b3u;
    seen->hash ^= seen->hash >> 32;
}

/* The part of a block around an address. */
static struct piece of_block(const unsigned char *at)
{
    struct extent block = implfuzz_extent(at);
    if (!block.end)
        return (struct piece){NULL, NULL, NULL};
    const unsigned char *start = at - block.start > BYTES_BEFORE ? at - BYTES_BEFORE : block.start;
    const unsigned char *end = block.end - at > BYTES_BEHIND ? at + BYTES_BEHIND : block.end;
    return (struct piece){start, end, end};
}

/* What is behind an argument, if that is a pointer to memory that is put back; `bytes` are those of its struct. */
static struct piece of_argument(const unsigned char *at, size_t bytes, const unsigned char *stack)
{
    const struct region *variables = &STATE->regions[1];
    const unsigned char *variables_end = variables->start + variables->pages * PAGE, *end = NULL;
    if (at >= stack && at < (const unsigned char *)STATE->stack_base)
        end = STATE->stack_base;
    else if (at >= variables->start && at < variables_end)
        end = variables_end;
    if (!end)
        return of_block(at);
    size_t room = (size_t)(end - at), own = bytes < BYTES_BEHIND ? bytes : BYTES_BEHIND;
    if (own > room)
        own = 0;
    size_t seen = own > BYTES_AROUND ? own : BYTES_AROUND;
    return (struct piece){at, at + (seen < room ? seen : room), at + own};
}

/* A word stands for what it points to; the number of the piece tells the same memory from an equal one. */
static void add_word(struct seen *seen, uint64_t word, struct piece piece)
{
    size_t number = 0;
    while (number < seen->count && (seen->pieces[number].start != piece.start || seen->pieces[number].end != piece.end))
        number++;
    if (!piece.end || number == PIECES) {
        add(seen, word);
        return;
    }
    add(seen, number);
    add(seen, word - (uintptr_t)piece.start);
    if (number == seen->count)
        seen->pieces[seen->count++] = piece;
}

static void add_memory(struct seen *seen)
{
    for (size_t number = 0; number < seen->count; number++) {
        struct piece piece = seen->pieces[number];
        add(seen, (uint64_t)(piece.end - piece.start));
        for (const unsigned char *at = piece.start; at < piece.end;) {
            uint64_t word;
            if ((uintptr_t)at % sizeof word || piece.leads_to - at < (ptrdiff_t)sizeof word) {
                add(seen, *at++);
                continue;
            }
            memcpy(&word, at, sizeof word);
            add_word(seen, word, of_block((const unsigned char *)word));
            at += sizeof word;
        }
    }
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
 * Whether no call before had these arguments, the same memory behind those that point to blocks, variables or the stack, and
 * the same answers of the system. What takes no arguments is told apart by input.
 */
int implfuzz_is_distinct(const struct implfuzz_function *function, const struct registers *registers, const unsigned char *stack)
{
    struct seen seen = {.hash = 0xcbf29ce484222325u};
    if (function->argument_count == 0)
        add(&seen, STATE->input);
    for (size_t at = 0; at < function->argument_count; at++) {
        const struct implfuzz_part *part = &function->arguments[at];
        uint64_t word = word_of(part, registers, stack);
        struct piece none = {NULL, NULL, NULL};
        add_word(&seen, word, ~part->mask ? none : of_argument((const unsigned char *)word, part->behind, stack));
    }
    add_memory(&seen);
    uint64_t hash = implfuzz_with_answers(seen.hash) | 1;
    for (size_t at = 0; at < STATE->seen_places; at++) {
        uint64_t *place = &STATE->seen[(hash >> 20 ^ hash) + at & (STATE->seen_places - 1)];
        if (*place == hash)
            return 0;
        if (*place == 0) {
            *place = hash;
            return 1;
        }
    }
    return 0;
}
