#include "../answers.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char bytes[40];
    uint16_t items[20];
    long total = 0;
    FILE *file = tmpfile();
    size = size < sizeof bytes ? size : sizeof bytes;
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, data, size);
    memcpy(items, bytes, sizeof items);
    for (int times = 0; times < 20; times++) {
        int length = (int)(size * (size_t)times / 20);
        rewind(file);
        total += save(file, items, length / 2);
        fputc('\n', file);
        fflush(file);
        rewind(file);
        total += line(file, times);
        lseek(fileno(file), 0, SEEK_SET);
        total += take(fileno(file), bytes, sizeof bytes);
        total += give(fileno(file), bytes, (size_t)length + 1);
        total += level((int)total % 100);
        total += is_late(((long)size << 24) + 1700000000 + times * 100000000L);
        total += number(fileno(file), times);
        total += store(file, items, length / 2);
        total += age(time(NULL) - times * 1000);
        lseek(fileno(file), 0, SEEK_SET);
        rewind(file);
        total += (long)fill(file, bytes, (size_t)times / 2);
        total += need(fileno(file), times);
        total += either(times);
        total += sum(items, (size_t)length / 2);
        lseek(fileno(file), 0, SEEK_SET);
    }
    fclose(file);
    return total == 7 ? -1 : 0;
}
