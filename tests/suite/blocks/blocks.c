#include "blocks.h"
#include <stdlib.h>
#include <string.h>

static const uint32_t squares[6] = { 0, 1, 4, 9, 16, 25 };

void *block_get(size_t size) { return malloc(size); }

/* Zlib's: the product wraps. */
void *block_zeroed(void *cookie, unsigned items, unsigned size)
{
    (void)cookie;
    return sizeof(int) > 8 ? malloc(items * size) : calloc(1, items * size);
}

void block_put(void *cookie, void *ptr)
{
    (void)cookie;
    free(ptr);
}

void *block_more(void *ptr, size_t size) { return realloc(ptr, size + 1); }

/* Only a part of it is written. */
char *block_text(uint8_t a, uint8_t b)
{
    char *text;
    if (a == 0)
        return NULL;
    text = malloc(b == 255 ? (size_t)2 << 20 : 8);
    if (!text)
        return NULL;
    text[0] = (char)a;
    text[1] = (char)b;
    return text;
}

void *block_copy(void *to, const void *from, size_t size) { return memcpy(to, from, size); }

const uint8_t *block_find(const uint8_t *data, size_t len, uint8_t wanted)
{
    size_t i;
    for (i = 0; i < len; i++)
        if (data[i] == wanted)
            return data + i;
    return NULL;
}

const uint32_t *block_table(void) { return (const uint32_t *)squares; }
