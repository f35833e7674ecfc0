/*
 * Calls of the driver's own functions (callbacks and hooks) in a judged call. C and a candidate must make the same ones, in
 * the same order, with the same arguments, on the same memory. What both do is recorded and compared word by word: memory
 * that was there before the judged call has one address, but C and a candidate have memory of their own elsewhere.
 */
#define _GNU_SOURCE
#include "in_place.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The most bytes behind an argument that count, and the most of an object whose end is not in the arguments. */
#define MOST_BYTES ((size_t)4096)
#define MOST_OF_OBJECT ((size_t)256)
/* The most words of changed memory that are recorded for one call, and the first calls that look at memory. */
#define MOST_CHANGES 512
#define MOST_LOOKS 32
#define ARGUMENTS 16
/* The return address lies below the arguments on the stack, or is put there by the trampoline. */
#define RETURN_BELOW_ARGUMENTS 8

#if defined(__x86_64__)
#define INTEGERS 6
#else
#define INTEGERS 8
#endif
#define VECTORS 8

extern unsigned char __executable_start[], __data_start[];

void implfuzz_keep_signature(const char *name, uintptr_t address, size_t size)
{
    for (size_t at = 0; at < implfuzz_driver_functions(); at++) {
        if ((uintptr_t)implfuzz_driver_function(at) != address)
            continue;
        STATE->called_ends[at] = address + size;
        for (size_t one = 0; one < implfuzz_signature_count; one++)
            if (strcmp(implfuzz_signatures[one].name, name) == 0)
                STATE->signatures[at] = &implfuzz_signatures[one];
    }
}

/*
 * Whether the driver's own code is there; its copies of functions from headers belong to the library. The driver's functions
 * may call each other in ways that no signature tells.
 */
static int is_of_driver(uintptr_t code)
{
    for (size_t at = 0; at < implfuzz_driver_functions(); at++) {
        unsigned char *function = implfuzz_driver_function(at);
        if (code >= (uintptr_t)function && code < STATE->called_ends[at])
            return !implfuzz_is_of_library(function);
    }
    return 0;
}

static void add(uint64_t word, enum called_kind kind)
{
    struct called *called = &STATE->called;
    if (called->count < CALLED_WORDS)
        called->words[called->count++] = (struct called_word){word, kind};
}

/* Memory behind a word, if it is a pointer. */
struct memory {
    enum { NO_MEMORY, SHARED, OWN, CONSTANT } kind;
    size_t bytes;
};

/* `stack` is where the arguments of the call are: what lies below is dead. */
static struct memory memory_at(uint64_t word, const unsigned char *stack)
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
    if (at >= STATE->judged_stack && at < STATE->stack_base)
        return (struct memory){SHARED, (size_t)(STATE->stack_base - at)};
    if ((bytes = implfuzz_stack_behind(at, stack)))
        return (struct memory){OWN, bytes};
    if ((bytes = implfuzz_rust_heap_behind(at)))
        return (struct memory){OWN, bytes};
    if (at >= __executable_start && at < __data_start) {
        /* Those of a port may have no symbol. */
        uint64_t end = implfuzz_end_of_constant(word);
        return (struct memory){CONSTANT, (end ? end : (uintptr_t)__data_start) - word};
    }
    return (struct memory){NO_MEMORY, 0};
}

/* A number or an address. Where both have memory of their own, any address will do. */
static void add_word(uint64_t word, enum called_kind kind, const unsigned char *stack)
{
    add(word, kind | (memory_at(word, stack).kind == OWN ? CALLED_OWN : 0));
}

/* Words may be pointers. */
static void add_bytes(const unsigned char *bytes, size_t count, const unsigned char *stack)
{
    size_t at = 0;
    for (; at + 8 <= count; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof word);
        add_word(word, CALLED_ARGUMENT, stack);
    }
    uint64_t rest = 0;
    memcpy(&rest, bytes + at, count - at);
    add(rest, CALLED_ARGUMENT);
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
    add(value != value ? 0x7ff8000000000000u : word, CALLED_ARGUMENT);
}

static size_t least(size_t one, size_t other)
{
    return one < other ? one : other;
}

/* The arguments of a call. */
struct given {
    const struct implfuzz_parameter *parameters;
    size_t count;
    uint64_t words[ARGUMENTS];
    const unsigned char *floats[ARGUMENTS];
};

/* What the integers behind a pointer say of its length in bytes: one, or the product of two as for `fwrite`. Returns whether
 * they can be lengths. */
static int length_of(const struct given *given, size_t at, size_t most, size_t *length)
{
    size_t product = 1;
    int is_length = 0;
    for (size_t next = at + 1; next < given->count && next <= at + 2; next++) {
        if (given->parameters[next].kind != PASSED_INTEGER)
            break;
        uint64_t number = given->words[next];
        /* The second one is a length only beside sizes. */
        if (next == at + 2 && (given->parameters[next].bytes != 8 || given->parameters[at + 1].bytes != 8))
            break;
        if (number > most || (product *= number) > most)
            return next == at + 2;
        is_length = 1;
        *length = product;
    }
    return is_length;
}

static void add_pointer(const struct given *given, size_t at, const unsigned char *stack)
{
    const struct implfuzz_parameter *parameter = &given->parameters[at];
    uint64_t word = given->words[at];
    const unsigned char *bytes = (const unsigned char *)word;
    struct memory memory = memory_at(word, stack);
    size_t most = least(memory.bytes, MOST_BYTES), length = 0;
    int has_length = length_of(given, at, most, &length);
    int is_counted = parameter->kind == PASSED_INPUT && parameter->bytes <= 1 && has_length;
    add_word(word, parameter->kind == PASSED_TEXT || is_counted ? CALLED_TEXT : CALLED_ARGUMENT, stack);
    if (parameter->kind == PASSED_TEXT) {
        size_t text = strnlen((const char *)bytes, most);
        /* A `size_t` is a length; an `int` may say anything else. */
        int is_size = at + 1 < given->count && given->parameters[at + 1].bytes == 8;
        add_bytes(bytes, has_length && (is_size || length) && length <= text ? length : text, stack);
    } else if (is_counted) {
        add_bytes(bytes, length, stack);
    } else if (memory.kind == SHARED) {
        add_bytes(bytes, least(parameter->bytes, least(memory.bytes, MOST_OF_OBJECT)), stack);
    }
}

/* The words of the arguments, in their order: registers of two kinds, then the stack. */
static void add_arguments(const struct implfuzz_signature *signature, const struct registers *registers, const unsigned char *stack)
{
    struct given given = {signature->parameters, least(signature->count, ARGUMENTS), {0}, {0}};
    unsigned integers = 0, vectors = 0, on_stack = 0;
    for (size_t at = 0; at < given.count; at++) {
        int is_float = given.parameters[at].kind == PASSED_FLOAT;
        const unsigned char *from;
        if (is_float && vectors < VECTORS)
            from = registers->vector[vectors++];
        else if (!is_float && integers < INTEGERS)
            from = (const unsigned char *)&registers->integer[integers++];
        else
            from = stack + 8 * on_stack++;
        memcpy(&given.words[at], from, sizeof given.words[at]);
        given.floats[at] = from;
        if (given.parameters[at].kind == PASSED_INTEGER)
            given.words[at] = integer(given.words[at], given.parameters[at].bytes);
    }
    for (size_t at = 0; at < given.count; at++) {
        if (given.parameters[at].kind == PASSED_FLOAT)
            add_float(given.floats[at], given.parameters[at].bytes);
        else if (given.parameters[at].kind == PASSED_INTEGER)
            add(given.words[at], CALLED_ARGUMENT);
        else
            add_pointer(&given, at, stack);
    }
}

struct changes {
    const unsigned char *stack;
    size_t count;
};

/* A word of memory that was there before the judged call, and is not as it was. */
static void add_change(void *context, const unsigned char *address, uint64_t now)
{
    struct changes *changes = context;
    if (changes->count++ >= MOST_CHANGES)
        return;
    add((uintptr_t)address, CALLED_MEMORY);
    add_word(now, CALLED_MEMORY, changes->stack);
}

/* What the driver's function could see: memory that the judged call has changed so far, also in its caller's frames. */
static void add_memory(const unsigned char *stack)
{
    /* Of many calls, few look at all of it. */
    uint64_t calls = STATE->called.calls;
    if (calls > MOST_LOOKS && (calls & (calls - 1)) != 0)
        return;
    struct changes changes = {stack, 0};
    implfuzz_each_change(add_change, &changes);
    size_t bytes = (size_t)(STATE->stack_base - STATE->judged_stack) & ~(size_t)7;
    for (size_t at = 0; at < bytes; at += 8) {
        uint64_t now, before;
        memcpy(&now, STATE->judged_stack + at, sizeof now);
        memcpy(&before, STATE->stack_before + at, sizeof before);
        if (now != before)
            add_change(&changes, STATE->judged_stack + at, now);
    }
    if (!implfuzz_functions[STATE->judged_function].errno_says_nothing)
        add((uint64_t)errno, CALLED_MEMORY);
}

int implfuzz_is_called_back(uint32_t entry, const struct registers *registers, const unsigned char *stack)
{
    if (entry < implfuzz_entry_count)
        return 0;
    if (STATE->purpose != JUDGES || !(STATE->judging || STATE->in_candidate) || !STATE->judged_stack)
        return 1;
    uintptr_t from;
    memcpy(&from, stack - RETURN_BELOW_ARGUMENTS, sizeof from);
    if (is_of_driver(from))
        return 1;
    struct called *called = &STATE->called;
    called->calls++;
    add(entry, CALLED_FUNCTION);
    const struct implfuzz_signature *signature = STATE->signatures[entry - implfuzz_entry_count];
    if (signature)
        add_arguments(signature, registers, stack);
    add_memory(stack);
    return 1;
}

void implfuzz_keep_called(void)
{
    const struct called *called = &STATE->called;
    STATE->called_by_c->calls = called->calls;
    STATE->called_by_c->count = called->count;
    memcpy(STATE->called_by_c->words, called->words, called->count * sizeof *called->words);
}

/* Bytes in memory of a side's own, or in a constant. */
static int is_any_text(struct called_word of)
{
    return of.kind & CALLED_TEXT && (of.kind & CALLED_OWN || implfuzz_is_constant(of.word));
}

/* The name of the driver's function that the word at this place is about, if it is known, and both words. */
static void say(size_t at)
{
    const struct called *c = STATE->called_by_c, *own = &STATE->called;
    const char *name = "a function";
    size_t calls = 0;
    for (size_t before = 0; before <= at; before++)
        if (c->words[before].kind == CALLED_FUNCTION) {
            const struct implfuzz_signature *signature = STATE->signatures[c->words[before].word - implfuzz_entry_count];
            name = signature ? signature->name : "a function";
            calls++;
        }
    int is_word = c->words[at].kind == own->words[at].kind && c->words[at].kind != CALLED_FUNCTION;
    snprintf(STATE->said, sizeof STATE->said, is_word ? "at call %lu of the program, of %s: C %lx, port %lx" : "at call %lu of the program, of %s",
             (unsigned long)calls, name, (unsigned long)c->words[at].word, (unsigned long)own->words[at].word);
}

enum excuse implfuzz_compare_called(int moved)
{
    const struct called *c = STATE->called_by_c, *own = &STATE->called;
    for (size_t at = 0; at < c->count && at < own->count; at++) {
        struct called_word of_c = c->words[at], of_own = own->words[at];
        /* Words that nobody has set may look like addresses, for one of both. */
        int is_same_kind = ((of_c.kind ^ of_own.kind) & ~CALLED_OWN) == 0;
        if (is_same_kind && (of_c.word == of_own.word || of_c.kind & of_own.kind & CALLED_OWN))
            continue;
        /* A text on the stack does as well as a constant: what it says is compared, too. */
        if (is_any_text(of_c) && is_any_text(of_own))
            continue;
        int is_word = of_c.kind == of_own.kind && of_c.kind != CALLED_FUNCTION;
        if (is_word && implfuzz_excuse(of_c.word, of_own.word, moved, RESULT_UNKNOWN) == EQUAL_CONSTANTS)
            continue;
        say(at);
        return (of_c.kind | of_own.kind) & CALLED_MEMORY ? OTHER_MEMORY : OTHER_CALLS;
    }
    return c->count == own->count && c->calls == own->calls ? NONE : OTHER_CALLS;
}
