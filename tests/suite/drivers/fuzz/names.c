#include "store.h"

#include <stdint.h>

static int watch(void *context, const char *name)
{
    unsigned *seen = context;
    *seen = *seen * 31 + (unsigned char)name[0];
    return name[0] == '!';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned seen = 1;
    struct store *store = store_new(watch, &seen);
    if (!store)
        return 0;
    while (size > 2) {
        size_t length = data[1] % 9;
        if (length > size - 2)
            length = size - 2;
        const char *name = (const char *)data + 2;
        switch (data[0] % 6) {
        case 0: store_remove(store, name, length); break;
        case 1: store_find(store, name, length); break;
        case 2: store_note(store, "%d", (int)length); break;
        default: store_add(store, name, length);
        }
        seen += (unsigned)(store_load(store) * 100) + (unsigned char)store_kind(store)[0];
        data += 2 + length;
        size -= 2 + length;
    }
    store_dump(store);
    store_free(store);
    return 0;
}
