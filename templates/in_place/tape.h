/* How a call of the system is kept on the tape: tape.c and answers.c. */
#ifndef IMPLFUZZ_TAPE_H
#define IMPLFUZZ_TAPE_H

#include "in_place.h"

enum kind {
    IGNORED,
    WORD,     /* all bits count */
    INT,      /* the lower 32 bits count */
    STREAM,   /* to which the bytes of the first argument go */
    BYTE,     /* one byte */
    STRING,   /* read up to its NUL */
    READ,     /* read, as many bytes as arguments A and B say; B is -1 where A alone does */
    PRINTED,  /* likewise, of a text that was formatted: its length is the result */
    WRITTEN,  /* written, at most so many: as many items as the call returns */
    TEXT,     /* a line, at most as many bytes as argument A says: on the tape, the result is how many are written */
    FIXED,    /* A bytes are written, where it is not null */
    RESULT,   /* the result is written there, too, A bytes, where it is not null */
    MODE      /* of a file, which counts where the flags in argument A make one */
};

struct argument {
    enum kind kind;
    int a, b;
};

struct implfuzz_taped {
    const char *name;
    uint64_t (*function)(uint64_t, uint64_t, uint64_t, uint64_t);
    size_t count;
    struct argument arguments[TAPE_ARGUMENTS];
};

/* Whether a call sends bytes to a stream. */
int implfuzz_is_output(const struct implfuzz_taped *of);
/* Whether such a call succeeded, for the items that were asked for, and the result where it does or does not. */
int implfuzz_succeeded(const struct implfuzz_taped *of, uint64_t asked, uint64_t result);
uint64_t implfuzz_result_of(const struct implfuzz_taped *of, const uint64_t *values, int success);
/* Whether a call on the tape is this one: the same function, which is told the same. */
int implfuzz_is_same_call(const struct taped_call *call, const struct implfuzz_taped *of, const uint64_t *values);
/* Begins the next call on the tape, with what it tells the system; NULL where there is no room. */
struct taped_call *implfuzz_new_call(const struct implfuzz_taped *of, const uint64_t *values);
/* Bytes that a call with this result writes behind an argument. */
size_t implfuzz_written(const struct argument *argument, const uint64_t *values, uint64_t value, uint64_t result);

/* A call of the system by the library, the driver or a candidate: it happens, is kept, or is answered. */
uint64_t implfuzz_by_tape(const struct implfuzz_taped *of, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

/* answers.c */
/* What the system could have answered to C. */
uint64_t implfuzz_imagine(const struct implfuzz_taped *of, const uint64_t *values);

#endif
