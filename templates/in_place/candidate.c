/*
 * Calls a candidate on a stack of its own, and takes back control whatever it does: a signal, a loop without end, or the
 * end of the process.
 */
#define _GNU_SOURCE
#include "in_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define JUDGE_STACK_BYTES ((size_t)1 << 20)
#define USED_BYTES ((size_t)1 << 17)
#define CLEARED_BYTES ((size_t)1 << 14)
/* What many threads have. Where C needs more, it ends here, too, and the call is not judged. */
#define NARROW_BYTES ((size_t)1 << 20)
#define SIGNAL_STACK ((size_t)1 << 16)

void implfuzz_leave(enum difference difference)
{
    STATE->port_runs = 0; /* what follows is the judge's */
    siglongjmp(STATE->leave, difference);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)context;
    unsigned char port_runs = STATE->port_runs;
    STATE->port_runs = 0;
    if (signal == SIGSEGV && implfuzz_page_fault(info->si_addr)) {
        STATE->port_runs = port_runs;
        return;
    }
    if (STATE->in_candidate)
        implfuzz_leave(CRASHED);
    implfuzz_report("broke %d\n", signal);
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(signal, &standard, NULL);
    raise(signal);
}

/* A stack between two pages that cannot be touched. */
static unsigned char *stack_of(size_t bytes)
{
    unsigned char *stack = implfuzz_somewhere(bytes + 2 * PAGE, PROT_NONE);
    mprotect(stack + PAGE, bytes, PROT_READ | PROT_WRITE);
    return stack + PAGE;
}

void *implfuzz_judge_stack(const unsigned char *frame)
{
    /* A jump has left the judged call where this one is not below it. */
    if (STATE->judging && !STATE->in_candidate && frame >= STATE->judged_frame)
        implfuzz_end_call();
    /* Two threads cannot have it. */
    if (STATE->no_more)
        return NULL;
    return STATE->judging || STATE->in_candidate || !STATE->stack_base ? NULL : STATE->judge_stack;
}

size_t implfuzz_stack_behind(const unsigned char *address, const unsigned char *arguments)
{
    /* C runs below its caller, and a candidate on a stack of its own. */
    const unsigned char *end = STATE->in_candidate ? STATE->candidate_stack + STACK_BYTES : STATE->judged_stack;
    return address >= arguments && address < end ? (size_t)(end - address) : 0;
}

static unsigned char *page_of(const unsigned char *address)
{
    return (unsigned char *)((uintptr_t)address & ~(PAGE - 1));
}

void implfuzz_close_driver_stack(const unsigned char *end, int is_closed)
{
    unsigned char *start = STATE->driver_stack - STACK_BYTES;
    mprotect(start, (size_t)(page_of(end) - start), is_closed ? PROT_NONE : PROT_READ | PROT_WRITE);
}

int implfuzz_is_driver_stack_clear(const unsigned char *end)
{
    for (const unsigned char *at = page_of(end); at < end; at++)
        if (*at)
            return 0;
    return 1;
}

void implfuzz_fill_candidate_stack(unsigned char byte)
{
    memset(STATE->candidate_stack + STACK_BYTES - USED_BYTES, byte, USED_BYTES);
}

void implfuzz_clear_candidate_stack(unsigned char byte)
{
    madvise(STATE->candidate_stack, STACK_BYTES - CLEARED_BYTES, MADV_DONTNEED);
    memset(STATE->candidate_stack + STACK_BYTES - CLEARED_BYTES, byte, CLEARED_BYTES);
}

void implfuzz_clear_driver_stack(unsigned char *end)
{
    unsigned char *page = page_of(end), *start = STATE->driver_stack - STACK_BYTES;
    memset(page, 0, (size_t)(end - page));
    madvise(start, (size_t)(page - start), MADV_DONTNEED);
}

void implfuzz_candidates_make(void)
{
    STATE->candidate_stack = stack_of(STACK_BYTES);
    STATE->judge_stack = stack_of(JUDGE_STACK_BYTES) + JUDGE_STACK_BYTES;
    STATE->driver_stack = stack_of(STACK_BYTES) + STACK_BYTES;
    stack_t signals = {.ss_size = SIGNAL_STACK};
    signals.ss_sp = implfuzz_somewhere(SIGNAL_STACK, PROT_READ | PROT_WRITE);
    sigaltstack(&signals, NULL);
    struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    /* A page is either logged and open, or neither: no tick leaves the handler in between. */
    sigaddset(&fault.sa_mask, SIGPROF);
    int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    for (size_t at = 0; at < sizeof faults / sizeof *faults; at++)
        sigaction(faults[at], &fault, NULL);
    implfuzz_watch_system_calls(&STATE->port_runs, &STATE->system_call);
    implfuzz_start_ticks();
}

void implfuzz_narrow_candidate_stack(void)
{
    mprotect(STATE->candidate_stack, STACK_BYTES - NARROW_BYTES, PROT_NONE);
}

/* The caller sets `ticks_allowed`. */
enum difference implfuzz_run(void *candidate, const struct registers *registers, const void *arguments, size_t bytes,
                             struct result_registers *result)
{
    enum difference left = sigsetjmp(STATE->leave, 1);
    if (left == SAME) {
        STATE->ticks_at_start = STATE->ticks;
        STATE->in_candidate = 1;
        implfuzz_call(candidate, registers, arguments, bytes, result, STATE->candidate_stack + STACK_BYTES);
    }
    STATE->in_candidate = 0;
    return left;
}

/* Ends the candidate, the judged call or the run on this input; returns where the process itself is to end. */
static void end(int status, int is_quick)
{
    if (STATE->in_candidate && STATE->purpose == JUDGES) {
        /* C itself, where the system answers otherwise. */
        if (STATE->answers.imagines)
            STATE->ends_as_c = implfuzz_record_end(status, is_quick);
        else
            STATE->ends_as_c = !STATE->said[0] && implfuzz_answer_end(status, is_quick);
        implfuzz_leave(EXITED);
    }
    /* A child of `fork` and another thread have other numbers. */
    if (!STATE->driving || STATE->driving != syscall(SYS_gettid))
        return;
    STATE->status = status;
    /* C, in a call that is judged. */
    if (STATE->purpose == JUDGES && STATE->judging && STATE->tracking) {
        if (implfuzz_record_end(status, is_quick))
            siglongjmp(STATE->leave, EXITED);
        implfuzz_outside(is_quick ? "_exit" : "exit");
    }
    implfuzz_end_run();
}

void implfuzz_end_run(void)
{
    STATE->in_candidate = 0;
    STATE->has_ended = 1;
    siglongjmp(STATE->end_of_run, 1);
}

/*
 * What the library and the driver call in place of functions of the system: objcopy gives their objects these names. Here
 * are those that end the process.
 */
void implfuzz_of_exit(int status)
{
    end(status, 0);
    implfuzz_report("exit %d\n", status);
    exit(status);
}

void implfuzz_of__exit(int status)
{
    end(status, 1);
    implfuzz_report("exit %d\n", status);
    _exit(status);
}

void implfuzz_of__Exit(int status)
{
    implfuzz_of__exit(status);
}

void implfuzz_of_abort(void)
{
    if (STATE->in_candidate)
        implfuzz_leave(EXITED);
    abort();
}

void implfuzz_of___assert_fail(const char *what, const char *file, unsigned line, const char *function)
{
    (void)what, (void)file, (void)line, (void)function;
    implfuzz_of_abort();
}
