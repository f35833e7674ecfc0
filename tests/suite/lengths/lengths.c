#include "lengths.h"
#include <stdlib.h>

/* Sums that are reduced at each step. */
uint32_t fletcher(const uint8_t *data, size_t len)
{
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < len; i++) {
        a = (a + data[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

uint64_t mark(const uint8_t *data, size_t len)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < len; i++)
        sum ^= data[i];
    return sum + ((uint64_t)len << 8);
}

uint32_t both(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < a_len; i++)
        sum += a[i];
    for (size_t i = 0; i < b_len; i++)
        sum ^= b[i];
    return sum;
}

size_t text_length(const char *text)
{
    size_t n = 0;
    while (text[n] != '\0')
        n++;
    return n;
}

/* Needs room for all. */
int copy(const uint8_t *src, size_t src_len, uint8_t *dst, size_t dst_len)
{
    if (dst_len < src_len)
        return -1;
    for (size_t i = 0; i < src_len; i++)
        dst[i] = src[i];
    return 0;
}

/* No length is beyond 65,535. */
uint32_t narrow(const uint8_t *data, uint16_t len)
{
    uint32_t sum = 0;
    for (uint16_t i = 0; i < len; i++)
        sum += data[i];
    return sum + len;
}

/* A table that takes too much memory for a long input. */
uint32_t diagonal(const uint8_t *data, size_t len)
{
    uint32_t sum = 0;
    uint8_t *table = malloc(len * len + 1);
    if (table == NULL)
        return 0;
    for (size_t i = 0; i < len; i++) {
        table[i * len + i] = data[i];
        sum += table[i * len + i];
    }
    free(table);
    return sum;
}

/* A frame for each element: a long input overflows the stack. */
uint32_t deep(const uint8_t *data, size_t len)
{
    volatile uint8_t frame[256];
    if (len == 0)
        return 0;
    frame[len % 256] = data[0];
    return deep(data + 1, len - 1) + frame[len % 256];
}

struct acc {
    uint64_t total;
    uint8_t *last;
};

struct acc *acc_new(void)
{
    struct acc *a = malloc(sizeof *a);
    if (a == NULL)
        return NULL;
    a->total = 0;
    a->last = malloc(1);
    return a;
}

void acc_add(struct acc *a, const uint8_t *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        a->total += data[i] + 1u;
}

uint64_t acc_total(const struct acc *a)
{
    return a->total;
}

void acc_free(struct acc *a)
{
    if (a != NULL) {
        free(a->last);
        free(a);
    }
}
