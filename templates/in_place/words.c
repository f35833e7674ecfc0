/* Where bytes differ, in words: the judge's report of a candidate that was told from C. */
#define _GNU_SOURCE
#include "in_place.h"

#include <stdio.h>
#include <string.h>

/* Bytes behind a pointer that may belong to it. */
#define FAR ((uintptr_t)1 << 16)
/* How far behind each pointer a way is looked for, over how many pointers, and at how many words at most. */
#define WAY_BYTES 512
#define WAY_STEPS 3
#define WAY_WORDS 100000

/* A search for a way to an address, which may look at so many more words. */
struct search {
    uintptr_t address;
    unsigned words;
};

/* How much of a block, or of the driver's stack, there is behind a pointer. */
static size_t bytes_behind(uint64_t pointer)
{
    const unsigned char *at = (const unsigned char *)pointer;
    if (at >= STATE->judged_frame && at < STATE->stack_base)
        return (size_t)(STATE->stack_base - at);
    struct extent extent = implfuzz_extent(at);
    return extent.end ? (size_t)(extent.end - at) : 0;
}

/* `.offset` for each pointer on the way from one to an address. Returns how long it is; 0 without a way. */
static size_t way_from(uint64_t pointer, struct search *search, unsigned steps, char *text, size_t size)
{
    size_t bytes = bytes_behind(pointer);
    if (search->address - pointer < bytes)
        return (size_t)snprintf(text, size, ".%lu", (unsigned long)(search->address - pointer));
    for (size_t at = 0; steps && at + 8 <= bytes && at < WAY_BYTES && search->words; at += 8, search->words--) {
        uint64_t next;
        memcpy(&next, (const void *)(pointer + at), sizeof next);
        if (next == pointer || !bytes_behind(next))
            continue;
        size_t start = (size_t)snprintf(text, size, ".%lu", (unsigned long)at);
        size_t rest = way_from(next, search, steps - 1, text + start, size - start);
        if (rest)
            return start + rest;
    }
    return 0;
}

/*
 * `>argument.offset.offset`: the shortest way from an argument over pointers to an address, as memory was before the call;
 * `>r.offset` behind the result. Returns how long it is.
 */
static size_t way_to(uintptr_t address, struct arguments arguments, char *text, size_t size)
{
    struct search search = {address, WAY_WORDS};
    for (unsigned steps = 0; steps <= WAY_STEPS; steps++) {
        for (unsigned one = 0; one < arguments.count; one++) {
            size_t start = (size_t)snprintf(text, size, ">%u", one);
            size_t rest = way_from(arguments.registers->integer[one], &search, steps, text + start, size - start);
            if (rest)
                return start + rest;
        }
    }
    text[0] = 0;
    if (arguments.result && address - arguments.result < WAY_BYTES)
        return (size_t)snprintf(text, size, ">r.%lu", (unsigned long)(address - arguments.result));
    return 0;
}

/* `argument:offset+argument:offset` for all pointers before an address, the nearest first. Returns how long it is. */
static size_t pointers_before(uintptr_t address, struct arguments arguments, char *text, size_t size)
{
    const uint64_t *pointers = arguments.registers->integer;
    size_t used = 0;
    for (uintptr_t below = address + 1;;) {
        uintptr_t nearest = 0;
        for (unsigned one = 0; one < arguments.count; one++)
            if (pointers[one] > nearest && pointers[one] < below && address - pointers[one] < FAR)
                nearest = pointers[one];
        if (!nearest)
            return used;
        for (unsigned one = 0; one < arguments.count; one++)
            if (pointers[one] == nearest)
                used += (size_t)snprintf(text + used, size - used, "%s%u:%lu", used ? "+" : "", one,
                                         (unsigned long)(address - nearest));
        below = nearest;
    }
}

/*
 * The places as `argument:offset@bytes=at:c:own`, with `?` for the arguments where none is before one: `at` is where the
 * offset leads to in the word that C and the candidate left. Behind each, the way that leads there. A result is `=0:c:own`.
 * Behind them, with `~` before each, the words that have an excuse, where a pointer is before one.
 */
void implfuzz_words_of(const struct places *places, struct arguments arguments, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '-', text[1] = 0;
    if (places->is_result)
        snprintf(text, size, "=0:%lx:%lx", (unsigned long)places->result_of_c, (unsigned long)places->own_result);
    for (size_t at = 0; at < places->count && used + PLACE_TEXT < size; at++) {
        uintptr_t address = (uintptr_t)places->address[at];
        used += (size_t)snprintf(text + used, size - used, "%s", at ? "," : "");
        size_t pointers = pointers_before(address, arguments, text + used, size - used);
        used += pointers;
        used += (size_t)snprintf(text + used, size - used, "%s@%u=%u:%lx:%lx", pointers ? "" : "?", places->bytes[at],
                                 (unsigned)(address & 7), (unsigned long)places->c[at], (unsigned long)places->own[at]);
        used += way_to(address, arguments, text + used, size - used);
    }
    const struct excused_words *excused = &places->excused;
    for (size_t at = 0; at < excused->count && used + PLACE_TEXT < size; at++) {
        uintptr_t address = (uintptr_t)excused->address[at];
        char pointers[PLACE_TEXT];
        if (pointers_before(address, arguments, pointers, sizeof pointers) != 0)
            used += (size_t)snprintf(text + used, size - used, "%s~%s@0=%u:%lx:%lx", used ? "," : "", pointers, (unsigned)(address & 7),
                                     (unsigned long)excused->c[at], (unsigned long)excused->own[at]);
    }
}
