/* What the parent process is told: lines of words, on a pipe of its own. */
#define _GNU_SOURCE
#include "in_place.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void implfuzz_report(const char *format, ...)
{
    char line[8192];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    for (int done = 0; done < length && length < (int)sizeof line;) {
        ssize_t wrote = write(STATE->report, line + done, (size_t)(length - done));
        if (wrote <= 0)
            _exit(3); /* the parent is gone */
        done += (int)wrote;
    }
}
