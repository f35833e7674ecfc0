/* Calls of the system that print: the text is formatted here, and goes to the stream as bytes, by tape.c. */
#define _GNU_SOURCE
#include "tape.h"

#include <stdarg.h>
#include <stdio.h>

/* The most bytes of one call. */
#define PRINTED_BYTES 4096

static uint64_t print(uint64_t text, uint64_t stream, uint64_t length, uint64_t unused)
{
    (void)unused;
    return fwrite((const void *)text, 1, length, (FILE *)stream) == length ? length : (uint64_t)-1;
}

static int printed(FILE *stream, const char *text, size_t length)
{
    static const struct implfuzz_taped of = {"printf", print, 2, {{PRINTED, 2, -1}, {STREAM, 0, 0}}};
    return (int)implfuzz_by_tape(&of, (uint64_t)text, (uint64_t)stream, length, 0);
}

static int formatted(FILE *stream, const char *format, va_list arguments)
{
    char text[PRINTED_BYTES];
    va_list copy;
    va_copy(copy, arguments);
    int length = vsnprintf(text, sizeof text, format, copy);
    va_end(copy);
    if (length >= 0 && length < PRINTED_BYTES)
        return printed(stream, text, (size_t)length);
    implfuzz_outside("vfprintf");
    return vfprintf(stream, format, arguments);
}

int implfuzz_of_vfprintf(FILE *stream, const char *format, va_list arguments)
{
    return formatted(stream, format, arguments);
}

int implfuzz_of_vprintf(const char *format, va_list arguments)
{
    return formatted(stdout, format, arguments);
}

int implfuzz_of_fprintf(FILE *stream, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = formatted(stream, format, arguments);
    va_end(arguments);
    return result;
}

int implfuzz_of_printf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = formatted(stdout, format, arguments);
    va_end(arguments);
    return result;
}

int implfuzz_of_puts(const char *text)
{
    char line[PRINTED_BYTES];
    int length = snprintf(line, sizeof line, "%s\n", text);
    if (length >= 0 && length < PRINTED_BYTES)
        return printed(stdout, line, (size_t)length);
    implfuzz_outside("puts");
    return puts(text);
}

int implfuzz_of_putchar(int byte)
{
    char text = (char)byte;
    return printed(stdout, &text, 1) < 0 ? EOF : (unsigned char)byte;
}
