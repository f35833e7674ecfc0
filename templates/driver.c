/*
 * A driver: runs the library on one input. Call the public functions as a program would: read the input piece by piece,
 * check what they return, and free what they give.
 */
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)data, (void)size;
    return 0;
}
