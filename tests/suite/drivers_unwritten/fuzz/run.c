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
    /* Nobody's new memory has this byte. */
    struct name *name = malloc(sizeof *name);
    memset(name, 'x', sizeof *name);
    name_set(name, text);
    name_copy(name, text + name->length / 2);
    struct page *page = malloc(sizeof *page);
    memset(page, 'x', sizeof *page);
    page_set(page, text);
    stir(page);
    mark(name);
    name_set(name, text);
    free(page);
    FILE *file = tmpfile();
    for (int at = 0; at < 300; at++)
        fputc(at, file);
    rewind(file);
    struct all *all = load(fileno(file), 300);
    unsigned sum_of = (unsigned)name->length + (sum(text) & 1);
    for (unsigned at = 0; at < size; at++) {
        unsigned char *block = malloc(64);
        block[0] = data[at];
        sum_of += first(block);
        free(block);
    }
    if (all) {
        sum_of += all->used ? all->data[all->used - 1] : 1;
        free(all->data);
        free(all);
    }
    fclose(file);
    free(name);
    return sum_of == 7 ? -1 : 0;
}
