/*
 * The line of a report about a candidate that differs from C: the function, the candidate, the difference, the input, the
 * call, the failing allocation, the changed answer, the excuse, the places, and words. `told.rs` reads it, too.
 */
#ifndef IMPLFUZZ_KILLED_H
#define IMPLFUZZ_KILLED_H

#define KILLED_WRITTEN "killed %u %zu %d %lu %lu %lu %s %d %s %s\n"
/* What exported programs read of it: the function, the difference, the call, the answer, the excuse; and where the rest is. */
#define KILLED_READ "killed %lu %*u %d %*u %lu %*u %63s %d %n"

#endif
