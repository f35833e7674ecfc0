#ifndef RECORDS_H
#define RECORDS_H

#include <stdio.h>

/* Writes a line; returns the number of its bytes, or -1. */
int record_write(FILE *file, const char *text);
/* Reads a line of at most `size` bytes; returns its length, -1 at the end, or -2. */
int record_read(FILE *file, char *text, int size);
/* Reads `count` items of two bytes each, and adds them. */
size_t record_sum(FILE *file, unsigned short *items, size_t count);
/* Writes what `record_sum` found. */
void record_note(FILE *file, size_t sum);
/* Whether there is a file of this name. */
int record_exists(const char *name);
/* The size of the file, which stays where it is. */
long record_size(FILE *file);

#endif
