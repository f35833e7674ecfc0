#ifndef BLOCKS_H
#define BLOCKS_H
#include <stddef.h>
#include <stdint.h>
void *block_get(size_t size);
void *block_zeroed(void *cookie, unsigned items, unsigned size);
void block_put(void *cookie, void *ptr);
void *block_more(void *ptr, size_t size);
char *block_text(uint8_t a, uint8_t b);
void *block_copy(void *to, const void *from, size_t size);
const uint8_t *block_find(const uint8_t *data, size_t len, uint8_t wanted);
const uint32_t *block_table(void);
#endif
