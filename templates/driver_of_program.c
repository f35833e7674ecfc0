/*
 * A driver: runs the program @PROGRAM@. An input is what the program reads from its standard input.
 * Change the arguments below; /dev/stdin among them is a file with the input.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const driver_arguments[] = {"@NAME@"};

enum { DRIVER_ARGUMENTS = sizeof driver_arguments / sizeof *driver_arguments };

static jmp_buf driver_ended;

/* What ends the program ends this run. */
static _Noreturn void driver_exit(int code)
{
    (void)code;
    longjmp(driver_ended, 1);
}

/* The next run needs these streams, too. */
static int driver_fclose(FILE *stream)
{
    return stream == stdin || stream == stdout || stream == stderr ? fflush(stream) : fclose(stream);
}

/* Else it would run once for each input, when all of them are over. */
static int driver_atexit(void (*function)(void))
{
    (void)function;
    return 0;
}

#define main driver_main
#define exit driver_exit
#define _exit driver_exit
#define _Exit driver_exit
#define fclose driver_fclose
#define atexit driver_atexit
#include "@PATH@"
#undef main
#undef exit
#undef _exit
#undef _Exit
#undef fclose
#undef atexit

/* Standard input gives these bytes, from the start. */
static int driver_input(const uint8_t *data, size_t size)
{
    int file = memfd_create("input", MFD_CLOEXEC);
    if (file < 0)
        return 0;
    int is_written = write(file, data, size) == (ssize_t)size && lseek(file, 0, SEEK_SET) == 0 && dup2(file, 0) == 0;
    close(file);
    __fpurge(stdin);
    rewind(stdin);
    return is_written;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *texts[DRIVER_ARGUMENTS], *words[DRIVER_ARGUMENTS + 1] = {0};
    int null;
    /* The program may have closed its standard streams: they are open again, and `null` is none of them. */
    while ((null = open("/dev/null", O_RDWR)) >= 0 && null <= 2)
        continue;
    if (null < 0)
        return 0;
    fflush(stdout);
    dup2(null, 1);
    close(null);
    if (!driver_input(data, size))
        return 0;
    for (int at = 0; at < DRIVER_ARGUMENTS; at++)
        words[at] = texts[at] = strdup(driver_arguments[at]);
    optind = 0;
    if (setjmp(driver_ended) == 0) {
        /* `main` may take fewer arguments. */
        int (*program)(int, char **, char **) = (int (*)(int, char **, char **))driver_main;
        program(DRIVER_ARGUMENTS, words, environ);
    }
    fflush(stdout);
    for (int at = 0; at < DRIVER_ARGUMENTS; at++)
        free(texts[at]);
    return 0;
}
