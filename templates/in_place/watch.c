/*
 * Tells what calls look like: arguments and result of each, how much memory is behind those that are pointers, and how much
 * of it C touches. What a contract says can be compared with it. C alone runs; its units are compiled so that they report
 * each load and store, and objcopy gives functions of the system that touch memory the names `implfuzz_seen_*`.
 */
#define _GNU_SOURCE
#include "in_place.h"

#include <stdio.h>
#include <string.h>

/* Watched calls of one input: other inputs show more. */
#define MOST_OF_INPUT 8
/* Bytes behind a pointer to memory of which the end is not known. */
#define FAR ((uint64_t)1 << 16)
/* All words of a call. */
#define LINE_BYTES 2048

int implfuzz_is_watched(const struct counts *own)
{
    uint64_t call = own->calls_of_input;
    return own->judged_of_input < MOST_OF_INPUT && (call <= 4 || (call & (call - 1)) == 0);
}

static struct extent extent_of(const unsigned char *address)
{
    if (implfuzz_is_arena(address))
        return implfuzz_extent(address);
    return (struct extent){NULL, (const unsigned char *)implfuzz_end_of_constant((uintptr_t)address)};
}

/* The eight bytes at an address, if there are so many on the driver's stack, among variables, or to the end of a block. */
static int can_read(const unsigned char *address, const struct extent *extent)
{
    const struct region *variables = &STATE->regions[1];
    size_t bytes = variables->pages * PAGE;
    if (extent->end)
        return (size_t)(extent->end - address) >= 8;
    if (address >= variables->start && address < variables->start + bytes)
        return (size_t)(variables->start + bytes - address) >= 8;
    return address >= STATE->judged_frame && address < STATE->stack_base && (size_t)(STATE->stack_base - address) >= 8;
}

/* Room for the words of a call. */
struct line {
    char text[LINE_BYTES];
    size_t used;
};

static void put(struct line *line, const char *format, uint64_t value)
{
    if (line->used < sizeof line->text)
        line->used += (size_t)snprintf(line->text + line->used, sizeof line->text - line->used, format, (unsigned long)value);
}

/*
 * A word: its value, and if it leads to known memory `b` with the block's start or `c` for a constant, `r` with the bytes to
 * the end, and `t` with the length of a text that ends there. `w` is what is read behind it.
 */
static void describe(struct line *line, uint64_t word, struct extent extent)
{
    const unsigned char *address = (const unsigned char *)word;
    put(line, " %lx", word);
    if (extent.start)
        put(line, ",b%lx", (uintptr_t)extent.start);
    else if (extent.end)
        put(line, ",c", 0);
    if (extent.end) {
        size_t room = (size_t)(extent.end - address);
        put(line, ",r%lu", room);
        const unsigned char *nul = memchr(address, 0, room);
        if (nul)
            put(line, ",t%lu", (size_t)(nul - address));
    }
    if (can_read(address, &extent)) {
        uint64_t behind;
        memcpy(&behind, address, sizeof behind);
        put(line, ",w%lx", behind);
    }
}

static int is_live(uint64_t word)
{
    unsigned char *block = implfuzz_is_arena((void *)word) ? implfuzz_block((unsigned char *)word) : NULL;
    return block && implfuzz_is_live(block);
}

void implfuzz_watch(uint32_t entry, struct registers *registers, const void *arguments, struct result_registers *result)
{
    const struct implfuzz_function *function = &implfuzz_functions[implfuzz_entries[entry].function];
    struct line line = {.used = 0};
    int were_live[WATCHED] = {0};
    size_t all = function->integers + function->on_stack;
    STATE->watched_count = all < WATCHED ? all : WATCHED;
    for (size_t at = 0; at < STATE->watched_count; at++) {
        struct watched *own = &STATE->watched[at];
        uint64_t word = at < function->integers ? registers->integer[at] : ((const uint64_t *)arguments)[at - function->integers];
        *own = (struct watched){.word = word, .extent = extent_of((void *)word)};
        were_live[at] = is_live(own->word);
        describe(&line, own->word, own->extent);
    }
    STATE->newest_call++;
    STATE->is_watching = 1;
    implfuzz_call(implfuzz_original(entry), registers, arguments, function->stack_bytes, result, registers);
    STATE->is_watching = 0;
    put(&line, " =", 0);
    describe(&line, result->integer[0], extent_of((void *)result->integer[0]));
    if (implfuzz_is_made((void *)result->integer[0]))
        put(&line, ",n", 0);
    for (size_t at = 0; at < STATE->watched_count; at++) {
        const struct watched *own = &STATE->watched[at];
        if (were_live[at] && !is_live(own->word))
            put(&line, " f%lu", at);
        if (own->touched) {
            put(&line, " d%lu", at);
            put(&line, ":%lu", own->touched);
            put(&line, ":%lu", own->written);
        }
    }
    if (line.used < sizeof line.text)
        implfuzz_report("watched%s\n", line.text);
}

/* Whether memory belongs to what an argument points to: the same block or constant, or not far behind it. */
static int may_belong(const struct watched *own, uint64_t address)
{
    if (address < own->word)
        return 0;
    return own->extent.end ? address < (uintptr_t)own->extent.end : address - own->word < FAR;
}

/* Credits memory to the nearest argument that points to it, or before it. */
static void touch(const void *memory, size_t bytes, int is_store)
{
    uint64_t address = (uintptr_t)memory, nearest = 0;
    if (!STATE->is_watching || bytes == 0)
        return;
    for (size_t at = 0; at < STATE->watched_count; at++)
        if (may_belong(&STATE->watched[at], address) && STATE->watched[at].word > nearest)
            nearest = STATE->watched[at].word;
    for (size_t at = 0; nearest && at < STATE->watched_count; at++) {
        struct watched *own = &STATE->watched[at];
        if (own->word != nearest)
            continue;
        uint64_t end = address + bytes - nearest;
        if (own->touched < end)
            own->touched = end;
        if (is_store && own->written < end)
            own->written = end;
    }
}

/* What clang calls before loads and stores. */
#define LOADS_AND_STORES(BYTES)                                                       \
    void __sanitizer_cov_load##BYTES(const void *memory) { touch(memory, BYTES, 0); } \
    void __sanitizer_cov_store##BYTES(const void *memory) { touch(memory, BYTES, 1); }
LOADS_AND_STORES(1)
LOADS_AND_STORES(2)
LOADS_AND_STORES(4)
LOADS_AND_STORES(8)
LOADS_AND_STORES(16)
/* It reports edges only because it does not report loads alone. */
void __sanitizer_cov_trace_pc(void) {}

static void read_text(const char *text)
{
    touch(text, strlen(text) + 1, 0);
}

static void read_texts(const char *one, const char *other, size_t most)
{
    size_t same = 0;
    while (same < most && one[same] == other[same] && one[same])
        same++;
    same += same < most;
    touch(one, same, 0), touch(other, same, 0);
}

static void read_some(const char *text, size_t most)
{
    size_t length = strnlen(text, most);
    touch(text, length + (length < most), 0);
}

void *implfuzz_seen_memcpy(void *to, const void *from, size_t bytes)
{
    touch(from, bytes, 0), touch(to, bytes, 1);
    return memmove(to, from, bytes);
}

void *implfuzz_seen_memmove(void *to, const void *from, size_t bytes)
{
    return implfuzz_seen_memcpy(to, from, bytes);
}

void *implfuzz_seen_memset(void *to, int byte, size_t bytes)
{
    touch(to, bytes, 1);
    return memset(to, byte, bytes);
}

int implfuzz_seen_memcmp(const void *one, const void *other, size_t bytes)
{
    touch(one, bytes, 0), touch(other, bytes, 0);
    return memcmp(one, other, bytes);
}

void *implfuzz_seen_memchr(const void *memory, int byte, size_t bytes)
{
    const char *found = memchr(memory, byte, bytes);
    touch(memory, found ? (size_t)(found - (const char *)memory) + 1 : bytes, 0);
    return (void *)found;
}

size_t implfuzz_seen_strlen(const char *text)
{
    read_text(text);
    return strlen(text);
}

size_t implfuzz_seen_strnlen(const char *text, size_t most)
{
    read_some(text, most);
    return strnlen(text, most);
}

int implfuzz_seen_strcmp(const char *one, const char *other)
{
    read_texts(one, other, SIZE_MAX);
    return strcmp(one, other);
}

int implfuzz_seen_strncmp(const char *one, const char *other, size_t most)
{
    read_texts(one, other, most);
    return strncmp(one, other, most);
}

char *implfuzz_seen_strcpy(char *to, const char *from)
{
    size_t bytes = strlen(from) + 1;
    return implfuzz_seen_memcpy(to, from, bytes);
}

char *implfuzz_seen_strncpy(char *to, const char *from, size_t most)
{
    read_some(from, most), touch(to, most, 1);
    return strncpy(to, from, most);
}

char *implfuzz_seen_strcat(char *to, const char *from)
{
    read_text(to), read_text(from), touch(to, strlen(to) + strlen(from) + 1, 1);
    return strcat(to, from);
}

char *implfuzz_seen_strchr(const char *text, int byte)
{
    char *found = strchr(text, byte);
    touch(text, found ? (size_t)(found - text) + 1 : strlen(text) + 1, 0);
    return found;
}

char *implfuzz_seen_strrchr(const char *text, int byte)
{
    read_text(text);
    return strrchr(text, byte);
}

char *implfuzz_seen_strstr(const char *text, const char *part)
{
    read_text(text), read_text(part);
    return strstr(text, part);
}
