#include "box.h"

#include <stdlib.h>

struct rot_state {
    rot *owner;
    unsigned total;
    int key;
};

int rot_init(rot *r, int key, const char *version)
{
    struct rot_state *state;

    r->msg = NULL;
    r->state = NULL;
    if (version[0] != 'v' || key < 1 || key > 25) {
        r->msg = "bad key";
        return -1;
    }
    state = malloc(sizeof(*state));
    if (state == NULL)
        return -2;
    state->owner = r;
    state->total = 0;
    state->key = key;
    r->state = state;
    return 0;
}

static unsigned char turned(struct rot_state *state, unsigned char c)
{
    state->total++;
    if (c >= 'a' && c <= 'z')
        return (unsigned char)('a' + (c - 'a' + state->key) % 26);
    return c;
}

int rot_run(rot *r)
{
    if (r->state == NULL)
        return -1;
    while (r->avail_in > 0 && r->avail_out > 0) {
        *r->next_out++ = turned(r->state, *r->next_in++);
        r->avail_in--;
        r->avail_out--;
    }
    r->msg = r->avail_in > 0 ? "no room" : "done";
    return (int)r->avail_in;
}

int rot_end(rot *r)
{
    if (r->state == NULL)
        return -1;
    free(r->state);
    r->state = NULL;
    return 0;
}
