/*
 * `tmpfile` in the program's own folder: the C library's own one uses `/tmp`, where the sandbox lets no driver write.
 * A library may have its own.
 * Written by cargo-implfuzz.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((weak)) FILE *tmpfile(void)
{
    const char *folder = getenv("TMPDIR");
    char name[4096];
    int file = open(folder ? folder : ".", O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) { /* not every file system has files without a name */
        snprintf(name, sizeof name, "%s/XXXXXX", folder ? folder : ".");
        file = mkostemp(name, O_CLOEXEC);
        if (file < 0)
            return NULL;
        unlink(name);
    }
    FILE *stream = fdopen(file, "w+");
    if (!stream)
        close(file);
    return stream;
}

__attribute__((weak)) FILE *tmpfile64(void)
{
    return tmpfile();
}
