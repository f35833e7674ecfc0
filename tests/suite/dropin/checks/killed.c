/* Ends without any of the things that happen at an end. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gauge.h"

int main(void)
{
    int status;

    if (fork() == 0) {
        gauge_add(1);
        raise(SIGKILL);
    }
    wait(&status);
    gauge_add(1);
    _exit(WIFSIGNALED(status) ? 0 : 1);
}
