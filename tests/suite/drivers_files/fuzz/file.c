#include "records.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[40];
    unsigned short *items = malloc(9000 * sizeof *items);
    size_t length = size < sizeof text ? size : sizeof text - 1;
    FILE *file = tmpfile();
    memcpy(text, data, length);
    text[length] = 0;
    record_write(file, text);
    record_write(file, text + length / 2);
    /* A line with a NUL of its own. */
    fwrite("a\0bc\n", 1, 5, file);
    size_t sum = (size_t)record_size(file);
    rewind(file);
    while (record_read(file, text, 16) > 0)
        sum += (unsigned char)text[0];
    rewind(file);
    sum += record_sum(file, items, length % 16);
    /* So much that the kernel writes it there itself. */
    sum += record_sum(file, items, 9000);
    record_note(file, sum);
    sum += (size_t)record_exists("/");
    fclose(file);
    free(items);
    return sum == 7 ? -1 : 0;
}
