/*
 * Calls of the driver's own functions (callbacks and hooks) in a judged call: C and a candidate make the same ones, in the
 * same order, with the same arguments. Where an argument leads to memory of the caller, the address counts; where it leads
 * to memory that C or the candidate has for itself, only what the function is known to read there counts.
 */
#define _GNU_SOURCE
#include "in_place.h"

#include <string.h>

/* The most bytes behind an argument that count, and the most of an object whose end is not in the arguments. */
#define MOST_BYTES ((size_t)4096)
#define MOST_OF_OBJECT ((size_t)256)

#if defined(__x86_64__)
#define INTEGERS 6
#else
#define INTEGERS 8
#endif
#define VECTORS 8

extern unsigned char __executable_start[], __data_start[];

void implfuzz_keep_signature(const char *name, uintptr_t address)
{
    for (size_t at = 0; at < implfuzz_driver_functions(); at++) {
        if ((uintptr_t)implfuzz_driver_function(at) != address)
            continue;
        for (size_t one = 0; one < implfuzz_signature_count; one++)
            if (strcmp(implfuzz_signatures[one].name, name) == 0)
                STATE->signatures[at] = &implfuzz_signatures[one];
    }
}

static void add(uint64_t word)
{
    STATE->called = (STATE->called ^ word) * 0x9e3779b97f4a7c15u;
    STATE->called ^= STATE->called >> 29;
}

/* Memory behind a word, if it is a pointer. */
struct memory {
    enum {
        NO_MEMORY,
        SHARED, /* was there when the judged call began: C and candidates have it at the same address */
        OWN     /* of C or of the candidate, or a constant: at any address */
    } kind;
    size_t bytes;
};

static struct memory memory_at(uint64_t word)
{
    unsigned char *at = (unsigned char *)word;
    const struct region *variables = &STATE->regions[1];
    size_t bytes;
    if (implfuzz_is_arena(at)) {
        unsigned char *header = implfuzz_block(at);
        if (!header || !implfuzz_is_live(header) || !implfuzz_is_data(header, at))
            return (struct memory){NO_MEMORY, 0};
        const unsigned char *end = implfuzz_red_zone(header).start;
        return (struct memory){implfuzz_is_new(header) ? OWN : SHARED, at < end ? (size_t)(end - at) : 0};
    }
    if (at >= variables->start && at < variables->start + variables->pages * PAGE)
        return (struct memory){SHARED, (size_t)(variables->start + variables->pages * PAGE - at)};
    if ((bytes = implfuzz_stack_behind(at)))
        return (struct memory){at >= STATE->judged_frame && at < STATE->stack_base ? SHARED : OWN, bytes};
    if ((bytes = implfuzz_rust_heap_behind(at)))
        return (struct memory){OWN, bytes};
    if (at >= __executable_start && at < __data_start) {
        /* Those of a port may have no symbol. */
        uint64_t end = implfuzz_end_of_constant(word);
        return (struct memory){OWN, (end ? end : (uintptr_t)__data_start) - word};
    }
    return (struct memory){NO_MEMORY, 0};
}

/* A number, or an address: those of a side's own memory are all one. */
static void add_word(uint64_t word)
{
    add(memory_at(word).kind == OWN ? 1 : word);
}

static void add_bytes(const unsigned char *bytes, size_t count)
{
    for (size_t at = 0; at < count; at++)
        add(bytes[at]);
}

/* In a struct, words may be pointers. */
static void add_words(const unsigned char *bytes, size_t count)
{
    size_t at = 0;
    for (; at + 8 <= count; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof word);
        add_word(word);
    }
    add_bytes(bytes + at, count - at);
}

static uint64_t integer(uint64_t word, unsigned bytes)
{
    return bytes < 8 ? word & (((uint64_t)1 << 8 * bytes) - 1) : word;
}

static void add_float(const unsigned char *vector, unsigned bytes)
{
    double value = 0;
    float small;
    if (bytes == sizeof small)
        memcpy(&small, vector, sizeof small), value = small;
    else
        memcpy(&value, vector, sizeof value);
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    /* All NaNs are one. */
    add(value != value ? 0x7ff8000000000000u : word);
}

static size_t least(size_t one, size_t other)
{
    return one < other ? one : other;
}

/* `count` is the next argument, if that is an integer: what a function only reads is often that long. */
static void add_pointer(uint64_t word, const struct implfuzz_parameter *parameter, const uint64_t *count)
{
    const unsigned char *at = (const unsigned char *)word;
    struct memory memory = memory_at(word);
    add_word(word);
    size_t most = least(memory.bytes, MOST_BYTES), counted = count ? least(*count, most) : most;
    if (parameter->kind == PASSED_TEXT)
        add_bytes(at, strnlen((const char *)at, counted));
    else if (parameter->kind == PASSED_INPUT && parameter->bytes <= 1 && count)
        add_bytes(at, counted);
    else if (memory.kind == SHARED)
        add_words(at, least(parameter->bytes, least(memory.bytes, MOST_OF_OBJECT)));
}

/* The words of the arguments, in their order: registers of two kinds, then the stack. */
static void add_arguments(const struct implfuzz_signature *signature, const struct registers *registers, const unsigned char *stack)
{
    const struct implfuzz_parameter *parameters = signature->parameters;
    unsigned integers = 0, vectors = 0, on_stack = 0;
    uint64_t words[16];
    size_t count = signature->count < 16 ? signature->count : 16;
    const unsigned char *floats[16];
    for (size_t at = 0; at < count; at++) {
        int is_float = parameters[at].kind == PASSED_FLOAT;
        const unsigned char *from;
        if (is_float && vectors < VECTORS)
            from = registers->vector[vectors++];
        else if (!is_float && integers < INTEGERS)
            from = (const unsigned char *)&registers->integer[integers++];
        else
            from = stack + 8 * on_stack++;
        memcpy(&words[at], from, sizeof words[at]);
        floats[at] = from;
        if (parameters[at].kind == PASSED_INTEGER)
            words[at] = integer(words[at], parameters[at].bytes);
    }
    for (size_t at = 0; at < count; at++) {
        int is_counted = at + 1 < count && parameters[at + 1].kind == PASSED_INTEGER;
        if (parameters[at].kind == PASSED_FLOAT)
            add_float(floats[at], parameters[at].bytes);
        else if (parameters[at].kind == PASSED_INTEGER)
            add(words[at]);
        else
            add_pointer(words[at], &parameters[at], is_counted ? &words[at + 1] : NULL);
    }
}

int implfuzz_is_called_back(uint32_t entry, const struct registers *registers, const unsigned char *stack)
{
    if (entry < implfuzz_entry_count)
        return 0;
    if (STATE->judging || STATE->in_candidate) {
        add(entry + 1);
        const struct implfuzz_signature *signature = STATE->signatures[entry - implfuzz_entry_count];
        if (signature)
            add_arguments(signature, registers, stack);
    }
    return 1;
}
