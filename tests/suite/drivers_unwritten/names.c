#include "names.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The whole struct is copied, with what nobody wrote: from the stack, and from a block. */
void name_set(struct name *to, const char *text)
{
    struct name own;
    own.length = strnlen(text, sizeof own.text - 1);
    memcpy(own.text, text, own.length);
    own.text[own.length] = 0;
    *to = own;
}

void name_copy(struct name *to, const char *text)
{
    struct name *own = malloc(sizeof *own);
    if (!own)
        return;
    own->length = strnlen(text, sizeof own->text - 1);
    memcpy(own->text, text, own->length);
    own->text[own->length] = 0;
    *to = *own;
    free(own);
}

/* More of it than a report lists. */
void page_set(struct page *to, const char *text)
{
    struct page own;
    size_t length = strnlen(text, sizeof own.text - 1);
    memcpy(own.text, text, length);
    own.text[length] = 0;
    *to = own;
}

/* One word has a value that hangs on an address. */
void mark(struct name *to)
{
    volatile char here = 0;
    to->length = (unsigned long)&here * 31;
}

/* Each byte has a value, which hangs on an address. */
void stir(struct page *to)
{
    volatile unsigned here = 0;
    unsigned long seed = (unsigned long)&here;
    for (size_t at = 0; at < sizeof to->text; at++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        to->text[at] = (char)(seed >> 56);
    }
}

unsigned sum(const char *text)
{
    unsigned char *own = malloc(40);
    unsigned all = 0;
    if (!own)
        return 0;
    memcpy(own, text, strnlen(text, 40));
    for (size_t at = 0; at < 40; at++)
        all += own[at];
    free(own);
    return all;
}

struct all *load(int file, size_t size)
{
    struct all *all = malloc(sizeof *all);
    if (!all)
        return NULL;
    all->data = malloc(size);
    if (!all->data) {
        free(all);
        return NULL;
    }
    ssize_t got = read(file, all->data, size);
    all->used = got < 0 ? 0 : (size_t)got;
    return all;
}

unsigned first(const unsigned char *block)
{
    return block[0] * 3u;
}
