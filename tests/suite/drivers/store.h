#ifndef STORE_H
#define STORE_H

#include <stddef.h>

struct item {
    struct item *next;
    unsigned hash;
    size_t length;
    char name[1];
};

/* A table of names, which grows. */
struct store {
    struct item **slots;
    size_t size, count;
    unsigned checksum;
    int (*watch)(void *context, const char *name);
    void *context;
};

struct store *store_new(int (*watch)(void *context, const char *name), void *context);
void store_free(struct store *store);
int store_add(struct store *store, const char *name, size_t length);
int store_remove(struct store *store, const char *name, size_t length);
const struct item *store_find(const struct store *store, const char *name, size_t length);
void store_dump(const struct store *store);
int store_note(struct store *store, const char *format, ...);
int store_merge(struct store *into, const struct store *from);
/* What it holds, in a word. */
const char *store_kind(const struct store *store);
double store_load(const struct store *store);

static inline int store_is_empty(const struct store *store)
{
    return store->count == 0;
}

#endif
