#include "store.h"

#include <assert.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline __attribute__((always_inline)) unsigned mix(unsigned hash, unsigned char byte)
{
    hash ^= byte;
    hash *= 16777619u;
    return hash ^ hash >> 15;
}

static unsigned hash_of(const char *name, size_t length)
{
    unsigned hash = 2166136261u;
    for (size_t at = 0; at < length; at++)
        hash = mix(hash, (unsigned char)name[at]);
    return hash;
}

static void link_item(struct item **slots, size_t size, struct item *item)
{
    assert(size > 0);
    struct item **slot = &slots[item->hash % size];
    item->next = *slot;
    *slot = item;
}

static int grow(struct store *store)
{
    size_t size = store->size * 2;
    struct item **slots = calloc(size, sizeof *slots);
    if (!slots)
        return -1;
    for (size_t at = 0; at < store->size; at++) {
        for (struct item *item = store->slots[at], *next; item; item = next) {
            next = item->next;
            link_item(slots, size, item);
        }
    }
    free(store->slots);
    store->slots = slots;
    store->size = size;
    return 0;
}

struct store *store_new(int (*watch)(void *context, const char *name), void *context)
{
    struct store *store = calloc(1, sizeof *store);
    if (!store)
        return NULL;
    store->size = 2;
    store->slots = calloc(store->size, sizeof *store->slots);
    store->watch = watch;
    store->context = context;
    if (!store->slots) {
        free(store);
        return NULL;
    }
    return store;
}

void store_free(struct store *store)
{
    for (size_t at = 0; at < store->size; at++) {
        for (struct item *item = store->slots[at], *next; item; item = next) {
            next = item->next;
            free(item);
        }
    }
    free(store->slots);
    free(store);
}

const struct item *store_find(const struct store *store, const char *name, size_t length)
{
    unsigned hash = hash_of(name, length);
    for (const struct item *item = store->slots[hash % store->size]; item; item = item->next)
        if (item->hash == hash && item->length == length && memcmp(item->name, name, length) == 0)
            return item;
    return NULL;
}

int store_add(struct store *store, const char *name, size_t length)
{
    if (store_find(store, name, length))
        return 0;
    if (store->count >= store->size && grow(store) != 0)
        return -1;
    struct item *item = malloc(sizeof *item + length);
    if (!item)
        return -1;
    item->hash = hash_of(name, length);
    item->length = length;
    memcpy(item->name, name, length);
    item->name[length] = 0;
    if (store->watch && store->watch(store->context, item->name) != 0) {
        free(item);
        return -2;
    }
    link_item(store->slots, store->size, item);
    store->count++;
    store->checksum += item->hash;
    return 1;
}

int store_remove(struct store *store, const char *name, size_t length)
{
    unsigned hash = hash_of(name, length);
    for (struct item **slot = &store->slots[hash % store->size]; *slot; slot = &(*slot)->next) {
        struct item *item = *slot;
        if (item->hash == hash && item->length == length && memcmp(item->name, name, length) == 0) {
            *slot = item->next;
            store->count--;
            store->checksum -= hash;
            free(item);
            return 1;
        }
    }
    return 0;
}

double store_load(const struct store *store)
{
    return (double)store->count / (double)store->size;
}

void store_dump(const struct store *store)
{
    if (!store_is_empty(store))
        fprintf(stderr, "%zu names\n", store->count);
}

const char *store_kind(const struct store *store)
{
    return store->count == 0 ? "empty" : store->count < store->size ? "open" : "full";
}

int store_note(struct store *store, const char *format, ...)
{
    char text[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return store_add(store, text, strlen(text));
}

static int merge_item(struct store *into, const struct item *item)
{
    return store_add(into, item->name, item->length);
}

int store_merge(struct store *into, const struct store *from)
{
    int added = 0;
    for (size_t at = 0; at < from->size; at++)
        for (const struct item *item = from->slots[at]; item; item = item->next)
            added += merge_item(into, item) > 0;
    return added;
}
