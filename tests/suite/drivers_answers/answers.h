#ifndef ANSWERS_H
#define ANSWERS_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Reads until `size` bytes are there, or no more come. */
long take(int file, unsigned char *to, size_t size);
/* Writes until all bytes are written; -1 if that is not possible. */
long give(int file, const unsigned char *bytes, size_t size);
/* Writes the items, one at a time; how many were written. */
int save(FILE *to, const uint16_t *items, int count);
/* The sum of the bytes of a line; -1 at the end, -2 if it cannot be read. */
int line(FILE *from, int salt);
/* The level of detail that the environment asks for, or the one that is given. */
int level(int usual);
/* Whether a year has begun that 32 bits do not know. */
int is_late(long beyond);
/* Reads a number, however often a signal interrupts that; the number of the error where it fails. */
int number(int file, int usual);
/* Writes the items at once; how many were written, and 1000 more if the stream has failed. */
int store(FILE *to, const uint16_t *items, int count);
/* Reads bytes; how many there were, or 0 if the stream has failed. */
size_t fill(FILE *from, unsigned char *to, size_t size);
/* The age of something in a large unit of time, or -1 if it is in the future. */
int age(long since);
/* Reads a number without which the program cannot go on. */
int need(int file, int usual);
/* Whether one of two files can be opened. */
int either(int usual);
/* The sum of the items, by halves. */
uint32_t sum(const uint16_t *items, size_t count);

#endif
