#ifndef CALLBACKS_H
#define CALLBACKS_H
#include <stddef.h>
#include <stdint.h>

typedef int (*compare_fn)(const void *a, const void *b);

int for_each(const int32_t *values, size_t n, int (*visit)(int32_t value, void *user), void *user);
void sort_any(void *base, size_t count, size_t elem_size, compare_fn compare);
size_t least(const uint16_t *values, size_t n, int (*order)(const uint16_t *a, const uint16_t *b));
uint32_t pump(uint8_t (*next)(void));
int tell(void (*told)(double x, const char *text, const int32_t *where), const int32_t *where);
int walk_all(const int32_t *values, size_t n, int (*visit)(int32_t value, void *user), void *user);
int spell(const uint8_t *bytes, size_t n, int (*write)(void *user, const uint8_t *data, size_t size), void *user);
void keep(void (*later)(int x));
int fill_from(int (*read)(uint8_t *to, size_t n));
void sort_by_libc(int32_t *values, size_t n, compare_fn compare);
#endif
