/* What the exported program of a driver knows of the library; generated as exported_table.c. */
#ifndef IMPLFUZZ_EXPORTED_H
#define IMPLFUZZ_EXPORTED_H

#include <stddef.h>

/*
 * A ported function: its number and name, the bytes of aligned words of eight that may be padding, a bit for each, and what
 * ends the process. That has the name of the function, because services know findings by their stacks.
 */
struct exported {
    unsigned long number;
    const char *name;
    unsigned padding;
    void (*stop)(void);
};

extern const struct exported implfuzz_exported[];
extern const size_t implfuzz_exported_count;
extern const int implfuzz_variables_are_padded;
/* The driver, and where its committed inputs are; relative to the repository. */
extern const char implfuzz_driver_file[], implfuzz_committed[];

#endif
