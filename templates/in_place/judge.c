/* One judged call: C, then the candidates on the same memory, then on with C's result. */
#define _GNU_SOURCE
#include "in_place.h"
#include "killed.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Ticks that C is taken to need where it does not run. */
#define REPLACED_TICKS 50

static void keep_allocations(struct picture *picture)
{
    picture->live = implfuzz_live_blocks();
    picture->allocations = STATE->allocations;
    picture->allocated = STATE->allocated;
}

static void forget_allocations(void)
{
    STATE->allocations = STATE->allocated = STATE->asked = 0;
    STATE->called.calls = STATE->called.count = 0;
    STATE->failed = 0;
}

/* The most bytes that the trampoline has on the driver's stack. */
#define TRAMPOLINE_BYTES 512

/*
 * Called by the library's code, which a compiler marks: what such a conversion gives, or `__builtin_clz(0)`, has no
 * meaning, and differs from one machine to another. Only C's own run counts.
 */
void __ubsan_handle_float_cast_overflow(void *place, unsigned long value)
{
    STATE->undefined = 1;
}

void __ubsan_handle_invalid_builtin(void *place)
{
    STATE->undefined = 1;
}

/* What a call begins with. */
struct call {
    const struct implfuzz_function *function;
    void *original;
    struct registers registers;
    unsigned char *stack;
    size_t bytes;
    int error;
    /* The trampoline's frame, which is below the caller's, and its bytes. */
    unsigned char *trampoline, trampoline_bytes[TRAMPOLINE_BYTES];
};

static void put_back(const struct call *call)
{
    implfuzz_put_back_before();
    memcpy(call->stack, STATE->stack_before, call->bytes);
    memcpy(call->trampoline, call->trampoline_bytes, (size_t)(call->stack - call->trampoline));
}

/* What `typed.rs` may find to be padding, or addresses of the port's own. */
static int may_be_right(enum difference difference, const struct places *places)
{
    if (places->is_certain)
        return 0;
    return places->excuse != NONE || difference == DIFFERS_MEMORY || difference == DIFFERS_STACK || difference == DIFFERS_VARIABLE;
}

/* Whether a candidate has found nothing to change here. */
static int has_left_counts_alone(const struct counts *before)
{
    const struct counts *now = &STATE->counts[STATE->judged_function];
    return memcmp(now, before, sizeof *now) == 0 && STATE->purpose == JUDGES && STATE->judging;
}

/* Mutants are not alone: an unchanged copy stands before them. */
static int function_has_port(const struct implfuzz_function *function)
{
    return function->count == 1;
}

/* Runs a function on what the call began with, and puts memory back behind it. `nested` is what its calls of itself reach, or
 * NULL for C. */
static enum difference try(void *code, void *nested, const struct call *call, const struct picture *c, struct places *places)
{
    struct picture picture = {0};
    implfuzz_rust_heap_clear();
    forget_allocations();
    errno = call->error;
    STATE->overflown = 0;
    STATE->ends_as_c = 0;
    STATE->tape.next = 0;
    STATE->code = nested;
    struct counts before;
    memcpy(&before, &STATE->counts[STATE->judged_function], sizeof before);
    mprotect(STATE->secret, SECRET_BYTES, PROT_NONE);
    STATE->port_runs = nested && function_has_port(call->function);
    enum difference difference =
        implfuzz_run(code, &call->registers, call->stack, call->function->stack_bytes, &picture.result);
    STATE->port_runs = 0;
    char system_call[64];
    int makes_system_call = implfuzz_system_call(system_call, sizeof system_call);
    picture.error = errno;
    mprotect(STATE->secret, SECRET_BYTES, PROT_READ | PROT_WRITE);
    keep_allocations(&picture);
    if (c->ends && difference == EXITED && STATE->ends_as_c)
        difference = SAME;
    int has_returned = difference == SAME;
    if (STATE->overflow || implfuzz_has_outgrown()) {
        difference = DIFFERS_MEMORY;
        places->excuse = MOVED;
    }
    STATE->overflow = 0;
    if (nested && !has_left_counts_alone(&before)) {
        STATE->counts[STATE->judged_function] = before;
        places->is_certain = 1;
        has_returned = 0;
        difference = DIFFERS_VARIABLE;
    }
    if (difference == SAME && STATE->ends_as_c)
        difference = implfuzz_compare_ends(places);
    else if (difference == SAME && !c->ends)
        difference = implfuzz_compare(call->function, c, &picture, &call->registers, call->stack, call->bytes, places);
    if (has_returned && (difference == SAME || may_be_right(difference, places))) {
        uint64_t size = implfuzz_overflown();
        if (size) {
            memset(places, 0, sizeof *places);
            places->is_certain = 1;
            difference = DIFFERS_MEMORY;
            snprintf(STATE->said, sizeof STATE->said, "it writes behind a block of %lu bytes", (unsigned long)size - 1);
        }
    }
    if (difference == SAME && !implfuzz_tape_is_over())
        difference = LEFT_PROCESS;
    if (difference == SAME && STATE->rust_live != 0 && !c->ends)
        difference = DIFFERS_HEAP;
    if (has_returned && nested && implfuzz_rust_heap_is_damaged()) {
        snprintf(STATE->said, sizeof STATE->said, "it writes to memory of Rust's allocator that is not its own");
        difference = CRASHED;
    }
    if (makes_system_call && difference != LEFT_PROCESS && !STATE->said[0]) {
        memset(places, 0, sizeof *places);
        places->is_certain = 1;
        snprintf(STATE->said, sizeof STATE->said,
                 "it makes the system call %s itself, not through a function of the C library", system_call);
        difference = LEFT_PROCESS;
    }
    if (difference == SAME && (places->excuse = implfuzz_compare_called(implfuzz_has_moved(c, &picture))) != NONE)
        difference = CALLS_OTHERWISE;
    if (nested && !implfuzz_is_driver_stack_clear(call->trampoline)) {
        memset(places, 0, sizeof *places);
        places->is_certain = 1;
        difference = DIFFERS_STACK;
        implfuzz_clear_driver_stack(call->trampoline);
    }
    put_back(call);
    return difference;
}

/* A panic's text takes one line of the report. */
static void one_line(char *text)
{
    for (char *end = text; (end = strchr(end, '\n'));)
        *end = ' ';
}

/* Differences of a port that may be right; it runs on after these, for the next one may be certain. */
#define MOST_UNCLEAR 32

/* Whether C does the same on the candidates' stack as on the driver's, and again with other bytes in new memory. Bytes without
 * value do not count: they are found here. */
enum steadiness { NOT_KNOWN, STEADY, UP_TO_BYTES, UNSTEADY };

static enum steadiness steadiness(const struct call *call, const struct picture *c)
{
    enum difference difference = SAME;
    STATE->no_value.use = FOUND;
    for (int time = 0; time < 2 && difference == SAME; time++) {
        struct places places = {0};
        STATE->flip = time ? 0xff : 0;
        implfuzz_fill_candidate_stack(STACK_FILL ^ STATE->flip);
        /* Candidates call themselves through the judge, whose frames move all below. */
        difference = try(call->original, time ? call->original : NULL, call, c, &places);
    }
    STATE->flip = 0;
    STATE->no_value.use = COUNTED;
    return difference != SAME ? UNSTEADY : STATE->no_value.is_any ? UP_TO_BYTES : STEADY;
}

/* Whether nobody wrote any of the bytes that differ. */
static int are_unwritten(const struct places *places)
{
    for (size_t at = 0; at < places->count; at++)
        for (size_t byte = 0; byte < 8; byte++)
            if (places->bytes[at] >> byte & 1 && !implfuzz_is_unwritten((unsigned char *)((uintptr_t)places->address[at] & ~7ul) + byte))
                return 0;
    /* What both leave where they end the program is not told by place. */
    if (places->excuse == AT_END)
        return 1;
    for (size_t at = 0; at < places->excused.count; at++)
        if (!implfuzz_is_unwritten(places->excused.address[at]))
            return 0;
    return places->count + places->excused.count != 0;
}

static enum difference try_candidate(uint32_t number, void *candidate, const struct call *call, const struct picture *c,
                                     struct places *places)
{
    memset(places, 0, sizeof *places);
    /* C's mutants have no way to it but its name. */
    if (function_has_port(call->function))
        implfuzz_bar(number, 1);
    implfuzz_clear_candidate_stack(STATE->fresh);
    enum difference difference = try(candidate, candidate, call, c, places);
    /* The machine may have been slow. */
    if (difference == HUNG)
        difference = try(candidate, candidate, call, c, places);
    if (function_has_port(call->function))
        implfuzz_bar(number, 0);
    return difference;
}

static int judge_candidates(uint32_t number, const struct call *call, const struct picture *c)
{
    struct counts *own = &STATE->counts[number];
    enum steadiness steady = NOT_KNOWN;
    for (size_t at = 0; at < call->function->count; at++) {
        if (own->killed[at])
            continue;
        struct places places;
        void *candidate = call->function->candidates[at];
        enum difference difference = try_candidate(number, candidate, call, c, &places);
        if (difference == SAME)
            continue;
        char said[sizeof STATE->said];
        memcpy(said, STATE->said, sizeof said);
        if (steady == NOT_KNOWN)
            steady = steadiness(call, c);
        if (steady == UNSTEADY)
            return 0;
        if (steady == UP_TO_BYTES) {
            /* A byte without value hides what else differs. */
            int is_all = are_unwritten(&places);
            STATE->no_value.use = LEFT_OUT;
            difference = try_candidate(number, candidate, call, c, &places);
            STATE->no_value.use = COUNTED;
            if (difference == SAME && is_all)
                continue;
            if (difference == SAME)
                return 0;
            memcpy(said, STATE->said, sizeof said);
        }
        if (function_has_port(call->function) && may_be_right(difference, &places) && own->unclear < MOST_UNCLEAR) {
            own->unclear++;
        } else {
            own->killed[at] = (unsigned char)difference;
            own->alive--;
        }
        one_line(said);
        char where[PLACES * PLACE_TEXT], change[64];
        implfuzz_change_words(change, sizeof change);
        enum result kind = call->function->result;
        uint64_t result = kind == RESULT_POINTER || kind == RESULT_TEXT ? c->result.integer[0] : 0;
        implfuzz_words_of(&places, (struct arguments){&call->registers, call->function->integers, result}, where, sizeof where);
        implfuzz_report(KILLED_WRITTEN, number, at, difference, (unsigned long)STATE->input,
                        (unsigned long)own->calls_of_input, (unsigned long)STATE->failing, change, places.excuse, where, said);
    }
    return 1;
}

/* Whether the call says something of the candidates: C does the same twice, also on their stack. */
static int candidates(uint32_t number, const struct call *call, const struct picture *c)
{
    implfuzz_close_driver_stack(call->trampoline, 1);
    int says = judge_candidates(number, call, c);
    implfuzz_forget_no_value();
    implfuzz_close_driver_stack(call->trampoline, 0);
    return says;
}

/* How many allocations of a call fail, one at a time: the first ones, and one of the next. */
#define FAILING_FIRST 4
#define FAILING_LATER 61
/* Ticks that C gets there, and how often it may not return before no more allocations of the function fail. */
#define FAILING_TICKS 2
#define FAILING_HANGS 3

/* What C does where an allocation fails, or where the system answers otherwise: whether it survives, and asked for it. */
static int run_once_more(struct counts *own, const struct call *call, struct picture *c)
{
    forget_allocations();
    errno = call->error;
    STATE->said[0] = 0;
    STATE->tape.count = STATE->tape.used = STATE->tape.next = 0;
    STATE->answers.imagines = STATE->answers.how != AS_REAL;
    STATE->code = NULL;
    STATE->ends_as_c = 0;
    STATE->ticks_allowed = implfuzz_patience(FAILING_TICKS);
    STATE->undefined = 0;
    unsigned ticks = STATE->ticks;
    enum difference end =
        implfuzz_run(call->original, &call->registers, call->stack, call->function->stack_bytes, &c->result);
    c->error = errno;
    STATE->answers.imagines = 0;
    c->ends = end == EXITED && STATE->ends_as_c;
    own->hangs += end == HUNG;
    STATE->ticks_allowed = implfuzz_patience(STATE->ticks - ticks);
    keep_allocations(c);
    implfuzz_keep_called();
    int is_asked = STATE->answers.how == AS_REAL ? STATE->failed : STATE->answers.given;
    int is_one = (end == SAME || c->ends) && is_asked && !STATE->undefined && !STATE->overflow && !implfuzz_has_outgrown();
    STATE->overflow = 0;
    if (is_one) {
        implfuzz_keep_after();
        memcpy(STATE->stack_after, call->stack, call->bytes);
    }
    put_back(call);
    return is_one;
}

/* Judges the candidates where one allocation of the call fails, on both sides. */
static void judge_without_memory(uint32_t number, const struct call *call, struct picture *c)
{
    struct counts *own = &STATE->counts[number];
    for (uint64_t at = 1; at <= FAILING_FIRST + 1 && own->alive; at++) {
        STATE->failing = at <= FAILING_FIRST ? at : at + own->calls % FAILING_LATER;
        /* Where C does not survive it, no port has to; later ones may not even be asked for. */
        if (!run_once_more(own, call, c))
            break;
        /* An unsteady run does not count: C uses what nobody wrote, and no port has to do the same. */
        candidates(number, call, c);
    }
    STATE->failing = 0;
    STATE->outside = NULL;
    memset(c, 0, sizeof *c);
}

/* Changes of a judged call. */
#define CHANGES 3

/* Judges the candidates where the system answers otherwise than it did in the judged call, on both sides. Here, too, unsteady
 * runs do not count. */
static void judge_with_other_answers(uint32_t number, const struct call *call, struct picture *c)
{
    struct counts *own = &STATE->counts[number];
    if (c->ends || !implfuzz_is_for_changes(own))
        return;
    struct picture of_call = *c;
    implfuzz_answers_begin();
    for (unsigned times = 0; times < CHANGES && own->alive && own->hangs < FAILING_HANGS; times++) {
        if (!implfuzz_change_answer(own->changes++))
            break;
        memset(c, 0, sizeof *c);
        if (run_once_more(own, call, c))
            candidates(number, call, c);
    }
    implfuzz_answers_end();
    STATE->outside = NULL;
    *c = of_call;
}

/* The candidate runs for C; a difference ends the run of this input. */
static void replace(uint32_t number, const struct registers *registers, const unsigned char *arguments,
                    struct result_registers *result)
{
    const struct implfuzz_function *function = &implfuzz_functions[number];
    void *candidate = function->candidates[0];
    if (STATE->in_candidate) {
        implfuzz_call(candidate, registers, arguments, function->stack_bytes, result, NULL);
        return;
    }
    STATE->ticks_allowed = implfuzz_patience(REPLACED_TICKS);
    enum difference difference = implfuzz_run(candidate, registers, arguments, function->stack_bytes, result);
    if (difference != SAME) {
        one_line(STATE->said);
        implfuzz_report("replaced %lu %d %s\n", (unsigned long)STATE->input, difference, STATE->said);
        _exit(0);
    }
}

/*
 * What new memory begins with: often what nobody expects, sometimes what many do. It is the same whenever an input runs. Few
 * bytes, since calls that differ in unwritten memory alone count as different ones; none that texts have, since what C
 * writes is not told from what was there.
 */
static unsigned char fresh(uint64_t call)
{
    switch (call % 16) {
    case 7: return 0;
    case 14: return 0xff;
    default: return call % 2 ? 0xf6 : FRESH_OF_DRIVER;
    }
}

/* After a call that has not returned. */
void implfuzz_end_call(void)
{
    if (STATE->judging && STATE->purpose == JUDGES && (STATE->outside || STATE->overflow))
        STATE->counts[STATE->judged_function].outside = STATE->outside ? STATE->outside : "too-many-pages";
    if (STATE->judging && STATE->purpose == BRANCHES && STATE->has_ended && implfuzz_add_branches()) {
        STATE->counts[STATE->judged_function].judged++;
        STATE->counts[STATE->judged_function].judged_of_input++;
    }
    implfuzz_untrack();
    STATE->fresh = FRESH_OF_DRIVER;
    STATE->is_watching = 0;
    STATE->judging = 0;
}

/* Whether the call was judged; if so, `result` holds C's. */
int implfuzz_judge(uint32_t entry, struct registers *registers, unsigned char *frame, struct result_registers *result)
{
    if (implfuzz_is_called_back(entry, registers, frame + 16))
        return 0;
    uint32_t number = implfuzz_entries[entry].function;
    const struct implfuzz_function *function = &implfuzz_functions[number];
    struct counts *own = &STATE->counts[number];
    /* As where it stands for C: a candidate that calls the function calls itself. */
    if (STATE->in_candidate && STATE->purpose == JUDGES && number == STATE->judged_function && STATE->code) {
        implfuzz_call(STATE->code, registers, frame + 16, function->stack_bytes, result, NULL);
        return 1;
    }
    own->calls++;
    own->calls_of_input++;
    if (STATE->purpose == REPLACES && STATE->stack_base && !STATE->no_more) {
        replace(number, registers, frame + 16, result);
        return 1;
    }
    if (STATE->judging || STATE->purpose == COUNTS || !own->alive || !STATE->stack_base)
        return 0;
    if (STATE->purpose == WATCHES) {
        if (!implfuzz_is_watched(own))
            return 0;
        STATE->judging = 1;
        STATE->judged_frame = frame;
        own->judged++;
        own->judged_of_input++;
        implfuzz_watch(entry, registers, frame + 16, result);
        STATE->judging = 0;
        return 1;
    }
    if (!implfuzz_is_chosen(own, function->count))
        return 0;
    if (STATE->purpose == BRANCHES) {
        STATE->judging = 1;
        STATE->judged_function = number;
        STATE->judged_frame = (unsigned char *)registers;
        if (implfuzz_count_branches(entry, registers, frame + 16, function->stack_bytes, result)) {
            own->judged++;
            own->judged_of_input++;
        }
        STATE->judging = 0;
        return 1;
    }
    if (STATE->no_more) {
        own->outside = STATE->no_more;
        return 0;
    }
    /* The caller's frames, from the arguments on the stack upwards. */
    unsigned char *stack = frame + 16;
    unsigned char *trampoline = (unsigned char *)registers;
    if (stack > STATE->stack_base || (size_t)(STATE->stack_base - stack) > STACK_BYTES || stack - trampoline > TRAMPOLINE_BYTES)
        return 0;
    size_t bytes = (size_t)(STATE->stack_base - stack);
    STATE->judging = 1;
    STATE->newest_call++;
    STATE->judged_frame = trampoline;
    STATE->judged_stack = stack;
    STATE->outside = NULL;
    int error = errno;
    memcpy(STATE->stack_before, stack, bytes);
    STATE->judged_function = number;
    STATE->fresh = fresh(STATE->salt + own->calls_of_input);
    struct picture *c = (struct picture *)STATE->secret;
    memset(c, 0, sizeof *c);
    struct call call = {function, implfuzz_original(entry), *registers, stack, bytes, error, trampoline, {0}};
    memcpy(call.trampoline_bytes, trampoline, (size_t)(stack - trampoline));
    implfuzz_track();
    if (own->allocates && own->hangs < FAILING_HANGS) {
        implfuzz_clear_driver_stack(trampoline);
        judge_without_memory(number, &call, c);
    }
    forget_allocations();
    STATE->tape.count = STATE->tape.used = 0;
    errno = error;
    STATE->undefined = 0;
    unsigned ticks = STATE->ticks;
    if (sigsetjmp(STATE->leave, 0) == 0)
        implfuzz_call(call.original, registers, stack, function->stack_bytes, &c->result, trampoline);
    else
        c->ends = 1;
    c->error = errno;
    implfuzz_clear_driver_stack(trampoline);
    if (STATE->outside || STATE->overflow || implfuzz_has_outgrown()) {
        own->outside = STATE->outside ? STATE->outside : "too-many-pages";
        implfuzz_untrack();
    } else if (STATE->undefined) {
        own->undefined++;
        implfuzz_untrack();
    } else {
        keep_allocations(c);
        implfuzz_keep_called();
        own->allocates = STATE->fails_allocations && (own->allocates || STATE->asked);
        STATE->ticks_allowed = implfuzz_patience(STATE->ticks - ticks);
        implfuzz_keep_after();
        memcpy(STATE->stack_after, stack, bytes);
        implfuzz_put_back_before();
        memcpy(stack, STATE->stack_before, bytes);
        if (candidates(number, &call, c)) {
            own->judged++;
            own->judged_of_input++;
            own->distinct += implfuzz_is_distinct(function, registers, stack) != 0;
            judge_with_other_answers(number, &call, c);
        } else {
            own->unsteady++;
        }
        implfuzz_put_back_after();
        memcpy(stack, STATE->stack_after, bytes);
        implfuzz_untrack();
    }
    if (c->ends) {
        STATE->judging = 0;
        implfuzz_end_run();
    }
    *result = c->result;
    errno = c->error;
    STATE->fresh = FRESH_OF_DRIVER;
    STATE->judging = 0;
    return 1;
}
