#include "records.h"

#include <string.h>
#include <unistd.h>

int record_write(FILE *file, const char *text)
{
    size_t length = strlen(text);
    if (ferror(file) || fwrite(text, 1, length, file) != length)
        return -1;
    fputs("--", file);
    fputc('\n', file);
    return (int)length + 3;
}

int record_read(FILE *file, char *text, int size)
{
    if (!fgets(text, size, file))
        return feof(file) ? -1 : -2;
    size_t length = strlen(text);
    int next = fgetc(file);
    if (next != EOF)
        ungetc(next, file);
    return (int)length;
}

size_t record_sum(FILE *file, unsigned short *items, size_t count)
{
    size_t got = fread(items, 2, count, file), sum = 0;
    for (size_t at = 0; at < got; at++)
        sum += items[at];
    return sum;
}

long record_size(FILE *file)
{
    long before = ftell(file);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    fseek(file, before, SEEK_SET);
    return size;
}

void record_note(FILE *file, size_t sum)
{
    if (sum % 3)
        fprintf(file, "sum %zu\n", sum);
    else
        fprintf(file, "a multiple of 3\n");
}

int record_exists(const char *name)
{
    return access(name, F_OK) == 0;
}
