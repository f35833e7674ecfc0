/* Puts memory back, page by page of the log (track.c), and compares what C and a candidate left there. */
#define _GNU_SOURCE
#include "in_place.h"

#include <string.h>
#include <sys/mman.h>

/* The linker's names for the variables of the program. */
extern unsigned char __data_start[], _end[];

static void *memory(size_t bytes)
{
    return implfuzz_somewhere(bytes, PROT_READ | PROT_WRITE);
}

void implfuzz_pages_make(void)
{
    uintptr_t start = (uintptr_t)__data_start & ~(PAGE - 1), end = ((uintptr_t)_end + PAGE - 1) & ~(PAGE - 1);
    STATE->regions[0] = (struct region){ARENA, 0, memory(ARENA_BYTES / PAGE * sizeof(uint32_t))};
    STATE->regions[1] =
        (struct region){(unsigned char *)start, (end - start) / PAGE, memory((end - start) / PAGE * sizeof(uint32_t))};
    STATE->before = memory(LOG_PAGES * PAGE);
    STATE->secret = memory(SECRET_BYTES);
    STATE->stack_after = STATE->secret + PAGE;
    STATE->after = STATE->stack_after + STACK_BYTES;
    STATE->stack_after_aside = STATE->stack_after + AFTER_BYTES;
    STATE->after_aside = STATE->after + AFTER_BYTES;
    STATE->called_by_c = (struct called *)(STATE->secret + PAGE + 2 * AFTER_BYTES);
}

/* Keeps what C wrote. */
void implfuzz_keep_after(void)
{
    for (size_t at = 0; at < STATE->logged; at++) {
        memcpy(STATE->after + at * PAGE, STATE->log[at].address, PAGE);
        STATE->log[at].by_c = 1;
    }
    STATE->logged_by_c = STATE->logged;
}

static void exchange(unsigned char **one, unsigned char **other)
{
    unsigned char *kept = *one;
    *one = *other;
    *other = kept;
}

void implfuzz_set_after_aside(void)
{
    exchange(&STATE->after, &STATE->after_aside);
    exchange(&STATE->stack_after, &STATE->stack_after_aside);
    STATE->logged_aside = STATE->logged_by_c;
}

void implfuzz_bring_after_back(void)
{
    exchange(&STATE->after, &STATE->after_aside);
    exchange(&STATE->stack_after, &STATE->stack_after_aside);
    for (size_t at = 0; at < STATE->logged; at++)
        STATE->log[at].by_c = at < STATE->logged_aside;
}

void implfuzz_put_back_before(void)
{
    for (size_t at = 0; at < STATE->logged; at++)
        memcpy(STATE->log[at].address, STATE->before + at * PAGE, PAGE);
}

static const unsigned char *after(size_t at)
{
    return (STATE->log[at].by_c ? STATE->after : STATE->before) + at * PAGE;
}

void implfuzz_put_back_after(void)
{
    for (size_t at = 0; at < STATE->logged; at++)
        memcpy(STATE->log[at].address, after(at), PAGE);
}

/* A byte as it was after C's call. */
static const unsigned char *after_c(const unsigned char *address)
{
    uint32_t number = STATE->regions[0].logged[(size_t)(address - ARENA) / PAGE];
    return number ? after(number - 1) + ((uintptr_t)address & (PAGE - 1)) : address;
}

/* A byte as it was before the call. */
static const unsigned char *before_call(const unsigned char *address)
{
    uint32_t number = STATE->regions[0].logged[(size_t)(address - ARENA) / PAGE];
    return number ? STATE->before + (number - 1) * PAGE + ((uintptr_t)address & (PAGE - 1)) : address;
}

extern unsigned char __executable_start[];

int implfuzz_is_constant(uint64_t address)
{
    return address >= (uintptr_t)__executable_start && address < (uintptr_t)__data_start;
}

/* Whether the rest of C's constant stands at both, from so many bytes on: a text may be the start of a table. */
static int is_same_to_end(uint64_t c, uint64_t own, size_t at)
{
    uint64_t end = implfuzz_end_of_constant(c);
    for (; c + at < end; at++)
        if (!implfuzz_is_constant(own + at) || ((unsigned char *)c)[at] != ((unsigned char *)own)[at])
            return 0;
    return 1;
}

/* Whether C's constant ends behind this NUL, as far as is known, or goes on with another one, as a row of a table does. */
static int is_end_of_text(uint64_t c, size_t at)
{
    uint64_t end = implfuzz_end_of_constant(c);
    return c + at + 1 >= end || !((unsigned char *)c)[at + 1];
}

static int is_print(unsigned char byte)
{
    return byte >= ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

/*
 * Whether the same text stands at both; where it may be anything else, only what looks like text is taken for it. A pointer
 * to char that does not look so may lead to a table: then all of C's constant counts.
 */
static enum excuse excuse_text(uint64_t c, uint64_t own, int is_text)
{
    int looks_so = 1;
    uint64_t end = implfuzz_end_of_constant(c);
    for (size_t at = 0; implfuzz_is_constant(c + at) && implfuzz_is_constant(own + at); at++) {
        if (is_text && c + at == end)
            return EQUAL_CONSTANTS;
        unsigned char byte = ((unsigned char *)c)[at];
        if (byte != ((unsigned char *)own)[at])
            return OTHER_CONSTANT;
        if (byte == 0 && is_text)
            return (looks_so && at && is_end_of_text(c, at)) || is_same_to_end(c, own, at) ? EQUAL_CONSTANTS : SAME_START;
        if (byte == 0)
            return at <= 1 ? OTHER_CONSTANT : is_same_to_end(c, own, at) ? EQUAL_CONSTANTS : SAME_START;
        looks_so &= is_print(byte);
        if (!is_text && !looks_so)
            return OTHER_CONSTANT;
    }
    return OTHER_CONSTANT;
}

enum excuse implfuzz_excuse(uint64_t c, uint64_t own, int moved, enum result kind)
{
    if (moved && implfuzz_is_arena((void *)c) && implfuzz_is_arena((void *)own))
        return MOVED;
    if (!implfuzz_is_constant(c) || !implfuzz_is_constant(own))
        return NONE;
    switch (implfuzz_port_of(c, own)) {
    case PORT_OF_THIS: return EQUAL_CONSTANTS;
    case PORT_OF_OTHER: return NONE;
    case NO_PORT: break;
    }
    if (kind == RESULT_POINTER)
        return OTHER_CONSTANT;
    return excuse_text(c, own, kind == RESULT_TEXT);
}

/* Whether neither C nor the candidate has ever allocated here. */
static int is_unused(const unsigned char *address)
{
    size_t top = implfuzz_arena_used(), top_of_c = implfuzz_arena_used_in(after_c(ARENA));
    return address >= ARENA + (top > top_of_c ? top : top_of_c);
}

/* Whether a byte of the arena belongs to a block that was in use before the call, and is. */
static int is_old(const unsigned char *address)
{
    const unsigned char *block = implfuzz_block(address);
    return block && implfuzz_is_live(block) && !implfuzz_is_new(block) && implfuzz_is_data(block, address) &&
           address < implfuzz_red_zone(block).start;
}

void implfuzz_each_change(void (*change)(void *context, const unsigned char *address, uint64_t now), void *context)
{
    for (size_t at = 0; at < STATE->logged; at++) {
        const unsigned char *now = STATE->log[at].address, *then = STATE->before + at * PAGE;
        int is_arena = implfuzz_is_arena(now);
        if (memcmp(now, then, PAGE) == 0)
            continue;
        for (size_t byte = 0; byte < PAGE; byte += 8) {
            uint64_t word;
            memcpy(&word, now + byte, sizeof word);
            if (memcmp(now + byte, then + byte, sizeof word) != 0 && (!is_arena || is_old(now + byte)))
                change(context, now + byte, word);
        }
    }
}

#define NOWHERE ((const unsigned char *)UINTPTR_MAX)

/* A stretch of the arena whose bytes belong to one block, or to none. */
struct stretch {
    const unsigned char *end, *block;
    const unsigned char *new_from; /* behind it are bytes that no block of C's had before the call */
    int is_live, was_live, is_new, is_dead, is_resized;
};

static struct stretch stretch_at(const unsigned char *address)
{
    const unsigned char *page_end = (const unsigned char *)((uintptr_t)address & ~(PAGE - 1)) + PAGE;
    const unsigned char *block = implfuzz_block(address);
    if (!block)
        return (struct stretch){.end = page_end};
    const unsigned char *next = implfuzz_next_block(block);
    const unsigned char *before = before_call(block), *of_c = after_c(block);
    int is_live = implfuzz_is_live(block), was_live = implfuzz_is_live(of_c), is_new = !implfuzz_is_live(before);
    int is_resized = implfuzz_size(block) != implfuzz_size(before) || implfuzz_size(of_c) != implfuzz_size(before);
    /* C may have freed a block and got it again. */
    int is_new_of_c = is_new || (was_live && implfuzz_is_new(of_c));
    return (struct stretch){next && next < page_end ? next : page_end, block,
                            is_new_of_c ? block : is_resized ? implfuzz_end_as_in(block, before) : NOWHERE, is_live, was_live, is_new,
                            !is_live && !was_live, is_resized};
}

/* Whether a byte of the stretch that differs counts: in a block of C's or of the candidate's. */
static int counts(const struct stretch *in, const unsigned char *address, unsigned char then, int moved, enum excuse *excused)
{
    if (!in->block)
        return is_unused(address);
    /* Nobody writes to a dead block but those that free it. */
    if (in->is_dead && !implfuzz_is_data(in->block, address))
        return !implfuzz_is_free_header(in->block);
    if (in->is_dead)
        return *address != implfuzz_dead(1) && *address != *before_call(address);
    if (moved && (in->is_new || in->is_live != in->was_live || in->is_resized)) {
        *excused = MOVED;
        return 0;
    }
    /* What C never wrote has no value. */
    return !(address >= in->new_from && in->was_live && then == STATE->fresh);
}

/* Whether these bytes behind a block are other than they were, where it was in use, and no red zone. */
static int is_written(const unsigned char *block, const unsigned char *at, const unsigned char *end, int as_c_did)
{
    uint64_t size = implfuzz_size(block);
    int is_of_c = as_c_did && implfuzz_size(after_c(block)) == size, is_old = implfuzz_size(before_call(block)) == size;
    for (; at < end; at++)
        if (*at != STATE->red && !(is_of_c && *at == *after_c(at)) && !(is_old && *at == *before_call(at)))
            return 1;
    return 0;
}

int implfuzz_is_overflown(const unsigned char *block)
{
    struct red_zone zone = implfuzz_red_zone(block);
    return is_written(block, zone.start, zone.end, 0);
}

/* The part of a red zone in a page. */
static int is_overflown_in(const unsigned char *block, const unsigned char *page)
{
    struct red_zone zone = implfuzz_red_zone(block);
    const unsigned char *end = page + PAGE;
    return is_written(block, zone.start > page ? zone.start : page, zone.end < end ? zone.end : end, 1);
}

uint64_t implfuzz_overflown(void)
{
    if (STATE->overflown)
        return STATE->overflown;
    for (size_t at = 0; at < STATE->logged; at++) {
        const unsigned char *page = STATE->log[at].address;
        if (!implfuzz_is_arena(page))
            continue;
        const unsigned char *block = implfuzz_block(page);
        for (; block && block < page + PAGE; block = implfuzz_next_block(block))
            if (implfuzz_is_live(block) && is_overflown_in(block, page))
                return implfuzz_size(block);
    }
    return 0;
}

void implfuzz_add_place(struct places *places, const unsigned char *address, uint64_t c, uint64_t own, unsigned bytes)
{
    places->bytes[places->count] = (unsigned char)bytes;
    places->c[places->count] = c;
    places->own[places->count] = own;
    places->address[places->count++] = address;
}

void implfuzz_add_excused(struct places *places, enum excuse excuse, const unsigned char *address, uint64_t c, uint64_t own)
{
    struct excused_words *words = &places->excused;
    if (excuse == NONE || excuse == EQUAL_CONSTANTS)
        return;
    places->excuse = excuse;
    if (excuse == MOVED || words->count >= PLACES)
        return;
    words->c[words->count] = c;
    words->own[words->count] = own;
    words->address[words->count++] = address;
}

/* The bytes of a word that differ and count; `in` is NULL outside of the arena. */
static unsigned bytes_of_word(const struct stretch *in, const unsigned char *now, const unsigned char *then, int moved)
{
    unsigned bytes = 0;
    enum excuse excused = NONE;
    for (size_t at = 0; at < 8; at++) {
        if (now[at] == then[at])
            continue;
        struct nans nans = implfuzz_nans(now + at, then + at);
        if (nans.number == NUMBER)
            at += nans.bytes - 1;
        else if (!implfuzz_is_left_out(now + at) && (!in || counts(in, now + at, then[at], moved, &excused)))
            bytes |= 1u << at;
    }
    return bytes;
}

/* How C's memory differs from that which is there now. Pages that neither wrote are equal. */
enum difference implfuzz_compare_pages(struct places *places, int moved)
{
    enum difference first = SAME;
    unsigned char dead = implfuzz_dead(1);
    for (size_t at = 0; at < STATE->logged; at++) {
        const unsigned char *now = STATE->log[at].address, *then = after(at);
        if (memcmp(now, then, PAGE) == 0)
            continue;
        int is_arena = implfuzz_is_arena(now);
        struct stretch in = {.end = now};
        for (size_t byte = 0; byte < PAGE && places->count < PLACES; byte++) {
            if (now[byte] == then[byte] || implfuzz_is_left_out(now + byte))
                continue;
            struct nans nans = implfuzz_nans(now + byte, then + byte);
            if (nans.number == NUMBER) {
                byte += nans.bytes - 1;
                continue;
            }
            if (is_arena && now + byte >= in.end)
                in = stretch_at(now + byte);
            if (in.is_dead && now[byte] == dead)
                continue;
            if (is_arena && !counts(&in, now + byte, then[byte], moved, &places->excuse))
                continue;
            size_t word = byte & ~(size_t)7;
            uint64_t words[2];
            memcpy(&words[0], then + word, 8);
            memcpy(&words[1], now + word, 8);
            /* What is no list of free blocks any more is wrong, whatever the order of blocks. */
            int is_header = in.is_dead && !implfuzz_is_data(in.block, now + byte);
            if (!is_header && implfuzz_find_no_value(now + byte, now[byte], then[byte]))
                continue;
            places->is_certain |= is_header;
            enum excuse excuse = is_header ? NONE : implfuzz_excuse(words[0], words[1], moved, RESULT_UNKNOWN);
            if (excuse == NONE && !is_header && nans.number == MAYBE_NUMBER)
                excuse = OTHER_NANS;
            implfuzz_add_excused(places, excuse, now + byte, words[0], words[1]);
            if (excuse == NONE) {
                implfuzz_add_place(places, now + byte, words[0], words[1],
                                   bytes_of_word(is_arena ? &in : NULL, now + word, then + word, moved));
                first = first != SAME ? first : is_arena ? DIFFERS_MEMORY : DIFFERS_VARIABLE;
            }
            byte = excuse == OTHER_NANS ? byte + nans.bytes - 1 : byte | 7;
        }
    }
    return first;
}
