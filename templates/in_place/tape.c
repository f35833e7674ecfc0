/*
 * Calls of the system whose effects are known happen once, for C, and are answered from a tape for candidates, which must
 * make the same calls in the same order with the same data. Addresses of data may differ: its bytes are what counts.
 * Compilers turn functions that write to a stream into each other, so that these count as one.
 * `NAMES` is a generated file, a line for each function that the library, the driver or a port calls:
 *
 *     TAPED(NAME, NAME OF THE SAME FUNCTION, ARGUMENTS, {KIND, A, B}, …)
 *
 * and `TEXTS` is one of texts.
 */
#define _GNU_SOURCE
#include "tape.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

const int implfuzz_knows_calls = KNOWS_CALLS;

const char *const implfuzz_texts[] = {
    "1", "", "/nonexistent/of-the-environment", "0", "C",
#include TEXTS
};
const size_t implfuzz_text_count = sizeof implfuzz_texts / sizeof *implfuzz_texts;

int implfuzz_is_output(const struct implfuzz_taped *of)
{
    return of->count && of->arguments[of->count - 1].kind == STREAM;
}

/* Whether it is `fgets`. */
static int is_line(const struct implfuzz_taped *of)
{
    return of->count && of->arguments[0].kind == TEXT;
}

/* Whether a call of an output function succeeded, and the result where it does or does not. */
int implfuzz_succeeded(const struct implfuzz_taped *of, uint64_t asked, uint64_t result)
{
    switch (of->arguments[0].kind) {
    case READ:
    case PRINTED: return result == asked;
    default: return (int32_t)result >= 0;
    }
}

uint64_t implfuzz_result_of(const struct implfuzz_taped *of, const uint64_t *values, int success)
{
    switch (of->arguments[0].kind) {
    case READ: return success ? values[2] : 0;
    case PRINTED: return success ? values[2] : (uint64_t)-1;
    case BYTE: return success ? (unsigned char)values[0] : (uint64_t)-1;
    default: return success ? 1 : (uint64_t)-1;
    }
}

static size_t size(const struct argument *argument, const uint64_t *values)
{
    uint64_t bytes = values[argument->a];
    return argument->b < 0 ? bytes : bytes * values[argument->b];
}

/* O_TMPFILE has the bit of O_DIRECTORY in it. */
static int makes_file(uint32_t flags)
{
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

/* What the argument says to the system: a number, or a hash of the bytes. */
static uint64_t said(const struct argument *argument, const uint64_t *values, uint64_t value)
{
    const unsigned char *bytes = (const unsigned char *)value;
    size_t length;
    switch (argument->kind) {
    case WORD: return value;
    case STREAM: return value;
    case INT: return (uint32_t)value;
    case BYTE: bytes = (const unsigned char *)&value, length = 1; break;
    case STRING: length = bytes ? strlen((const char *)bytes) : 0; break;
    case READ:
    case PRINTED: length = size(argument, values); break;
    case RESULT:
    case IGNORED: return 0;
    case MODE: return makes_file((uint32_t)values[argument->a]) ? (uint32_t)value & 07777 : 0;
    default: return value == 0;
    }
    uint64_t hash = 0xcbf29ce484222325 ^ length ^ ((uint64_t)(bytes != NULL) << 63);
    for (size_t at = 0; at < length; at++)
        hash = (hash ^ bytes[at]) * 0x100000001b3;
    return hash;
}

/* Adds the bytes that a call sends, however many calls they take. */
static void send(const struct implfuzz_taped *of, const uint64_t *values)
{
    for (size_t at = 0; at < of->count; at++) {
        const struct argument *argument = &of->arguments[at];
        const unsigned char *bytes = argument->kind == BYTE ? (const unsigned char *)&values[at] : (const unsigned char *)values[at];
        size_t length = 0;
        switch (argument->kind) {
        case BYTE: length = 1; break;
        case STRING: length = bytes ? strlen((const char *)bytes) : 0; break;
        case READ:
        case PRINTED: length = size(argument, values); break;
        default: break;
        }
        for (size_t byte = 0; byte < length; byte++)
            STATE->sent = (STATE->sent ^ bytes[byte]) * 0x100000001b3u;
    }
}

/* Bytes that a call can write, and those that it wrote. */
static size_t room(const struct argument *argument, const uint64_t *values, uint64_t value)
{
    switch (argument->kind) {
    case WRITTEN: return size(argument, values);
    case TEXT: return (uint32_t)values[argument->a];
    case RESULT:
    case FIXED: return value ? (size_t)argument->a : 0;
    default: return 0;
    }
}

size_t implfuzz_written(const struct argument *argument, const uint64_t *values, uint64_t value, uint64_t result)
{
    switch (argument->kind) {
    case WRITTEN:
        if ((int64_t)result < 0)
            return 0;
        if (argument->b < 0)
            return result;
        /* A part of an item may follow the last whole one. */
        if (result < values[argument->b] && values[argument->a])
            return (result + 1) * values[argument->a] - 1;
        return result * values[argument->a];
    case TEXT: return result;
    default: return room(argument, values, value);
    }
}

/* Where the tape keeps what an argument says: a stream stands last, since outputs have it at different places. */
static size_t place(const struct implfuzz_taped *of, size_t argument)
{
    return of->arguments[argument].kind == STREAM ? TAPE_ARGUMENTS - 1 : argument;
}

/* The kernel cannot write to protected memory. */
static void open_written(const struct implfuzz_taped *of, const uint64_t *values)
{
    for (size_t at = 0; at < of->count; at++)
        implfuzz_open((unsigned char *)values[at], room(&of->arguments[at], values, values[at]));
}

/* What C printed would stay in the buffer of the stream, where a candidate could read it. */
static void forget_output(const struct implfuzz_taped *of, const uint64_t *values)
{
    int error = errno;
    FILE *stream = implfuzz_is_output(of) ? (FILE *)values[of->count - 1] : NULL;
    if (stream && fflush(stream) == 0) {
#ifdef __GLIBC__
        if (stream->_IO_buf_base)
            memset(stream->_IO_buf_base, 0, (size_t)(stream->_IO_buf_end - stream->_IO_buf_base));
#endif
    }
    errno = error;
}

struct taped_call *implfuzz_new_call(const struct implfuzz_taped *of, const uint64_t *values)
{
    struct tape *tape = &STATE->tape;
    size_t bytes = 0;
    for (size_t at = 0; at < of->count; at++)
        bytes += room(&of->arguments[at], values, values[at]);
    if (tape->count == TAPE_CALLS || bytes > TAPE_BYTES - tape->used)
        return NULL;
    struct taped_call *call = &tape->calls[tape->count++];
    *call = (struct taped_call){.of = of, .at = tape->used, .asked = values[2]};
    for (size_t at = 0; at < of->count; at++)
        call->said[place(of, at)] = said(&of->arguments[at], values, values[at]);
    return call;
}

/*
 * What `fgets` does, for the bytes that it writes, with its NUL; 0 where it gives none. A line may have NULs of its own, and
 * what stands behind it in memory stays.
 */
static size_t line(char *text, int size, FILE *stream)
{
    int byte = 0;
    size_t length = 0;
    if (size <= 0)
        return 0;
    while (length + 1 < (size_t)size && byte != '\n' && (byte = fgetc(stream)) != EOF)
        text[length++] = (char)byte;
    /* It may have failed before, so that the stream does not say. */
    int has_failed = byte == EOF && errno && errno != EAGAIN;
    if (has_failed && length)
        implfuzz_outside("fgets");
    if ((size > 1 && length == 0) || has_failed)
        return 0;
    text[length] = 0;
    return length + 1;
}

/* `fgets` returns its argument, where the tape has a length. */
static uint64_t result_of_call(const struct taped_call *call, const struct implfuzz_taped *of, const uint64_t *values)
{
    return is_line(of) && call->result ? values[0] : call->result;
}

static uint64_t ask(const struct implfuzz_taped *of, const uint64_t *values)
{
    if (is_line(of))
        return line((char *)values[0], (int)values[1], (FILE *)values[2]);
    return of->function(values[0], values[1], values[2], values[3]);
}

/* C's call: it happens, and is kept. Where the tape has no room, C runs on unjudged. */
static uint64_t record(const struct implfuzz_taped *of, const uint64_t *values)
{
    struct tape *tape = &STATE->tape;
    struct taped_call *call = implfuzz_new_call(of, values);
    if (!call) {
        implfuzz_outside(of->name);
        return of->function(values[0], values[1], values[2], values[3]);
    }
    open_written(of, values);
    /* It may fail with the value that is there. */
    int before = errno;
    errno = 0;
    call->result = ask(of, values);
    call->error = errno;
    if (!errno)
        errno = before;
    forget_output(of, values);
    for (size_t at = 0; at < of->count; at++) {
        size_t length = implfuzz_written(&of->arguments[at], values, values[at], call->result);
        if (length)
            memcpy(tape->bytes + tape->used, (const void *)values[at], length);
        tape->used += length;
    }
    return result_of_call(call, of, values);
}

/* What is larger may be an address or a time. */
#define SMALL_RESULT 0xffff

/* The hash with what the system answered to C: the bytes that it wrote, and small results and errors. */
uint64_t implfuzz_with_answers(uint64_t hash)
{
    const struct tape *tape = &STATE->tape;
    for (size_t at = 0; at < tape->count; at++) {
        const struct taped_call *call = &tape->calls[at];
        /* The upper half of an int is undefined. */
        int is_small = call->result <= SMALL_RESULT || (uint32_t)call->result == UINT32_MAX;
        uint32_t result = is_small ? (uint32_t)call->result : 0;
        hash = (hash ^ result) * 0x100000001b3u;
        hash = (hash ^ (uint32_t)call->error) * 0x100000001b3u;
    }
    for (size_t at = 0; at < tape->used; at++)
        hash = (hash ^ tape->bytes[at]) * 0x100000001b3u;
    return hash;
}

int implfuzz_is_same_call(const struct taped_call *call, const struct implfuzz_taped *of, const uint64_t *values)
{
    if (implfuzz_is_output(of) ? !implfuzz_is_output(call->of) : strcmp(call->of->name, of->name) != 0)
        return 0;
    for (size_t at = 0; at < of->count; at++)
        if (call->said[place(of, at)] != said(&of->arguments[at], values, values[at]))
            return 0;
    return 1;
}

/* A candidate's call. */
static uint64_t answer(const struct implfuzz_taped *of, const uint64_t *values)
{
    struct tape *tape = &STATE->tape;
    const struct taped_call *call = &tape->calls[tape->next];
    if (tape->next == tape->count || !implfuzz_is_same_call(call, of, values))
        implfuzz_outside(of->name); /* does not return */
    tape->next++;
    const unsigned char *bytes = tape->bytes + call->at;
    for (size_t at = 0; at < of->count; at++) {
        const struct argument *argument = &of->arguments[at];
        /* C may have given no memory for it. */
        if (argument->kind == RESULT) {
            if (values[at])
                memcpy((void *)values[at], &call->result, (size_t)argument->a);
            continue;
        }
        size_t length = implfuzz_written(argument, values, values[at], call->result);
        if (length)
            memcpy((void *)values[at], bytes, length);
        bytes += length;
    }
    if (call->error)
        errno = call->error;
    if (implfuzz_is_output(of) && (call->of->function != of->function || call->asked != values[2]))
        return implfuzz_result_of(of, values, implfuzz_succeeded(call->of, call->asked, call->result));
    return result_of_call(call, of, values);
}

uint64_t implfuzz_by_tape(const struct implfuzz_taped *of, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t values[TAPE_ARGUMENTS] = {a, b, c, d};
    if (STATE->purpose == JUDGES && !STATE->no_tape) {
        if (STATE->in_candidate && !STATE->said[0])
            return STATE->answers.imagines ? implfuzz_imagine(of, values) : answer(of, values);
        if (!STATE->in_candidate) {
            if (STATE->tracking)
                return record(of, values);
            open_written(of, values);
            return of->function(a, b, c, d);
        }
    } else if ((STATE->purpose == BRANCHES || STATE->purpose == WATCHES) && !STATE->no_tape) {
        return of->function(a, b, c, d);
    }
    if (STATE->purpose == REPLACES)
        send(of, values);
    implfuzz_outside(of->name);
    uint64_t result = of->function(a, b, c, d);
    if (STATE->purpose == REPLACES)
        forget_output(of, values);
    return result;
}

#define TAPED(NAME, SAME, COUNT, ...) \
    extern uint64_t implfuzz_real_##NAME(uint64_t, uint64_t, uint64_t, uint64_t) __asm__(#NAME); \
    static const struct implfuzz_taped taped_##NAME = {#SAME, implfuzz_real_##NAME, COUNT, {__VA_ARGS__}}; \
    uint64_t implfuzz_of_##NAME(uint64_t a, uint64_t b, uint64_t c, uint64_t d) { return implfuzz_by_tape(&taped_##NAME, a, b, c, d); }

#include NAMES

static const struct implfuzz_taped endings[] = {{"exit", NULL, 1, {{INT, 0, 0}}}, {"_exit", NULL, 1, {{INT, 0, 0}}}};

int implfuzz_record_end(int status, int is_quick)
{
    struct tape *tape = &STATE->tape;
    if (tape->count == TAPE_CALLS)
        return 0;
    tape->calls[tape->count++] = (struct taped_call){.of = &endings[is_quick], .said = {(uint32_t)status}, .at = tape->used};
    return 1;
}

int implfuzz_answer_end(int status, int is_quick)
{
    struct tape *tape = &STATE->tape;
    const struct taped_call *call = &tape->calls[tape->next];
    if (tape->next == tape->count || call->of != &endings[is_quick] || call->said[0] != (uint32_t)status)
        return 0;
    tape->next++;
    return 1;
}

/* Whether a candidate has made all of C's calls; if not, `said` names the next one. */
int implfuzz_tape_is_over(void)
{
    struct tape *tape = &STATE->tape;
    if (tape->next == tape->count)
        return 1;
    snprintf(STATE->said, sizeof STATE->said, "C calls %s, where it does not", tape->calls[tape->next].of->name);
    return 0;
}
