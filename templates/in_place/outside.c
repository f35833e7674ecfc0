/*
 * Calls of the system that the tape does not know: they end a candidate, and the judging of C's call. `outside.S` leads here
 * for the functions that `outside.rs` names.
 */
#define _GNU_SOURCE
#include "in_place.h"

#include <stdio.h>
#include <string.h>

/* A function of the system that does more than compute was called. */
void implfuzz_outside(const char *name)
{
    int is_thread = strcmp(name, "pthread_create") == 0 || strcmp(name, "thrd_create") == 0;
    /* After a jump, the call that is judged or replaced does not return. */
    int jumps = strstr(name, "longjmp") != NULL;
    if (STATE->purpose == REPLACES && STATE->said[0] == 0) {
        if (jumps)
            STATE->in_candidate = 0;
        /* Two threads cannot both have a candidate in C's place. */
        if (is_thread)
            STATE->no_more = name;
        return;
    }
    if (STATE->in_candidate) {
        /* A panic prints, and ends the process. */
        int is_panic = STATE->said[0] != 0;
        STATE->outside = name;
        if (!is_panic)
            snprintf(STATE->said, sizeof STATE->said, "it calls %s, where C does something else", name);
        implfuzz_leave(is_panic ? EXITED : LEFT_PROCESS);
    }
    /* Other threads and processes would share what is put back: no later call is judged. */
    if (is_thread || strcmp(name, "fork") == 0 || strcmp(name, "vfork") == 0)
        STATE->no_more = name;
    static const char *const of_streams[] = {"setvbuf", "setbuf", "setbuffer", "fmemopen", "open_memstream", "fopencookie"};
    for (size_t at = 0; at < sizeof of_streams / sizeof *of_streams; at++)
        if (strcmp(name, of_streams[at]) == 0)
            STATE->no_tape = name;
    if (STATE->purpose == BRANCHES)
        STATE->outside = name;
    /* What is outside cannot be put back: C runs on unjudged. */
    if (STATE->tracking)
        STATE->outside = name;
    implfuzz_untrack();
    /* The kernel cannot write to protected memory. */
    implfuzz_open_arena();
}
