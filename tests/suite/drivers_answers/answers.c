#include "answers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

long take(int file, unsigned char *to, size_t size)
{
    size_t got = 0;
    while (got < size) {
        ssize_t now = read(file, to + got, size - got);
        if (now < 0)
            return got ? (long)got : -1;
        if (now == 0)
            break;
        got += (size_t)now;
    }
    return (long)got;
}

long give(int file, const unsigned char *bytes, size_t size)
{
    size_t given = 0;
    while (given < size) {
        ssize_t now = write(file, bytes + given, size - given);
        if (now < 0)
            return -1;
        given += (size_t)now;
    }
    return (long)given;
}

int save(FILE *to, const uint16_t *items, int count)
{
    int saved = 0;
    while (saved < count && fwrite(&items[saved], sizeof *items, 1, to) == 1)
        saved++;
    return saved;
}

int line(FILE *from, int salt)
{
    char text[24];
    int sum = salt;
    if (!fgets(text, sizeof text, from))
        return ferror(from) ? -2 : -1;
    for (const char *at = text; *at; at++)
        sum = sum * 7 + *at;
    return sum & 0xffff;
}

int level(int usual)
{
    const char *text = getenv("ANSWERS_LEVEL");
    if (!text)
        return usual;
    return strcmp(text, "quiet") == 0 ? -7 : atoi(text);
}

int is_late(long beyond)
{
    return time(NULL) > beyond;
}

int number(int file, int usual)
{
    unsigned char byte = 0;
    ssize_t got;
    do
        got = read(file, &byte, 1);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return -errno;
    return got ? byte : usual;
}

int store(FILE *to, const uint16_t *items, int count)
{
    size_t stored = fwrite(items, sizeof *items, (size_t)count, to);
    return (int)stored + (ferror(to) ? 1000 : 0);
}

size_t fill(FILE *from, unsigned char *to, size_t size)
{
    size_t got = fread(to, 1, size, from);
    return ferror(from) ? 0 : got;
}

int age(long since)
{
    time_t now;
    time(&now);
    return now < since ? -1 : (int)((now - since) >> 20);
}

int need(int file, int usual)
{
    unsigned char byte = 0;
    if (read(file, &byte, 1) < 0)
        exit(3);
    return byte ? byte : usual;
}

int either(int usual)
{
    FILE *file = fopen("/dev/null", "r");
    if (!file)
        file = fopen("/dev/zero", "r");
    if (!file)
        return -usual;
    fclose(file);
    return usual;
}

uint32_t sum(const uint16_t *items, size_t count)
{
    if (count < 2)
        return count ? items[0] : 0;
    return sum(items, count / 2) * 3 + sum(items + count / 2, count - count / 2);
}
