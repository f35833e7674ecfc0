/*
 * Answers that the system could have given, and did not: after a judged call, C and the candidates run once more, where one
 * call of the system is answered otherwise. It reads less than was asked for, finds the end or fails; a position is beyond
 * 2 GiB; the clock shows a later time; a variable of the environment is set. No such run asks the system for anything: what C calls behind the changed
 * answer must have an answer on the tape of the judged call, or one that is clear; if not, nothing is judged.
 */
#define _GNU_SOURCE
#include "tape.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IO_FAILED ((uint64_t)-1)
#define CAN(CHANGE) (1u << (CHANGE))

/* How a function can answer otherwise: the changes, and what it returns where it fails, with this `errno`. */
static const struct changes {
    const char *name;
    unsigned changes;
    uint64_t failed;
    int error;
} of_functions[] = {
    {"read", CAN(FEWER) | CAN(AT_ITS_END) | CAN(FAILS), IO_FAILED, EIO},
    {"fread", CAN(FEWER) | CAN(AT_ITS_END) | CAN(FAILS), 0, EIO},
    {"fgets", CAN(AT_ITS_END) | CAN(FAILS), 0, EIO},
    {"fgetc", CAN(AT_ITS_END) | CAN(FAILS), IO_FAILED, EIO},
    {"write", CAN(FEWER) | CAN(AT_ITS_END) | CAN(FAILS), IO_FAILED, ENOSPC},
    {"fwrite", CAN(FEWER) | CAN(FAILS), 0, ENOSPC},
    {"fputs", CAN(FAILS), IO_FAILED, ENOSPC},
    {"fputc", CAN(FAILS), IO_FAILED, ENOSPC},
    {"printf", CAN(FAILS), IO_FAILED, ENOSPC},
    {"fflush", CAN(FAILS), IO_FAILED, ENOSPC},
    {"fclose", CAN(FAILS), IO_FAILED, ENOSPC},
    {"close", CAN(FAILS), IO_FAILED, EIO},
    {"fopen", CAN(FAILS), 0, EACCES},
    {"fdopen", CAN(FAILS), 0, ENOMEM},
    {"tmpfile", CAN(FAILS), 0, EMFILE},
    {"open", CAN(FAILS), IO_FAILED, EACCES},
    {"fseek", CAN(FAILS), IO_FAILED, ESPIPE},
    {"ftell", CAN(FAILS) | CAN(OTHER), IO_FAILED, ESPIPE},
    {"lseek", CAN(FAILS) | CAN(OTHER), IO_FAILED, ESPIPE},
    {"remove", CAN(FAILS), IO_FAILED, EACCES},
    {"rename", CAN(FAILS), IO_FAILED, EACCES},
    {"unlink", CAN(FAILS), IO_FAILED, EACCES},
    {"feof", CAN(OTHER), 0, 0},
    {"ferror", CAN(OTHER), 0, 0},
    {"getenv", CAN(OTHER), 0, 0},
    {"isatty", CAN(OTHER), 0, ENOTTY},
    {"getpid", CAN(OTHER), 0, 0},
    {"rand", CAN(OTHER), 0, 0},
    {"random", CAN(OTHER), 0, 0},
    {"clock", CAN(OTHER), 0, 0},
    {"time", CAN(OTHER), 0, 0},
    {"clock_gettime", CAN(OTHER), 0, 0},
    {"gettimeofday", CAN(OTHER), 0, 0},
};

static int is(const struct implfuzz_taped *of, const char *name)
{
    return strcmp(of->name, name) == 0;
}

static const struct changes *changes_of(const struct implfuzz_taped *of)
{
    for (size_t at = 0; at < sizeof of_functions / sizeof *of_functions; at++)
        if (is(of, of_functions[at].name))
            return &of_functions[at];
    return NULL;
}

static int is_position(const struct implfuzz_taped *of)
{
    return is(of, "ftell") || is(of, "lseek");
}

/* Whether a call that was answered so can be answered otherwise in this way. */
static int can_change(const struct taped_call *call, enum change how)
{
    const struct changes *changes = changes_of(call->of);
    if (!changes || !(changes->changes & CAN(how)))
        return 0;
    /* A stream may have ended or failed before; where it has, nothing says that it could not have. */
    if (how == OTHER && !is_position(call->of))
        return call->result == 0 || !(is(call->of, "feof") || is(call->of, "ferror"));
    int has_failed = call->result == changes->failed || (uint32_t)call->result == UINT32_MAX;
    return !has_failed && (how != FEWER || call->result >= 2) && (how != AT_ITS_END || call->result != 0);
}

int implfuzz_change_answer(uint64_t number)
{
    struct answers *answers = &STATE->answers;
    const struct tape *real = &answers->real;
    size_t count = 0;
    for (size_t at = 0; at < real->count; at++)
        for (enum change how = FEWER; how <= OTHER; how++)
            count += can_change(&real->calls[at], how) != 0;
    if (count == 0)
        return 0;
    size_t chosen = number % count;
    answers->number = number / count;
    answers->next = 0;
    answers->given = 0;
    answers->rest = 0;
    for (answers->at = 0; answers->at < real->count; answers->at++)
        for (answers->how = FEWER; answers->how <= OTHER; answers->how++)
            if (can_change(&real->calls[answers->at], answers->how) && chosen-- == 0)
                return 1;
    return 0;
}

/* What a call is answered with; the bytes that it writes stand one behind another. */
struct answer {
    uint64_t result;
    int error;
    const unsigned char *bytes;
};

static uint64_t give(const struct implfuzz_taped *of, const uint64_t *values, struct answer answer)
{
    struct tape *tape = &STATE->tape;
    struct taped_call *call = implfuzz_new_call(of, values);
    if (!call)
        implfuzz_leave(LEFT_PROCESS);
    call->result = answer.result;
    call->error = answer.error;
    uint64_t result = answer.result;
    const unsigned char *bytes = answer.bytes;
    for (size_t at = 0; bytes && at < of->count; at++) {
        const struct argument *argument = &of->arguments[at];
        size_t length = implfuzz_written(argument, values, values[at], answer.result);
        if (length) {
            memcpy((void *)values[at], bytes, length);
            memcpy(tape->bytes + tape->used, bytes, length);
        }
        if (argument->kind == TEXT && answer.result)
            result = values[at];
        bytes += length;
        tape->used += length;
    }
    if (answer.error)
        errno = answer.error;
    return result;
}

static const unsigned char *bytes_of(const struct taped_call *call)
{
    return STATE->answers.real.bytes + call->at;
}

/* As the system answered. */
static uint64_t as_real(const struct implfuzz_taped *of, const uint64_t *values, const struct taped_call *call)
{
    struct answer answer = {call->result, call->error, bytes_of(call)};
    if (implfuzz_is_output(of))
        answer.result = implfuzz_result_of(of, values, implfuzz_succeeded(call->of, call->asked, call->result));
    return give(of, values, answer);
}

/* Another random number, now and then the smallest or the largest. */
static uint64_t random_number(uint64_t real, uint64_t number)
{
    switch (number % 4) {
    case 2: return 0;
    case 3: return RAND_MAX;
    default: return (real * 1103515245 + 12345 + number) & RAND_MAX;
    }
}

/* Where files of more than 2 or 4 GiB, and other contents, take a stream. */
static const uint64_t far_positions[] = {((uint64_t)1 << 31) + 5, 1, ((uint64_t)1 << 32) + 3};

/* A time, a position, a number or a text that is not the system's. */
static uint64_t other(const struct implfuzz_taped *of, const uint64_t *values, const struct taped_call *call)
{
    uint64_t number = STATE->answers.number;
    /* From a minute to two years: later ones overflow in C that keeps times in an int. */
    uint64_t later = (uint64_t)1 << (6 + (number * 5 + 20) % 21);
    /* People and machines set clocks back, too. */
    uint64_t shift = number % 3 == 2 ? -later : later;
    struct answer answer = {call->result, call->error, NULL};
    uint64_t bytes[4] = {0};
    if (is(of, "getenv"))
        answer.result = call->result && number % 4 == 0 ? 0 : (uint64_t)implfuzz_texts[number % implfuzz_text_count];
    else if (is(of, "isatty"))
        answer = (struct answer){!(int32_t)call->result, call->result ? ENOTTY : 0, NULL};
    else if (is(of, "feof") || is(of, "ferror"))
        answer.result = 1;
    else if (is(of, "getpid"))
        answer.result += 1 + number;
    else if (is(of, "rand") || is(of, "random"))
        answer.result = random_number(call->result, number);
    else if (is(of, "clock"))
        answer.result += 1000 * later;
    else if (is_position(of))
        answer.result += far_positions[number % 3];
    else {
        size_t length = 0;
        for (size_t at = 0; at < of->count; at++)
            length += implfuzz_written(&of->arguments[at], values, values[at], call->result);
        memcpy(bytes, bytes_of(call), length < sizeof bytes ? length : sizeof bytes);
        /* The seconds stand first; where `gettimeofday` fills in a time zone alone, there are none. */
        if (values[is(of, "clock_gettime")])
            bytes[0] += shift;
        if (is(of, "time")) /* -1 where it fails */
            bytes[0] = answer.result = number % 5 == 4 ? (uint64_t)-1 : answer.result + shift;
        answer.bytes = (const unsigned char *)bytes;
    }
    return give(of, values, answer);
}

/* Why a call fails: as the table says, or for a reason after which a call is tried again, or that callers may tell apart. */
static int reason(const struct changes *changes)
{
    const int of_names[] = {changes->error, EMFILE, ENOENT, EEXIST, EXDEV};
    const int of_data[] = {changes->error, EINTR, EAGAIN, changes->error == ENOSPC ? EPIPE : EIO};
    int is_on_file = changes->changes & CAN(FEWER) || changes->error == EIO;
    uint64_t number = STATE->answers.number;
    /* What positions a file has one reason alone. */
    if (changes->error == ESPIPE)
        return ESPIPE;
    return is_on_file ? of_data[number % 4] : of_names[number % 5];
}

/* Whether an input stream has failed behind the changed answer, and is not at its end: some bytes may come before either. */
static int has_failed(const struct implfuzz_taped *of)
{
    const struct answers *answers = &STATE->answers;
    return answers->how == FAILS || (answers->how == FEWER && is(of, "fread") && answers->number % 2);
}

/* The changed answer itself. */
static uint64_t changed(const struct implfuzz_taped *of, const uint64_t *values, const struct taped_call *call)
{
    struct answers *answers = &STATE->answers;
    const struct changes *changes = changes_of(call->of);
    answers->given = 1;
    answers->stream = of->count ? values[of->count - 1] : 0;
    switch (answers->how) {
    case OTHER: return other(of, values, call);
    case FEWER:
        if (is(of, "read"))
            answers->rest = call->result - call->result / 2;
        return give(of, values, (struct answer){call->result / 2, implfuzz_is_output(of) ? changes->error : 0, bytes_of(call)});
    case AT_ITS_END: return give(of, values, (struct answer){is(of, "fgetc") ? IO_FAILED : 0, 0, NULL});
    default: break;
    }
    uint64_t failed = implfuzz_is_output(of) ? implfuzz_result_of(of, values, 0) : changes->failed;
    return give(of, values, (struct answer){failed, reason(changes), NULL});
}

/* What `read` has not given yet. */
static uint64_t rest(const struct implfuzz_taped *of, const uint64_t *values, const struct taped_call *call)
{
    struct answers *answers = &STATE->answers;
    uint64_t bytes = values[2] < answers->rest ? values[2] : answers->rest;
    const unsigned char *from = bytes_of(call) + call->result - answers->rest;
    answers->rest -= bytes;
    return give(of, values, (struct answer){bytes, 0, from});
}

uint64_t implfuzz_imagine(const struct implfuzz_taped *of, const uint64_t *values)
{
    struct answers *answers = &STATE->answers;
    const struct tape *real = &answers->real;
    const struct taped_call *call = &real->calls[answers->at];
    size_t next = answers->next;
    while (next < real->count && !implfuzz_is_same_call(&real->calls[next], of, values))
        next++;
    if (!answers->given) {
        /* So far, C makes the calls that it made. */
        if (next != answers->next || next == real->count)
            implfuzz_leave(LEFT_PROCESS);
        /* What has failed may be tried again. */
        answers->next += next != answers->at || answers->how != FAILS;
        return next == answers->at ? changed(of, values, call) : as_real(of, values, &real->calls[next]);
    }
    /* Where a stream is later, nothing says. */
    if (answers->how == OTHER && !is_position(of) && implfuzz_is_same_call(call, of, values))
        return other(of, values, call);
    if (answers->rest && strcmp(of->name, call->of->name) == 0 && (uint32_t)values[0] == (uint32_t)call->said[0])
        return rest(of, values, call);
    int is_of_stream = of->count && values[of->count - 1] == answers->stream;
    /* A stream is at its end, or has failed, as long as C does not clear that. */
    int failed = implfuzz_is_output(call->of) || has_failed(call->of);
    if (is_of_stream && answers->how != OTHER && is(of, "feof"))
        return give(of, values, (struct answer){!failed, 0, NULL});
    if (is_of_stream && answers->how != OTHER && is(of, "ferror"))
        return give(of, values, (struct answer){failed, 0, NULL});
    if (next < real->count) {
        answers->next = next + 1;
        return as_real(of, values, &real->calls[next]);
    }
    if (implfuzz_is_output(of))
        return give(of, values, (struct answer){implfuzz_result_of(of, values, 1), 0, NULL});
    if (is(of, "write"))
        return give(of, values, (struct answer){values[2], 0, NULL});
    /* A second file, where the first does not open: it is not there. */
    if (is(of, "fopen") || is(of, "open"))
        return give(of, values, (struct answer){changes_of(of)->failed, ENOENT, NULL});
    if (is(of, "fclose") || is(of, "close") || is(of, "fflush") || is(of, "clearerr") || is(of, "remove") || is(of, "unlink"))
        return give(of, values, (struct answer){0, 0, NULL});
    implfuzz_leave(LEFT_PROCESS);
}

void implfuzz_answers_begin(void)
{
    struct answers *answers = &STATE->answers;
    const struct tape *tape = &STATE->tape;
    memcpy(answers->real.calls, tape->calls, tape->count * sizeof *tape->calls);
    memcpy(answers->real.bytes, tape->bytes, tape->used);
    answers->real.count = tape->count;
    answers->real.used = tape->used;
    implfuzz_set_after_aside();
}

void implfuzz_answers_end(void)
{
    STATE->answers.how = AS_REAL;
    implfuzz_bring_after_back();
}

void implfuzz_change_words(char *text, size_t size)
{
    static const char *const words[] = {"", "fewer", "end", "fails", "other"};
    const struct answers *answers = &STATE->answers;
    snprintf(text, size, "-");
    if (answers->how != AS_REAL)
        snprintf(text, size, "%s:%s", answers->real.calls[answers->at].of->name, words[answers->how]);
}
