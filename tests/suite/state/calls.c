#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Calls back between the allocation and the return of a block. */
char *collect(uint8_t (*next)(void))
{
    char *p = malloc(4);
    if (!p)
        return NULL;
    for (int i = 0; i < 4; i++)
        p[i] = (char)next();
    return p;
}

/* A text without a NUL. */
void put_dec(unsigned n, void (*out)(void *ctx, const char *s, size_t len), void *ctx)
{
    char b[10];
    size_t i = sizeof b;
    do
        b[--i] = (char)('0' + n % 10);
    while (n /= 10);
    out(ctx, b + i, sizeof b - i);
}

/* A text with a NUL inside. */
void put_nul(unsigned n, void (*out)(void *ctx, const char *s, size_t len), void *ctx)
{
    char b[3] = {(char)n, 0, (char)(n >> 8)};
    out(ctx, b, sizeof b);
}

/* Pieces of all lengths, also empty ones. */
int put_piece(unsigned n, int (*out)(void *ctx, const uint8_t *data, size_t len), void *ctx)
{
    size_t len = n % 4;
    uint8_t *piece = malloc(len);
    if (!piece)
        return -1;
    for (size_t i = 0; i < len; i++)
        piece[i] = (uint8_t)(n >> (8 * i));
    int answer = out(ctx, piece, len);
    free(piece);
    return answer;
}

/* A text, and a number that is not its length. */
void put_note(int n, void (*out)(const char *text, int code)) { out(n < 0 ? "below" : "above", n); }

/* The same with small numbers. */
void put_level(int n, void (*out)(const char *text, int level)) { out(n < 0 ? "low" : "high", n & 1); }
