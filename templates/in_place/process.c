/*
 * What the library and the driver call in place of functions that would take the process from the judge: its signals, its
 * timer, and the group in which it ends; and what its libraries call to start a thread.
 */
#define _GNU_SOURCE
#include "in_place.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/time.h>
#include <unistd.h>

/* The judge's own signals, of which a program may not have any. */
static int is_ours(int number)
{
    switch (number) {
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGABRT:
    case SIGTRAP:
    case SIGSYS:
    case SIGPROF: return 1;
    default: return 0;
    }
}

/* A fault ends the program if its signal is blocked. */
static const sigset_t *without_ours(const sigset_t *set, sigset_t *copy)
{
    if (!set)
        return NULL;
    *copy = *set;
    for (int number = 1; number < NSIG; number++)
        if (is_ours(number))
            sigdelset(copy, number);
    return copy;
}

sighandler_t implfuzz_of_signal(int number, sighandler_t handler)
{
    implfuzz_outside("signal");
    return is_ours(number) ? SIG_DFL : signal(number, handler);
}

/* What glibc makes of `signal` under strict standards. */
sighandler_t implfuzz_of___sysv_signal(int number, sighandler_t handler)
{
    implfuzz_outside("signal");
    if (is_ours(number))
        return SIG_DFL;
    struct sigaction once = {.sa_handler = handler, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)}, before;
    return sigaction(number, &once, &before) == 0 ? before.sa_handler : SIG_ERR;
}

sighandler_t implfuzz_of_sysv_signal(int number, sighandler_t handler)
{
    return implfuzz_of___sysv_signal(number, handler);
}

int implfuzz_of_sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    implfuzz_outside("sigaction");
    if (!is_ours(number)) {
        struct sigaction copy;
        if (action) {
            copy = *action;
            without_ours(&action->sa_mask, &copy.sa_mask);
        }
        return sigaction(number, action ? &copy : NULL, before);
    }
    if (before)
        *before = (struct sigaction){.sa_handler = SIG_DFL};
    return 0;
}

int implfuzz_of_sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    sigset_t copy;
    implfuzz_outside("sigprocmask");
    return sigprocmask(how, without_ours(set, &copy), before);
}

int implfuzz_of_pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    sigset_t copy;
    implfuzz_outside("pthread_sigmask");
    return pthread_sigmask(how, without_ours(set, &copy), before);
}

int implfuzz_of_sigaltstack(const stack_t *stack, stack_t *before)
{
    implfuzz_outside("sigaltstack");
    (void)stack;
    if (before)
        *before = (stack_t){.ss_flags = SS_DISABLE};
    return 0;
}

int implfuzz_of_setitimer(int which, const struct itimerval *value, struct itimerval *before)
{
    implfuzz_outside("setitimer");
    if (which != ITIMER_PROF)
        return setitimer(which, value, before);
    if (before)
        *before = (struct itimerval){0};
    return 0;
}

/* Libraries such as those of C++ and OpenMP start threads by this name, too. The judged library may have its own. */
__attribute__((weak)) int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    implfuzz_outside("pthread_create");
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    return create(thread, attributes, start, argument);
}

/* Whoever leaves the group would outlive the run. */
pid_t implfuzz_of_setsid(void)
{
    implfuzz_outside("setsid");
    return getpid();
}

int implfuzz_of_setpgid(pid_t process, pid_t group)
{
    implfuzz_outside("setpgid");
    (void)process, (void)group;
    return 0;
}

int implfuzz_of_daemon(int stays, int keeps)
{
    implfuzz_outside("daemon");
    (void)stays, (void)keeps;
    return 0;
}
