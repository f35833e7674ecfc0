#include "../names.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[64] = {0};
    memcpy(text, data, size < sizeof text ? size : sizeof text - 1);
    struct name *name = calloc(1, sizeof *name);
    name_set(name, text);
    name_copy(name, text + name->length / 2);
    FILE *file = tmpfile();
    for (int at = 0; at < 300; at++)
        fputc(at, file);
    rewind(file);
    struct all *all = load(fileno(file), 300);
    unsigned sum = (unsigned)name->length;
    for (unsigned at = 0; at < size; at++) {
        unsigned char *block = malloc(64);
        block[0] = data[at];
        sum += first(block);
        free(block);
    }
    if (all) {
        sum += all->used ? all->data[all->used - 1] : 1;
        free(all->data);
        free(all);
    }
    fclose(file);
    free(name);
    return sum == 7 ? -1 : 0;
}
