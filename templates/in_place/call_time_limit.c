/* How long a candidate may run: processor time in ticks, which a timer of the process counts. */
#define _GNU_SOURCE
#include "in_place.h"

#include <signal.h>
#include <sys/time.h>

#define TICK_MICROSECONDS 4000
/* A candidate gets this many times the time of C, */
#define TIMES_OF_C 10
/* and this many ticks more. */
#define TICKS_MORE 10

static void on_tick(int signal)
{
    (void)signal;
    STATE->ticks++;
    if (STATE->in_candidate && STATE->ticks - STATE->ticks_at_start > STATE->ticks_allowed)
        implfuzz_leave(HUNG);
}

void implfuzz_start_ticks(void)
{
    struct sigaction tick = {.sa_handler = on_tick, .sa_flags = SA_ONSTACK | SA_NODEFER | SA_RESTART};
    sigaction(SIGPROF, &tick, NULL);
    struct itimerval every = {{0, TICK_MICROSECONDS}, {0, TICK_MICROSECONDS}};
    setitimer(ITIMER_PROF, &every, NULL);
}

unsigned implfuzz_patience(unsigned ticks_of_c)
{
    return TICKS_MORE + ticks_of_c * TIMES_OF_C;
}
